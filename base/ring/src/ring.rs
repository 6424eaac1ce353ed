//! One polynomial ring.

use crate::modular::Modulus;
use crate::root::{check_root, smallest_root, transform_modulus};
use crate::{Degree, Error};

/// The ring Z_q\[X\]/(X^n + 1), with or without a root of unity psi for its negacyclic transform.
///
/// Construction validates it: q is odd and at least 3. If the ring has a root, then q is a prime that
/// is 1 mod 2n, and psi is a primitive 2n-th root of unity modulo q. Coefficient-wise operations need
/// no root.
///
/// ```
/// use ring::{Degree, Ring};
///
/// let ring = Ring::with_smallest_root(Degree::new(1024)?, 12289)?;
/// assert_eq!((ring.q(), ring.root()), (12289, Some(7)));
/// assert_eq!(ring.power(1024)?, 12288, "psi^n = -1");
/// # Ok::<(), ring::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Ring {
    degree: Degree,
    modulus: Modulus,
    root: Option<u128>,
}

impl Ring {
    /// The ring modulo `q` without a root of unity.
    ///
    /// # Errors
    /// Returns an error if `q` is even or below 3.
    pub fn new(degree: Degree, q: u128) -> Result<Self, Error> {
        Ok(Self { degree, modulus: Modulus::new(q)?, root: None })
    }

    /// The ring modulo the prime `q` with psi = `root`.
    ///
    /// # Errors
    /// Returns an error if `q` is not an odd prime or not 1 mod 2n, or if `root` is not a primitive
    /// 2n-th root of unity modulo `q`.
    pub fn with_root(degree: Degree, q: u128, root: u128) -> Result<Self, Error> {
        let modulus = transform_modulus(q, degree)?;
        check_root(&modulus, degree, root)?;
        Ok(Self { degree, modulus, root: Some(root) })
    }

    /// The ring modulo the prime `q` with the smallest psi.
    ///
    /// # Errors
    /// Returns an error if `q` is not an odd prime or not 1 mod 2n.
    pub fn with_smallest_root(degree: Degree, q: u128) -> Result<Self, Error> {
        let root = smallest_root(q, degree)?;
        Ok(Self { degree, modulus: Modulus::new(q)?, root: Some(root) })
    }

    /// The degree n.
    pub const fn degree(&self) -> Degree {
        self.degree
    }

    /// The number of coefficients, n.
    #[expect(clippy::len_without_is_empty, reason = "no polynomial has zero coefficients")]
    pub const fn len(&self) -> usize {
        self.degree.len()
    }

    /// The modulus with its arithmetic.
    pub const fn modulus(&self) -> &Modulus {
        &self.modulus
    }

    /// The modulus as a number.
    pub const fn q(&self) -> u128 {
        self.modulus.value()
    }

    /// psi, or `None` if the ring has no transform.
    pub const fn root(&self) -> Option<u128> {
        self.root
    }

    /// psi, for an operation that needs the transform.
    ///
    /// # Errors
    /// Returns an error if the ring has no root.
    pub fn require_root(&self) -> Result<u128, Error> {
        self.root.ok_or(Error::NoTransform { modulus: self.q() })
    }

    /// psi^`exponent`. Exponents are modulo 2n, so that negative ones are powers of 1/psi.
    ///
    /// # Errors
    /// Returns an error if the ring has no root.
    pub fn power(&self, exponent: i64) -> Result<u128, Error> {
        let exponent = i128::from(exponent).rem_euclid(self.degree.order() as i128);
        Ok(self.modulus.pow(self.require_root()?, exponent as u128))
    }

    /// 1/n, which scales the inverse transform.
    pub fn inverse_degree(&self) -> u128 {
        // 2^-1 = (q + 1)/2.
        self.modulus.pow(self.q() / 2 + 1, self.degree.log2().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modular::ModulusError;

    fn degree(n: u64) -> Degree {
        Degree::new(n).unwrap()
    }

    #[test]
    fn a_ring_without_a_root_takes_any_odd_modulus_and_has_no_transform() {
        let ring = Ring::new(degree(8), 15).unwrap();
        assert_eq!((ring.q(), ring.len(), ring.root()), (15, 8, None));
        assert_eq!(ring.require_root(), Err(Error::NoTransform { modulus: 15 }));
        assert_eq!(ring.power(1), Err(Error::NoTransform { modulus: 15 }));
        assert_eq!(8 * ring.inverse_degree() % 15, 1);
        assert_eq!(Ring::new(degree(8), 16), Err(Error::Modulus(ModulusError::Even(16))));
    }

    #[test]
    fn roots_are_validated() {
        let ring = Ring::with_root(degree(4), 17, 2).unwrap();
        assert_eq!(ring, Ring::with_smallest_root(degree(4), 17).unwrap());
        assert_eq!([0, 1, 4, 8, -1, i64::MAX].map(|e| ring.power(e).unwrap()), [1, 2, 16, 1, 9, 9]);
        assert_eq!(
            Ring::with_root(degree(4), 17, 4),
            Err(Error::NotARoot { root: 4, modulus: 17, order: 8 })
        );
        assert_eq!(Ring::with_root(degree(4), 15, 2), Err(Error::NotPrime(15)));
        assert_eq!(Ring::with_smallest_root(degree(4), 7), Err(Error::NoRoots { modulus: 7, order: 8 }));
    }

    #[test]
    fn the_inverse_of_the_degree_scales_in_rings_of_every_size() {
        for q in [3, 5, (1 << 64) + 13, u128::MAX - 158, u128::MAX] {
            let ring = Ring::new(degree(1 << 16), q).unwrap();
            assert_eq!(ring.modulus().mul(1 << 16, ring.inverse_degree()), 1, "modulo {q:#x}");
        }
    }
}
