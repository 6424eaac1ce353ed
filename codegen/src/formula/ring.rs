//! Rings with a root of unity.

use super::FormulaError;
use ::ring::modular::Modulus;

/// Z_q with a root of unity.
#[derive(Clone, Copy, Debug)]
pub struct Ring {
    pub(super) modulus: Modulus,
    pub(super) root: u128,
    pub(super) order: usize,
}

impl Ring {
    /// The ring modulo `modulus`, for transforms of up to `n` points. `n` is a power of two, at most
    /// 2^30; `root` is a primitive 2n-th root of unity.
    ///
    /// # Errors
    /// Returns an error if the modulus is even or too small, if `n` is out of range, or if `root` has
    /// another order.
    pub fn new(modulus: u128, n: usize, root: u128) -> Result<Self, FormulaError> {
        let ring = Modulus::new(modulus)?;
        let order = n.saturating_mul(2);
        if !is_size(n) || root >= modulus || ring.pow(root, n as u128) != modulus - 1 {
            return Err(FormulaError::Root { root, order, modulus });
        }
        Ok(Self { modulus: ring, root, order })
    }

    /// The given power of the root of the given order.
    pub(super) fn power(&self, Power { order, exponent, inverse }: Power) -> u128 {
        let exponent = exponent % order * (self.order / order);
        self.modulus.pow(self.root, if inverse { self.order - exponent } else { exponent } as u128)
    }
}

/// True if `n` is a valid transform size. The limit keeps exponents of roots within 64 bits.
pub(super) fn is_size(n: usize) -> bool {
    n.is_power_of_two() && n <= 1 << 30
}

/// A power of the root of unity of the given order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Power {
    pub(super) order: usize,
    pub(super) exponent: usize,
    pub(super) inverse: bool,
}
