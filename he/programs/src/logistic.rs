//! What the program `logistic-regression` computes, in the clear.
//!
//! A sample is a row z: its features and a 1 for the intercept, times its class, 1 or -1. Gradient descent takes a point w to
//!
//! ```text
//! w + rate/rows sum_z sigma(-z w) z    sigma(-x) next to a polynomial of x
//! ```
//!
//! The point is the weights; with Nesterov's momentum, it is ahead of them: weights + 3/4 (weights - weights before).

use crate::option::{Momentum, Options, Sigmoid};
use crate::sign::value;
use std::f64::consts::PI;

/// The places of a row, by default; those beyond the features and the intercept are 0.
pub const FEATURES: usize = 16;

/// The inverse of the rate.
pub(crate) const INVERSE_RATE: u32 = 2;

/// The point ahead is the first times the weights, less the second times those before, over the third.
pub(crate) const AHEAD: [u32; 3] = [7, 3, 4];

/// The coefficients of 1, x and x^3: least squares over -8 to 8, of Han, Song, Cheon and Park, "Logistic Regression on Homomorphic
/// Encrypted Data at Scale".
pub(crate) const CUBIC: [f64; 3] = [0.5, -1.20096 / 8.0, 0.81562 / 512.0];

/// The largest margin of the Chebyshev series.
pub(crate) const LARGEST: f64 = 16.0;

/// The degree of the Chebyshev series.
const DEGREE: usize = 59;

/// sigma(-x) for x from -16 to 16 in the Chebyshev basis of x/16: it equals the sigmoid at the roots of T_60. It is odd but for
/// the constant.
pub(crate) fn chebyshev() -> Vec<f64> {
    let points = (DEGREE + 1) as f64;
    let coefficient = |j: usize| {
        let term = |k: usize| {
            let angle = PI * (k as f64 + 0.5) / points;
            (j as f64 * angle).cos() / (1.0 + (LARGEST * angle.cos()).exp())
        };
        2.0 / points * (0..=DEGREE).map(term).sum::<f64>()
    };
    (0..=DEGREE).map(|j| if j == 0 { 0.5 } else { (j % 2) as f64 * coefficient(j) }).collect()
}

/// The weights after the iterations of options on rows of one length, from 0 on.
pub fn train(rows: &[impl AsRef<[f64]>], options: &Options) -> Vec<f64> {
    let (iterations, momentum) = (options.iterations.unwrap_or(1), options.momentum.unwrap_or_default());
    let series = chebyshev();
    let slope = |x: f64| match options.sigmoid.unwrap_or_default() {
        Sigmoid::Cubic => CUBIC[0] + CUBIC[1] * x + CUBIC[2] * x.powi(3),
        Sigmoid::Chebyshev => value(&series, x / LARGEST),
    };
    let places = rows.first().map_or(0, |row| row.as_ref().len());
    let [mut before, mut weights] = [vec![0.0; places], vec![0.0; places]];
    for _ in 0..iterations {
        let point = match momentum {
            Momentum::None => weights.clone(),
            Momentum::Nesterov => {
                let [first, second, divisor] = AHEAD.map(f64::from);
                weights
                    .iter()
                    .zip(&before)
                    .map(|(now, then)| (first * now - second * then) / divisor)
                    .collect()
            }
        };
        before = std::mem::replace(&mut weights, stepped(&point, rows, slope));
    }
    weights
}

/// A point after one step of gradient descent.
fn stepped(point: &[f64], rows: &[impl AsRef<[f64]>], slope: impl Fn(f64) -> f64) -> Vec<f64> {
    let mut sum = vec![0.0; point.len()];
    for row in rows {
        let slope = slope(margin(point, row.as_ref()));
        sum.iter_mut().zip(row.as_ref()).for_each(|(sum, z)| *sum += slope * z);
    }
    let rate = 1.0 / (rows.len() as f64 * f64::from(INVERSE_RATE));
    point.iter().zip(sum).map(|(weight, sum)| weight + rate * sum).collect()
}

/// z w, which is positive if the weights give the sample its class.
pub fn margin(weights: &[f64], row: &[f64]) -> f64 {
    weights.iter().zip(row).map(|(weight, z)| weight * z).sum()
}
