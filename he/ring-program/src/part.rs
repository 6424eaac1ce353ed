//! The parts of an operation, for errors.

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
