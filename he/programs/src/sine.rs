//! The sine that reduces modulo 1, by an even polynomial and double angles.
//!
//! With x = (t - 1/4)/K and c = (1/2 pi)^(1/2^r), or c = 1 before an arcsine, the polynomial p(x) is next to
//! c cos(2 pi K x/2^r). Then r times s <- s^2, v <- 2 v^2 - s, from s = c and v = p(x), give c^(2^r) sin(2 pi
//! t). With the factor 1/2 pi, or after arcsin(v)/2 pi, that is next to t - I for t near an integer I.

use crate::bootstrap::Bootstrap;
use numeris::{DynMatrix, DynVector};
use std::f64::consts::PI;

/// The polynomials of the reduction modulo 1, in the Chebyshev basis.
#[derive(Clone, PartialEq, Debug)]
pub struct Sine {
    /// K.
    pub(crate) range: u32,
    /// r.
    pub(crate) double_angles: u32,
    /// c.
    pub(crate) amplitude: f64,
    /// Those of the cosine; the odd ones are 0.
    pub(crate) cosine: Vec<f64>,
    /// Those of the arcsine, if the sine is followed by one.
    pub(crate) arcsine: Option<Vec<f64>>,
}

/// The points for each integer I.
const POINTS: usize = 24;

/// The least square of a weight, so that unlikely integers are not left out.
const LEAST_WEIGHT: f64 = 1e-12;

impl Sine {
    /// The polynomials of a bootstrap whose secret has a weight during the mod-raise.
    pub(crate) fn new(settings: &Bootstrap, weight: u64) -> Self {
        let &Bootstrap { range, double_angles, .. } = settings;
        let arcsine = (settings.arcsine > 0).then(|| arcsine(settings.arcsine));
        let amplitude = match arcsine {
            Some(_) => 1.0,
            None => (0.5 / PI).powf((-f64::from(double_angles)).exp2()),
        };
        let cosine = cosine(settings, weight, amplitude);
        Self { range, double_angles, amplitude, cosine, arcsine }
    }

    /// The result for t: next to t - I if t is next to an integer I below the range.
    pub fn reduce(&self, t: f64) -> f64 {
        let mut value = chebyshev(&self.cosine, (t - 0.25) / f64::from(self.range));
        let mut amplitude = self.amplitude;
        for _ in 0..self.double_angles {
            amplitude *= amplitude;
            value = 2.0 * value * value - amplitude;
        }
        self.arcsine.as_ref().map_or(value, |arcsine| chebyshev(arcsine, value))
    }
}

/// The sum of c_i T_i(x), by Clenshaw's recurrence.
fn chebyshev(coefficients: &[f64], x: f64) -> f64 {
    let step = |(next, after): (f64, f64), c: &f64| (2.0 * x * next - after + c, next);
    let (value, next) = coefficients.iter().rev().fold((0.0, 0.0), step);
    value - x * next
}

/// The coefficients of the cosine. They are the least squares over points next to integers I, weighted by the
/// probability of I: a sum of `weight` + 1 uniform numbers from -1/2 to 1/2.
fn cosine(settings: &Bootstrap, weight: u64, amplitude: f64) -> Vec<f64> {
    let variance = (weight + 1) as f64 / 12.0;
    let range = f64::from(settings.range);
    let near = |point: usize| {
        (PI * (point as f64 + 0.5) / POINTS as f64).cos() * (-f64::from(settings.message_ratio_bits)).exp2()
    };
    let integers = 1 - i64::from(settings.range)..i64::from(settings.range);
    let points: Vec<(f64, f64)> = integers
        .flat_map(|integer| {
            let integer = integer as f64;
            let weight = LEAST_WEIGHT.max((-integer.powi(2) / (2.0 * variance)).exp()).sqrt();
            (0..POINTS).map(move |point| ((integer + near(point) - 0.25) / range, weight))
        })
        .collect();
    let unknowns = settings.degree / 2 + 1;
    let matrix = DynMatrix::from_fn(points.len(), unknowns, |row, column| {
        let (x, weight) = points[row];
        weight * (2.0 * column as f64 * x.acos()).cos()
    });
    let angle = 2.0 * PI * range / f64::from(settings.double_angles).exp2();
    let values = points.iter().map(|&(x, weight)| weight * amplitude * (angle * x).cos());
    let solution = matrix.solve_qr(&DynVector::from_vec(values.collect()));
    let solution = solution.expect("more points than unknowns, all distinct");
    let mut coefficients = vec![0.0; settings.degree + 1];
    for (index, &value) in solution.iter().enumerate() {
        coefficients[2 * index] = value;
    }
    coefficients
}

/// The coefficients of arcsin(v)/2 pi in the Chebyshev basis, from its series up to an odd degree.
fn arcsine(degree: usize) -> Vec<f64> {
    let mut coefficients = vec![0.0; degree + 1];
    let mut series = 0.5 / PI;
    for power in (1..=degree).step_by(2) {
        // v^power is 2^(1 - power) sum_j C(power, j) T_(power - 2j), j below power/2.
        let mut term = series * (1.0 - power as f64).exp2();
        for j in 0..=power / 2 {
            coefficients[power - 2 * j] += term;
            term *= (power - j) as f64 / (j + 1) as f64;
        }
        let next = (power + 2) as f64;
        series *= (next - 2.0).powi(2) / (next * (next - 1.0));
    }
    coefficients
}
