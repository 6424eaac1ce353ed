//! Arithmetic modulo any odd q with 3 <= q < 2^128.
//!
//! Residues are plain `u128` values below q. A [`Modulus`] holds q with its precomputed constants.
//! Multiplication is Montgomery's with R = 2^128, in the subtractive form:
//!
//! ```text
//! reduce(t) = (t - (t q^-1 mod R) q) / R    for 0 <= t < q R
//! ```
//!
//! The division is exact, and its result is the difference of two numbers below q: one conditional
//! addition of q completes the reduction. No intermediate value exceeds q, so no modulus is a
//! special case; the usual lazy bound of 2q would overflow above 2^127.
//!
//! The product of two plain residues costs two reductions. A factor that is used often can be
//! [prepared](Modulus::prepare): in Montgomery form, `b R mod q`, its product with a plain residue costs one
//! reduction and is a plain residue again.
//!
//! Reduction accepts every product below q R. Therefore one factor may be any word of 128 bits, if
//! the other one is below q.
//!
//! Operations in loops over data do not branch on the data: comparisons of random residues are
//! unpredictable, and a mispredicted branch costs more than a multiplication.

pub use crate::narrow::Narrow;
use thiserror::Error;

/// An invalid modulus.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum ModulusError {
    /// Zero, one or two.
    #[error("the modulus {0} is too small: it must be odd and at least 3")]
    TooSmall(u128),
    /// An even value.
    #[error("the modulus {0:#x} is even, but Montgomery arithmetic needs an odd modulus")]
    Even(u128),
}

/// An odd modulus 3 <= q < 2^128 with the constants of its arithmetic.
///
/// Every result is below q. Operands must be below q, which debug builds assert, unless the method
/// says "any word": then it accepts every value of 128 bits and reduces it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Modulus {
    q: u128,
    /// q^-1 mod 2^128.
    q_inverse: u128,
    /// 2^128 mod q: one, prepared.
    one: u128,
    /// 2^256 mod q, the factor that prepares a residue.
    r_squared: u128,
}

/// A residue b modulo some q in Montgomery form, `b 2^128 mod q`: the right operand of
/// [`Modulus::mul_prepared`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(transparent)]
pub struct Prepared(u128);

impl Modulus {
    /// Prepares arithmetic modulo `q`.
    ///
    /// # Errors
    /// Returns an error if `q` is even or below 3.
    pub fn new(q: u128) -> Result<Self, ModulusError> {
        if q < 3 {
            return Err(ModulusError::TooSmall(q));
        }
        if q.is_multiple_of(2) {
            return Err(ModulusError::Even(q));
        }
        let one = (u128::MAX % q + 1) % q;
        let mut modulus = Self { q, q_inverse: inverse_mod_2_128(q), one, r_squared: 0 };
        // Montgomery form of 2, then of 2^2, 2^4, .. 2^128: the last is 2^128 R mod q.
        let mut power = modulus.add(one, one);
        for _ in 0..7 {
            power = modulus.reduce_product(power, power);
        }
        modulus.r_squared = power;
        Ok(modulus)
    }

    /// The modulus q.
    pub const fn value(&self) -> u128 {
        self.q
    }

    /// The arithmetic in words of 64 bits, if the modulus is below 2^64.
    #[inline]
    pub fn narrow(&self) -> Option<Narrow> {
        Narrow::new(self.q, self.q_inverse, self.one)
    }

    /// `value mod q`, for any `value`.
    pub const fn residue(&self, value: u128) -> u128 {
        value % self.q
    }

    /// `a + b mod q`.
    #[inline(always)]
    pub fn add(&self, a: u128, b: u128) -> u128 {
        debug_assert!(a < self.q && b < self.q);
        // Not a + b - q: the sum may need 129 bits.
        self.sub_any(a, self.q - b)
    }

    /// `a - b mod q`.
    #[inline(always)]
    pub fn sub(&self, a: u128, b: u128) -> u128 {
        debug_assert!(a < self.q && b < self.q);
        self.sub_any(a, b)
    }

    /// `-a mod q`.
    #[inline(always)]
    pub fn neg(&self, a: u128) -> u128 {
        self.sub(0, a)
    }

    /// `a b mod q`, for any word `a` and a residue `b`.
    #[inline(always)]
    pub fn mul(&self, a: u128, b: u128) -> u128 {
        debug_assert!(b < self.q);
        self.reduce_product(self.reduce_product(a, b), self.r_squared)
    }

    /// The Montgomery form of `b`, any word.
    #[inline(always)]
    pub fn prepare(&self, b: u128) -> Prepared {
        Prepared(self.reduce_product(b, self.r_squared))
    }

