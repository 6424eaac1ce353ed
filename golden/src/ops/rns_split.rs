//! The residues of an integer that is given by digits.

use crate::arithmetic::{big, words};
use crate::conversion::{FROM, TO};
use crate::signature::settings::N;
use crate::{Definition, GoldenError, Operand, SettingSpec, Settings};
use num_bigint::BigUint;

/// y_j = x_0 + x_1 s_0 + x_2 s_0 s_1 + .. mod q_j.
#[derive(Clone, Copy, Debug)]
pub struct RnsSplit;

impl Definition for RnsSplit {
    fn name(&self) -> &'static str {
        "rns_split"
    }

    fn definition(&self) -> &'static str {
        "y_j = x_0 + x_1 s_0 + x_2 s_0 s_1 + .. mod q_j, from the digits x_i below s_i; s = from"
    }

    fn inputs(&self) -> &'static [Operand] {
        const { &[Operand::residues("x", "from")] }
    }

    fn outputs(&self) -> &'static [Operand] {
        const { &[Operand::residues("y", "to")] }
    }

    fn settings(&self) -> &'static [SettingSpec] {
        const { &[N, FROM, TO] }
    }

    fn evaluate(&self, settings: &Settings<'_>, inputs: &[&[u128]]) -> Result<Vec<Vec<u128>>, GoldenError> {
        let radices = settings.numbers(FROM.name);
        let integer = |i: usize| {
            let digits = inputs.iter().zip(radices).rev();
            digits.fold(BigUint::ZERO, |integer, (digits, radix)| integer * radix + digits[i])
        };
        let integers: Vec<BigUint> = (0..settings.degree()).map(integer).collect();
        let moduli = big(settings.numbers(TO.name));
        Ok(moduli.iter().map(|q| words(integers.iter().map(|x| x % q).collect())).collect())
    }
}

#[cfg(test)]
impl crate::tests::Textbook for RnsSplit {
    fn textbook(&self, case: &crate::tests::Case<'_>) -> Vec<u128> {
        let radices = case.list("from");
        case.each_of("to", |i| {
            let weight = |k: usize| radices[..k].iter().product::<BigUint>();
            (0..radices.len()).map(|k| case.word(k, i) * weight(k)).sum::<BigUint>().into()
        })
    }
}
