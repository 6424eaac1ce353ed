//! The inverse negacyclic number-theoretic transform.

use crate::arithmetic::{big, words};
use crate::signature::settings::TRANSFORM;
use crate::transform::{self, Root, inverse};
use crate::{ClaimFault, Definition, GoldenError, Operand, SettingSpec, Settings};

/// The inverse of [`Ntt`](super::ntt::Ntt): bit-reversed order in, natural order out, scaled by 1/n.
#[derive(Clone, Copy, Debug)]
pub struct Intt;

impl Definition for Intt {
    fn name(&self) -> &'static str {
        "intt"
    }

    fn definition(&self) -> &'static str {
        "y = inverse transform of x: bit-reversed order in, natural out, scaled by 1/n"
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
        Ok(vec![words(inverse(&big(inputs[0]), &Root::new(settings)?))])
    }
}

#[cfg(test)]
impl crate::tests::Textbook for Intt {
    fn textbook(&self, case: &crate::tests::Case<'_>) -> Vec<u128> {
        let n = case.n;
        let scale = num_bigint::BigUint::from(n).modinv(&case.q()).unwrap();
        case.each(|i| (0..n).map(|k| case.word(0, k) * case.psi((2 * n - case.odd(k)) * i) * &scale).sum())
    }
}