    /// `a b mod q`, for any word `a` and a `b` prepared with this same modulus.
    #[inline(always)]
    pub fn mul_prepared(&self, a: u128, b: Prepared) -> u128 {
        debug_assert!(b.0 < self.q);
        self.reduce_product(a, b.0)
    }

    /// `base^exponent mod q`, for any word `base`; `0^0` is 1.
    pub fn pow(&self, base: u128, mut exponent: u128) -> u128 {
        let mut square = self.prepare(base).0;
        let mut power = 1;
        while exponent != 0 {
            if exponent & 1 == 1 {
                power = self.reduce_product(power, square);
            }
            square = self.reduce_product(square, square);
            exponent >>= 1;
        }
        power
    }

    /// The quotient and the remainder of `a 2^shift` by q, for an `a` below q and a `shift` up to
    /// 128.
    pub fn divide(&self, a: u128, shift: u32) -> (u128, u128) {
        let (dividend, rest) = match shift {
            // The Montgomery form of a; the lowest 128 bits of the dividend are zero.
            128 => (0, self.prepare(a).0),
            _ => (a << shift, self.mul(a, self.residue(1 << shift))),
        };
        // The division of the difference is exact, and the quotient below 2^128.
        (dividend.wrapping_sub(rest).wrapping_mul(self.q_inverse), rest)
    }

    /// `a^-1 mod q`, or `None` if `a` and q have a common factor. q need not be prime.
    pub fn inverse(&self, a: u128) -> Option<u128> {
        // Euclid's algorithm on (q, a); s and t are the coefficients of a, modulo q.
        let (mut r, mut s) = (self.q, 0);
        let (mut u, mut t) = (self.residue(a), 1);
        while u != 0 {
            let quotient = r / u;
            (r, u) = (u, r % u);
            (s, t) = (t, self.sub(s, self.mul(self.residue(quotient), t)));
        }
        if r == 1 { Some(s) } else { None }
    }

    /// `a b 2^-128 mod q`, for a product below 2^128 q: one of the two must be below q.
    #[inline(always)]
    fn reduce_product(&self, a: u128, b: u128) -> u128 {
        let (high, low) = mul_wide(a, b);
        let m = low.wrapping_mul(self.q_inverse);
        // The low halves of a b and m q are equal, so only the high halves differ.
        self.sub_any(high, mul_wide(m, self.q).0)
    }

    /// `a - b`, plus q if that is negative. The difference must be at least -q and below q.
    #[inline(always)]
    fn sub_any(&self, a: u128, b: u128) -> u128 {
        let (difference, borrow) = sub_with_mask(a, b);
        difference.wrapping_add(self.q & borrow)
    }
}

/// `a - b` modulo 2^128, and a mask: all ones if the subtraction borrowed, else zero.
///
/// The compiler turns the flag of `overflowing_sub` into a branch, even through a mask or
/// [`select_unpredictable`](std::hint::select_unpredictable). Hence the assembly code, which
/// Miri does not interpret.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
fn sub_with_mask(a: u128, b: u128) -> (u128, u128) {
    let (mut low, mut high) = (a as u64, (a >> 64) as u64);
    let mask: i64;
    // SAFETY: the instructions change nothing but the operands and the flags.
    unsafe {
        std::arch::asm!(
            "sub {low}, {b_low}",
            "sbb {high}, {b_high}",
            "sbb {mask}, {mask}",
            low = inout(reg) low,
            high = inout(reg) high,
            mask = out(reg) mask,
            b_low = in(reg) b as u64,
            b_high = in(reg) (b >> 64) as u64,
            options(pure, nomem, nostack),
        );
    }
    (u128::from(high) << 64 | u128::from(low), i128::from(mask) as u128)
}

/// `a - b` modulo 2^128, and a mask: all ones if the subtraction borrowed, else zero.
#[cfg(any(not(target_arch = "x86_64"), miri))]
#[inline(always)]
fn sub_with_mask(a: u128, b: u128) -> (u128, u128) {
    let (difference, borrow) = a.overflowing_sub(b);
    (difference, u128::from(borrow).wrapping_neg())
}

/// The inverse of an odd `q` modulo 2^128, by Newton's iteration.
fn inverse_mod_2_128(q: u128) -> u128 {
    // q is its own inverse modulo 2^3; each step doubles the number of correct bits.
    let mut inverse = q;
    let mut bits = 3;
    while bits < 128 {
        inverse = inverse.wrapping_mul(2u128.wrapping_sub(q.wrapping_mul(inverse)));
        bits *= 2;
    }
    inverse
}

