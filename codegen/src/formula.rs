//! Transforms as formulas, in SPIRAL's terms.
//!
//! A [`Formula`] is a structured n x n matrix over Z_q that acts on column vectors: in a product
//! `A B`, `B` is applied first. In text:
//!
//! ```text
//! NTT_n   y[k] = sum_j w^(jk) x[j]                nNTT_n   y[k] = sum_j psi^((2k + 1) j) x[j]
//! iNTT_n  the same with 1/w                       inNTT_n  y[j] = sum_k psi^(-(2k + 1) j) x[k]
//! I_n     identity                                L^n_m    y[i n/m + j] = x[j m + i], 0 <= i < m
//! R^n_2   y[i] = x[bitrev(i)]                     1/n      division by n
//! T^n_m   diag: w^(i j) at i m + j, 0 <= j < m    P^n      diag: psi^j at j
//! D^n_i   T^(2^(i + 1))_(2^i) (x) I_(n / 2^(i + 1))
//! W^n_i   I_(n/2) (+) (I_(2^i) (x) diag(psi^bitrev(m + j), 0 <= j < m)), m = n / 2^(i + 1)
//! A B     product      A (x) B   tensor product      A (+) B   direct sum
//! T^-1    inverse of a diagonal                   prod_{i=0}^{k} (A_i)   A_0 A_1 .. A_k
//! ```
//!
//! Here psi is a primitive 2n-th root of unity and w = psi^2, where n is the size of the term. The root of
//! order n in every term is the same power of the ring's root. `bitrev` reverses log2 n bits. The inverse
//! transforms are unscaled: `1/n iNTT_n NTT_n` is the identity.
//!
//! A [`Rule`] rewrites a transform; a [`Tree`] of rules expands to a formula. [`of`] returns the
//! formula of one of the generator's [`Algorithm`]s. The transformed side is in bit-reversed order:
//!
//! ```
//! use codegen::formula::{Rule, Transform, of};
//! use codegen::plan::Algorithm;
//!
//! let step = Rule::CooleyTukey(2).apply(Transform::cyclic(8))?;
//! assert_eq!(step.to_string(), "(NTT_2 (x) I_4) T^8_4 (I_2 (x) NTT_4) L^8_2");
//! let forward = of(Algorithm::Forward, 10);
//! assert_eq!(forward.to_string(), "prod_{i=0}^{9} (L^1024_512 (NTT_2 (x) I_512) W^1024_i)");
//! # Ok::<(), codegen::formula::FormulaError>(())
//! ```
//!
//! # Formulas and plans
//!
//! The factor `L^n_{n/2} (NTT_2 (x) I_{n/2}) W^n_i` is one butterfly stage of a plan. `NTT_2 (x) I`
//! works on the topmost address bit; `L^n_{n/2}` then rotates that bit to the lowest position. A
//! pass of [`Plan::korn_lambiotte`](crate::plan::Plan::korn_lambiotte) with d stages is the product
//! of d consecutive factors. The first pass holds the rightmost d factors.
//!
//! [`stages`] follows index bits through a formula. Every rule gives the same order of butterflies; only the
//! positions of the stride permutations differ. A [derived plan](crate::plan::derive) takes the order of the
//! stages from the formula, and places the permutations itself.
//!
//! # Why each direction has one classical plan
//!
//! The Korn-Lambiotte and Pease breakdowns are transposes of each other. A Korn-Lambiotte stage works on the
//! topmost address bit and ends with `L^n_{n/2}`. A Pease stage begins with `L^n_2`, which brings the lowest
//! address bit to the top. Both breakdowns can compute both directions, but `R^n_2` is the leftmost factor of
//! Korn-Lambiotte and the rightmost factor of Pease. The transformed side is in bit-reversed order, so
//! `R^n_2` cancels in Korn-Lambiotte forward and in Pease inverse. The other two combinations would need a
//! second `R^n_2`. This bit reversal permutes all lanes, and the machine has no instruction for it: its
//! shuffles would cost as much as the shuffles of all stages. So Korn-Lambiotte is used forward and Pease
//! inverse; `kl` and `pease` name them.

mod bits;
mod matrix;
mod ring;
mod rule;
mod term;
#[cfg(test)]
mod tests;
mod text;

pub use self::bits::stages;
pub use self::matrix::Matrix;
pub use self::ring::Ring;
pub use self::rule::{Rule, Tree};
pub use self::term::{Diagonal, Family, Index, Transform};
use crate::plan::Algorithm;
use ::ring::modular::ModulusError;
use thiserror::Error;

