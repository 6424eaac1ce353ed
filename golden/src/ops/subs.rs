//! The difference of a vector and a scalar.

use crate::arithmetic::{coefficientwise, sub};
use crate::signature::settings::SCALAR;
use crate::{Definition, GoldenError, Operand, SettingSpec, Settings};
use b512_asm::Setting;
use num_bigint::BigUint;

/// y = x - k, coefficient by coefficient.
#[derive(Clone, Copy, Debug)]
pub struct Subs;

impl Definition for Subs {
    fn name(&self) -> &'static str {
        "subs"
    }

    fn definition(&self) -> &'static str {
        "y = x - k with the scalar k = by, coefficient by coefficient"
    }

    fn inputs(&self) -> &'static [Operand] {
        const { &[Operand::residues("x", "modulus")] }
    }

    fn outputs(&self) -> &'static [Operand] {
        const { &[Operand::residues("y", "modulus")] }
    }

    fn settings(&self) -> &'static [SettingSpec] {
        SCALAR
    }

    fn examples(&self) -> Vec<(String, Setting)> {
        vec![("by".to_owned(), Setting::Number(u128::MAX / 3))]
    }

    fn evaluate(&self, settings: &Settings<'_>, inputs: &[&[u128]]) -> Result<Vec<Vec<u128>>, GoldenError> {
        let by = BigUint::from(settings.number("by"));
        Ok(coefficientwise(settings, inputs, |[x], q| sub(&x, &(&by % q), q)))
    }
}

#[cfg(test)]
impl crate::tests::Textbook for Subs {
    fn textbook(&self, case: &crate::tests::Case<'_>) -> Vec<u128> {
        case.each(|i| case.word(0, i) + (case.q() - case.by() % case.q()))
    }
}
