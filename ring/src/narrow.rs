//! Arithmetic modulo q below 2^63 on words of 64 bits.
//!
//! Products with a constant factor w are Shoup's: with w' = floor(w 2^64 / q), the difference
//! `x w - floor(x w' / 2^64) q` is below 2 q for every word x of 64 bits.

/// A modulus below 2^63.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Narrow {
    q: u64,
    /// q^-1 mod 2^64.
    inverse: u64,
    /// 2^128 mod q.
    power: u64,
}

/// A factor, and floor(factor 2^64 / q).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Factor {
    factor: u64,
    quotient: u64,
}

impl Factor {
    pub(crate) const fn value(self) -> u64 {
        self.factor
    }
}

impl Narrow {
    /// The modulus q with q^-1 mod 2^128 and 2^128 mod q, if it is below 2^63.
    pub(crate) fn new(q: u128, inverse: u128, power: u128) -> Option<Self> {
        (q >> 63 == 0).then_some(Self { q: q as u64, inverse: inverse as u64, power: power as u64 })
    }

    /// A residue as a factor.
    #[inline(always)]
    pub(crate) fn factor(self, factor: u64) -> Factor {
        // Montgomery's reduction of factor 2^128 by 2^64.
        let product = u128::from(factor) * u128::from(self.power);
        let multiple = high((product as u64).wrapping_mul(self.inverse), self.q);
        let rest = self.sub_any((product >> 64) as u64, multiple);
        // The division of factor 2^64 - rest by q is exact.
        Factor { factor, quotient: rest.wrapping_neg().wrapping_mul(self.inverse) }
    }

    /// `x factor mod q`, for any word `x`.
    #[inline(always)]
    pub(crate) fn mul(self, x: u64, factor: Factor) -> u64 {
        let multiple = high(x, factor.quotient).wrapping_mul(self.q);
        let rest = x.wrapping_mul(factor.factor).wrapping_sub(multiple);
        rest.min(rest.wrapping_sub(self.q))
    }

    /// `a + b mod q`, for residues.
    #[inline(always)]
    pub(crate) fn add(self, a: u64, b: u64) -> u64 {
        let sum = a + b;
        sum.min(sum.wrapping_sub(self.q))
    }

    /// `a - b mod q`, for residues.
    #[inline(always)]
    pub(crate) fn sub(self, a: u64, b: u64) -> u64 {
        self.sub_any(a, b)
    }

    /// `a - b`, plus q if that is negative.
    #[inline(always)]
    fn sub_any(self, a: u64, b: u64) -> u64 {
        let difference = a.wrapping_sub(b);
        // If the difference is negative it is above 2^63, and it is smaller plus q.
        difference.min(difference.wrapping_add(self.q))
    }
}

/// The high half of a product.
#[inline(always)]
fn high(a: u64, b: u64) -> u64 {
    ((u128::from(a) * u128::from(b)) >> 64) as u64
}