/// An error in a formula, or in the application of a rule.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum FormulaError {
    /// The modulus is invalid.
    #[error(transparent)]
    Modulus(#[from] ModulusError),
    /// The root does not have the required order.
    #[error("{root:#x} is not a primitive {order}-th root of unity modulo {modulus:#x}")]
    Root {
        /// The number.
        root: u128,
        /// The required order.
        order: usize,
        /// The modulus.
        modulus: u128,
    },
    /// A term needs roots of an order that the ring lacks.
    #[error("`{term}` needs roots of order {order}, but the ring's root has order {available}")]
    Order {
        /// The term.
        term: String,
        /// The order that the term needs.
        order: usize,
        /// The order of the ring's root.
        available: usize,
    },
    /// The sizes or parameters of a term are invalid.
    #[error("invalid formula `{term}`: {problem}")]
    Shape {
        /// The term.
        term: String,
        /// The violated requirement.
        problem: &'static str,
    },
    /// The length of a vector differs from the size of the matrix.
    #[error("a vector of {given} elements cannot be multiplied by a matrix of size {size}")]
    Length {
        /// The vector's length.
        given: usize,
        /// The matrix's size.
        size: usize,
    },
    /// A rule does not apply to a transform.
    #[error("{rule} does not apply to {transform}: the rule needs {needs}")]
    Rule {
        /// The rule.
        rule: Rule,
        /// The transform.
        transform: Transform,
        /// The transforms to which the rule applies.
        needs: &'static str,
    },
    /// The branches of a rule tree differ from the transforms that its rule leaves.
    #[error("{rule} of {transform} leaves [{expected}], but the tree has [{found}]")]
    Branches {
        /// The rule.
        rule: Rule,
        /// The transform.
        transform: Transform,
        /// The transforms that the rule leaves.
        expected: String,
        /// The transforms of the branches.
        found: String,
    },
}

/// A structured matrix.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Formula {
    /// `I_n`.
    Identity(usize),
    /// A transform, given by its definition: `NTT_2`, or a term that a rule may rewrite.
    Transform(Transform),
    /// `L^n_m`.
    Stride {
        /// The size.
        n: usize,
        /// The stride between gathered elements.
        m: usize,
    },
    /// `R^n_2`.
    Reversal(usize),
    /// A diagonal of roots.
    Diagonal(Diagonal),
    /// `1/n`: the identity of size n, divided by n.
    Reciprocal(usize),
    /// `A (x) B (x) ..`
    Tensor(Vec<Self>),
    /// `A (+) B (+) ..`
    Sum(Vec<Self>),
    /// `A B ..`
    Compose(Vec<Self>),
    /// `prod_{i=0}^{count - 1} (factor)`. The factor with i = 0 is leftmost and is applied last.
    Product {
        /// The number of factors.
        count: u32,
        /// The factor; its indices may depend on i.
        factor: Box<Self>,
    },
}

impl Formula {
    /// The number of rows and columns.
    ///
    /// # Errors
    /// Returns an error if the sizes of the parts do not fit together.
    pub fn size(&self) -> Result<usize, FormulaError> {
        let shape = |problem| Err(FormulaError::Shape { term: self.to_string(), problem });
        match self {
            Self::Identity(n) | Self::Reciprocal(n) => Ok(*n),
            Self::Transform(Transform { n, .. }) | Self::Reversal(n) => {
                if n.is_power_of_two() {
                    Ok(*n)
                } else {
                    shape("its size must be a power of two")
                }
            }
            Self::Stride { n, m } if *m == 0 || !n.is_multiple_of(*m) => {
                shape("the stride must divide the size")
            }
            Self::Stride { n, .. } => Ok(*n),
            Self::Diagonal(diagonal) => match diagonal.order() {
                Ok(_) => Ok(diagonal.n),
                Err(problem) => shape(problem),
            },
            Self::Tensor(parts) | Self::Sum(parts) => {
                let tensor = matches!(self, Self::Tensor(_));
                let mut total = Some(usize::from(tensor));
                for part in parts {
                    let size = part.size()?;
                    total =
                        total.and_then(|t| if tensor { t.checked_mul(size) } else { t.checked_add(size) });
                }
                total.map_or_else(|| shape("its size is out of range"), Ok)
            }
            Self::Compose(parts) => {
                let sizes = parts.iter().map(Self::size).collect::<Result<Vec<_>, _>>()?;
                match sizes[..] {
                    [first, ref rest @ ..] if rest.iter().all(|&size| size == first) => Ok(first),
                    _ => shape("a product needs factors of one size"),
                }
            }
            Self::Product { count: 0, .. } => shape("a product needs factors of one size"),
            Self::Product { .. } => Self::Compose(self.factors()).size(),
        }
    }

