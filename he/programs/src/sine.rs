//! The sine that reduces modulo 1, by an even polynomial and double angles.
//!
//! With x = (t - 1/4)/K and c = (1/2 pi)^(1/2^r), or c = 1 before an arcsine, the polynomial p(x) is next to
//! c cos(2 pi K x/2^r). Then r times s <- s^2, v <- 2 v^2 - s, from s = c and v = p(x), give c^(2^r) sin(2 pi
//! t). With the factor 1/2 pi, or after arcsin(v)/2 pi, that is next to t - I for t near an integer I.

use crate::bootstrap::{Bootstrap, Fault};
use diagnostic::counted;
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

/// The largest degree of the cosine's polynomial, and the most double angles: as in the schema of sets.
const MOST_DEGREE: usize = 254;
const MOST_DOUBLE_ANGLES: u32 = 16;

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

    /// Refuses a sine whose error is as large as a message.
    pub(crate) fn check(&self, settings: &Bootstrap, weight: u64) -> Result<(), Fault> {
        let error = self.log2_error(settings, weight);
        if is_useful(error, settings) {
            return Ok(());
        }
        let &Bootstrap { range, degree, double_angles, message_ratio_bits: ratio, .. } = settings;
        let message = format!(
            "the sine for K = {range} by a polynomial of degree {degree} and {} has an error of 2^{error:.1}, and \
             messages are up to 2^-{ratio}",
            counted(double_angles as usize, "double angle", "double angles")
        );
        let help = match useful(settings, weight) {
            Some(Bootstrap { degree, double_angles, .. }) => {
                format!("`degree = {degree}` and `double_angles = {double_angles}` are enough")
            }
            None => "choose a smaller `range` or `message_ratio_bits`".to_owned(),
        };
        Err(Fault { key: "degree", message, help })
    }

    /// log2 of the largest error for t next to integers that are not too unlikely to occur. What a sine
    /// itself lacks of t - I is not in it.
    pub(crate) fn log2_error(&self, settings: &Bootstrap, weight: u64) -> f64 {
        let error = |point: &Point| {
            let sine = (2.0 * PI * point.offset).sin();
            let exact = self.arcsine.as_ref().map_or(sine / (2.0 * PI), |arcsine| chebyshev(arcsine, sine));
            (self.reduce(point.integer + point.offset) - exact).abs()
        };
        let errors = points(settings, weight).into_iter().filter(|point| point.weight > LEAST_WEIGHT);
        errors.map(|point| error(&point)).fold(0.0, largest).log2()
    }

    /// The largest angle of the cosine, 2 pi K/2^r.
    pub(crate) fn angle(range: u32, double_angles: u32) -> f64 {
        2.0 * PI * f64::from(range) / f64::from(double_angles).exp2()
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

/// The larger of two numbers, or NaN if one is: `f64::max` would drop it.
fn largest(one: f64, other: f64) -> f64 {
    if one.is_nan() || other <= one { one } else { other }
}

/// Whether a sine with this error leaves a message more than a bit.
fn is_useful(log2_error: f64, settings: &Bootstrap) -> bool {
    log2_error < -1.0 - f64::from(settings.message_ratio_bits)
}

/// The same settings with a polynomial of a higher degree, or with more double angles, that are useful.
fn useful(settings: &Bootstrap, weight: u64) -> Option<Bootstrap> {
    let degrees = (settings.degree..=MOST_DEGREE).step_by(2);
    (settings.double_angles..=MOST_DOUBLE_ANGLES)
        .flat_map(|double_angles| {
            // Of lower degrees the series does not converge.
            let least = Sine::angle(settings.range, double_angles);
            let degrees = degrees.clone().skip_while(move |degree| (*degree as f64) < least);
            degrees.map(move |degree| Bootstrap { degree, double_angles, ..settings.clone() })
        })
        .find(|settings| is_useful(Sine::new(settings, weight).log2_error(settings, weight), settings))
}

/// The sum of c_i T_i(x), by Clenshaw's recurrence.
fn chebyshev(coefficients: &[f64], x: f64) -> f64 {
    let step = |(next, after): (f64, f64), c: &f64| (2.0 * x * next - after + c, next);
    let (value, next) = coefficients.iter().rev().fold((0.0, 0.0), step);
    value - x * next
}

/// A point next to an integer I.
struct Point {
    integer: f64,
    /// The distance to the integer, at most a message.
    offset: f64,
    /// The probability of I, relative to that of 0.
    weight: f64,
}

/// The points next to all integers. I is a sum of `weight` + 1 uniform numbers from -1/2 to 1/2.
fn points(settings: &Bootstrap, weight: u64) -> Vec<Point> {
    let variance = (weight + 1) as f64 / 12.0;
    let near = |point: usize| {
        (PI * (point as f64 + 0.5) / POINTS as f64).cos() * (-f64::from(settings.message_ratio_bits)).exp2()
    };
    let integers = 1 - i64::from(settings.range)..i64::from(settings.range);
    integers
        .flat_map(|integer| {
            let integer = integer as f64;
            let weight = LEAST_WEIGHT.max((-integer.powi(2) / (2.0 * variance)).exp());
            (0..POINTS).map(move |point| Point { integer, offset: near(point), weight })
        })
        .collect()
}

/// The coefficients of the cosine. They are the least squares over points next to integers, weighted by the
/// probability of these. A few narrow clusters of points do not determine a high degree. Then the series of
/// the cosine over the whole range has that degree, and is exact enough.
fn cosine(settings: &Bootstrap, weight: u64, amplitude: f64) -> Vec<f64> {
    let range = f64::from(settings.range);
    let points: Vec<(f64, f64)> = points(settings, weight)
        .into_iter()
        .map(|point| ((point.integer + point.offset - 0.25) / range, point.weight.sqrt()))
        .collect();
    let unknowns = settings.degree / 2 + 1;
    let matrix = DynMatrix::from_fn(points.len(), unknowns, |row, column| {
        let (x, weight) = points[row];
        weight * (2.0 * column as f64 * x.acos()).cos()
    });
    let angle = Sine::angle(settings.range, settings.double_angles);
    let values = points.iter().map(|&(x, weight)| weight * amplitude * (angle * x).cos());
    let Ok(solution) = matrix.solve_qr(&DynVector::from_vec(values.collect())) else {
        return series(settings.degree, |x| amplitude * (angle * x).cos());
    };
    let mut coefficients = vec![0.0; settings.degree + 1];
    for (index, &value) in solution.iter().enumerate() {
        coefficients[2 * index] = value;
    }
    coefficients
}

/// The coefficients of an even function, which they equal at the roots of T_(degree + 2).
fn series(degree: usize, function: impl Fn(f64) -> f64) -> Vec<f64> {
    let points = degree + 2;
    let angle = |point: usize| PI * (point as f64 + 0.5) / points as f64;
    let coefficient = |j: usize| {
        let term = |point: usize| (j as f64 * angle(point)).cos() * function(angle(point).cos());
        let factor = if j == 0 { 1.0 } else { 2.0 };
        factor / points as f64 * (0..points).map(term).sum::<f64>()
    };
    (0..=degree).map(|j| if j % 2 == 0 { coefficient(j) } else { 0.0 }).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bootstrap::Steps;

    #[test]
    fn an_error_that_is_not_a_number_is_the_largest() {
        let all = |errors: &[f64]| errors.iter().copied().fold(0.0, largest);
        assert_eq!(all(&[0.5, 2.0, 1.0]), 2.0);
        for errors in [[f64::NAN, 1.0], [1.0, f64::NAN]] {
            assert!(all(&errors).is_nan(), "{errors:?}");
        }
    }

    #[test]
    fn remedies_are_within_the_schema_of_sets() {
        let schema: serde_json::Value = serde_json::from_str(include_str!("../schema/set.json")).unwrap();
        let most = |key: &str| schema["properties"]["bootstrap"]["properties"][key]["maximum"].as_u64();
        assert_eq!(most("degree"), Some(MOST_DEGREE as u64));
        assert_eq!(most("double_angles"), Some(MOST_DOUBLE_ANGLES.into()));
    }

    /// K, the degree, the double angles and the message ratio of a bootstrap.
    fn settings(range: u32, degree: usize, double_angles: u32, message_ratio_bits: u32) -> Bootstrap {
        Bootstrap {
            scale_bits: 40,
            message_ratio_bits,
            coeff_to_slot: 4,
            eval_mod: 12,
            slot_to_coeff: 3,
            slot_to_coeff_matrices: 3,
            normalisation: 0,
            range,
            degree,
            double_angles,
            arcsine: 0,
            ephemeral_weight: Some(32),
            steps: Steps::Lattigo,
        }
    }

    /// Degrees that clusters of points next to few integers do not determine.
    #[test]
    fn degrees_beyond_what_the_points_determine_have_the_series() {
        for (range, degree, ratio) in [
            (2, 30, 8),
            (1, 14, 8),
            (1, 30, 8),
            (4, 62, 8),
            (4, 126, 8),
            (6, 126, 8),
            (4, 254, 8),
            (16, 254, 8),
            (4, 30, 20),
        ] {
            let sine = Sine::new(&settings(range, degree, 3, ratio), 32);
            assert_eq!(sine.cosine.len(), degree + 1);
            for integer in 1 - i64::from(range)..i64::from(range) {
                let near = (-f64::from(ratio)).exp2();
                let expected = (2.0 * PI * near).sin() / (2.0 * PI);
                let found = sine.reduce(integer as f64 + near);
                assert!((found - expected).abs() < 1e-12, "{range} {degree} {ratio}: {found} {expected}");
            }
        }
    }
}
