//! The product of two vectors.

use crate::arithmetic::coefficientwise;
use crate::signature::settings::RING;
use crate::signature::{Operand, Signature};
#[cfg(test)]
use crate::tests::Case;
use crate::{GoldenError, Settings};

pub(crate) const SIGNATURE: Signature = Signature {
    name: "mul",
    definition: "c = a * b, coefficient by coefficient",
    inputs: &[Operand::residues("a"), Operand::residues("b")],
    outputs: &[Operand::residues("c")],
    settings: RING,
    by_transforms: false,
};

pub(crate) fn evaluate(settings: &Settings<'_>, inputs: &[&[u128]]) -> Result<Vec<Vec<u128>>, GoldenError> {
    Ok(coefficientwise(settings, inputs, |[a, b], q| a * b % q))
}

#[cfg(test)]
pub(crate) fn textbook(case: &Case<'_>) -> Vec<u128> {
    case.each(|i| case.word(0, i) * case.word(1, i))
}
