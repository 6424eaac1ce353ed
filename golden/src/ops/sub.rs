//! The difference of two polynomials.

use crate::arithmetic::{coefficientwise, sub};
use crate::signature::settings::RING;
use crate::{Definition, GoldenError, Operand, SettingSpec, Settings};

/// c = a - b, coefficient by coefficient
#[derive(Clone, Copy, Debug)]
pub struct Sub;

const OPERANDS: &[Operand] = &[Operand::residues("a", "modulus"), Operand::residues("b", "modulus")];
const RESULT: &[Operand] = &[Operand::residues("c", "modulus")];

impl Definition for Sub {
    fn name(&self) -> &'static str {
        "sub"
    }

    fn definition(&self) -> &'static str {
        "c = a - b, coefficient by coefficient"
    }

    fn inputs(&self) -> &'static [Operand] {
        OPERANDS
    }

    fn outputs(&self) -> &'static [Operand] {
        RESULT
    }

    fn settings(&self) -> &'static [SettingSpec] {
        RING
    }

    fn evaluate(&self, settings: &Settings<'_>, inputs: &[&[u128]]) -> Result<Vec<Vec<u128>>, GoldenError> {
        Ok(coefficientwise(settings, inputs, |[a, b], q| sub(&a, &b, q)))
    }
}

#[cfg(test)]
impl crate::tests::Textbook for Sub {
    fn textbook(&self, case: &crate::tests::Case<'_>) -> Vec<u128> {
        case.each(|i| case.word(0, i) + case.q() - case.word(1, i))
    }
}
