//! Number theory for plans and tests: products, powers and primes of up to 128 bits.
//!
//! Written for clarity on `num-bigint`. It shares no code with the simulator or the kernels, so a
//! comparison with them is meaningful.

use crate::{Error, Word};
use num_bigint::BigUint;
use num_traits::ToPrimitive;

/// `a b mod q`, for any `q > 0`.
pub fn mul_mod(a: u128, b: u128, q: u128) -> u128 {
    if (a | b) >> 64 == 0 {
        return a * b % q;
    }
    reduce(&(BigUint::from(a) * b), q)
}

/// `x mod q`.
fn reduce(x: &BigUint, q: u128) -> u128 {
    (x % q).to_u128().expect("a remainder is below its 128-bit modulus")
}

/// `a 2^shift mod q`.
pub fn shift_mod(a: u128, shift: u32, q: u128) -> u128 {
    if shift <= a.leading_zeros() && shift < u128::BITS {
        return (a << shift) % q;
    }
    reduce(&(BigUint::from(a) << shift), q)
}

/// `floor(a 2^shift / q)`, which must fit in 128 bits.
pub(crate) fn shifted_quotient(a: u128, shift: u32, q: u128) -> u128 {
    if shift <= a.leading_zeros() && shift < u128::BITS {
        return (a << shift) / q;
    }
    ((BigUint::from(a) << shift) / q).to_u128().expect("the caller bounds the quotient")
}

/// `base^exponent mod q`.
pub fn pow_mod(base: u128, exponent: u128, q: u128) -> u128 {
    BigUint::from(base)
        .modpow(&BigUint::from(exponent), &BigUint::from(q))
        .to_u128()
        .expect("a power is below its 128-bit modulus")
}

/// `1/q mod 2^128`, for odd `q`. Each step of Newton's iteration doubles the number of correct
/// bits.
pub(crate) fn inverse_power_of_two(q: u128) -> u128 {
    (0..7).fold(q, |x, _| x.wrapping_mul(2u128.wrapping_sub(q.wrapping_mul(x))))
}

/// `index` with its lowest `bits` bits reversed.
pub fn bit_reverse(index: usize, bits: u32) -> usize {
    if bits == 0 { 0 } else { index.reverse_bits() >> (usize::BITS - bits) }
}

/// Returns true if `q` is prime, by the Miller-Rabin test with the first 24 primes as bases. The
/// answer is certain below 2^81. For the larger candidates of [`Modulus::find`], an error is less
/// likely than a hardware fault.
pub fn is_prime(q: u128) -> bool {
    const BASES: [u128; 24] =
        [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89];
    if q < 2 {
        return false;
    }
    if let Some(&p) = BASES.iter().find(|&&p| q.is_multiple_of(p)) {
        return q == p;
    }
    let twos = (q - 1).trailing_zeros();
    BASES.iter().all(|&base| {
        let mut x = pow_mod(base, (q - 1) >> twos, q);
        x == 1
            || (0..twos).any(|_| {
                let found = x == q - 1;
                x = mul_mod(x, x, q);
                found
            })
    })
}

/// A modulus with the root of unity for transforms of one size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Modulus<W> {
    q: W,
    root: W,
    n: usize,
}

impl<W: Word> Modulus<W> {
    /// Creates an odd modulus `q` with `root`, a root of `x^n + 1` (a primitive 2n-th root of unity
    /// if `q` is prime).
    ///
    /// # Errors
    /// Returns [`Error::Dimension`] if `n` is not a power of two, and [`Error::Modulus`] if `q` is even or
    /// below 3, or if `root^n != -1 mod q`.
    pub fn new(q: W, root: W, n: usize) -> Result<Self, Error> {
        let (wide_q, wide_root) = (q.widen(), root.widen());
        let fail = |reason: String| Err(Error::Modulus { q: wide_q, reason });
        if !n.is_power_of_two() {
            return Err(Error::Dimension { n, min: 1, max: 1 << 31 });
        }
        if wide_q < 3 || wide_q.is_multiple_of(2) {
            return fail("expected an odd number of at least 3".into());
        }
        if wide_root >= wide_q || pow_mod(wide_root, n as u128, wide_q) != wide_q - 1 {
            return fail(format!(
                "{wide_root} is not a root of x^{n} + 1; pass a primitive 2n-th root of unity"
            ));
        }
        Ok(Self { q, root, n })
    }

