//! Formulas as movements of index bits.

use super::{Formula, Transform};
use crate::plan::Bit;

/// The index bits in the order in which the butterflies of a formula work on them. The bits belong to the
/// index of the input, or of the output if the formula starts with a bit reversal.
///
/// A term of size n acts on the log2 n lowest positions of an index, in a tensor product with identities on
/// higher positions. `NTT_2` is a butterfly at its position. `L^n_m` and `R^n_2` move bits between positions,
/// and diagonals move none.
///
/// # Panics
/// Panics if the formula has an error or contains a transform that is not a butterfly.
pub fn stages(formula: &Formula) -> Vec<Bit> {
    let size = formula.size().expect("the formula has no error");
    let mut positions: Vec<Bit> = (0..size.ilog2() as u8).map(Bit).collect();
    let mut stages = Vec::new();
    follow(formula, 0, &mut positions, &mut stages);
    stages
}

/// Follows the bits through a formula that acts on the positions from `low` on.
fn follow(formula: &Formula, low: usize, positions: &mut [Bit], stages: &mut Vec<Bit>) {
    let log = |n: usize| n.ilog2() as usize;
    match formula {
        Formula::Identity(_) | Formula::Diagonal(_) | Formula::Reciprocal(_) => {}
        // A direct sum of an identity and a diagonal.
        Formula::Sum(_) => {}
        Formula::Transform(Transform { n, .. }) => {
            assert!(*n == 2, "{formula} is no butterfly");
            stages.push(positions[low]);
        }
        // y[i n/m + j] = x[j m + i]: the positions of i, the lowest log m, become the topmost.
        Formula::Stride { n, m } => positions[low..low + log(*n)].rotate_left(log(*m)),
        Formula::Reversal(n) => positions[low..low + log(*n)].reverse(),
        Formula::Tensor(parts) => {
            let mut low = low;
            for part in parts.iter().rev() {
                follow(part, low, positions, stages);
                low += log(part.size().expect("the formula has no error"));
            }
        }
        Formula::Compose(_) | Formula::Product { .. } => {
            formula.factors().iter().rev().for_each(|factor| follow(factor, low, positions, stages));
        }
    }
}