    /// The factors of a product, from left to right, with iterated products expanded. Any other
    /// formula is its own single factor.
    pub fn factors(&self) -> Vec<Self> {
        match self {
            Self::Compose(parts) => parts.iter().flat_map(Self::factors).collect(),
            Self::Product { count, factor } => (0..*count).map(|i| factor.at(i, *count)).collect(),
            other => vec![other.clone()],
        }
    }

    /// The formula with index i of `count` substituted.
    fn at(&self, i: u32, count: u32) -> Self {
        let parts = |parts: &[Self]| parts.iter().map(|part| part.at(i, count)).collect();
        let fixed = |index| match index {
            Index::Ascending => Index::At(i),
            Index::Descending => Index::At(count - 1 - i),
            index => index,
        };
        match self {
            Self::Diagonal(diagonal) => {
                let family = match diagonal.family {
                    Family::Stage(index) => Family::Stage(fixed(index)),
                    Family::Merged(index) => Family::Merged(fixed(index)),
                    family => family,
                };
                Self::Diagonal(Diagonal { family, ..*diagonal })
            }
            Self::Tensor(p) => Self::Tensor(parts(p)),
            Self::Sum(p) => Self::Sum(parts(p)),
            Self::Compose(p) => Self::Compose(parts(p)),
            other => other.clone(),
        }
    }

    /// The same matrix, with nested products flattened and without identities and adjacent pairs of
    /// reversals.
    pub fn simplified(self) -> Self {
        let Self::Compose(parts) = self else { return self };
        let mut kept: Vec<Self> = Vec::new();
        let mut identity = None;
        for part in parts.into_iter().map(Self::simplified) {
            let parts = if let Self::Compose(parts) = part { parts } else { vec![part] };
            for part in parts {
                match (&part, kept.last()) {
                    (Self::Identity(_), _) => identity = Some(part),
                    (Self::Reversal(n), Some(Self::Reversal(m))) if n == m => {
                        kept.pop();
                        identity = Some(Self::Identity(*n));
                    }
                    _ => kept.push(part),
                }
            }
        }
        match (kept.len(), identity) {
            (0, Some(identity)) => identity,
            (1, _) => kept.remove(0),
            _ => Self::Compose(kept),
        }
    }

    /// The transforms that rules have not rewritten yet, from left to right.
    fn open(&self) -> Vec<Transform> {
        match self {
            Self::Transform(transform) if !transform.is_butterfly() => vec![*transform],
            Self::Tensor(parts) | Self::Sum(parts) | Self::Compose(parts) => {
                parts.iter().flat_map(Self::open).collect()
            }
            Self::Product { factor, .. } => factor.open(),
            _ => Vec::new(),
        }
    }

    /// The formula with the transforms of [`Self::open`] replaced, in order.
    fn fill(self, with: &mut impl Iterator<Item = Self>) -> Self {
        let mut parts = |parts: Vec<Self>| parts.into_iter().map(|part| part.fill(with)).collect();
        match self {
            Self::Tensor(p) => Self::Tensor(parts(p)),
            Self::Sum(p) => Self::Sum(parts(p)),
            Self::Compose(p) => Self::Compose(parts(p)),
            Self::Product { count, factor } => Self::Product { count, factor: Box::new(factor.fill(with)) },
            Self::Transform(transform) if !transform.is_butterfly() => {
                with.next().unwrap_or(Self::Transform(transform))
            }
            other => other,
        }
    }
}

/// The constant-geometry formula of an algorithm for rings of 2^`log_n` elements, `log_n` from 1 to
/// 30. Coefficients are in natural order, transforms in bit-reversed order.
///
/// # Panics
/// Panics if `log_n` is out of range.
pub fn of(algorithm: Algorithm, log_n: u32) -> Formula {
    assert!((1..=30).contains(&log_n), "log_n must be from 1 to 30, not {log_n}");
    let n = 1 << log_n;
    let forward = Transform::negacyclic(n);
    let inverse = forward.inverted();
    let reversal = || Formula::Reversal(n);
    let expand = |transform, rule: Rule| rule.apply(transform).expect("the rules fit the algorithms");
    let pease = |transform| expand(transform, Rule::Pease);
    let factors = match algorithm {
        Algorithm::Forward => vec![reversal(), expand(forward, Rule::KornLambiotte)],
        Algorithm::Inverse => vec![Formula::Reciprocal(n), pease(inverse), reversal()],
        Algorithm::InverseTwisted => {
            let twisted = expand(inverse, Rule::Twist);
            let cyclic = pease(Transform::cyclic(n).inverted());
            let twisted = if n == 2 { twisted } else { twisted.fill(&mut std::iter::once(cyclic)) };
            vec![Formula::Reciprocal(n), twisted, reversal()]
        }
    };
    Formula::Compose(factors).simplified()
}
