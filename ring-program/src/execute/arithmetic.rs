//! Exact arithmetic modulo numbers of up to 128 bits.

use num_bigint::BigUint;

/// Integers modulo q.
#[derive(Clone, Debug)]
pub(super) struct Integers {
    q: u128,
    big: BigUint,
}

impl Integers {
    pub(super) fn modulo(q: u128) -> Self {
        Self { q, big: BigUint::from(q) }
    }

    pub(super) fn q(&self) -> u128 {
        self.q
    }

    /// `a + b`, for residues. Their sum may need 129 bits.
    pub(super) fn add(&self, a: u128, b: u128) -> u128 {
        let rest = self.q - b;
        if a >= rest { a - rest } else { a + b }
    }

    /// `a - b`, for residues.
    pub(super) fn sub(&self, a: u128, b: u128) -> u128 {
        if a >= b { a - b } else { a + (self.q - b) }
    }

    /// `a b`, for any words.
    pub(super) fn mul(&self, a: u128, b: u128) -> u128 {
        match a.checked_mul(b) {
            Some(product) => product % self.q,
            None => self.mul_big(a, b),
        }
    }

    #[cold]
    fn mul_big(&self, a: u128, b: u128) -> u128 {
        let residue = BigUint::from(a) * b % &self.big;
        u128::try_from(residue).expect("a residue below the modulus")
    }

    /// `base^exponent`.
    pub(super) fn pow(&self, base: u128, exponent: u128) -> u128 {
        let power = BigUint::from(base).modpow(&exponent.into(), &self.big);
        u128::try_from(power).expect("a residue below the modulus")
    }
}

/// The lowest `bits` bits of `value` in reverse order.
pub(super) fn bit_reverse(value: usize, bits: u32) -> usize {
    (0..bits).fold(0, |reversed, bit| reversed << 1 | value >> bit & 1)
}
