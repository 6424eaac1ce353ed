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
//! with psi a primitive 2n-th root of unity and w = psi^2, each for the n of its own term:
//! the root of order n is the same power of the ring's root everywhere. `bitrev` reverses log2 n
//! bits. The inverse transforms are not scaled: `1/n iNTT_n NTT_n` is the identity.
//!
//! A [`Rule`] rewrites a transform; a [`Tree`] of rules expands to a formula. [`of`] is the formula
//! of the generator's [`Algorithm`]s, with bit-reversed order on the transformed side:
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
//! The factor `L^n_{n/2} (NTT_2 (x) I_{n/2}) W^n_i` is one butterfly stage of a plan: the index bit
//! log2 n - 1 that `NTT_2 (x) I` works on stands at the topmost address bit, and `L^n_{n/2}` makes
//! it the lowest. A pass of [`Plan::korn_lambiotte`](crate::plan::Plan::korn_lambiotte) of d stages
//! is the product of d consecutive factors, and the first pass has the last d.

use crate::number::bit_reverse;
use crate::plan::Algorithm;
use sim::modular::{Modulus, ModulusError};
use std::fmt;
use thiserror::Error;

/// Why a formula has no matrix, or a rule no result.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum FormulaError {
    /// A number that is no modulus.
    #[error(transparent)]
    Modulus(#[from] ModulusError),
    /// A number that is no root of the right order.
    #[error("{root:#x} is no primitive {order}-th root of unity modulo {modulus:#x}")]
    Root {
        /// The number.
        root: u128,
        /// The order that it should have.
        order: usize,
        /// The modulus.
        modulus: u128,
    },
    /// A term whose roots the ring does not have.
    #[error("`{term}` needs roots of order {order}, but the ring's have order {available}")]
    Order {
        /// The term.
        term: String,
        /// The order that it needs.
        order: usize,
        /// The order of the ring's root.
        available: usize,
    },
    /// A term whose parts do not fit together, or with numbers that make no sense.
    #[error("`{term}` is no matrix: {problem}")]
    Shape {
        /// The term.
        term: String,
        /// What is wrong.
        problem: &'static str,
    },
    /// A vector of another length.
    #[error("a vector of {given} elements cannot be multiplied by a matrix of size {size}")]
    Length {
        /// The vector's length.
        given: usize,
        /// The matrix's size.
        size: usize,
    },
    /// A rule for other transforms.
    #[error("{rule} does not apply to {transform}: it needs {needs}")]
    Rule {
        /// The rule.
        rule: Rule,
        /// The transform.
        transform: Transform,
        /// What it applies to.
        needs: &'static str,
    },
    /// A rule tree whose branches are not what its rule leaves to them.
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

/// Z_q with a root of unity.
#[derive(Clone, Copy, Debug)]
pub struct Ring {
    modulus: Modulus,
    root: u128,
    order: usize,
}

impl Ring {
    /// The ring modulo `modulus`, for transforms of up to `n` points (a power of two, at most 2^30):
    /// `root` must be a primitive 2n-th root of unity.
    ///
    /// # Errors
    /// Where the modulus is even or too small, or the root is none.
    pub fn new(modulus: u128, n: usize, root: u128) -> Result<Self, FormulaError> {
        let ring = Modulus::new(modulus)?;
        let order = n.saturating_mul(2);
        if !is_size(n) || root >= modulus || ring.pow(root, n as u128) != modulus - 1 {
            return Err(FormulaError::Root { root, order, modulus });
        }
        Ok(Self { modulus: ring, root, order })
    }

    /// The power of the root of that order.
    fn power(&self, Power { order, exponent, inverse }: Power) -> u128 {
        let exponent = exponent % order * (self.order / order);
        self.modulus.pow(self.root, if inverse { self.order - exponent } else { exponent } as u128)
    }
}

/// Whether there are transforms of that size: exponents of their roots fit 64 bits.
fn is_size(n: usize) -> bool {
    n.is_power_of_two() && n <= 1 << 30
}

/// A power of the root of unity of an order.
#[derive(Clone, Copy, Debug)]
struct Power {
    order: usize,
    exponent: usize,
    inverse: bool,
}

/// A number-theoretic transform, natural order in and out, not scaled.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Transform {
    /// The number of points, a power of two.
    pub n: usize,
    /// Whether it is the inverse of one.
    pub inverse: bool,
    /// Whether it transforms modulo X^n + 1 instead of X^n - 1.
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

    /// The inverse of this transform, times n.
    pub fn inverted(self) -> Self {
        Self { inverse: !self.inverse, ..self }
    }

    /// Whether no rule is needed: sum and difference.
    fn is_butterfly(self) -> bool {
        self.n <= 2 && !self.negacyclic
    }

    /// The matrix's entry.
    fn power(self, row: usize, column: usize) -> Power {
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

/// The index of a diagonal in a family.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Index {
    /// A number.
    At(u32),
    /// The index i of the iterated product around the term.
    Ascending,
    /// That index from the end: the product's last index less i.
    Descending,
}

/// What a diagonal holds; the module's text has the definitions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Family {
    /// `T^n_m`: the factors between the two parts of a Cooley-Tukey step.
    Twiddle(usize),
    /// `P^n`: from the negacyclic to the cyclic transform.
    Twist,
    /// `D^n_i`: the factors of a stage of the constant-geometry cyclic transforms.
    Stage(Index),
    /// `W^n_i`: those of the negacyclic ones, merged with the twist.
    Merged(Index),
}

