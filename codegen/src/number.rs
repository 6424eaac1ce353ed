//! Known numbers: the elements of constants, and scalars.

pub use crate::ids::NumberId;

/// A residue that is known at code generation, modulo the modulus of some tower.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Number {
    /// A power of the tower's psi.
    Root {
        /// The exponent, 0 to 2n - 1.
        exponent: u32,
        /// Whether the power is divided by n.
        scaled: bool,
    },
    /// Any other number.
    Expression(NumberId),
}

impl Number {
    /// 1/n.
    pub const INVERSE_DEGREE: Self = Self::Root { exponent: 0, scaled: true };
}

/// A number that every ring has. The tower that uses it reduces it modulo its modulus, so code names the same
/// numbers whatever its moduli are.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Expression {
    /// This number.
    Value(u128),
    /// The negative of a number.
    Negative(Box<Expression>),
    /// The inverse of a number.
    Inverse(Box<Expression>),
}

impl Expression {
    /// -1.
    pub fn minus_one() -> Self {
        Self::Negative(Box::new(Self::Value(1)))
    }
}
