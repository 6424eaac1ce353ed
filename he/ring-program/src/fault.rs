//! Faults of operations, for all sources of programs.

use crate::code::Code;
use std::fmt;

/// A part of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// The operation as a whole.
    Operation,
    /// The limb that it writes.
    Destination,
    /// The first source.
    First,
    /// The second source.
    Second,
    /// The number.
    Scalar,
    /// An operand with a name.
    Named(Name),
    /// The argument of a call with this index.
    Argument(usize),
    /// The result of a call with this index.
    Result(usize),
}

/// The operands that have names in text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Name {
    /// `m`, the index of the modulus.
    Modulus,
    /// `omega`, the root of unity.
    Root,
    /// `k`, the exponent of an automorphism.
    Exponent,
    /// `offset`, the exponent of a monomial.
    Offset,
    /// `mask`, n - 1.
    Mask,
    /// `logn`, the binary logarithm of n.
    LogDegree,
}

impl Name {
    /// All names.
    pub const ALL: [Self; 6] =
        [Self::Modulus, Self::Root, Self::Exponent, Self::Offset, Self::Mask, Self::LogDegree];

    /// The name in text.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Modulus => "m",
            Self::Root => "omega",
            Self::Exponent => "k",
            Self::Offset => "offset",
            Self::Mask => "mask",
            Self::LogDegree => "logn",
        }
    }
}

/// An invalid operation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// Its kind.
    pub code: Code,
    /// The part that is wrong.
    pub part: Part,
    /// The error in one line.
    pub message: String,
    /// The remedy.
    pub help: Option<String>,
}

impl Fault {
    /// A fault without help.
    pub fn new(part: Part, message: impl Into<String>) -> Self {
        Self { code: Code::of(part), part, message: message.into(), help: None }
    }

    /// The fault as one of another kind than its part suggests.
    pub(crate) fn code(self, code: Code) -> Self {
        Self { code, ..self }
    }

    /// The fault with help.
    pub fn help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.help.as_ref().map_or(Ok(()), |help| write!(f, "; {help}"))
    }
}

impl std::error::Error for Fault {}