/// A diagonal matrix of roots of unity.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Diagonal {
    /// Its size, a power of two.
    pub n: usize,
    /// What it holds.
    pub family: Family,
    /// Whether it holds the inverses.
    pub inverse: bool,
}

impl Diagonal {
    fn power(self, place: usize) -> Power {
        let Self { n, family, inverse } = self;
        let (order, exponent) = match family {
            Family::Twiddle(m) => (n, (place / m) * (place % m)),
            Family::Twist => (2 * n, place),
            Family::Stage(Index::At(i)) => {
                let block = place / (n >> (i + 1));
                (2 << i, (block >> i) * (block & ((1 << i) - 1)))
            }
            Family::Merged(Index::At(i)) => {
                let m = n >> (i + 1);
                let exponent = bit_reverse(m + place % m, n.ilog2());
                (2 * n, if place < n / 2 { 0 } else { exponent })
            }
            Family::Stage(_) | Family::Merged(_) => {
                unreachable!("`size` refuses indices outside of an iterated product")
            }
        };
        Power { order, exponent, inverse }
    }

    /// The order of the roots that it needs, or what is wrong with it.
    fn order(self) -> Result<usize, &'static str> {
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
            Family::Stage(_) | Family::Merged(_) => Err("its index belongs to no iterated product"),
        }
    }
}

/// A structured matrix.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Formula {
    /// `I_n`.
    Identity(usize),
    /// A transform by its definition: `NTT_2`, or a term that a rule may rewrite.
    Transform(Transform),
    /// `L^n_m`.
    Stride {
        /// The size.
        n: usize,
        /// The stride at which elements are gathered.
        m: usize,
    },
    /// `R^n_2`.
    Reversal(usize),
    /// A diagonal of roots.
    Diagonal(Diagonal),
    /// The identity of that size, divided by it.
    Reciprocal(usize),
    /// `A (x) B (x) ..`
    Tensor(Vec<Self>),
    /// `A (+) B (+) ..`
    Sum(Vec<Self>),
    /// `A B ..`
    Compose(Vec<Self>),
    /// `prod_{i=0}^{count - 1} (factor)`; the factor with i = 0 is leftmost, and applied last.
    Product {
        /// The number of factors.
        count: u32,
        /// The factor, in which indices depend on i.
        factor: Box<Self>,
    },
}

/// A dense matrix, by rows.
pub type Matrix = Vec<Vec<u128>>;

impl Formula {
    /// The number of rows and columns.
    ///
    /// # Errors
    /// Where the parts of the formula do not fit together.
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

    /// The factors of a product from left to right, iterated products written out; any other
    /// formula is its only factor.
    pub fn factors(&self) -> Vec<Self> {
        match self {
            Self::Compose(parts) => parts.iter().flat_map(Self::factors).collect(),
            Self::Product { count, factor } => (0..*count).map(|i| factor.at(i, *count)).collect(),
            other => vec![other.clone()],
        }
    }

    /// The formula for index i of `count`.
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

