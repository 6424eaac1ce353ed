//! The results of claims, and the comparison of a program's results with them.

use crate::claim::{ClaimFault, Settings};
use crate::operation::{Operation, UnknownOperation};
use b512_asm::Claim;
use thiserror::Error;

/// A claim that has no result, or a result that is wrong.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum GoldenError {
    /// A name that no operation has.
    #[error(transparent)]
    Operation(#[from] UnknownOperation),
    /// A claim that breaks a rule.
    #[error(transparent)]
    Claim(ClaimFault),
    /// Another number of operands or results than the claim names.
    #[error("the claim names {expected} {what}s, but {given} were given")]
    Count {
        /// `operand` or `result`.
        what: &'static str,
        /// The number in the claim.
        expected: usize,
        /// The number given.
        given: usize,
    },
    /// An operand or a result with a length other than n.
    #[error("{what} has {given} coefficients instead of {n}")]
    Length {
        /// Which: `operand 1`, `operand 2` .. or the name of a result.
        what: String,
        /// The ring's degree.
        n: usize,
        /// The number of coefficients given.
        given: usize,
    },
    /// An operand that is not reduced.
    #[error("coefficient {index} of {what} is {value:#x}, which is not below the modulus {modulus:#x}")]
    NotReduced {
        /// Which: `operand 1`, `operand 2` ..
        what: String,
        /// The place of the first such coefficient.
        index: usize,
        /// Its value.
        value: u128,
        /// The modulus.
        modulus: u128,
    },
    /// A root that defines no transform.
    #[error(
        "{root:#x} is not a primitive {}-th root of unity modulo {modulus:#x}: its {n}th power is not -1", 2 * n
    )]
    Root {
        /// The root.
        root: u128,
        /// The ring's degree.
        n: usize,
        /// The modulus.
        modulus: u128,
    },
    /// A result that differs from the model's.
    #[error(
        "`{output}` differs from {operation} at coefficient {index}: it is {found:#x} and should be {expected:#x}"
    )]
    Differs {
        /// The symbol of the result.
        output: String,
        /// The operation.
        operation: Operation,
        /// The first place that differs.
        index: usize,
        /// The value there.
        found: u128,
        /// The model's value.
        expected: u128,
    },
}

/// The moduli of a claim: every word of an operand and of a result is below its modulus.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Moduli {
    /// For each operand.
    pub inputs: Vec<u128>,
    /// For each result.
    pub outputs: Vec<u128>,
}

fn settings(claim: &Claim) -> Result<Settings<'_>, GoldenError> {
    let operation: Operation = claim.operation.parse()?;
    Settings::new(operation, claim).map_err(|faults| {
        GoldenError::Claim(faults.into_iter().next().expect("a refusal has at least one fault"))
    })
}

/// The moduli of the operands and results of a claim.
///
/// # Errors
/// Returns an error if the claim is invalid.
pub fn moduli(claim: &Claim) -> Result<Moduli, GoldenError> {
    let settings = settings(claim)?;
    let operation = settings.operation();
    let moduli = |operands| settings.moduli(operands);
    Ok(Moduli { inputs: moduli(operation.inputs()), outputs: moduli(operation.outputs()) })
}

/// The results of a claim: a vector of n residues for each of its outputs.
///
/// Moduli need not be prime.
///
/// # Errors
/// Returns an error if the claim is invalid, or if the number, a length or a word of the operands is.
pub fn evaluate(claim: &Claim, inputs: &[&[u128]]) -> Result<Vec<Vec<u128>>, GoldenError> {
    let settings = settings(claim)?;
    let (operation, n) = (settings.operation(), settings.degree());
    let moduli = settings.moduli(operation.inputs());
    if inputs.len() != moduli.len() {
        return Err(GoldenError::Count { what: "operand", expected: moduli.len(), given: inputs.len() });
    }
    for (i, (input, modulus)) in inputs.iter().zip(moduli).enumerate() {
        let what = || format!("operand {}", i + 1);
        if input.len() != n {
            return Err(GoldenError::Length { what: what(), n, given: input.len() });
        }
        if let Some(index) = input.iter().position(|&value| value >= modulus) {
            return Err(GoldenError::NotReduced { what: what(), index, value: input[index], modulus });
        }
    }
    operation.evaluate(&settings, inputs)
}

/// Checks that `outputs` are the results of `claim` for `inputs`.
///
/// # Errors
/// Returns [`GoldenError::Differs`] with the first wrong coefficient, or another error if the claim
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
        if let Some(index) = (0..n).find(|&index| found[index] != expected[index]) {
            return Err(GoldenError::Differs {
                output: name.clone(),
                operation: claim.operation.parse()?,
                index,
                found: found[index],
                expected: expected[index],
            });
        }
    }
    Ok(())
}
