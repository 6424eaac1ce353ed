//! The results of claims, and the comparison of a program's results with them.

use crate::claim::Settings;
use crate::error::{GoldenError, WrongWord};
use crate::operation::Operation;
use crate::signature::{Operand, Range};
use b512_asm::Claim;

fn settings(claim: &Claim) -> Result<(Operation, Settings<'_>), GoldenError> {
    let operation: Operation = claim.operation.parse()?;
    let settings = operation.settings_of(claim).map_err(|faults| {
        GoldenError::Claim(faults.into_iter().next().expect("a refusal has at least one fault"))
    })?;
    Ok((operation, settings))
}

/// The modulus of a claim: every word of a result is below it, and so is every word of an operand of the
/// range [`Range::Residue`].
///
/// # Errors
/// Returns an error if the claim is invalid.
pub fn modulus(claim: &Claim) -> Result<u128, GoldenError> {
    settings(claim).map(|(_, settings)| settings.modulus())
}

/// The operands of a claim, in the order of its inputs.
///
/// # Errors
/// Returns an error if the claim is invalid.
pub fn operands(claim: &Claim) -> Result<&'static [Operand], GoldenError> {
    settings(claim).map(|(operation, _)| operation.inputs())
}

/// The results of a claim: a vector of n residues for each of its outputs.
///
/// Moduli need not be prime.
///
/// # Errors
/// Returns an error if the claim is invalid, or if the number, a length or a word of the operands is.
pub fn evaluate(claim: &Claim, inputs: &[&[u128]]) -> Result<Vec<Vec<u128>>, GoldenError> {
    let (operation, settings) = settings(claim)?;
    let (n, modulus) = (settings.degree(), settings.modulus());
    let operands = operation.inputs();
    if inputs.len() != operands.len() {
        return Err(GoldenError::Count { what: "operand", expected: operands.len(), given: inputs.len() });
    }
    for (i, (input, operand)) in inputs.iter().zip(operands).enumerate() {
        let what = || format!("operand {}", i + 1);
        if input.len() != n {
            return Err(GoldenError::Length { what: what(), n, given: input.len() });
        }
        let is_outside = |&value: &u128| operand.range == Range::Residue && value >= modulus;
        if let Some(index) = input.iter().position(is_outside) {
            return Err(GoldenError::NotReduced { what: what(), index, value: input[index], modulus });
        }
    }
    operation.evaluate(&settings, inputs)
}

impl Operation {
    /// The result in one ring of an operation with the settings of [`Self::in_ring`].
    ///
    /// # Errors
    /// Returns the errors of [`evaluate`].
    pub fn result(
        self,
        inputs: &[&[u128]],
        n: usize,
        modulus: u128,
        root: u128,
    ) -> Result<Vec<u128>, GoldenError> {
        let n = u32::try_from(n).unwrap_or(u32::MAX);
        evaluate(&self.in_ring(n, modulus, root), inputs).map(|results| results.concat())
    }
}

/// Checks that `outputs` are the results of `claim` for `inputs`.
///
/// # Errors
/// Returns [`GoldenError::Differs`] with the first wrong coefficients, or another error if the claim
/// cannot be evaluated.
pub fn compare(claim: &Claim, inputs: &[&[u128]], outputs: &[&[u128]]) -> Result<(), GoldenError> {
    let expected = evaluate(claim, inputs)?;
    if outputs.len() != expected.len() {
        return Err(GoldenError::Count { what: "result", expected: expected.len(), given: outputs.len() });
    }
    for ((name, expected), found) in claim.outputs.iter().zip(&expected).zip(outputs) {
        let n = expected.len();
        if found.len() != n {
            return Err(GoldenError::Length { what: format!("`{name}`"), n, given: found.len() });
        }
        let wrong = || (0..n).filter(|&index| found[index] != expected[index]);
        let number = wrong().count();
        if number > 0 {
            let word = |index| WrongWord { index, found: found[index], expected: expected[index] };
            let first = wrong().take(GoldenError::SHOWN).map(word).collect();
            let (output, operation) = (name.clone(), claim.operation.clone());
            return Err(GoldenError::Differs { output, operation, number, n, first });
        }
    }
    Ok(())
}
