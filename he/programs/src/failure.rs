//! The range that the reduction modulo 1 needs.

use crate::scale::log2;
use num_bigint::{BigInt, BigUint};
use std::f64::consts::PI;
use std::fmt;

/// The range of a bootstrap and how likely a message is beyond it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Failure {
    /// The Hamming weight of the secret during the mod-raise.
    pub weight: u64,
    /// K.
    pub range: u32,
    /// The number n of coefficients.
    pub degree: u64,
}

impl Failure {
    /// log2 of the probability that any of the n coefficients has |I| above K, or of a bound on it; minus
    /// infinity if none can have it.
    pub fn log2_probability(&self) -> f64 {
        (log2_tail(self.weight + 1, self.range) + (self.degree as f64).log2()).min(0.0)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (weight, range, degree) = (self.weight, self.range, self.degree);
        write!(f, "secret of weight {weight} during the mod-raise, K = {range}: ")?;
        match self.log2_probability() {
            f64::NEG_INFINITY => write!(f, "none of {degree} coefficients can be beyond it"),
            0.0 => write!(f, "one of {degree} coefficients is beyond it with a probability of at most 1"),
            log2 => write!(f, "one of {degree} coefficients is beyond it with the probability 2^{log2:.1}"),
        }
    }
}

/// The most terms of an exact sum: the tail of more is next to normal.
const MOST_EXACT: u64 = 300;

/// log2 of the probability that the sum of `terms` uniform numbers from -1/2 to 1/2 is beyond `bound`, on
/// either side; minus infinity if it cannot be.
fn log2_tail(terms: u64, bound: u32) -> f64 {
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
