//! The inverse negacyclic number-theoretic transform.

use crate::arithmetic::{big, words};
use crate::signature::settings::TRANSFORM;
use crate::signature::{Operand, Signature};
#[cfg(test)]
use crate::tests::Case;
use crate::transform::{Root, inverse};
use crate::{GoldenError, Settings};

pub(crate) const SIGNATURE: Signature = Signature {
    name: "intt",
    definition: "y = inverse transform of x: bit-reversed order in, natural out, scaled by 1/n",
    inputs: &[Operand::residues("x")],
    outputs: &[Operand::residues("y")],
    settings: TRANSFORM,
    by_transforms: true,
};

pub(crate) fn evaluate(settings: &Settings<'_>, inputs: &[&[u128]]) -> Result<Vec<u128>, GoldenError> {
    Ok(words(inverse(&big(inputs[0]), &Root::new(settings)?)))
}

#[cfg(test)]
pub(crate) fn textbook(case: &Case<'_>) -> Vec<u128> {
    let n = case.n;
    let scale = num_bigint::BigUint::from(n).modinv(&case.q()).unwrap();
    case.each(|i| (0..n).map(|k| case.word(0, k) * case.psi((2 * n - case.odd(k)) * i) * &scale).sum())
}
