//! What the program `logistic-regression` computes, in the clear.
//!
//! A sample is a row z: its features and a 1 for the intercept, times its class, 1 or -1. Gradient descent takes weights w to
//!
//! ```text
//! w + rate/rows sum_z sigma(-z w) z    sigma(-x) next to s_0 + s_1 x + s_3 x^3 for |x| up to 8
//! ```

/// The places of a row; those beyond the features and the intercept are 0.
pub const FEATURES: usize = 16;

/// The inverse of the rate.
pub(crate) const INVERSE_RATE: u32 = 2;

/// s_0, s_1, s_3: least squares over -8 to 8, of Han, Song, Cheon and Park, "Logistic Regression on Homomorphic Encrypted Data at Scale".
pub(crate) const SIGMOID: [f64; 3] = [0.5, -1.20096 / 8.0, 0.81562 / 512.0];

/// One iteration on rows of [`FEATURES`] numbers.
pub fn step(weights: &mut [f64; FEATURES], rows: &[[f64; FEATURES]]) {
    let mut sum = [0.0; FEATURES];
    for row in rows {
        let x = margin(weights, row);
        let slope = SIGMOID[0] + SIGMOID[1] * x + SIGMOID[2] * x.powi(3);
        sum.iter_mut().zip(row).for_each(|(sum, z)| *sum += slope * z);
    }
    let rate = 1.0 / (rows.len() as f64 * f64::from(INVERSE_RATE));
    weights.iter_mut().zip(sum).for_each(|(weight, sum)| *weight += rate * sum);
}

/// z w, which is positive if the weights give the sample its class.
pub fn margin(weights: &[f64; FEATURES], row: &[f64; FEATURES]) -> f64 {
    weights.iter().zip(row).map(|(weight, z)| weight * z).sum()
}
