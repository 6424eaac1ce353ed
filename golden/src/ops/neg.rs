//! The negative of a polynomial.

use crate::arithmetic::{coefficientwise, sub};
use crate::signature::settings::RING;
use crate::signature::{Operand, Signature};
#[cfg(test)]
use crate::tests::Case;
use crate::{GoldenError, Settings};
use num_bigint::BigUint;

pub(crate) const SIGNATURE: Signature = Signature {
    name: "neg",
    definition: "y = -x, coefficient by coefficient",
    inputs: &[Operand::residues("x")],
    outputs: &[Operand::residues("y")],
    settings: RING,
    by_transforms: false,
};

pub(crate) fn evaluate(settings: &Settings<'_>, inputs: &[&[u128]]) -> Result<Vec<Vec<u128>>, GoldenError> {
    Ok(coefficientwise(settings, inputs, |[x], q| sub(&BigUint::ZERO, &x, q) % q))
}

#[cfg(test)]
pub(crate) fn textbook(case: &Case<'_>) -> Vec<u128> {
    case.each(|i| case.q() - case.word(0, i))
}