    /// Finds the largest prime below `2^bits` that is 1 modulo `2n`, with a primitive 2n-th root.
    /// `skip` skips that many of the largest primes, which gives distinct moduli.
    ///
    /// # Errors
    /// Returns [`Error::Modulus`] if no prime of that size fits the word.
    pub fn find(bits: u32, n: usize, skip: usize) -> Result<Self, Error> {
        if !(1..=W::BITS).contains(&bits) {
            let reason = format!("expected a length of 1 to {} bits, found {bits}", W::BITS);
            return Err(Error::Modulus { q: 0, reason });
        }
        Self::find_at_most(u128::MAX >> (128 - bits), n, skip)
    }

    /// As [`Self::find`], but the largest primes up to `largest` that are as long.
    ///
    /// # Errors
    /// Returns [`Error::Modulus`] if there is no such prime, or if it does not fit the word.
    pub fn find_at_most(largest: u128, n: usize, skip: usize) -> Result<Self, Error> {
        let (bits, step) = (128 - largest.leading_zeros(), 2 * n as u128);
        let none = |q| Error::Modulus {
            q,
            reason: format!("found no {bits}-bit prime that is 1 modulo {step} in words of {} bits", W::BITS),
        };
        if bits > W::BITS || bits < 3 || !n.is_power_of_two() || step >> (bits - 1) != 0 {
            return Err(none(0));
        }
        let highest = largest - (largest - 1) % step;
        let q = (0..)
            .map_while(|i| highest.checked_sub(i * step).filter(|q| q >> (bits - 1) != 0))
            .filter(|&q| is_prime(q))
            .nth(skip)
            .ok_or(none(largest))?;
        // x^((q-1)/2n) is a 2n-th root for every x, and primitive for every second x.
        let root = (2..)
            .map(|x| pow_mod(x, (q - 1) / step, q))
            .find(|&root| pow_mod(root, n as u128, q) == q - 1)
            .expect("a prime field has generators");
        Ok(Self { q: W::narrow(q), root: W::narrow(root), n })
    }

    /// The modulus.
    pub fn q(&self) -> W {
        self.q
    }

    /// The root of `x^n + 1`.
    pub fn root(&self) -> W {
        self.root
    }

    /// The ring dimension of the root.
    pub fn n(&self) -> usize {
        self.n
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn primes_below_a_thousand() {
        let by_division = |q: u128| q >= 2 && (2..q).take_while(|d| d * d <= q).all(|d| !q.is_multiple_of(d));
        assert!((0..1000).all(|q| is_prime(q) == by_division(q)));
        assert!(is_prime((1 << 127) - 1));
        assert!(!is_prime(((1 << 61) - 1) * ((1 << 31) - 1)));
    }

    #[test]
    fn found_moduli_have_their_size_and_root() {
        for bits in [20, 64, 127, 128] {
            for skip in 0..2 {
                let found = Modulus::<u128>::find(bits, 1 << 10, skip).unwrap();
                assert_eq!(128 - found.q().leading_zeros(), bits);
                assert_eq!(Modulus::new(found.q(), found.root(), 1 << 10), Ok(found));
            }
        }
        assert!(Modulus::<u32>::find(33, 1 << 10, 0).is_err());
        assert!(Modulus::<u32>::find(10, 1 << 10, 0).is_err());
    }

    #[test]
    fn products_and_inverses() {
        let q = u128::MAX - 172;
        assert_eq!(mul_mod(q - 1, q - 1, q), 1);
        assert_eq!(shift_mod(1, 128, q), 173);
        assert_eq!(inverse_power_of_two(q).wrapping_mul(q), 1);
        assert_eq!(shifted_quotient(5, 64, 3), (5 << 64) / 3);
    }

    #[test]
    fn bad_roots_are_refused() {
        assert!(matches!(Modulus::<u32>::new(17, 2, 8), Err(Error::Modulus { q: 17, .. })));
        assert!(Modulus::<u32>::new(17, 3, 8).is_ok());
        assert!(Modulus::<u32>::new(16, 3, 8).is_err());
    }
}
