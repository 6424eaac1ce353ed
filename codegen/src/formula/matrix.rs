//! Dense matrices of formulas, and matrix-vector products.

use super::{Formula, FormulaError, Ring};
use ring::bits::bit_reverse;

/// A dense matrix in row-major order.
pub type Matrix = Vec<Vec<u128>>;

impl Formula {
    /// The dense matrix of the formula.
    ///
    /// # Errors
    /// Returns an error if the formula is invalid, or if the ring lacks a root or inverse that it
    /// needs.
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

    /// The product of the matrix and a vector of residues. The matrix is not expanded.
    ///
    /// # Errors
    /// Returns an error if [`Self::matrix`] would, or if the length of the vector differs from the
    /// size of the formula.
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
                let scaled = |(index, &x)| q.mul(ring.power(diagonal.power(index)), x);
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
                            let indices = || (0..size).map(|k| first + k * stride);
                            let column: Vec<u128> = indices().map(|index| y[index]).collect();
                            for (index, value) in indices().zip(part.apply(ring, &column)?) {
                                y[index] = value;
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

    /// The size of the term. Returns an error if the ring lacks the roots that the term needs.
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
}
