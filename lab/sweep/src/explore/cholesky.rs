//! The factorisation of a covariance.

/// The lower triangle of a symmetric matrix: row i has i + 1 elements.
pub(super) type Triangle = Vec<Vec<f64>>;

/// The lower triangle L of a matrix L L^T.
pub(super) struct Cholesky(Triangle);

impl Cholesky {
    /// `None` if the matrix is not positive definite.
    pub(super) fn new(mut matrix: Triangle) -> Option<Self> {
        for at in 0..matrix.len() {
            let (done, rest) = matrix.split_at_mut(at);
            let row = &mut rest[0];
            for (column, other) in done.iter().enumerate() {
                row[column] = (row[column] - dot(&row[..column], &other[..column])) / other[column];
            }
            let square = row[at] - dot(&row[..at], &row[..at]);
            row[at] = square.sqrt();
            if square.is_nan() || square <= 0.0 {
                return None;
            }
        }
        Some(Self(matrix))
    }

    /// The y of L y = `values`.
    pub(super) fn half(&self, values: &[f64]) -> Vec<f64> {
        let mut y = Vec::with_capacity(values.len());
        for (at, (row, value)) in self.0.iter().zip(values).enumerate() {
            y.push((value - dot(&row[..at], &y)) / row[at]);
        }
        y
    }

    /// The x of L L^T x = `values`.
    pub(super) fn solve(&self, values: &[f64]) -> Vec<f64> {
        let mut x = self.half(values);
        for (at, row) in self.0.iter().enumerate().rev() {
            x[at] /= row[at];
            let own = x[at];
            x[..at].iter_mut().zip(row).for_each(|(value, factor)| *value -= own * factor);
        }
        x
    }

    /// The logarithm of the matrix's determinant.
    pub(super) fn ln_determinant(&self) -> f64 {
        2.0 * self.0.iter().enumerate().map(|(at, row)| row[at].ln()).sum::<f64>()
    }
}

/// The sum of products, in eight parts that one vector instruction adds.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let mut parts = [0.0; 8];
    for (a, b) in a.iter().zip(b) {
        (0..8).for_each(|at| parts[at] += a[at] * b[at]);
    }
    parts.iter().sum::<f64>() + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factor_solves_and_has_the_determinant() {
        // The least of the row and the column: its determinant is 1, and its inverse has 2 on the diagonal, 1
        // at the end, and -1 beside.
        let size = 21;
        let least = |row: usize| (0..=row).map(|column| (row.min(column) + 1) as f64).collect();
        let factor = Cholesky::new((0..size).map(least).collect()).unwrap();
        assert!(factor.ln_determinant().abs() < 1e-12);
        let unit = |at| (0..size).map(|other| f64::from(u8::from(other == at))).collect::<Vec<f64>>();
        for at in 0..size {
            for (other, x) in factor.solve(&unit(at)).into_iter().enumerate() {
                let expected = match at.abs_diff(other) {
                    0 if at == size - 1 => 1.0,
                    0 => 2.0,
                    1 => -1.0,
                    _ => 0.0,
                };
                assert!((x - expected).abs() < 1e-12, "{at}, {other}: {x}");
            }
        }
        assert!(Cholesky::new(vec![vec![1.0], vec![2.0, 1.0]]).is_none());
    }
}
