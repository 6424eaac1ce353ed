//! The forward negacyclic number-theoretic transform.

use crate::arithmetic::{big, words};
use crate::signature::settings::TRANSFORM;
use crate::transform::{self, Root, forward};
use crate::{ClaimFault, Definition, GoldenError, Operand, SettingSpec, Settings};

/// `y[i] = x(psi^(2 bitrev(i) + 1))`: natural order in, bit-reversed order out, no scaling.
#[derive(Clone, Copy, Debug)]
pub struct Ntt;

impl Definition for Ntt {
    fn name(&self) -> &'static str {
        "ntt"
    }

    fn definition(&self) -> &'static str {
        "y = forward transform of x: natural order in, bit-reversed out, no scaling"
    }

    fn inputs(&self) -> &'static [Operand] {
        const { &[Operand::residues("x", "modulus")] }
    }

    fn outputs(&self) -> &'static [Operand] {
        const { &[Operand::residues("y", "modulus")] }
    }

    fn settings(&self) -> &'static [SettingSpec] {
        TRANSFORM
    }

    fn check(&self, settings: &Settings<'_>) -> Result<(), Vec<ClaimFault>> {
        transform::check(settings)
    }

    fn evaluate(&self, settings: &Settings<'_>, inputs: &[&[u128]]) -> Result<Vec<Vec<u128>>, GoldenError> {
        Ok(vec![words(forward(&big(inputs[0]), &Root::new(settings)?))])
    }
}

#[cfg(test)]
impl crate::tests::Textbook for Ntt {
    fn textbook(&self, case: &crate::tests::Case<'_>) -> Vec<u128> {
        case.each(|i| (0..case.n).map(|j| case.word(0, j) * case.psi(case.odd(i) * j)).sum())
    }
}
