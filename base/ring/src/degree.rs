//! Degrees of polynomial rings.

use crate::Error;
use std::fmt;

/// The degree n of X^n + 1, which is also the length of a transform: a power of two from 2 to 2^17.
///
/// This is the range of the whole project. A machine's vectors and the CUDA kernels have larger minima.
///
/// ```
/// use ring::Degree;
///
/// let degree = Degree::new(1024)?;
/// assert_eq!((degree.log2(), degree.order()), (10, 2048));
/// assert_eq!(Degree::from_log2(10)?, degree);
/// assert_eq!(Degree::new(1000).unwrap_err().to_string(),
///     "invalid degree n = 1000: not a power of two from 2 to 131072");
/// # Ok::<(), ring::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Degree {
    log2: u8,
}

impl Degree {
    /// The smallest degree, 2.
    pub const MIN: Self = Self { log2: 1 };
    /// The largest degree, 2^17: the largest of published parameter sets for homomorphic encryption.
    pub const MAX: Self = Self { log2: 17 };

    /// The degree `n`.
    ///
    /// # Errors
    /// Returns an error if `n` is not a power of two from 2 to 2^17.
    pub const fn new(n: u64) -> Result<Self, Error> {
        if n.is_power_of_two() && n >= Self::MIN.get() && n <= Self::MAX.get() {
            Ok(Self { log2: n.trailing_zeros() as u8 })
        } else {
            Err(Error::Degree(n))
        }
    }

    /// The degree 2^`log2`.
    ///
    /// # Errors
    /// Returns an error if `log2` is not from 1 to 17. It names 2^`log2`, or 0 if that exceeds 64
    /// bits.
    pub const fn from_log2(log2: u32) -> Result<Self, Error> {
        if log2 < u64::BITS { Self::new(1 << log2) } else { Err(Error::Degree(0)) }
    }

    /// n.
    pub const fn get(self) -> u64 {
        1 << self.log2
    }

    /// n as a number of coefficients.
    #[expect(clippy::len_without_is_empty, reason = "no polynomial has zero coefficients")]
    pub const fn len(self) -> usize {
        1 << self.log2
    }

    /// The base-2 logarithm of n.
    pub const fn log2(self) -> u32 {
        self.log2 as u32
    }

    /// 2n, the order of the roots of unity that define a transform.
    pub const fn order(self) -> u128 {
        2 << self.log2
    }

    /// `index` with its log2(n) bits in reverse order.
    ///
    /// `index` must be below n.
    pub const fn bit_reverse(self, index: usize) -> usize {
        crate::bits::bit_reverse(index, self.log2())
    }
}

impl fmt::Display for Degree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

impl From<Degree> for u64 {
    fn from(degree: Degree) -> Self {
        degree.get()
    }
}

impl TryFrom<u64> for Degree {
    type Error = Error;

    fn try_from(n: u64) -> Result<Self, Error> {
        Self::new(n)
    }
}

impl TryFrom<usize> for Degree {
    type Error = Error;

    fn try_from(n: usize) -> Result<Self, Error> {
        Self::new(n as u64)
    }
}

impl TryFrom<u32> for Degree {
    type Error = Error;

    fn try_from(n: u32) -> Result<Self, Error> {
        Self::new(n.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn degrees_are_powers_of_two_from_2_to_2_17() {
        for log2 in 1..=17 {
            let degree = Degree::from_log2(log2).unwrap();
            assert_eq!((degree.log2(), degree.get()), (log2, 1 << log2));
            assert_eq!((degree.len(), degree.order()), (1 << log2, 2 << log2));
            assert_eq!(Degree::new(1 << log2), Ok(degree));
            assert_eq!(degree.to_string(), (1u64 << log2).to_string());
        }
        for n in [0, 1, 3, 1000, 1 << 18, 1 << 30, 1 << 63, u64::MAX] {
            assert_eq!(Degree::new(n), Err(Error::Degree(n)));
        }
        assert_eq!(Degree::from_log2(0), Err(Error::Degree(1)));
        assert_eq!(Degree::from_log2(18), Err(Error::Degree(1 << 18)));
        assert_eq!(Degree::from_log2(64), Err(Error::Degree(0)));
    }

    #[test]
    fn bit_reversal_uses_the_bits_of_an_index() {
        let degree = Degree::new(8).unwrap();
        assert_eq!([0, 1, 2, 3, 4, 5, 6, 7].map(|i| degree.bit_reverse(i)), [0, 4, 2, 6, 1, 5, 3, 7]);
    }
}
