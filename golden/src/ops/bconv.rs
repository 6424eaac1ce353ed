//! The fast conversion of coefficients from one residue number system to another.

use crate::arithmetic::{big, words};
use crate::conversion::{FROM, System, TO, VARIANT, Variant, check_coprime, check_variant, reduce};
use crate::signature::settings::N;
use crate::{ClaimFault, Definition, GoldenError, Operand, SettingSpec, Settings};
use b512_asm::Setting;
use num_bigint::BigUint;

/// y_j = x + u S mod q_j, with S the product of the source's moduli.
///
/// The integer x + u S is the sum of [x_i (S/s_i)^-1 mod s_i] S/s_i. It is the same for all results.
#[derive(Clone, Copy, Debug)]
pub struct Bconv;

impl Definition for Bconv {
    fn name(&self) -> &'static str {
        "bconv"
    }

    fn definition(&self) -> &'static str {
        "y_j = sum of [x_i (S/s_i)^-1 mod s_i] S/s_i mod q_j, coefficient by coefficient; S = product of from"
    }

    fn inputs(&self) -> &'static [Operand] {
        const { &[Operand::residues("x", "from")] }
    }

    fn outputs(&self) -> &'static [Operand] {
        const { &[Operand::residues("y", "to")] }
    }

    fn settings(&self) -> &'static [SettingSpec] {
        const { &[N, FROM, TO, VARIANT] }
    }

    fn examples(&self) -> Vec<(String, Setting)> {
        vec![("variant".to_owned(), Setting::Word("plain".to_owned()))]
    }

    fn check(&self, settings: &Settings<'_>) -> Result<(), Vec<ClaimFault>> {
        let mut faults = check_coprime(settings, FROM.name, &[]);
        faults.extend(check_variant(settings));
        if faults.is_empty() { Ok(()) } else { Err(faults) }
    }

    fn evaluate(&self, settings: &Settings<'_>, inputs: &[&[u128]]) -> Result<Vec<Vec<u128>>, GoldenError> {
        let residues: Vec<Vec<BigUint>> = inputs.iter().map(|input| big(input)).collect();
        let integers = System::new(settings.numbers(FROM.name)).overflowing(&residues, Variant::of(settings));
        let moduli = big(settings.numbers(TO.name));
        Ok(moduli.iter().map(|q| words(reduce(&integers, q))).collect())
    }
}

#[cfg(test)]
impl crate::tests::Textbook for Bconv {
    /// The integer x by the Chinese remainder theorem, and u = floor(sum of y_i / s_i).
    fn textbook(&self, case: &crate::tests::Case<'_>) -> Vec<u128> {
        let from = case.list("from");
        case.each_of("to", |i| {
            case.overflowing(&(0..from.len()).map(|k| case.word(k, i)).collect::<Vec<_>>(), &from)
        })
    }
}
