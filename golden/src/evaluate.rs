//! The results of claims, and the comparison of a program's results with them.

use crate::claim::Valid;
use crate::error::{GoldenError, WrongWord};
use crate::operation::Operation;
use crate::settings::Settings;
use crate::signature::Range;
use b512_asm::{Claim, Expression};

fn valid(claim: &Claim) -> Result<Valid<'_>, GoldenError> {
    Valid::new(claim).map_err(|faults| {
        GoldenError::Claim(faults.into_iter().next().expect("a refusal has at least one fault"))
    })
}

/// The modulus of a claim: every word of a result is below it, and so is every word of an operand of the
/// range [`Range::Residue`].
///
/// # Errors
/// Returns an error if the claim is invalid.
pub fn modulus(claim: &Claim) -> Result<u128, GoldenError> {
    valid(claim).map(|valid| valid.modulus())
}

/// The results of a claim: a vector of n residues for each of its outputs.
///
/// Moduli need not be prime.
///
/// # Errors
/// Returns an error if the claim is invalid, or if the number, a length or a word of the inputs is.
pub fn evaluate(claim: &Claim, inputs: &[&[u128]]) -> Result<Vec<Vec<u128>>, GoldenError> {
    let valid = valid(claim)?;
    let (n, modulus, ranges) = (valid.degree(), valid.modulus(), valid.ranges());
    if inputs.len() != ranges.len() {
        return Err(GoldenError::Count { what: "operand", expected: ranges.len(), given: inputs.len() });
    }
    for (i, (input, range)) in inputs.iter().zip(ranges).enumerate() {
        let what = || format!("operand {}", i + 1);
        if input.len() != n {
            return Err(GoldenError::Length { what: what(), n, given: input.len() });
        }
        let is_outside = |&value: &u128| range == Range::Residue && value >= modulus;
        if let Some(index) = input.iter().position(is_outside) {
            return Err(GoldenError::NotReduced { what: what(), index, value: input[index], modulus });
        }
    }
    let mut calls = valid.calls.iter();
    claim.expressions.iter().map(|root| words(root, &valid, inputs, &mut calls)).collect()
}

/// The words of an expression. `calls` continues with its operations.
fn words<'c>(
    expression: &Expression,
    valid: &Valid<'_>,
    inputs: &[&[u128]],
    calls: &mut impl Iterator<Item = &'c (Operation, Settings<'c>)>,
) -> Result<Vec<u128>, GoldenError> {
    match expression {
        Expression::Input(index) => Ok(inputs[*index].to_vec()),
        Expression::Number(number) => Ok(vec![number % valid.modulus(); valid.degree()]),
        Expression::Call(call) => {
            let (operation, settings) = calls.next().expect("every operation has its settings");
            let operands = call.operands.iter().map(|operand| words(operand, valid, inputs, calls));
            let operands = operands.collect::<Result<Vec<_>, _>>()?;
            let operands: Vec<&[u128]> = operands.iter().map(Vec::as_slice).collect();
            operation.evaluate(settings, &operands)
        }
    }
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
    let results = claim.outputs.iter().zip(&claim.expressions).zip(&expected);
    for (((name, expression), expected), found) in results.zip(outputs) {
        let n = expected.len();
        if found.len() != n {
            return Err(GoldenError::Length { what: format!("`{name}`"), n, given: found.len() });
        }
        let wrong = || (0..n).filter(|&index| found[index] != expected[index]);
        let number = wrong().count();
        if number > 0 {
            let word = |index| WrongWord { index, found: found[index], expected: expected[index] };
            let first = wrong().take(GoldenError::SHOWN).map(word).collect();
            let (output, claimed) = (name.clone(), claim.text(expression));
            return Err(GoldenError::Differs { output, claimed, number, n, first });
        }
    }
    Ok(())
}
