//! A product plus a sum, coefficient by coefficient: a product of polynomials and a sum in
//! evaluation form, as key switching accumulates it.

use crate::arithmetic::coefficientwise;
use crate::signature::settings::RING;
use crate::{Definition, GoldenError, Operand, SettingSpec, Settings};

/// d = a * b + c, coefficient by coefficient.
#[derive(Clone, Copy, Debug)]
pub struct Mac;

impl Definition for Mac {
    fn name(&self) -> &'static str {
        "mac"
    }

    fn definition(&self) -> &'static str {
        "d = a * b + c, coefficient by coefficient"
    }

    fn inputs(&self) -> &'static [Operand] {
        const {
            &[
                Operand::residues("a", "modulus"),
                Operand::residues("b", "modulus"),
                Operand::residues("c", "modulus"),
            ]
        }
    }

    fn outputs(&self) -> &'static [Operand] {
        const { &[Operand::residues("d", "modulus")] }
    }

    fn settings(&self) -> &'static [SettingSpec] {
        RING
    }

    fn evaluate(&self, settings: &Settings<'_>, inputs: &[&[u128]]) -> Result<Vec<Vec<u128>>, GoldenError> {
        Ok(coefficientwise(settings, inputs, |[a, b, c], q| (a * b + c) % q))
    }
}

#[cfg(test)]
impl crate::tests::Textbook for Mac {
    fn textbook(&self, case: &crate::tests::Case<'_>) -> Vec<u128> {
        case.each(|i| case.word(0, i) * case.word(1, i) % case.q() + case.word(2, i))
    }
}
