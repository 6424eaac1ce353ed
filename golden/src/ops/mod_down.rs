//! The division of values by the special moduli of key switching.

use crate::conversion::{Divisor, FROM, FROM_ROOTS, T, TO, TO_ROOTS, Variant, check_division, divide};
use crate::signature::settings::N;
use crate::{ClaimFault, Definition, GoldenError, Operand, SettingSpec, Settings};
use b512_asm::Setting;

/// y_j = (x_j - t z_j)/S, with z the fast conversion of p/t, in transforms.
///
/// The result is floor(X/S) - u for t = 1, where X is the integer with the residues x and p, and u is the
/// overflow of the conversion. If `from` contains the last modulus of the ciphertext beside the special
/// ones, the rescaling is part of the division.
#[derive(Clone, Copy, Debug)]
pub struct ModDown;

impl Definition for ModDown {
    fn name(&self) -> &'static str {
        "mod_down"
    }

    fn definition(&self) -> &'static str {
        "y_j = (x_j - t z_j)/S mod q_j, z = ntt(bconv(intt(p)/t)) with plain residues; S = product of from"
    }

    fn inputs(&self) -> &'static [Operand] {
        const { &[Operand::residues("x", "to"), Operand::residues("p", "from")] }
    }

    fn outputs(&self) -> &'static [Operand] {
        const { &[Operand::residues("y", "to")] }
    }

    fn settings(&self) -> &'static [SettingSpec] {
        const { &[N, FROM, FROM_ROOTS, TO, TO_ROOTS, T] }
    }

    fn examples(&self) -> Vec<(String, Setting)> {
        vec![("t".to_owned(), Setting::Number(1))]
    }

    fn check(&self, settings: &Settings<'_>) -> Result<(), Vec<ClaimFault>> {
        check_division(settings, FROM.name, FROM_ROOTS.name, settings.number("t"))
    }

    fn evaluate(&self, settings: &Settings<'_>, inputs: &[&[u128]]) -> Result<Vec<Vec<u128>>, GoldenError> {
        let divisor = Divisor { moduli: FROM.name, roots: FROM_ROOTS.name, variant: Variant::Plain };
        divide(settings, divisor, settings.number("t"), inputs)
    }
}

#[cfg(test)]
impl crate::tests::Textbook for ModDown {
    fn textbook(&self, case: &crate::tests::Case<'_>) -> Vec<u128> {
        case.quotients("from", false)
    }
}
