//! Errors of the golden model.

use crate::claim::ClaimFault;
use thiserror::Error;

/// An invalid claim, or a wrong result.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum GoldenError {
    /// An unknown operation.
    #[error(transparent)]
    Operation(#[from] UnknownOperation),
    /// A claim that breaks a rule.
    #[error(transparent)]
    Claim(ClaimFault),
    /// A wrong number of operands or results.
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
        /// The name: `operand 1`, `operand 2` .. or the name of a result.
        what: String,
        /// The ring degree.
        n: usize,
        /// The number of coefficients given.
        given: usize,
    },
    /// An operand that is not reduced.
    #[error("coefficient {index} of {what} is {value:#x}, which is not below the modulus {modulus:#x}")]
    NotReduced {
        /// The name: `operand 1`, `operand 2` ..
        what: String,
        /// The index of the first such coefficient.
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
        /// The ring degree.
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
        operation: String,
        /// The index of the first difference.
        index: usize,
        /// The value there.
        found: u128,
        /// The model's value.
        expected: u128,
    },
}

/// An unknown operation.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("unknown operation `{name}`; {help}")]
pub struct UnknownOperation {
    /// The name.
    pub name: String,
    help: String,
}

impl UnknownOperation {
    pub(crate) fn new(name: &str, help: String) -> Self {
        Self { name: name.to_owned(), help }
    }

    /// The operation with the most similar name, or else all of them.
    pub fn help(&self) -> &str {
        &self.help
    }
}
