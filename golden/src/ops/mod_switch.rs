//! The division of a BGV ciphertext by its last modulus, which keeps the plaintext up to a factor.

use crate::conversion::{Divisor, T, TO, TO_ROOTS, Variant, check_division, divide};
use crate::signature::settings::{LAST, LAST_ROOT, N};
use crate::{ClaimFault, Definition, GoldenError, Operand, SettingSpec, Settings};
use b512_asm::Setting;

/// y_j = (x_j - t z_j)/s, with z = p/t mod s centred, in transforms: s y = X mod t.
#[derive(Clone, Copy, Debug)]
pub struct ModSwitch;

impl Definition for ModSwitch {
    fn name(&self) -> &'static str {
        "mod_switch"
    }

    fn definition(&self) -> &'static str {
        "y_j = (x_j - t z_j)/s mod q_j, z = ntt(intt(p)/t centred); s = last: s y is x modulo t"
    }

    fn inputs(&self) -> &'static [Operand] {
        const { &[Operand::residues("x", "to"), Operand::residues("p", "last")] }
    }

    fn outputs(&self) -> &'static [Operand] {
        const { &[Operand::residues("y", "to")] }
    }

    fn settings(&self) -> &'static [SettingSpec] {
        const { &[N, LAST, LAST_ROOT, TO, TO_ROOTS, T] }
    }

    fn examples(&self) -> Vec<(String, Setting)> {
        vec![("t".to_owned(), Setting::Number(65537))]
    }

    fn check(&self, settings: &Settings<'_>) -> Result<(), Vec<ClaimFault>> {
        check_division(settings, LAST.name, LAST_ROOT.name, settings.number("t"))
    }

    fn evaluate(&self, settings: &Settings<'_>, inputs: &[&[u128]]) -> Result<Vec<Vec<u128>>, GoldenError> {
        let divisor = Divisor { moduli: LAST.name, roots: LAST_ROOT.name, variant: Variant::Centred };
        divide(settings, divisor, settings.number("t"), inputs)
    }
}

#[cfg(test)]
impl crate::tests::Textbook for ModSwitch {
    fn textbook(&self, case: &crate::tests::Case<'_>) -> Vec<u128> {
        case.quotients("last", true)
    }
}
