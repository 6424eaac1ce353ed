//! A product plus a sum, coefficient by coefficient: a product of polynomials and a sum in
//! evaluation form, as key switching accumulates it.

use crate::arithmetic::coefficientwise;
use crate::signature::settings::RING;
use crate::signature::{Operand, Signature};
#[cfg(test)]
use crate::tests::Case;
use crate::{GoldenError, Settings};

pub(crate) const SIGNATURE: Signature = Signature {
    name: "mac",
    definition: "d = a * b + c, coefficient by coefficient",
    inputs: &[Operand::residues("a"), Operand::residues("b"), Operand::residues("c")],
    outputs: &[Operand::residues("d")],
    settings: RING,
    by_transforms: false,
};

pub(crate) fn evaluate(settings: &Settings<'_>, inputs: &[&[u128]]) -> Result<Vec<Vec<u128>>, GoldenError> {
    Ok(coefficientwise(settings, inputs, |[a, b, c], q| (a * b + c) % q))
}

#[cfg(test)]
pub(crate) fn textbook(case: &Case<'_>) -> Vec<u128> {
    case.each(|i| case.word(0, i) * case.word(1, i) % case.q() + case.word(2, i))
}
