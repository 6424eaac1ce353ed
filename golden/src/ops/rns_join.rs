//! The digits of an integer from its residues.

use crate::arithmetic::{big, words};
use crate::conversion::{FROM, System, check_coprime};
use crate::signature::settings::N;
use crate::{ClaimFault, Definition, GoldenError, Operand, SettingSpec, Settings};
use num_bigint::BigUint;

/// The mixed-radix digits y_i of the integers x below S with the residues x_i:
/// x = y_0 + y_1 s_0 + y_2 s_0 s_1 + .., with y_i below s_i.
#[derive(Clone, Copy, Debug)]
pub struct RnsJoin;

impl Definition for RnsJoin {
    fn name(&self) -> &'static str {
        "rns_join"
    }

    fn definition(&self) -> &'static str {
        "digits y_i of x = y_0 + y_1 s_0 + y_2 s_0 s_1 + .. from the residues x_i; s = from (Garner)"
    }

    fn inputs(&self) -> &'static [Operand] {
        const { &[Operand::residues("x", "from")] }
    }

    fn outputs(&self) -> &'static [Operand] {
        const { &[Operand::residues("y", "from")] }
    }

    fn settings(&self) -> &'static [SettingSpec] {
        const { &[N, FROM] }
    }

    fn check(&self, settings: &Settings<'_>) -> Result<(), Vec<ClaimFault>> {
        let faults = check_coprime(settings, FROM.name, &[]);
        if faults.is_empty() { Ok(()) } else { Err(faults) }
    }

    fn evaluate(&self, settings: &Settings<'_>, inputs: &[&[u128]]) -> Result<Vec<Vec<u128>>, GoldenError> {
        let moduli = big(settings.numbers(FROM.name));
        let residues: Vec<Vec<BigUint>> = inputs.iter().map(|input| big(input)).collect();
        let mut rest = System::new(settings.numbers(FROM.name)).integers(&residues);
        let digits = moduli.iter().map(|s| {
            let digits = words(rest.iter().map(|x| x % s).collect());
            rest.iter_mut().for_each(|x| *x = &*x / s);
            digits
        });
        Ok(digits.collect())
    }
}

#[cfg(test)]
impl crate::tests::Textbook for RnsJoin {
    /// Garner's algorithm.
    fn textbook(&self, case: &crate::tests::Case<'_>) -> Vec<u128> {
        let moduli = case.list("from");
        let digits = |i| {
            let mut digits: Vec<BigUint> = Vec::new();
            for (k, s) in moduli.iter().enumerate() {
                let (mut below, mut weight) = (BigUint::ZERO, BigUint::from(1u32));
                for (digit, modulus) in digits.iter().zip(&moduli) {
                    below += digit * &weight;
                    weight *= modulus;
                }
                digits.push((case.word(k, i) + s - below % s) * weight.modinv(s).unwrap() % s);
            }
            digits
        };
        let all: Vec<Vec<BigUint>> = (0..case.n).map(digits).collect();
        let places = (0..moduli.len()).flat_map(|k| all.iter().map(move |digits| &digits[k]));
        places.map(|digit| u128::try_from(digit).unwrap()).collect()
    }
}
