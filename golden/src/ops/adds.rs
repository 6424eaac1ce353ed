//! The sum of a vector and a scalar.

use crate::arithmetic::coefficientwise;
use crate::signature::settings::SCALAR;
use crate::signature::{Operand, Signature};
#[cfg(test)]
use crate::tests::Case;
use crate::{GoldenError, Settings};
use num_bigint::BigUint;

pub(crate) const SIGNATURE: Signature = Signature {
    name: "adds",
    definition: "y = x + k with the scalar k = by, coefficient by coefficient",
    inputs: &[Operand::residues("x")],
    outputs: &[Operand::residues("y")],
    settings: SCALAR,
    by_transforms: false,
};

pub(crate) fn evaluate(settings: &Settings<'_>, inputs: &[&[u128]]) -> Result<Vec<Vec<u128>>, GoldenError> {
    let by = BigUint::from(settings.number("by"));
    Ok(coefficientwise(settings, inputs, |[x], q| (x + &by) % q))
}

#[cfg(test)]
pub(crate) fn textbook(case: &Case<'_>) -> Vec<u128> {
    case.each(|i| case.word(0, i) + case.by())
}
