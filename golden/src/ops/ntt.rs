//! The forward negacyclic number-theoretic transform.

use crate::arithmetic::{big, bit_reversed, words};
use crate::signature::settings::TRANSFORM;
use crate::transform::{self, Root, cyclic};
use crate::{ClaimFault, Definition, GoldenError, Operand, SettingSpec, Settings};
use num_bigint::BigUint;

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

/// As psi^((2k + 1) j) = psi^j (psi^2)^(jk), the cyclic transform of `x[j] psi^j` with the root
/// psi^2, in bit-reversed order.
fn forward(x: &[BigUint], root: &Root) -> Vec<BigUint> {
    let powers = root.powers();
    let twisted: Vec<BigUint> = x.iter().zip(&powers).map(|(x, power)| x * power % &root.q).collect();
    bit_reversed(&cyclic(&twisted, 1, &powers, &root.q))
}

#[cfg(test)]
impl crate::tests::Textbook for Ntt {
    fn textbook(&self, case: &crate::tests::Case<'_>) -> Vec<u128> {
        case.each(|i| (0..case.n).map(|j| case.word(0, j) * case.psi(case.odd(i) * j)).sum())
    }
}
