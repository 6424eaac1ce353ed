//! Residues and vectors as big integers.

use crate::Settings;
use num_bigint::BigUint;

/// `values` as big integers.
pub(crate) fn big(values: &[u128]) -> Vec<BigUint> {
    values.iter().copied().map(BigUint::from).collect()
}

/// Residues of a modulus of at most 128 bits as words.
pub(crate) fn words(residues: Vec<BigUint>) -> Vec<u128> {
    residues.into_iter().map(|value| u128::try_from(value).expect("a residue below the modulus")).collect()
}

/// The one result `f(words of the operands, q)`, coefficient by coefficient.
pub(crate) fn coefficientwise<const N: usize>(
    settings: &Settings<'_>,
    inputs: &[&[u128]],
    f: impl Fn([BigUint; N], &BigUint) -> BigUint,
) -> Vec<u128> {
    let q = BigUint::from(settings.modulus());
    let operands = |i: usize| std::array::from_fn(|operand| BigUint::from(inputs[operand][i]));
    words((0..settings.degree()).map(|i| f(operands(i), &q)).collect())
}

/// `a + b mod q`, for residues.
pub(crate) fn add(a: &BigUint, b: &BigUint, q: &BigUint) -> BigUint {
    let rest = q - b;
    if *a >= rest { a - rest } else { a + b }
}

/// `a - b mod q`, for residues.
pub(crate) fn sub(a: &BigUint, b: &BigUint, q: &BigUint) -> BigUint {
    if a >= b { a - b } else { a + (q - b) }
}

/// The lowest `bits` bits of `value` in reverse order.
pub(crate) fn bit_reverse(value: usize, bits: u32) -> usize {
    (0..bits).fold(0, |reversed, bit| reversed << 1 | value >> bit & 1)
}

/// The value at index i moves to index `bit_reverse(i)`.
pub(crate) fn bit_reversed(values: &[BigUint]) -> Vec<BigUint> {
    let bits = values.len().ilog2();
    (0..values.len()).map(|i| values[bit_reverse(i, bits)].clone()).collect()
}
