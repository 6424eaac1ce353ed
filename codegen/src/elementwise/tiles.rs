//! The order in which a kernel executes its steps.
//!
//! A base conversion has a sum of many multiples for each output. In the order of the program, one sum
//! follows the other: each step waits for the one before, and all inputs are alive. In tiles, some sums grow
//! together, so that their steps do not wait for each other. Few values are alive, and so more vectors share
//! the load of a constant. Inputs are loaded again in each tile.

use super::{BLOCK_REGISTERS, Elementwise, LONGEST_BLOCK, Operand, StepOrder};

/// The most outputs of a tile. With an input and a result on its way, their values leave room for the longest
/// block.
const OUTPUTS: usize = 8;

/// The steps of a kernel, by index, in the order of execution.
pub(super) struct Tiles {
    /// The steps of each tile.
    pub(super) tiles: Vec<Vec<usize>>,
    /// The vectors that go through the steps together: as many as fit the registers.
    pub(super) block: u32,
}

impl Tiles {
    pub(super) fn of(shape: &Elementwise, order: StepOrder) -> Self {
        match order {
            StepOrder::Program => Self::new(shape, vec![(0..shape.steps.len()).collect()]),
            StepOrder::Tiles { equal } => Self::new(shape, tiles(shape, equal)),
        }
    }

    fn new(shape: &Elementwise, tiles: Vec<Vec<usize>>) -> Self {
        let fitting = (BLOCK_REGISTERS / most_alive(shape, &tiles).max(1)).max(1);
        Self { tiles, block: LONGEST_BLOCK.min(1 << fitting.ilog2()) }
    }
}

/// Tiles of a few outputs each: what they need, a step of each output after the other.
fn tiles(shape: &Elementwise, equal: bool) -> Vec<Vec<usize>> {
    let mut depths: Vec<usize> = Vec::with_capacity(shape.steps.len());
    for step in 0..shape.steps.len() {
        let depth = step_operands(shape, step).map(|operand| depths[operand] + 1).max();
        depths.push(depth.unwrap_or(0));
    }
    let mut is_taken = vec![false; shape.steps.len()];
    let mut take = |steps: Vec<usize>| {
        let (mut tile, mut open) = (Vec::new(), steps);
        while let Some(step) = open.pop() {
            if !std::mem::replace(&mut is_taken[step], true) {
                open.extend(step_operands(shape, step));
                tile.push(step);
            }
        }
        tile.sort_unstable_by_key(|&step| (depths[step], step));
        tile
    };
    let (all, count) = (shape.outputs.len(), shape.outputs.len().div_ceil(OUTPUTS));
    let begin = |tile| if equal { all * tile / count } else { all.min(OUTPUTS * tile) };
    let outputs = (0..count).map(|tile| &shape.outputs[begin(tile)..begin(tile + 1)]);
    let mut tiles: Vec<_> =
        outputs.map(|outputs| take(outputs.iter().map(|&output| output.into()).collect())).collect();
    // Steps that no output needs.
    tiles.push(take((0..shape.steps.len()).collect()));
    tiles.retain(|tile| !tile.is_empty());
    tiles
}

/// The steps whose results a step reads.
fn step_operands(shape: &Elementwise, step: usize) -> impl Iterator<Item = usize> {
    shape.steps[step].op.operands().filter_map(|operand| match operand {
        Operand::Input(_) => None,
        Operand::Step(step) => Some(step.into()),
    })
}

/// The most vectors that are alive at a time if one vector of each operand goes through the tiles.
fn most_alive(shape: &Elementwise, tiles: &[Vec<usize>]) -> usize {
    let (steps, inputs) = (shape.steps.len(), usize::from(shape.inputs));
    let slots = |tile: usize, step: usize| {
        let slot = move |operand| match operand {
            Operand::Step(step) => usize::from(step),
            Operand::Input(input) => steps + tile * inputs + usize::from(input),
        };
        shape.steps[step].op.operands().map(slot)
    };
    let order = || (0..).zip(tiles).flat_map(|(tile, steps)| steps.iter().map(move |&step| (tile, step)));
    let mut last_use = vec![0; steps + tiles.len() * inputs];
    for (position, (tile, step)) in order().enumerate() {
        slots(tile, step).for_each(|slot| last_use[slot] = position);
    }
    let (mut alive, mut most) = (0, 0);
    let mut is_there = vec![false; last_use.len()];
    for (position, (tile, step)) in order().enumerate() {
        for slot in slots(tile, step) {
            alive += usize::from(!std::mem::replace(&mut is_there[slot], true));
        }
        is_there[step] = true;
        alive += 1;
        most = alive.max(most);
        let mut ended: Vec<usize> = slots(tile, step).collect();
        ended.sort_unstable();
        ended.dedup();
        alive -= ended.into_iter().filter(|&slot| last_use[slot] == position).count();
        alive -= usize::from(last_use[step] <= position);
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::conversion;

    #[test]
    fn few_inputs_keep_the_order_of_the_program() {
        let shape = conversion(4, 20);
        assert_eq!(shape.orders(), [StepOrder::Program]);
        let tiles = Tiles::of(&shape, StepOrder::Program);
        assert_eq!((tiles.tiles.len(), tiles.block), (1, LONGEST_BLOCK));
        assert!(tiles.tiles[0].is_sorted());
    }

    #[test]
    fn tiles_have_all_steps_once_after_their_operands() {
        let cases = [(28, 28, true), (24, 45, true), (20, 14, true), (20, 14, false), (30, 3, false)];
        for (inputs, outputs, equal) in cases {
            let (shape, order) = (conversion(inputs, outputs), StepOrder::Tiles { equal });
            assert!(shape.orders().contains(&order));
            let Tiles { tiles, block } = Tiles::of(&shape, order);
            assert_eq!(tiles.len(), usize::from(outputs).div_ceil(OUTPUTS));
            assert_eq!(block, LONGEST_BLOCK);
            let sizes = || tiles.iter().map(|tile| tile.len() / usize::from(inputs));
            let (least, most) = (sizes().min().unwrap(), sizes().max().unwrap());
            assert!(if equal { most - least <= 1 } else { most == OUTPUTS.min(outputs.into()) });
            let mut is_done = vec![false; shape.steps.len()];
            for &step in tiles.iter().flatten() {
                assert!(step_operands(&shape, step).all(|operand| is_done[operand]), "{step}");
                assert!(!std::mem::replace(&mut is_done[step], true), "{step}");
            }
            assert!(is_done.into_iter().all(|done| done));
        }
    }
}
