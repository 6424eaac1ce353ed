//! The inner product of key switching: digits of a polynomial with the two parts of a key.

use crate::arithmetic::{big, words};
use crate::signature::settings::{MODULUS, N};
use crate::{Definition, GoldenError, Kind, Operand, SettingSpec, Settings};
use b512_asm::Setting;
use num_bigint::BigUint;

/// u = sum of d_j * b_j, v = sum of d_j * a_j, coefficient by coefficient.
#[derive(Clone, Copy, Debug)]
pub struct KsInnerProduct;

const DIGITS: SettingSpec = SettingSpec { name: "digits", kind: Kind::Number, doc: "number of digits" };

impl Definition for KsInnerProduct {
    fn name(&self) -> &'static str {
        "ks_inner_product"
    }

    fn definition(&self) -> &'static str {
        "u = sum of d_j * b_j and v = sum of d_j * a_j over the digits j, coefficient by coefficient"
    }

    fn inputs(&self) -> &'static [Operand] {
        const {
            &[
                Operand::residues("d", "modulus").times("digits"),
                Operand::residues("b", "modulus").times("digits"),
                Operand::residues("a", "modulus").times("digits"),
            ]
        }
    }

    fn outputs(&self) -> &'static [Operand] {
        const { &[Operand::residues("u", "modulus"), Operand::residues("v", "modulus")] }
    }

    fn settings(&self) -> &'static [SettingSpec] {
        const { &[N, MODULUS, DIGITS] }
    }

    fn examples(&self) -> Vec<(String, Setting)> {
        vec![("digits".to_owned(), Setting::Number(3))]
    }

    fn evaluate(&self, settings: &Settings<'_>, inputs: &[&[u128]]) -> Result<Vec<Vec<u128>>, GoldenError> {
        let q = BigUint::from(settings.number("modulus"));
        let inputs: Vec<Vec<BigUint>> = inputs.iter().map(|input| big(input)).collect();
        let (digits, keys) = inputs.split_at(settings.number("digits") as usize);
        let sum = |key: &[Vec<BigUint>]| {
            let of = |i: usize| digits.iter().zip(key).map(|(d, k)| &d[i] * &k[i]).sum::<BigUint>() % &q;
            words((0..settings.degree()).map(of).collect())
        };
        Ok(keys.chunks(digits.len()).map(sum).collect())
    }
}

#[cfg(test)]
impl crate::tests::Textbook for KsInnerProduct {
    fn textbook(&self, case: &crate::tests::Case<'_>) -> Vec<u128> {
        let digits = case.claim.number("digits").unwrap() as usize;
        let sum = |part: usize, i| {
            (0..digits).fold(BigUint::ZERO, |sum, j| {
                (sum + case.word(j, i) * case.word(part * digits + j, i)) % case.q()
            })
        };
        [1, 2].into_iter().flat_map(|part| case.each(|i| sum(part, i))).collect()
    }
}