    /// The matrix, multiplied out.
    ///
    /// # Errors
    /// Where the formula is no matrix over the ring.
    pub fn matrix(&self, ring: &Ring) -> Result<Matrix, FormulaError> {
        let n = self.check(ring)?;
        let q = &ring.modulus;
        let build = |entry: &dyn Fn(usize, usize) -> u128| -> Matrix {
            (0..n).map(|row| (0..n).map(|column| entry(row, column)).collect()).collect()
        };
        let unit = |equal: bool| u128::from(equal);
        Ok(match self {
            Self::Identity(_) => build(&|row, column| unit(row == column)),
            Self::Transform(transform) => build(&|row, column| ring.power(transform.power(row, column))),
            Self::Stride { m, .. } => build(&|row, column| unit(column == row % (n / m) * m + row / (n / m))),
            Self::Reversal(_) => build(&|row, column| unit(column == bit_reverse(row, n.ilog2()))),
            Self::Diagonal(diagonal) => build(&|row, column| {
                if row == column { ring.power(diagonal.power(row)) } else { 0 }
            }),
            Self::Reciprocal(_) => {
                let over_n = self.over_n(ring, n)?;
                build(&|row, column| if row == column { over_n } else { 0 })
            }
            Self::Tensor(parts) => {
                let mut product = vec![vec![1]];
                for part in parts {
                    let part = part.matrix(ring)?;
                    let m = part.len();
                    let entry = |row: usize, column: usize| {
                        let left: u128 = product[row / m][column / m];
                        q.mul(left, part[row % m][column % m])
                    };
                    let size = 0..product.len() * m;
                    product = size.clone().map(|r| size.clone().map(|c| entry(r, c)).collect()).collect();
                }
                product
            }
            Self::Sum(parts) => {
                let mut sum = vec![vec![0; n]; n];
                let mut first = 0;
                for part in parts {
                    let part = part.matrix(ring)?;
                    for (row, entries) in part.iter().enumerate() {
                        sum[first + row][first..first + part.len()].copy_from_slice(entries);
                    }
                    first += part.len();
                }
                sum
            }
            Self::Compose(_) | Self::Product { .. } => {
                let mut product: Option<Matrix> = None;
                for factor in self.factors() {
                    let right = factor.matrix(ring)?;
                    product = Some(match product {
                        None => right,
                        Some(left) => build(&|row, column| {
                            let terms = (0..n).map(|k| q.mul(left[row][k], right[k][column]));
                            terms.fold(0, |sum, term| q.add(sum, term))
                        }),
                    });
                }
                product.unwrap_or_default()
            }
        })
    }

    /// The matrix times a vector of residues, without writing the matrix down.
    ///
    /// # Errors
    /// Where the formula is no matrix over the ring, or the vector has another length.
    pub fn apply(&self, ring: &Ring, x: &[u128]) -> Result<Vec<u128>, FormulaError> {
        let n = self.check(ring)?;
        if x.len() != n {
            return Err(FormulaError::Length { given: x.len(), size: n });
        }
        let q = &ring.modulus;
        Ok(match self {
            Self::Identity(_) => x.to_vec(),
            Self::Transform(transform) => {
                let term = |row, column: usize| q.mul(ring.power(transform.power(row, column)), x[column]);
                let row = |row| (0..n).map(|column| term(row, column)).fold(0, |sum, term| q.add(sum, term));
                (0..n).map(row).collect()
            }
            Self::Stride { m, .. } => (0..n).map(|row| x[row % (n / m) * m + row / (n / m)]).collect(),
            Self::Reversal(_) => (0..n).map(|row| x[bit_reverse(row, n.ilog2())]).collect(),
            Self::Diagonal(diagonal) => {
                let scaled = |(place, &x)| q.mul(ring.power(diagonal.power(place)), x);
                x.iter().enumerate().map(scaled).collect()
            }
            Self::Reciprocal(_) => {
                let over_n = self.over_n(ring, n)?;
                x.iter().map(|&x| q.mul(x, over_n)).collect()
            }
            Self::Tensor(parts) => {
                // A (x) B = (A (x) I) (I (x) B): each part works on elements a stride apart.
                let mut y = x.to_vec();
                let mut stride = 1;
                for part in parts.iter().rev() {
                    let size = part.size()?;
                    if *part != Self::Identity(size) {
                        for first in (0..n).filter(|first| first / stride % size == 0) {
                            let places = || (0..size).map(|k| first + k * stride);
                            let column: Vec<u128> = places().map(|place| y[place]).collect();
                            for (place, value) in places().zip(part.apply(ring, &column)?) {
                                y[place] = value;
                            }
                        }
                    }
                    stride *= size;
                }
                y
            }
            Self::Sum(parts) => {
                let mut y = Vec::with_capacity(n);
                for part in parts {
                    let first = y.len();
                    y.extend(part.apply(ring, &x[first..first + part.size()?])?);
                }
                y
            }
            Self::Compose(_) | Self::Product { .. } => {
                let mut factors = self.factors().into_iter().rev();
                factors.try_fold(x.to_vec(), |x, factor| factor.apply(ring, &x))?
            }
        })
    }

