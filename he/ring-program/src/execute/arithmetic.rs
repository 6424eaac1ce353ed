//! Exact arithmetic modulo numbers of up to 128 bits, as in textbooks: products by halves of words,
//! residues by long division (Knuth, The Art of Computer Programming 2, 4.3.1, algorithm D).
//!
//! The tests compare it with [`num_bigint`]. It has nothing in common with the arithmetic of `ring`,
//! which is Montgomery's.

use num_bigint::BigUint;

/// Integers modulo q.
#[derive(Clone, Debug)]
pub(super) struct Integers {
    q: u128,
}

impl Integers {
    pub(super) fn modulo(q: u128) -> Self {
        Self { q }
    }

    pub(super) fn q(&self) -> u128 {
        self.q
    }

    /// `a + b`, for residues: their sum may need 129 bits, `a - (q - b)` does not.
    pub(super) fn add(&self, a: u128, b: u128) -> u128 {
        self.sub(a, self.q - b)
    }

    /// `a - b`, for a residue and a number of at most q. The sign of the difference of random residues is
    /// hard to predict, so that a selected addend takes half as long as a branch.
    pub(super) fn sub(&self, a: u128, b: u128) -> u128 {
        let (difference, is_negative) = a.overflowing_sub(b);
        difference.wrapping_add(if is_negative { self.q } else { 0 })
    }

    /// `a b`, for any words.
    pub(super) fn mul(&self, a: u128, b: u128) -> u128 {
        match a.checked_mul(b) {
            Some(product) => product % self.q,
            None if self.q <= u128::from(u64::MAX) => (a % self.q) * (b % self.q) % self.q,
            None => {
                let (high, low) = product(a, b % self.q);
                remainder(high, low, self.q)
            }
        }
    }

    /// `base^exponent`.
    pub(super) fn pow(&self, base: u128, exponent: u128) -> u128 {
        let power = BigUint::from(base).modpow(&exponent.into(), &self.q.into());
        u128::try_from(power).expect("a residue below the modulus")
    }
}

/// The high and the low half of a word.
fn halves(word: u128) -> (u128, u128) {
    (word >> 64, word & u128::from(u64::MAX))
}

/// The product of two words, as its high and its low word.
fn product(a: u128, b: u128) -> (u128, u128) {
    let ((a1, a0), (b1, b0)) = (halves(a), halves(b));
    let (carry, lowest) = halves(a0 * b0);
    // At most (2^64 - 1)^2 + 2^64 - 1, and then the same again: below 2^128.
    let (high, middle) = halves(a1 * b0 + carry);
    let (carry, middle) = halves(a0 * b1 + middle);
    (a1 * b1 + high + carry, middle << 64 | lowest)
}

/// The remainder of `high` 2^128 + `low` by q, for `high` < q and q > 2^64.
fn remainder(high: u128, low: u128, q: u128) -> u128 {
    // The divisor begins with a one bit; the dividend moves with it.
    let shift = q.leading_zeros();
    let divisor = q << shift;
    let high = high << shift | low.checked_shr(128 - shift).unwrap_or(0);
    let (digit1, digit0) = halves(low << shift);
    let rest = divide_digit(high, digit1, divisor);
    divide_digit(rest, digit0, divisor) >> shift
}

/// The remainder of `rest` 2^64 + `digit` by the divisor, for `rest` < divisor, a digit of 64 bits,
/// and a divisor that begins with a one bit.
fn divide_digit(rest: u128, digit: u128, divisor: u128) -> u128 {
    let (d1, d0) = halves(divisor);
    // The digit of the quotient from the leading half of the divisor: too large by at most 2.
    let (mut quotient, mut left) = (rest / d1, rest % d1);
    while quotient >> 64 != 0 || quotient * d0 > (left << 64 | digit) {
        quotient -= 1;
        left += d1;
        if left >> 64 != 0 {
            break;
        }
    }
    // Exact modulo 2^128, and the result is below the divisor.
    (rest << 64 | digit).wrapping_sub(quotient.wrapping_mul(divisor))
}

/// The lowest `bits` bits of `value` in reverse order.
pub(super) fn bit_reverse(value: usize, bits: u32) -> usize {
    (0..bits).fold(0, |reversed, bit| reversed << 1 | value >> bit & 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(q: u128, a: u128, b: u128) {
        let ring = Integers::modulo(q);
        let big = BigUint::from;
        let word = |value: BigUint| u128::try_from(value % q).unwrap();
        assert_eq!(ring.mul(a, b), word(big(a) * b), "{a:#x} * {b:#x} mod {q:#x}");
        let (a, b) = (a % q, b % q);
        assert_eq!(ring.add(a, b), word(big(a) + b), "{a:#x} + {b:#x} mod {q:#x}");
        assert_eq!(ring.sub(a, b), word(big(a) + (q - b)), "{a:#x} - {b:#x} mod {q:#x}");
    }

    /// Words at which a digit of a quotient, a carry or a shift is extreme.
    fn extremes() -> Vec<u128> {
        let near = |power: u32| {
            let word = 1u128 << power;
            [word - 1, word, word + 1]
        };
        let mut words: Vec<u128> = [1, 2, 32, 63, 64, 65, 96, 126, 127].into_iter().flat_map(near).collect();
        words.extend([u128::MAX, u128::MAX - 1, u128::MAX << 64, (u128::MAX << 64) - 1, 3 << 126, 0]);
        words
    }

    #[test]
    fn extreme_words_give_exact_results() {
        let words = extremes();
        for &q in words.iter().filter(|&&q| q > 0) {
            words.iter().for_each(|&a| words.iter().for_each(|&b| check(q, a, b)));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn random_words_give_exact_results(
            q in 1u128.., a: u128, b: u128, bits in (0..128u32, 0..128u32, 0..128u32)
        ) {
            let q = q >> bits.0;
            check(q.max(1), a >> bits.1, b >> bits.2);
            check(q.max(1), u128::MAX << bits.1, u128::MAX >> bits.2);
        }
    }
}
