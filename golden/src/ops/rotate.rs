//! The cyclic rotation of a vector: no operation of the ring, but of the list of coefficients.

use crate::signature::settings::{MODULUS, N};
use crate::signature::{Kind, Operand, SettingSpec, Signature};
#[cfg(test)]
use crate::tests::Case;
use crate::{GoldenError, Settings};

const BY: SettingSpec = SettingSpec { name: "by", kind: Kind::Number, doc: "places k, taken modulo n" };

pub(crate) const SIGNATURE: Signature = Signature {
    name: "rotate",
    definition: "y[i] = x[(i + k) mod n] with k = by: coefficients move down by k places, cyclically",
    inputs: &[Operand::residues("x")],
    outputs: &[Operand::residues("y")],
    settings: &[N, MODULUS, BY],
    by_transforms: false,
};

pub(crate) fn evaluate(settings: &Settings<'_>, inputs: &[&[u128]]) -> Result<Vec<u128>, GoldenError> {
    let mut y = inputs[0].to_vec();
    let places = settings.number("by") % y.len() as u128;
    y.rotate_left(places as usize);
    Ok(y)
}

#[cfg(test)]
pub(crate) fn textbook(case: &Case<'_>) -> Vec<u128> {
    let places = usize::try_from(case.setting("by") % case.n).unwrap();
    case.each(|i| case.word(0, (i + places) % case.n))
}