    /// The size, where the ring has the roots that this term needs.
    fn check(&self, ring: &Ring) -> Result<usize, FormulaError> {
        let size = self.size()?;
        let order = match self {
            Self::Transform(transform) => transform.power(0, 0).order,
            Self::Diagonal(diagonal) => diagonal.order().unwrap_or(1),
            _ => 1,
        };
        if !ring.order.is_multiple_of(order) {
            let term = self.to_string();
            return Err(FormulaError::Order { term, order, available: ring.order });
        }
        Ok(size)
    }

    fn over_n(&self, ring: &Ring, n: usize) -> Result<u128, FormulaError> {
        let inverse = ring.modulus.inverse(ring.modulus.residue(n as u128));
        inverse.ok_or_else(|| FormulaError::Shape {
            term: self.to_string(),
            problem: "its size has no inverse modulo the modulus",
        })
    }

    /// The same matrix with nested products flattened, and identities and pairs of reversals left
    /// out.
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

    /// The transforms that rules have still to rewrite, from left to right.
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

    /// The formula with the transforms of [`Self::open`] replaced in order.
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

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, 0)
    }
}

impl Formula {
    /// Writes the formula; `last` is the last index of the product around it.
    fn write(&self, f: &mut fmt::Formatter<'_>, last: u32) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, parts: &[Self], sign: &str| {
            for (place, part) in parts.iter().enumerate() {
                if place > 0 {
                    f.write_str(sign)?;
                }
                let product = matches!(part, Self::Compose(_) | Self::Product { .. });
                if matches!(part, Self::Tensor(_) | Self::Sum(_)) || product && sign != " " {
                    f.write_str("(")?;
                    part.write(f, last)?;
                    f.write_str(")")?;
                } else {
                    part.write(f, last)?;
                }
            }
            Ok(())
        };
        match self {
            Self::Identity(n) => write!(f, "I_{n}"),
            Self::Transform(transform) => write!(f, "{transform}"),
            Self::Stride { n, m } => write!(f, "L^{n}_{m}"),
            Self::Reversal(n) => write!(f, "R^{n}_2"),
            Self::Reciprocal(n) => write!(f, "1/{n}"),
            Self::Diagonal(Diagonal { n, family, inverse }) => {
                let inverse = if *inverse { "^-1" } else { "" };
                let indexed = |f: &mut fmt::Formatter<'_>, name, index| match index {
                    Index::At(i) => write!(f, "{name}^{n}_{i}{inverse}"),
                    Index::Ascending => write!(f, "{name}^{n}_i{inverse}"),
                    Index::Descending => write!(f, "{name}^{n}_{{{last}-i}}{inverse}"),
                };
                match *family {
                    Family::Twiddle(m) => write!(f, "T^{n}_{m}{inverse}"),
                    Family::Twist => write!(f, "P^{n}{inverse}"),
                    Family::Stage(index) => indexed(f, "D", index),
                    Family::Merged(index) => indexed(f, "W", index),
                }
            }
            Self::Tensor(parts) => list(f, parts, " (x) "),
            Self::Sum(parts) => list(f, parts, " (+) "),
            Self::Compose(parts) => list(f, parts, " "),
            Self::Product { count, factor } => {
                let last = count.saturating_sub(1);
                write!(f, "prod_{{i=0}}^{{{last}}} (")?;
                factor.write(f, last)?;
                f.write_str(")")
            }
        }
    }
}

