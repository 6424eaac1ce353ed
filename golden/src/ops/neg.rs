//! The negative of a polynomial.

use crate::arithmetic::{coefficientwise, sub};
use crate::signature::settings::RING;
use crate::{Definition, GoldenError, Operand, SettingSpec, Settings};
use num_bigint::BigUint;

/// y = -x, coefficient by coefficient.
#[derive(Clone, Copy, Debug)]
pub struct Neg;

impl Definition for Neg {
    fn name(&self) -> &'static str {
        "neg"
    }

    fn definition(&self) -> &'static str {
        "y = -x, coefficient by coefficient"
    }

    fn inputs(&self) -> &'static [Operand] {
        const { &[Operand::residues("x", "modulus")] }
    }

    fn outputs(&self) -> &'static [Operand] {
        const { &[Operand::residues("y", "modulus")] }
    }

    fn settings(&self) -> &'static [SettingSpec] {
        RING
    }

    fn evaluate(&self, settings: &Settings<'_>, inputs: &[&[u128]]) -> Result<Vec<Vec<u128>>, GoldenError> {
        Ok(coefficientwise(settings, inputs, |[x], q| sub(&BigUint::ZERO, &x, q) % q))
    }
}

#[cfg(test)]
impl crate::tests::Textbook for Neg {
    fn textbook(&self, case: &crate::tests::Case<'_>) -> Vec<u128> {
        case.each(|i| case.q() - case.word(0, i))
    }
}
