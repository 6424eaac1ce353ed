//! Arithmetic modulo q below 2^64 on words of 64 bits.
//!
//! Products with a constant factor w are Shoup's: with w' = floor(w 2^64 / q), the difference
//! `x w - floor(x w' / 2^64) q` is below 2 q for every word x of 64 bits.

/// An odd modulus 3 <= q < 2^64 with the constants of its arithmetic in words of 64 bits.
#[derive(Clone, Copy, Debug)]
pub struct Narrow {
    q: u64,
    /// q^-1 mod 2^64.
    inverse: u64,
    /// 2^128 mod q.
    power: u64,
}

impl Narrow {
    /// The modulus q with q^-1 mod 2^128 and 2^128 mod q, if it is below 2^64.
    pub(crate) fn new(q: u128, inverse: u128, power: u128) -> Option<Self> {
        (q >> 64 == 0).then_some(Self { q: q as u64, inverse: inverse as u64, power: power as u64 })
    }

    /// The modulus q.
    pub const fn value(self) -> u64 {
        self.q
    }

    /// The constants q^-1 mod 2^64 and 2^128 mod q.
    #[cfg(target_arch = "x86_64")]
    pub(crate) const fn constants(self) -> [u64; 2] {
        [self.inverse, self.power]
    }

    /// floor(factor 2^64 / q), for a residue `factor`.
    #[inline(always)]
    pub(crate) fn quotient(self, factor: u64) -> u64 {
        // Montgomery's reduction of factor 2^128 by 2^64.
        let product = u128::from(factor) * u128::from(self.power);
        let multiple = high((product as u64).wrapping_mul(self.inverse), self.q);
        let rest = self.sub((product >> 64) as u64, multiple);
        // The division of factor 2^64 - rest by q is exact.
        rest.wrapping_neg().wrapping_mul(self.inverse)
    }

    /// `x factor mod q`, for any word `x` and a residue `factor` with its [`quotient`](Self::quotient).
    #[inline(always)]
    pub(crate) fn mul(self, x: u64, factor: u64, quotient: u64) -> u64 {
        let multiple = u128::from(high(x, quotient)) * u128::from(self.q);
        let rest = u128::from(x) * u128::from(factor) - multiple;
        let less = rest.wrapping_sub(self.q.into());
        if less >> 64 == 0 { less as u64 } else { rest as u64 }
    }

    /// `a + b mod q`, for residues.
    #[inline(always)]
    pub(crate) fn add(self, a: u64, b: u64) -> u64 {
        // Not a + b - q: the sum may need 65 bits.
        self.sub(a, self.q - b)
    }

    /// `a - b`, plus q if that is negative.
    #[inline(always)]
    pub(crate) fn sub(self, a: u64, b: u64) -> u64 {
        let (difference, is_negative) = a.overflowing_sub(b);
        if is_negative { difference.wrapping_add(self.q) } else { difference }
    }
}

/// The high half of a product.
#[inline(always)]
fn high(a: u64, b: u64) -> u64 {
    ((u128::from(a) * u128::from(b)) >> 64) as u64
}
