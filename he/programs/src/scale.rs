//! Scales of ciphertexts: exact rational numbers.

use num_bigint::{BigInt, BigUint};
use num_rational::Ratio;
use std::fmt;

/// What the slots of a ciphertext are multiplied by, a positive rational number.
///
/// In CKKS a message m is stored as the integer that is next to m times the scale. A product multiplies
/// scales, and a rescale divides by a modulus. In BGV the scale modulo t is the factor of the plaintext.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Scale(Ratio<BigInt>);

impl Scale {
    /// The scale of a message that is not scaled.
    pub fn one() -> Self {
        Self::integer(1)
    }

    /// An integer, at least 1.
    pub fn integer(value: u128) -> Self {
        Self(Ratio::from_integer(value.into()))
    }

    /// A product of moduli.
    pub(crate) fn product(value: &BigUint) -> Self {
        Self(Ratio::from_integer(value.clone().into()))
    }

    /// 2^bits.
    pub fn power_of_two(bits: u32) -> Self {
        Self(Ratio::from_integer(BigInt::from(1) << bits))
    }

    /// The product of two scales.
    pub fn times(&self, other: &Self) -> Self {
        Self(&self.0 * &other.0)
    }

    /// The quotient of two scales.
    pub fn over(&self, other: &Self) -> Self {
        Self(&self.0 / &other.0)
    }

    /// The integer next to `value` times the scale.
    ///
    /// # Panics
    /// Panics if the value is infinite or no number.
    pub fn round(&self, value: f64) -> BigInt {
        (&self.0 * exact(value)).round().to_integer()
    }

    /// The integer next to the scale.
    pub fn rounded(&self) -> BigInt {
        self.0.round().to_integer()
    }

    /// The nearest scale of so many significant bits.
    pub(crate) fn rounded_to(&self, bits: u32) -> Self {
        let (numerator, denominator) = (self.0.numer(), self.0.denom());
        let shift = i64::from(bits) + denominator.bits() as i64 - numerator.bits() as i64;
        let power = Ratio::from_integer(BigInt::from(1) << shift.unsigned_abs());
        match shift {
            0.. => Self((&self.0 * &power).round() / power),
            _ => Self((&self.0 / &power).round() * power),
        }
    }

    /// The root of the scale, rounded down to so many significant bits or next to them.
    pub(crate) fn root(&self, bits: u32) -> Self {
        let shift = 2 * i64::from(bits) + self.0.denom().bits() as i64 - self.0.numer().bits() as i64;
        // An even power of two.
        let half = shift.max(0) / 2;
        let scaled = (&self.0 * Ratio::from_integer(BigInt::from(1) << (2 * half))).to_integer();
        Self(Ratio::new(scaled.sqrt(), BigInt::from(1) << half))
    }

    /// log2 of the scale.
    pub fn log2(&self) -> f64 {
        log2(self.0.numer().magnitude()) - log2(self.0.denom().magnitude())
    }

    /// The nearest number of double precision, if the scale is not beyond its range.
    pub fn to_f64(&self) -> f64 {
        // 64 bits of the quotient are exact.
        let (numerator, denominator) = (self.0.numer(), self.0.denom());
        let shift = 64 + denominator.bits() as i64 - numerator.bits() as i64;
        let quotient = match shift {
            0.. => (numerator << shift) / denominator,
            _ => numerator / (denominator << -shift),
        };
        let words = quotient.magnitude().iter_u64_digits().collect::<Vec<_>>();
        let value = words.iter().rev().fold(0.0, |sum, &word| sum * 64_f64.exp2() + word as f64);
        value * (-shift as f64).exp2()
    }
}

/// A number of double precision as a rational number.
fn exact(value: f64) -> Ratio<BigInt> {
    assert!(value.is_finite(), "{value} is no number to scale");
    let (mut value, mut exponent) = (value, 0);
    while value.fract() != 0.0 {
        value *= 2.0;
        exponent += 1;
    }
    // An integer of at most 53 significant bits.
    while value.abs() >= 96_f64.exp2() {
        value /= 2.0;
        exponent -= 1;
    }
    let integer = BigInt::from(value as i128);
    match exponent {
        0.. => Ratio::new(integer, BigInt::from(1) << exponent),
        _ => Ratio::from_integer(integer << -exponent),
    }
}

/// log2 of a positive integer of any size.
pub(crate) fn log2(x: &BigUint) -> f64 {
    let shift = x.bits().saturating_sub(64);
    let head = (x >> shift).iter_u64_digits().next().unwrap_or(0);
    (head as f64).log2() + shift as f64
}

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "2^{:.6}", self.log2())
    }
}
