//! The sine that reduces modulo 1, by an even polynomial and double angles; and the range that it needs.
//!
//! With x = (t - 1/4)/K and c = (1/2 pi)^(1/2^r), or c = 1 before an arcsine, the polynomial p(x) is next to c cos(2 pi K x/2^r). Then r times s <- s^2,
//! v <- 2 v^2 - s, from s = c and v = p(x), give c^(2^r) sin(2 pi t). With the factor 1/2 pi, or after arcsin(v)/2 pi, that is next
//! to t - I for t near an integer I.

use crate::scale::log2;
use nalgebra::{DMatrix, DVector};
use num_bigint::{BigInt, BigUint};
use std::f64::consts::PI;

/// What the polynomial is for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sine {
    /// K.
    pub(crate) range: u32,
    /// The degree, even.
    pub(crate) degree: usize,
    /// r.
    pub(crate) double_angles: u32,
    /// log2 of q_0 over the scale of messages: t is within 2^-ratio_bits of integers.
    pub(crate) ratio_bits: u32,
    /// The degree of the arcsine's polynomial; 0 for none.
    pub(crate) arcsine: usize,
    /// The Hamming weight of the secret, on which the likely integers depend.
    pub(crate) weight: u64,
}

/// The points for each integer I.
const POINTS: usize = 24;

/// The least square of a weight, so that unlikely integers are not left out.
const LEAST_WEIGHT: f64 = 1e-12;

impl Sine {
    /// c.
    pub(crate) fn amplitude(&self) -> f64 {
        if self.arcsine > 0 {
            return 1.0;
        }
        (0.5 / PI).powf((-f64::from(self.double_angles)).exp2())
    }

    /// The polynomial's coefficients in the Chebyshev basis; the odd ones are 0. They are the least squares over points next
    /// to integers I, weighted by the probability of I: a sum of `weight` + 1 uniform numbers from -1/2 to 1/2.
    pub(crate) fn coefficients(&self) -> Vec<f64> {
        let variance = (self.weight + 1) as f64 / 12.0;
        let range = f64::from(self.range);
        let near = |point: usize| {
            (PI * (point as f64 + 0.5) / POINTS as f64).cos() * (-f64::from(self.ratio_bits)).exp2()
        };
        let integers = 1 - i64::from(self.range)..i64::from(self.range);
        let points: Vec<(f64, f64)> = integers
            .flat_map(|integer| {
                let integer = integer as f64;
                let weight = LEAST_WEIGHT.max((-integer.powi(2) / (2.0 * variance)).exp()).sqrt();
                (0..POINTS).map(move |point| ((integer + near(point) - 0.25) / range, weight))
            })
            .collect();
        let unknowns = self.degree / 2 + 1;
        let matrix = DMatrix::from_fn(points.len(), unknowns, |row, column| {
            let (x, weight) = points[row];
            weight * (2.0 * column as f64 * x.acos()).cos()
        });
        let angle = 2.0 * PI * range / f64::from(self.double_angles).exp2();
        let values = points.iter().map(|&(x, weight)| weight * self.amplitude() * (angle * x).cos());
        let mut values = DVector::from_iterator(points.len(), values);
        let factors = matrix.qr();
        factors.q_tr_mul(&mut values);
        let solution = factors.r().solve_upper_triangular(&values.rows(0, unknowns).into_owned());
        let solution = solution.expect("more points than unknowns, all distinct");
        let mut coefficients = vec![0.0; self.degree + 1];
        for (index, &value) in solution.iter().enumerate() {
            coefficients[2 * index] = value;
        }
        coefficients
    }
}

/// The coefficients of arcsin(v)/2 pi in the Chebyshev basis, from its series up to an odd degree.
pub(crate) fn arcsine(degree: usize) -> Vec<f64> {
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

/// The most terms of an exact sum: the tail of more is next to normal.
const MOST_EXACT: u64 = 300;

/// log2 of the probability that the sum of `terms` uniform numbers from -1/2 to 1/2 is beyond `bound`, on either side;
/// minus infinity if it cannot be.
pub(crate) fn log2_tail(terms: u64, bound: u32) -> f64 {
    if terms > MOST_EXACT {
        // erfc(x) is below exp(-x^2)/(x sqrt(pi)), and next to it.
        let x = f64::from(bound) / (terms as f64 / 6.0).sqrt();
        return (-x.powi(2) - (x * PI.sqrt()).ln()) / 2_f64.ln();
    }
    // Irwin and Hall: 2/m! sum_j (-1)^j C(m, j) (m/2 - K - j)^m, times 2^m.
    let twice = terms as i64 - 2 * i64::from(bound);
    let (mut sum, mut binomial, mut factorial) = (BigInt::ZERO, BigUint::from(1_u32), BigUint::from(1_u32));
    for j in 0..=terms {
        let base = twice - 2 * j as i64;
        if base <= 0 {
            break;
        }
        let term = BigInt::from(base).pow(terms as u32) * BigInt::from(binomial.clone());
        sum += if j % 2 == 0 { term } else { -term };
        binomial = binomial * (terms - j) / (j + 1);
    }
    (1..=terms).for_each(|factor| factorial *= factor);
    match sum.magnitude() {
        zero if *zero == BigUint::ZERO => f64::NEG_INFINITY,
        sum => 1.0 + log2(sum) - terms as f64 - log2(&factorial),
    }
}