/// `a` if that is below `b`, else `a - b`.
#[inline(always)]
pub(crate) fn subtract_if_not_below(a: u128, b: u128) -> u128 {
    let (difference, borrow) = sub_with_mask(a, b);
    difference.wrapping_add(b & borrow)
}

/// The high half of the 256-bit product of `a` and `b`.
#[inline(always)]
pub(crate) fn mul_high(a: u128, b: u128) -> u128 {
    mul_wide(a, b).0
}

/// The 256-bit product of `a` and `b`, as its high and its low half.
#[inline(always)]
fn mul_wide(a: u128, b: u128) -> (u128, u128) {
    const LOW: u128 = u64::MAX as u128;
    let (a1, a0) = (a >> 64, a & LOW);
    let (b1, b0) = (b >> 64, b & LOW);
    let low = a0 * b0;
    // Neither sum overflows: (2^64 - 1)^2 + 2 (2^64 - 1) = 2^128 - 1.
    let middle = a1 * b0 + (low >> 64);
    let cross = a0 * b1 + (middle & LOW);
    let high = a1 * b1 + (middle >> 64) + (cross >> 64);
    (high, (cross << 64) | (low & LOW))
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;
    use proptest::prelude::*;

    /// Moduli at the edges: the smallest, the largest, primes and composites, around 2^64 and 2^127.
    const EDGES: [u128; 16] = [
        3,
        5,
        9,
        15,
        u64::MAX as u128 - 58,
        u64::MAX as u128,
        (1 << 64) + 1,
        (1 << 64) + 13,
        (1 << 127) - 1,
        (1 << 127) + 1,
        (1 << 127) + 29,
        0xaaaa_aaaa_aaaa_aaaa_aaaa_aaaa_aaaa_aaab,
        u128::MAX - 158,
        u128::MAX - 2,
        u128::MAX,
        (u64::MAX as u128) << 64 | 1,
    ];

    fn modulus(q: u128) -> Modulus {
        Modulus::new(q).expect("an odd modulus")
    }

    /// Compares every operation on `a` and `b` with num-bigint.
    fn check(q: u128, a: u128, b: u128) {
        let m = modulus(q);
        let (x, y, z) = (BigUint::from(a), BigUint::from(b), BigUint::from(q));
        assert_eq!(BigUint::from(m.add(a, b)), (&x + &y) % &z, "{a} + {b} mod {q}");
        assert_eq!(BigUint::from(m.sub(a, b)), (&x + &z - &y) % &z, "{a} - {b} mod {q}");
        assert_eq!(BigUint::from(m.neg(a)), (&z - &x) % &z, "-{a} mod {q}");
        assert_eq!(BigUint::from(m.mul(a, b)), (&x * &y) % &z, "{a} * {b} mod {q}");
        assert_eq!(m.mul_prepared(a, m.prepare(b)), m.mul(a, b), "{a} * prepared {b} mod {q}");
        assert_eq!(BigUint::from(m.pow(a, b)), x.modpow(&y, &z), "{a}^{b} mod {q}");
        assert_eq!(m.inverse(a).map(BigUint::from), x.modinv(&z), "{a}^-1 mod {q}");
    }

    #[test]
    fn edges_of_moduli_and_operands_agree_with_big_integers() {
        for q in EDGES {
            let operands = [0, 1, 2, q / 2, q / 2 + 1, q - 2, q - 1];
            for a in operands {
                for b in operands {
                    check(q, a, b);
                }
            }
        }
    }

    #[test]
    fn even_and_small_moduli_are_refused() {
        assert_eq!(Modulus::new(0), Err(ModulusError::TooSmall(0)));
        assert_eq!(Modulus::new(1), Err(ModulusError::TooSmall(1)));
        assert_eq!(Modulus::new(2), Err(ModulusError::TooSmall(2)));
        assert_eq!(Modulus::new(1 << 127), Err(ModulusError::Even(1 << 127)));
        assert_eq!(
            Modulus::new(4).unwrap_err().to_string(),
            "the modulus 0x4 is even, but Montgomery arithmetic needs an odd modulus"
        );
    }

    proptest! {
        #[test]
        fn random_operands_agree_with_big_integers(
            q in any::<u128>(), shift in 0u32..126, a in any::<u128>(), b in any::<u128>()
        ) {
            let q = (q >> shift | 1).max(3);
            check(q, a % q, b % q);
        }

        #[test]
        fn operands_near_the_modulus_agree_with_big_integers(
            edge in 0..EDGES.len(), a in 0u128..1000, b in 0u128..1000
        ) {
            let q = EDGES[edge];
            check(q, q - 1 - a % q, q - 1 - b % q);
        }
    }
}
