//! The inverse negacyclic number-theoretic transform.

use crate::arithmetic::{big, bit_reversed, words};
use crate::signature::settings::TRANSFORM;
use crate::transform::{self, Root, cyclic};
use crate::{ClaimFault, Definition, GoldenError, Operand, SettingSpec, Settings};
use num_bigint::BigUint;

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

/// `x[j] = 1/n psi^-j sum_k y[bitrev(k)] (psi^-2)^(jk)`.
fn inverse(y: &[BigUint], root: &Root) -> Vec<BigUint> {
    let q = &root.q;
    let scale = BigUint::from(root.n).modinv(q).expect("n is a power of two and the modulus is odd");
    let powers = root.inverse().powers();
    let x = cyclic(&bit_reversed(y), 1, &powers, q);
    x.into_iter().zip(&powers).map(|(x, power)| x * power % q * &scale % q).collect()
}

#[cfg(test)]
impl crate::tests::Textbook for Intt {
    fn textbook(&self, case: &crate::tests::Case<'_>) -> Vec<u128> {
        let n = case.n;
        let scale = BigUint::from(n).modinv(&case.q()).unwrap();
        case.each(|i| {
            (0..n).map(|k| case.word(0, k) * case.psi((2 * n - case.odd(k)) * i) * &scale).sum::<BigUint>()
        })
    }
}