/// A breakdown rule: one way to write a transform in terms of smaller ones.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Rule {
    /// `NTT_mk = (NTT_m (x) I_k) T^mk_k (I_m (x) NTT_k) L^mk_m`, for this m.
    CooleyTukey(usize),
    /// Its transpose: `NTT_mk = L^mk_k (I_m (x) NTT_k) T^mk_k (NTT_m (x) I_k)`.
    DecimationInFrequency(usize),
    /// `NTT_mk = (NTT_m (x) I_k) T^mk_k L^mk_m (NTT_k (x) I_m)`: all points of a column at once,
    /// and one transposition between the two halves.
    FourStep(usize),
    /// `NTT_n = R^n_2 prod (L^n_{n/2} D^n_i (NTT_2 (x) I_{n/2}))`, the paper's; for the negacyclic
    /// transform `nNTT_n = R^n_2 prod (L^n_{n/2} (NTT_2 (x) I_{n/2}) W^n_i)`.
    KornLambiotte,
    /// Its transpose, `NTT_n = prod ((NTT_2 (x) I_{n/2}) D^n_{k-1-i} L^n_2) R^n_2`; for the inverse
    /// negacyclic transform its inverse,
    /// `inNTT_n = prod (W^n_{k-1-i}^-1 (NTT_2 (x) I_{n/2}) L^n_2) R^n_2`.
    Pease,
    /// `nNTT_n = NTT_n P^n` and `inNTT_n = P^n^-1 iNTT_n`.
    Twist,
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CooleyTukey(m) => write!(f, "Cooley-Tukey({m})"),
            Self::DecimationInFrequency(m) => write!(f, "decimation-in-frequency({m})"),
            Self::FourStep(m) => write!(f, "four-step({m})"),
            Self::KornLambiotte => f.write_str("Korn-Lambiotte"),
            Self::Pease => f.write_str("Pease"),
            Self::Twist => f.write_str("twist"),
        }
    }
}

impl Rule {
    /// The transform as this rule writes it.
    ///
    /// # Errors
    /// Where the rule is not for this transform.
    pub fn apply(self, transform: Transform) -> Result<Formula, FormulaError> {
        let Transform { n, inverse, negacyclic } = transform;
        let refuse = |needs| Err(FormulaError::Rule { rule: self, transform, needs });
        if !is_size(n) || n < 2 {
            return refuse("a power of two from 2 to 2^30 points");
        }
        let ntt = |n| {
            let part = Transform { n, inverse, negacyclic: false };
            Formula::Transform(if n == 2 { Transform::cyclic(2) } else { part })
        };
        let id = Formula::Identity;
        let diagonal = |family| Formula::Diagonal(Diagonal { n, family, inverse });
        let tensor = |left, right| Formula::Tensor(vec![left, right]);
        let stride = |m| Formula::Stride { n, m };
        let count = n.ilog2();
        let product = |factors| Formula::Product { count, factor: Box::new(Formula::Compose(factors)) };
        let butterflies = || if n == 2 { ntt(2) } else { tensor(ntt(2), id(n / 2)) };
        Ok(Formula::Compose(match (self, negacyclic) {
            (Self::CooleyTukey(m) | Self::DecimationInFrequency(m) | Self::FourStep(m), false) => {
                if m < 2 || m >= n || !m.is_power_of_two() {
                    return refuse("a factor m that is a power of two, at least 2 and below n");
                }
                let k = n / m;
                let (outer, twiddles) = (tensor(ntt(m), id(k)), diagonal(Family::Twiddle(k)));
                match self {
                    Self::CooleyTukey(_) => vec![outer, twiddles, tensor(id(m), ntt(k)), stride(m)],
                    Self::FourStep(_) => vec![outer, twiddles, stride(m), tensor(ntt(k), id(m))],
                    _ => vec![stride(k), tensor(id(m), ntt(k)), twiddles, outer],
                }
            }
            (Self::KornLambiotte, false) => {
                let stage = diagonal(Family::Stage(Index::Ascending));
                vec![Formula::Reversal(n), product(vec![stride(n / 2), stage, butterflies()])]
            }
            (Self::KornLambiotte, true) if !inverse => {
                let stage = diagonal(Family::Merged(Index::Ascending));
                vec![Formula::Reversal(n), product(vec![stride(n / 2), butterflies(), stage])]
            }
            (Self::Pease, false) => {
                let stage = diagonal(Family::Stage(Index::Descending));
                vec![product(vec![butterflies(), stage, stride(2)]), Formula::Reversal(n)]
            }
            (Self::Pease, true) if inverse => {
                let stage = diagonal(Family::Merged(Index::Descending));
                vec![product(vec![stage, butterflies(), stride(2)]), Formula::Reversal(n)]
            }
            (Self::Twist, true) if inverse => vec![diagonal(Family::Twist), ntt(n)],
            (Self::Twist, true) => vec![ntt(n), diagonal(Family::Twist)],
            (Self::Twist, false) => return refuse("a negacyclic transform"),
            (Self::KornLambiotte, true) => return refuse("a cyclic or a forward transform"),
            (Self::Pease, true) => return refuse("a cyclic or an inverse transform"),
            (_, true) => return refuse("a cyclic transform; the twist makes one"),
        }))
    }
}

