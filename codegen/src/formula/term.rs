//! Terms with powers of the root: transforms and diagonals.

use super::ring::{Power, is_size};
use ring::bits::bit_reverse;
use std::fmt;

/// An unscaled number-theoretic transform, in natural order on both sides.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Transform {
    /// The number of points, a power of two.
    pub n: usize,
    /// Inverse instead of forward.
    pub inverse: bool,
    /// Modulo X^n + 1 instead of X^n - 1.
    pub negacyclic: bool,
}

impl Transform {
    /// The transform modulo X^n - 1.
    pub fn cyclic(n: usize) -> Self {
        Self { n, inverse: false, negacyclic: false }
    }

    /// The transform modulo X^n + 1.
    pub fn negacyclic(n: usize) -> Self {
        Self { n, inverse: false, negacyclic: true }
    }

    /// The unscaled inverse of this transform: the inverse times n.
    pub fn inverted(self) -> Self {
        Self { inverse: !self.inverse, ..self }
    }

    /// True for the butterfly (sum and difference), which needs no rule.
    pub(super) fn is_butterfly(self) -> bool {
        self.n <= 2 && !self.negacyclic
    }

    /// The matrix entry at the given row and column.
    pub(super) fn power(self, row: usize, column: usize) -> Power {
        let (frequency, time) = if self.inverse { (column, row) } else { (row, column) };
        let (order, frequency) =
            if self.negacyclic { (2 * self.n, 2 * frequency + 1) } else { (self.n, frequency) };
        Power { order, exponent: frequency * time, inverse: self.inverse }
    }
}

impl fmt::Display for Transform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inverse = if self.inverse { "i" } else { "" };
        let negacyclic = if self.negacyclic { "n" } else { "" };
        write!(f, "{inverse}{negacyclic}NTT_{}", self.n)
    }
}

/// The index of a diagonal within its family.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Index {
    /// A number.
    At(u32),
    /// The index i of the iterated product around the term.
    Ascending,
    /// The same index from the end: the last index of the product minus i.
    Descending,
}

/// The family of a diagonal; see [the definitions](super).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Family {
    /// `T^n_m`: twiddle factors between the two parts of a Cooley-Tukey step.
    Twiddle(usize),
    /// `P^n`: the twist between the negacyclic and the cyclic transform.
    Twist,
    /// `D^n_i`: twiddle factors of one stage of a constant-geometry cyclic transform.
    Stage(Index),
    /// `W^n_i`: twiddle factors of one stage of a constant-geometry negacyclic transform; they
    /// include the twist.
    Merged(Index),
}

/// A diagonal matrix of roots of unity.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Diagonal {
    /// The size, a power of two.
    pub n: usize,
    /// The family, which defines the entries.
    pub family: Family,
    /// True for the inverse diagonal.
    pub inverse: bool,
}

impl Diagonal {
    /// The entry at the given row and column.
    pub(super) fn power(self, index: usize) -> Power {
        let Self { n, family, inverse } = self;
        let (order, exponent) = match family {
            Family::Twiddle(m) => (n, (index / m) * (index % m)),
            Family::Twist => (2 * n, index),
            Family::Stage(Index::At(i)) => {
                let block = index / (n >> (i + 1));
                (2 << i, (block >> i) * (block & ((1 << i) - 1)))
            }
            Family::Merged(Index::At(i)) => {
                let m = n >> (i + 1);
                let exponent = bit_reverse(m + index % m, n.ilog2());
                (2 * n, if index < n / 2 { 0 } else { exponent })
            }
            Family::Stage(_) | Family::Merged(_) => {
                unreachable!("`size` rejects indices outside an iterated product")
            }
        };
        Power { order, exponent, inverse }
    }

    /// The order of the roots that the diagonal needs, or the violated requirement.
    pub(super) fn order(self) -> Result<usize, &'static str> {
        let log_n = self.n.checked_ilog2().unwrap_or(0);
        match self.family {
            _ if !is_size(self.n) => Err("its size must be a power of two, at most 2^30"),
            Family::Twiddle(m) if m == 0 || !self.n.is_multiple_of(m) => Err("m must divide n"),
            Family::Twiddle(_) => Ok(self.n),
            Family::Twist => Ok(2 * self.n),
            Family::Stage(Index::At(i)) if i < log_n => Ok(self.n),
            Family::Merged(Index::At(i)) if i < log_n => Ok(2 * self.n),
            Family::Stage(Index::At(_)) | Family::Merged(Index::At(_)) => {
                Err("its index must be below log2 n")
            }
            Family::Stage(_) | Family::Merged(_) => Err("its index is outside an iterated product"),
        }
    }
}
