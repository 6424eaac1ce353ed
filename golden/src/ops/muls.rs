//! The product of a vector and a scalar.
//!
//! The words of the vector may be any words, for instance residues of another modulus. A
//! multiplication by one reduces them.

use crate::arithmetic::coefficientwise;
use crate::signature::settings::SCALAR;
use crate::{Definition, GoldenError, Operand, SettingSpec, Settings};
use b512_asm::Setting;
use num_bigint::BigUint;

/// y = x * k, coefficient by coefficient.
#[derive(Clone, Copy, Debug)]
pub struct Muls;

impl Definition for Muls {
    fn name(&self) -> &'static str {
        "muls"
    }

    fn definition(&self) -> &'static str {
        "y = x * k with the scalar k = by, coefficient by coefficient; x may have any words"
    }

    fn inputs(&self) -> &'static [Operand] {
        const { &[Operand::words("x", "modulus")] }
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
        Ok(coefficientwise(settings, inputs, |[x], q| x * &by % q))
    }
}

#[cfg(test)]
impl crate::tests::Textbook for Muls {
    fn textbook(&self, case: &crate::tests::Case<'_>) -> Vec<u128> {
        case.each(|i| case.word(0, i) * case.by())
    }
}
