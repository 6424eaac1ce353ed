//! The tensor product of two ciphertexts of two polynomials each, in evaluation form.

use crate::arithmetic::{big, words};
use crate::signature::settings::RING;
use crate::{Definition, GoldenError, Operand, SettingSpec, Settings};
use num_bigint::BigUint;

/// c0 = a0 * b0, c1 = a0 * b1 + a1 * b0, c2 = a1 * b1, coefficient by coefficient.
#[derive(Clone, Copy, Debug)]
pub struct Tensor;

impl Definition for Tensor {
    fn name(&self) -> &'static str {
        "tensor"
    }

    fn definition(&self) -> &'static str {
        "c0 = a0 * b0, c1 = a0 * b1 + a1 * b0, c2 = a1 * b1, coefficient by coefficient"
    }

    fn inputs(&self) -> &'static [Operand] {
        const {
            &[
                Operand::residues("a0", "modulus"),
                Operand::residues("a1", "modulus"),
                Operand::residues("b0", "modulus"),
                Operand::residues("b1", "modulus"),
            ]
        }
    }

    fn outputs(&self) -> &'static [Operand] {
        const {
            &[
                Operand::residues("c0", "modulus"),
                Operand::residues("c1", "modulus"),
                Operand::residues("c2", "modulus"),
            ]
        }
    }

    fn settings(&self) -> &'static [SettingSpec] {
        RING
    }

    fn evaluate(&self, settings: &Settings<'_>, inputs: &[&[u128]]) -> Result<Vec<Vec<u128>>, GoldenError> {
        let q = BigUint::from(settings.number("modulus"));
        let [a0, a1, b0, b1] = [0, 1, 2, 3].map(|operand| big(inputs[operand]));
        let each = |f: &dyn Fn(usize) -> BigUint| words((0..a0.len()).map(|i| f(i) % &q).collect());
        Ok(vec![
            each(&|i| &a0[i] * &b0[i]),
            each(&|i| &a0[i] * &b1[i] + &a1[i] * &b0[i]),
            each(&|i| &a1[i] * &b1[i]),
        ])
    }
}

#[cfg(test)]
impl crate::tests::Textbook for Tensor {
    /// The coefficients of (a0 + a1 s)(b0 + b1 s) as a polynomial in s.
    fn textbook(&self, case: &crate::tests::Case<'_>) -> Vec<u128> {
        let product = |i, power: usize| {
            let terms = (0..2).flat_map(|j| (0..2).map(move |k| (j, k))).filter(|(j, k)| j + k == power);
            terms.map(|(j, k)| case.word(j, i) * case.word(2 + k, i)).sum::<BigUint>()
        };
        (0..3).flat_map(|power| case.each(|i| product(i, power))).collect()
    }
}
