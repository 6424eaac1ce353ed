//! The forward negacyclic number-theoretic transform.

use crate::arithmetic::{big, words};
use crate::signature::settings::TRANSFORM;
use crate::signature::{Operand, Signature};
#[cfg(test)]
use crate::tests::Case;
use crate::transform::{Root, forward};
use crate::{GoldenError, Settings};

pub(crate) const SIGNATURE: Signature = Signature {
    name: "ntt",
    definition: "y = forward transform of x: natural order in, bit-reversed out, no scaling",
    inputs: &[Operand::residues("x")],
    outputs: &[Operand::residues("y")],
    settings: TRANSFORM,
    by_transforms: true,
};

/// `y[i] = x(psi^(2 bitrev(i) + 1))`.
pub(crate) fn evaluate(settings: &Settings<'_>, inputs: &[&[u128]]) -> Result<Vec<u128>, GoldenError> {
    Ok(words(forward(&big(inputs[0]), &Root::new(settings)?)))
}

#[cfg(test)]
pub(crate) fn textbook(case: &Case<'_>) -> Vec<u128> {
    case.each(|i| (0..case.n).map(|j| case.word(0, j) * case.psi(case.odd(i) * j)).sum())
}
