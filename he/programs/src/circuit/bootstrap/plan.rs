//! The stages of each matrix, and the baby and giant steps of a matrix.

use crate::bootstrap::Steps;
use crate::circuit::Plan;
use crate::matrix::{Diagonal, Matrix, Slots};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The number of stages of each of `count` matrices, in the order in which they apply.
pub(super) fn split(steps: Steps, stages: usize, count: usize, inverse: bool) -> Vec<usize> {
    let count = count.min(stages);
    match steps {
        Steps::Lattigo => {
            let mut left = stages;
            let mut sizes: Vec<usize> = (0..count)
                .map(|index| {
                    let size = left.div_ceil(count - index);
                    left -= size;
                    size
                })
                .collect();
            if !inverse {
                sizes.reverse();
            }
            sizes
        }
        Steps::Cheddar => {
            let mut left = stages;
            let size = |index: usize| {
                let matrices = count - index;
                let size = if inverse && index == 0 { left.div_ceil(matrices) } else { left / matrices };
                left -= size;
                size
            };
            (0..count).map(size).collect()
        }
        Steps::OpenFhe => {
            let mut size = stages.div_ceil(count);
            if stages.div_ceil(size) < count {
                size -= 1;
            }
            let (whole, rest) = match stages / size {
                whole if whole + usize::from(!stages.is_multiple_of(size)) <= count => (whole, stages % size),
                _ => (count - 1, stages - (count - 1) * size),
            };
            let rest = (rest > 0).then_some(rest);
            std::iter::repeat_n(size, whole).chain(rest).collect()
        }
    }
}

/// The baby and giant steps of a matrix. The rotation `left` is left of the matrices before, and so may one
/// be of this matrix.
pub(super) fn steps(steps: Steps, is_nested: bool, matrix: &Arc<Matrix>, left: i64) -> (Plan, i64) {
    match steps {
        Steps::Lattigo | Steps::OpenFhe | Steps::Cheddar if is_nested => contiguous(matrix, left),
        Steps::Cheddar => contiguous(matrix, left),
        Steps::Lattigo => (lattigo(matrix), left),
        Steps::OpenFhe => (openfhe(matrix), left),
    }
}

/// Steps that may be inside each other: babies from 0 on, giants at multiples of their number, all in one
/// direction from the first diagonal. The rotation by that diagonal is left to do, after the rotation `left`
/// that is left of the matrices before.
fn contiguous(matrix: &Arc<Matrix>, left: i64) -> (Plan, i64) {
    let diagonals = diagonals(matrix);
    let (stride, count) = (matrix.stride(), diagonals.len());
    let is_circle = stride * count as i64 == matrix.slots as i64;
    let first = if is_circle { 0 } else { *matrix.offsets().first().expect("a matrix has diagonals") };
    let left = left + first;
    let babies = 1 << count.next_power_of_two().ilog2().div_ceil(2);
    let mut giants: BTreeMap<usize, Vec<(usize, Slots)>> = BTreeMap::new();
    for index in 0..count {
        let (giant, baby) = (index / babies * babies * stride as usize, index % babies * stride as usize);
        let column = first + index as i64 * stride;
        let offsets = diagonals[&(column.rem_euclid(matrix.slots as i64) as usize)].clone();
        let diagonal = Diagonal { matrix: matrix.clone(), offsets, rotation: giant as i64 + left, column };
        giants.entry(giant).or_default().push((baby, Slots::Diagonal(diagonal)));
    }
    (giants.into_iter().collect(), left)
}

/// The offsets of each diagonal, by its place modulo the slots.
fn diagonals(matrix: &Matrix) -> BTreeMap<usize, Vec<i64>> {
    let mut diagonals: BTreeMap<usize, Vec<i64>> = BTreeMap::new();
    for offset in matrix.offsets() {
        diagonals.entry(offset.rem_euclid(matrix.slots as i64) as usize).or_default().push(offset);
    }
    diagonals
}

/// Babies below a power of two, giants at its multiples.
fn lattigo(matrix: &Arc<Matrix>) -> Plan {
    let slots = matrix.slots;
    let diagonals = diagonals(matrix);
    let size = babies(&diagonals.keys().copied().collect(), slots);
    let mut giants: BTreeMap<usize, Vec<(usize, Slots)>> = BTreeMap::new();
    for (place, offsets) in diagonals {
        let (giant, baby) = (place / size * size, place % size);
        let (rotation, column) = (giant as i64, place as i64);
        let diagonal = Diagonal { matrix: matrix.clone(), offsets, rotation, column };
        giants.entry(giant).or_default().push((baby, Slots::Diagonal(diagonal)));
    }
    giants.into_iter().collect()
}

/// The smallest power of two with at most twice as many baby as giant rotations, where the next one has more.
pub(in crate::circuit) fn babies(places: &BTreeSet<usize>, slots: usize) -> usize {
    let mut size = 1;
    while size < slots {
        let giants: BTreeSet<usize> = places.iter().map(|place| place / size).collect();
        let babies: BTreeSet<usize> = places.iter().map(|place| place % size).collect();
        let (giants, babies) = (giants.len() - 1, babies.len() - 1);
        if giants > 0 && babies == 2 * giants {
            return size;
        }
        if babies > 2 * giants {
            return (size / 2).max(1);
        }
        size *= 2;
    }
    1
}

/// Babies from the most negative offset on. Offsets that are equal modulo the slots stay apart.
fn openfhe(matrix: &Arc<Matrix>) -> Plan {
    let (slots, stride) = (matrix.slots as i64, matrix.stride());
    let layers = matrix.stages.len() as u32;
    let diagonals = (1_i64 << (layers + 1)) - 1;
    let babies = 1_i64 << (layers / 2 + 1 + u32::from(diagonals > 7));
    let giants = (diagonals + 1) / babies;
    let first = -(diagonals - 1) / 2;
    let place = |offset: i64| offset.rem_euclid(slots) as usize;
    let giant = |giant: i64| {
        let rotation = place(stride * babies * giant);
        let term = |baby: i64| {
            let offset = stride * (first + baby + babies * giant);
            let baby = place(stride * (first + baby));
            let (column, rotation) = ((baby + rotation) as i64, rotation as i64);
            let diagonal = Diagonal { matrix: matrix.clone(), offsets: vec![offset], rotation, column };
            (baby, Slots::Diagonal(diagonal))
        };
        let last = (diagonals - babies * giant).min(babies);
        (rotation, (0..last).map(term).collect())
    };
    (0..giants).map(giant).collect()
}