/// A transform and how it is broken down.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tree {
    transform: Transform,
    rule: Option<(Rule, Vec<Self>)>,
}

impl Tree {
    /// A transform that is left as it is.
    pub fn leaf(transform: Transform) -> Self {
        Self { transform, rule: None }
    }

    /// A transform that `rule` breaks down; `branches` are the transforms that it leaves, from left
    /// to right. `NTT_2` needs no branch.
    ///
    /// # Errors
    /// Where the rule is not for this transform, or the branches are other transforms.
    pub fn new(transform: Transform, rule: Rule, branches: Vec<Self>) -> Result<Self, FormulaError> {
        let expected = rule.apply(transform)?.open();
        let found: Vec<Transform> = branches.iter().map(|branch| branch.transform).collect();
        if expected != found {
            let text =
                |list: &[Transform]| list.iter().map(Transform::to_string).collect::<Vec<_>>().join(", ");
            let (expected, found) = (text(&expected), text(&found));
            return Err(FormulaError::Branches { rule, transform, expected, found });
        }
        Ok(Self { transform, rule: Some((rule, branches)) })
    }

    /// Cooley-Tukey steps of radix 2 all the way down, for a cyclic transform.
    ///
    /// # Errors
    /// Where the transform is not cyclic, or its size no power of two from 2 on.
    pub fn radix_2(transform: Transform) -> Result<Self, FormulaError> {
        if transform.is_butterfly() {
            return Ok(Self::leaf(transform));
        }
        let half = Transform { n: transform.n / 2, ..transform };
        let branches = if half.is_butterfly() { Vec::new() } else { vec![Self::radix_2(half)?] };
        Self::new(transform, Rule::CooleyTukey(2), branches)
    }

    /// The formula.
    pub fn expand(&self) -> Formula {
        match &self.rule {
            None => Formula::Transform(self.transform),
            Some((rule, branches)) => {
                let formula = rule.apply(self.transform).expect("`new` has applied it");
                formula.fill(&mut branches.iter().map(Self::expand)).simplified()
            }
        }
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
        write!(f, "{:1$}{2}", "", 2 * depth, self.transform)?;
        let Some((rule, branches)) = &self.rule else { return Ok(()) };
        write!(f, ": {rule}")?;
        branches.iter().try_for_each(|branch| {
            f.write_str("\n")?;
            branch.write(f, depth + 1)
        })
    }
}

/// One line for each transform, its branches indented below it.
impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, 0)
    }
}

