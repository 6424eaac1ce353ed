//! What the program `logistic-regression` computes, in the clear.
//!
//! A sample is a row z: its features and a 1 for the intercept, times its class, 1 or -1. Gradient descent takes a point w to
//!
//! ```text
//! w + rate/rows sum_z sigma(-z w) z    sigma(-x) next to s_0 + s_1 x + s_3 x^3 for |x| up to 8
//! ```
//!
//! The point is the weights; with Nesterov's momentum, it is ahead of them: weights + 3/4 (weights - weights before).

use crate::option::Momentum;

/// The places of a row, by default; those beyond the features and the intercept are 0.
pub const FEATURES: usize = 16;

/// The inverse of the rate.
pub(crate) const INVERSE_RATE: u32 = 2;

/// The point ahead is the first times the weights, less the second times those before, over the third.
pub(crate) const AHEAD: [u32; 3] = [7, 3, 4];

/// s_0, s_1, s_3: least squares over -8 to 8, of Han, Song, Cheon and Park, "Logistic Regression on Homomorphic Encrypted Data at Scale".
pub(crate) const SIGMOID: [f64; 3] = [0.5, -1.20096 / 8.0, 0.81562 / 512.0];

/// The weights after iterations on rows of one length, from 0 on.
pub fn train(rows: &[impl AsRef<[f64]>], iterations: usize, momentum: Momentum) -> Vec<f64> {
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
        before = std::mem::replace(&mut weights, stepped(&point, rows));
    }
    weights
}

/// A point after one step of gradient descent.
fn stepped(point: &[f64], rows: &[impl AsRef<[f64]>]) -> Vec<f64> {
    let mut sum = vec![0.0; point.len()];
    for row in rows {
        let x = margin(point, row.as_ref());
        let slope = SIGMOID[0] + SIGMOID[1] * x + SIGMOID[2] * x.powi(3);
        sum.iter_mut().zip(row.as_ref()).for_each(|(sum, z)| *sum += slope * z);
    }
    let rate = 1.0 / (rows.len() as f64 * f64::from(INVERSE_RATE));
    point.iter().zip(sum).map(|(weight, sum)| weight + rate * sum).collect()
}

/// z w, which is positive if the weights give the sample its class.
pub fn margin(weights: &[f64], row: &[f64]) -> f64 {
    weights.iter().zip(row).map(|(weight, z)| weight * z).sum()
}
