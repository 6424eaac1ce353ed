//! The product of two polynomials.
//!
//! It uses no transform: one product of two large integers contains every coefficient (Kronecker's
//! substitution).

use crate::arithmetic::{sub, words};
use crate::signature::settings::RING;
use crate::signature::{Operand, Signature};
#[cfg(test)]
use crate::tests::Case;
use crate::{GoldenError, Settings};
use num_bigint::BigUint;

pub(crate) const SIGNATURE: Signature = Signature {
    name: "polymul",
    definition: "c = a * b mod x^n + 1, in natural order",
    inputs: &[Operand::residues("a"), Operand::residues("b")],
    outputs: &[Operand::residues("c")],
    settings: RING,
    by_transforms: true,
};

pub(crate) fn evaluate(settings: &Settings<'_>, inputs: &[&[u128]]) -> Result<Vec<u128>, GoldenError> {
    Ok(words(product(inputs[0], inputs[1], &settings.number("modulus").into())))
}

/// The integers a(2^w) and b(2^w) are multiplied, with w so large that no coefficient of the
/// product a b overflows into the next.
fn product(a: &[u128], b: &[u128], q: &BigUint) -> Vec<BigUint> {
    let n = a.len();
    let bytes = (2 * q.bits() as usize + n.ilog2() as usize).div_ceil(8);
    let pack = |x: &[u128]| {
        let mut packed = vec![0; bytes * n];
        for (slot, value) in packed.chunks_exact_mut(bytes).zip(x) {
            let value = BigUint::from(*value).to_bytes_le();
            slot[..value.len()].copy_from_slice(&value);
        }
        BigUint::from_bytes_le(&packed)
    };
    let mut product = (pack(a) * pack(b)).to_bytes_le();
    product.resize(2 * n * bytes, 0);
    let (low, high) = product.split_at(n * bytes);
    let coefficient = |bytes: &[u8]| BigUint::from_bytes_le(bytes) % q;
    // x^n = -1.
    let pairs = low.chunks_exact(bytes).zip(high.chunks_exact(bytes));
    pairs.map(|(low, high)| sub(&coefficient(low), &coefficient(high), q)).collect()
}

#[cfg(test)]
pub(crate) fn textbook(case: &Case<'_>) -> Vec<u128> {
    let (n, q) = (case.n, case.q());
    case.each(|i| {
        let term = |j: usize| {
            let product = case.word(0, j) * case.word(1, (n + i - j) % n) % &q;
            if j <= i { product } else { &q - product }
        };
        (0..n).map(term).sum::<BigUint>()
    })
}

#[cfg(test)]
mod tests {
    use crate::POLYMUL;
    use crate::tests::Case;

    #[test]
    fn the_largest_coefficients_fit_the_product() {
        let claim = POLYMUL.in_ring(64, u128::MAX, 0);
        let x = vec![u128::MAX - 1; 64];
        let inputs = [&x[..], &x[..]];
        let expected = super::textbook(&Case::new(&claim, &inputs));
        assert_eq!(crate::evaluate(&claim, &inputs).unwrap(), [expected]);
    }
}