/// The formula of an algorithm for rings of 2^`log_n` elements, `log_n` from 1 to 30, with the
/// stages in constant geometry. Coefficients are in natural order, transforms in bit-reversed order.
///
/// # Panics
/// Where `log_n` is beyond its range.
pub fn of(algorithm: Algorithm, log_n: u32) -> Formula {
    assert!((1..=30).contains(&log_n), "log_n = {log_n} is not from 1 to 30");
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::golden;
    use b512_asm::Function;

    /// 12289 = 3 * 2^12 + 1; 11 generates the units.
    const Q: u128 = 12289;

    fn ring(n: usize) -> Ring {
        let q = Modulus::new(Q).unwrap();
        Ring::new(Q, n, q.pow(11, (Q - 1) / (2 * n as u128))).unwrap()
    }

    fn matrix(formula: &Formula, ring: &Ring) -> Matrix {
        let dense = formula.matrix(ring).unwrap();
        let n = dense.len();
        for column in [0, 1, n / 2, n - 1] {
            let unit: Vec<u128> = (0..n).map(|row| u128::from(row == column)).collect();
            let expected: Vec<u128> = dense.iter().map(|row| row[column]).collect();
            assert_eq!(formula.apply(ring, &unit).unwrap(), expected, "column {column} of {formula}");
        }
        dense
    }

    fn transforms(n: usize) -> [Transform; 4] {
        let (cyclic, negacyclic) = (Transform::cyclic(n), Transform::negacyclic(n));
        [cyclic, cyclic.inverted(), negacyclic, negacyclic.inverted()]
    }

    #[test]
    fn every_rule_keeps_the_matrix() {
        for n in [2usize, 4, 8, 16, 32, 64] {
            let ring = ring(64);
            let mut rules = vec![Rule::KornLambiotte, Rule::Pease, Rule::Twist];
            let divisors = (1..n.ilog2()).map(|log_m| 1 << log_m);
            rules.extend(
                divisors
                    .flat_map(|m| [Rule::CooleyTukey(m), Rule::DecimationInFrequency(m), Rule::FourStep(m)]),
            );
            for transform in transforms(n) {
                let definition = Formula::Transform(transform).matrix(&ring).unwrap();
                let mut fitting = 0;
                for rule in &rules {
                    if let Ok(formula) = rule.apply(transform) {
                        assert_eq!(matrix(&formula, &ring), definition, "{transform} = {formula}");
                        fitting += 1;
                    }
                }
                let expected = if transform.negacyclic { 2 } else { 2 + 3 * (n.ilog2() as usize - 1) };
                assert_eq!(fitting, expected, "{transform}");
            }
        }
    }

    #[test]
    fn transforms_are_inverse_to_each_other() {
        let ring = ring(16);
        for transform in transforms(16) {
            let parts = [transform.inverted(), transform].map(Formula::Transform);
            let product = Formula::Compose([vec![Formula::Reciprocal(16)], parts.to_vec()].concat());
            assert_eq!(matrix(&product, &ring), matrix(&Formula::Identity(16), &ring));
        }
    }

    #[test]
    fn terms_are_what_the_text_says() {
        let ring = ring(8);
        let x: Vec<u128> = (0..8).collect();
        let apply = |formula: Formula| formula.apply(&ring, &x).unwrap();
        assert_eq!(apply(Formula::Stride { n: 8, m: 2 }), [0, 2, 4, 6, 1, 3, 5, 7]);
        assert_eq!(apply(Formula::Stride { n: 8, m: 4 }), [0, 4, 1, 5, 2, 6, 3, 7]);
        assert_eq!(apply(Formula::Reversal(8)), [0, 4, 2, 6, 1, 5, 3, 7]);
        let family = |family| Formula::Diagonal(Diagonal { n: 8, family, inverse: false });
        for i in 0..3u32 {
            let twiddles = Diagonal { n: 2 << i, family: Family::Twiddle(1 << i), inverse: false };
            let parts = vec![Formula::Diagonal(twiddles), Formula::Identity(4 >> i)];
            assert_eq!(
                matrix(&family(Family::Stage(Index::At(i))), &ring),
                matrix(&Formula::Tensor(parts), &ring)
            );
        }
        // W_i is block-diagonal: an identity, then 2^i times the same factors.
        for i in 0..3u32 {
            let merged = matrix(&family(Family::Merged(Index::At(i))), &ring);
            let m = 4usize >> i;
            let q = ring.modulus;
            let factors: Matrix = (0..m)
                .map(|j| {
                    let mut row = vec![0; m];
                    row[j] = q.pow(ring.root, bit_reverse(m + j, 3) as u128);
                    row
                })
                .collect();
            for (row, entries) in merged.iter().enumerate() {
                let expected = if row < 4 { 1 } else { factors[row % m][row % m] };
                assert_eq!(entries[row], expected);
            }
        }
        let sum = Formula::Sum(vec![Formula::Identity(4), Formula::Stride { n: 4, m: 2 }]);
        assert_eq!(apply(sum.clone()), [0, 1, 2, 3, 4, 6, 5, 7]);
        matrix(&sum, &ring);
    }

    #[test]
    fn the_algorithms_are_the_golden_model() {
        for log_n in 1..=6 {
            let n = 1 << log_n;
            let ring = ring(n);
            for (algorithm, function) in [
                (Algorithm::Forward, Function::Ntt),
                (Algorithm::Inverse, Function::Intt),
                (Algorithm::InverseTwisted, Function::Intt),
            ] {
                let formula = of(algorithm, log_n);
                let columns = (0..n).map(|column| {
                    let unit: Vec<u128> = (0..n).map(|row| u128::from(row == column)).collect();
                    golden::evaluate(function, &[&unit], n, Q, ring.root).unwrap()
                });
                let columns: Vec<Vec<u128>> = columns.collect();
                let dense = matrix(&formula, &ring);
                let transposed: Matrix = (0..n).map(|c| dense.iter().map(|row| row[c]).collect()).collect();
                assert_eq!(transposed, columns, "{formula}");
            }
        }
    }

    /// The stage as the papers' loops write it.
    #[test]
    fn a_factor_is_a_constant_geometry_stage() {
        let (n, log_n) = (32, 5);
        let ring = ring(n);
        let q = ring.modulus;
        let mut x: Vec<u128> = (0..n as u128).map(|i| i * i * 7 % Q).collect();
        for (stage, factor) in of(Algorithm::Forward, log_n).factors().iter().rev().enumerate() {
            let m = 1 << stage;
            let mut y = vec![0; n];
            for k in 0..n / 2 {
                let exponent = bit_reverse(m + k % m, log_n);
                let t = q.mul(x[k + n / 2], q.pow(ring.root, exponent as u128));
                y[2 * k] = q.add(x[k], t);
                y[2 * k + 1] = q.sub(x[k], t);
            }
            x = factor.apply(&ring, &x).unwrap();
            assert_eq!(x, y, "{factor}");
        }
    }

    #[test]
    fn trees_print_and_expand() {
        let tree = Tree::radix_2(Transform::cyclic(8)).unwrap();
        assert_eq!(tree.to_string(), "NTT_8: Cooley-Tukey(2)\n  NTT_4: Cooley-Tukey(2)");
        assert_eq!(
            tree.expand().to_string(),
            "(NTT_2 (x) I_4) T^8_4 (I_2 (x) ((NTT_2 (x) I_2) T^4_2 (I_2 (x) NTT_2) L^4_2)) L^8_2"
        );
        let cyclic = Transform::cyclic(16);
        let four = Tree::radix_2(Transform::cyclic(4)).unwrap();
        let branches = vec![four, Tree::new(Transform::cyclic(4), Rule::Pease, Vec::new()).unwrap()];
        let inner = Tree::new(cyclic, Rule::FourStep(4), branches).unwrap();
        let tree = Tree::new(Transform::negacyclic(16), Rule::Twist, vec![inner]).unwrap();
        assert_eq!(
            tree.to_string(),
            "nNTT_16: twist\n  NTT_16: four-step(4)\n    NTT_4: Cooley-Tukey(2)\n    NTT_4: Pease"
        );
        let ring = ring(16);
        let definition = Formula::Transform(Transform::negacyclic(16));
        assert_eq!(matrix(&tree.expand(), &ring), matrix(&definition, &ring));
        assert_eq!(
            of(Algorithm::InverseTwisted, 4).to_string(),
            "1/16 P^16^-1 prod_{i=0}^{3} ((NTT_2 (x) I_8) D^16_{3-i}^-1 L^16_2)"
        );
        assert_eq!(
            of(Algorithm::Inverse, 4).to_string(),
            "1/16 prod_{i=0}^{3} (W^16_{3-i}^-1 (NTT_2 (x) I_8) L^16_2)"
        );
        assert_eq!(
            Rule::KornLambiotte.apply(cyclic).unwrap().to_string(),
            "R^16_2 prod_{i=0}^{3} (L^16_8 D^16_i (NTT_2 (x) I_8))"
        );
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let ring = ring(8);
        let error = |formula: Formula| formula.matrix(&ring).unwrap_err().to_string();
        assert_eq!(
            error(Formula::Stride { n: 8, m: 3 }),
            "`L^8_3` is no matrix: the stride must divide the size"
        );
        assert_eq!(
            error(Formula::Compose(vec![Formula::Identity(4), Formula::Reversal(8)])),
            "`I_4 R^8_2` is no matrix: a product needs factors of one size"
        );
        assert_eq!(
            error(Formula::Transform(Transform::negacyclic(16))),
            "`nNTT_16` needs roots of order 32, but the ring's have order 16"
        );
        assert_eq!(
            error(Formula::Diagonal(Diagonal {
                n: 8,
                family: Family::Stage(Index::Ascending),
                inverse: false
            })),
            "`D^8_i` is no matrix: its index belongs to no iterated product"
        );
        assert_eq!(
            Rule::CooleyTukey(8).apply(Transform::cyclic(8)).unwrap_err().to_string(),
            "Cooley-Tukey(8) does not apply to NTT_8: it needs a factor m that is a power of two, at least 2 \
             and below n"
        );
        assert_eq!(
            Tree::new(Transform::cyclic(8), Rule::CooleyTukey(2), Vec::new()).unwrap_err().to_string(),
            "Cooley-Tukey(2) of NTT_8 leaves [NTT_4], but the tree has []"
        );
        assert_eq!(
            Ring::new(Q, 8, 11).unwrap_err().to_string(),
            "0xb is no primitive 16-th root of unity modulo 0x3001"
        );
    }
}
