//! The division of a CKKS ciphertext by its last modulus, with rounding.

use crate::conversion::{Divisor, TO, TO_ROOTS, Variant, check_division, divide};
use crate::signature::settings::{LAST, LAST_ROOT, N};
use crate::{ClaimFault, Definition, GoldenError, Operand, SettingSpec, Settings};

/// y = round(X/s), where X is the integer with the residues x and p, in transforms.
#[derive(Clone, Copy, Debug)]
pub struct Rescale;

impl Definition for Rescale {
    fn name(&self) -> &'static str {
        "rescale"
    }

    fn definition(&self) -> &'static str {
        "y_j = (x_j - z_j)/s mod q_j, z = ntt(intt(p) centred); s = last: the division is rounded"
    }

    fn inputs(&self) -> &'static [Operand] {
        const { &[Operand::residues("x", "to"), Operand::residues("p", "last")] }
    }

    fn outputs(&self) -> &'static [Operand] {
        const { &[Operand::residues("y", "to")] }
    }

    fn settings(&self) -> &'static [SettingSpec] {
        const { &[N, LAST, LAST_ROOT, TO, TO_ROOTS] }
    }

    fn check(&self, settings: &Settings<'_>) -> Result<(), Vec<ClaimFault>> {
        check_division(settings, LAST.name, LAST_ROOT.name, 1)
    }

    fn evaluate(&self, settings: &Settings<'_>, inputs: &[&[u128]]) -> Result<Vec<Vec<u128>>, GoldenError> {
        let divisor = Divisor { moduli: LAST.name, roots: LAST_ROOT.name, variant: Variant::Centred };
        divide(settings, divisor, 1, inputs)
    }
}

#[cfg(test)]
impl crate::tests::Textbook for Rescale {
    fn textbook(&self, case: &crate::tests::Case<'_>) -> Vec<u128> {
        case.quotients("last", true)
    }
}
