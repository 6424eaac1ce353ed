//! Errors of the golden model.

use b512_asm::{ClaimPart, Code};
use diagnostic::counted;
use std::fmt;
use thiserror::Error;

/// A violated rule for claims.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClaimFault {
    /// The error code.
    pub code: Code,
    /// The part of the claim.
    pub part: ClaimPart,
    /// The problem, in one line.
    pub message: String,
    /// The fix.
    pub help: Option<String>,
}

impl ClaimFault {
    /// An invalid claim.
    pub fn new(part: ClaimPart, message: impl Into<String>) -> Self {
        Self { code: Code::Claim, part, message: message.into(), help: None }
    }

    /// Adds a fix.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for ClaimFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.help {
            Some(help) => write!(f, "{} ({help})", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for ClaimFault {}

/// An invalid claim, or a wrong result.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum GoldenError {
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
    #[error("{what} has {} instead of {n}", counted(*given, "coefficient", "coefficients"))]
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
    #[error("`{output}` differs from {claimed} in {number} of {n} coefficients:{}", Listed(first, *number))]
    Differs {
        /// The symbol of the result.
        output: String,
        /// The expression that the claim gives.
        claimed: String,
        /// The number of wrong coefficients.
        number: usize,
        /// The number of coefficients.
        n: usize,
        /// The first wrong coefficients, at least one and at most [`GoldenError::SHOWN`].
        first: Vec<WrongWord>,
    },
}

impl GoldenError {
    /// The number of wrong coefficients that an error shows.
    pub const SHOWN: usize = 4;
}

/// A coefficient that differs from the model's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WrongWord {
    /// The index.
    pub index: usize,
    /// The value.
    pub found: u128,
    /// The model's value.
    pub expected: u128,
}

/// Some of `number` wrong coefficients, one a line.
struct Listed<'w>(&'w [WrongWord], usize);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for WrongWord { index, found, expected } in self.0 {
            write!(f, "\n  coefficient {index} is {found:#x} and should be {expected:#x}")?;
        }
        match self.1 - self.0.len() {
            0 => Ok(()),
            more => write!(f, "\n  and {more} more"),
        }
    }
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
