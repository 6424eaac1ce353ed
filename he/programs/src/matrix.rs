//! The matrices of the special FFT, by diagonals.
//!
//! The slots z of a polynomial with coefficients c are `z = U (c_lo + i c_hi)`, `U[j][k] = zeta^(5^j k)`,
//! zeta = exp(i pi/n), for n/2 slots. `U = S_(L-1) .. S_1 S_0 R` with the bit reversal R. The stage S_i has
//! blocks of 2s rows, s = 2^i:
//!
//! ```text
//! S_i         (x, y) -> (x + w_j y, x - w_j y)      w_j = exp(2 pi i (5^j mod 8s)/(8s)), j = 0 .. s-1
//! 2 S_i^-1    (x, y) -> (x + y, (x - y)/w_j)
//! ```

use num_complex::Complex64;
use std::collections::BTreeSet;
use std::f64::consts::PI;
use std::sync::Arc;

/// A product of consecutive stages, times a factor.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Matrix {
    /// The number of slots, a power of two.
    pub(crate) slots: usize,
    /// i for each S_i, or 2 S_i^-1, in the order in which they apply.
    pub(crate) stages: Vec<u32>,
    /// Whether the stages are inverted.
    pub(crate) inverse: bool,
    /// What the product is multiplied by.
    pub(crate) factor: f64,
    /// What else it does.
    pub(crate) packing: Packing,
}

/// How real and imaginary parts are put into twice as many slots.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Packing {
    /// They are not.
    None,
    /// The result has twice as many slots: M x, then -i M x. Their real parts are those of M x, and its
    /// imaginary ones.
    Split,
    /// The operand has twice as many slots, of which the upper half is multiplied by i. The sum of the
    /// result, which has twice as many too, and its rotation by half of them is M (x_lo + i x_hi).
    Join,
}

impl Matrix {
    /// The smallest stride of a stage.
    pub(crate) fn stride(&self) -> i64 {
        1 << self.stages.iter().min().expect("a matrix has stages")
    }

    /// The places of the diagonals, before reduction modulo the slots: row k has its entry in column k +
    /// offset.
    pub(crate) fn offsets(&self) -> BTreeSet<i64> {
        self.stages.iter().fold(BTreeSet::from([0]), |offsets, &stage| {
            let stride = 1_i64 << stage;
            offsets.iter().flat_map(|&offset| [offset - stride, offset, offset + stride]).collect()
        })
    }

    /// Calls `visit` with the offset and the value of each entry of a row, as a product of entries of stages.
    /// The last stage is multiplied from the left.
    fn visit(
        &self,
        roots: &[Vec<Complex64>],
        row: usize,
        (offset, value): (i64, Complex64),
        visit: &mut impl FnMut(i64, Complex64),
    ) {
        let Some((root, roots)) = roots.split_last() else { return visit(offset, value) };
        let stride = root.len();
        let (block, place) = (row % (2 * stride), row % stride);
        let one = Complex64::ONE;
        let (stay, go, step) = match (block < stride, self.inverse) {
            (true, false) => (one, root[place], stride as i64),
            (true, true) => (one, one, stride as i64),
            (false, false) => (-root[place], one, -(stride as i64)),
            (false, true) => (-root[place].conj(), root[place].conj(), -(stride as i64)),
        };
        self.visit(roots, row, (offset, value * stay), visit);
        let row = (row as i64 + step) as usize;
        self.visit(roots, row, (offset + step, value * go), visit);
    }
}

/// The slots of a plaintext.
#[derive(Clone, PartialEq, Debug)]
pub enum Slots {
    /// Diagonals of a product of stages of the special FFT.
    Diagonal(Diagonal),
    /// Real numbers with a period.
    Periodic(Periodic),
    /// Some numbers, which the slots of a ciphertext repeat if they are fewer.
    Values(Arc<[Complex64]>),
}

impl Slots {
    /// Their values, which the slots of a ciphertext repeat if they are fewer.
    pub fn values(&self) -> Vec<Complex64> {
        match self {
            Self::Diagonal(diagonal) => diagonal.slots(),
            Self::Periodic(periodic) => periodic.slots(),
            Self::Values(values) => values.to_vec(),
        }
    }
}

/// Real numbers in turn, again and again, each in several slots.
#[derive(Clone, PartialEq, Debug)]
pub struct Periodic {
    pub(crate) values: Vec<f64>,
    /// The slots of a number in turn.
    pub(crate) run: usize,
    /// The number of slots.
    pub(crate) slots: usize,
}

impl Periodic {
    fn slots(&self) -> Vec<Complex64> {
        let runs =
            self.values.iter().flat_map(|&value| std::iter::repeat_n(Complex64::from(value), self.run));
        runs.cycle().take(self.slots).collect()
    }
}

/// Diagonals of a matrix, added and rotated: the slots of one plaintext.
#[derive(Clone, PartialEq, Debug)]
pub struct Diagonal {
    pub(crate) matrix: Arc<Matrix>,
    /// The offsets whose diagonals are added: those that are equal modulo the slots.
    pub(crate) offsets: Vec<i64>,
    /// The slots to rotate to the right by.
    pub(crate) rotation: i64,
    /// The slots by which the vector to multiply is rotated to the left, before that rotation.
    pub(crate) column: i64,
}

impl Diagonal {
    fn slots(&self) -> Vec<Complex64> {
        let Matrix { slots, stages, factor, packing, .. } = &*self.matrix;
        let root = |&stage: &u32| {
            let order = 8_u64 << stage;
            let powers = std::iter::successors(Some(1), |power| Some(power * 5 % order));
            let root = |power| Complex64::cis(2.0 * PI * power as f64 / order as f64);
            powers.take(1 << stage).map(root).collect()
        };
        let roots: Vec<Vec<Complex64>> = stages.iter().map(root).collect();
        let entry = |row: usize| {
            let mut sum = Complex64::ZERO;
            let mut add = |offset: i64, value| {
                if self.offsets.contains(&offset) {
                    sum += value;
                }
            };
            self.matrix.visit(&roots, row, (0, Complex64::from(*factor)), &mut add);
            sum
        };
        let mut values: Vec<Complex64> = (0..*slots).map(entry).collect();
        let doubled = |factor: &dyn Fn(usize) -> Complex64| {
            (0..2 * slots).map(|row| values[row % slots] * factor(row)).collect()
        };
        let (one, i) = (Complex64::ONE, Complex64::i());
        values = match packing {
            Packing::None => values,
            Packing::Split => doubled(&|row| if row < *slots { one } else { -i }),
            Packing::Join => doubled(&|row| {
                let column = (row as i64 + self.column).rem_euclid(2 * *slots as i64);
                if column < *slots as i64 { one } else { i }
            }),
        };
        let length = values.len() as i64;
        values.rotate_right(self.rotation.rem_euclid(length) as usize);
        values
    }
}
