//! Small changes of the order of a schedule, each kept if the cycle model says that it saves cycles.
//!
//! The scheduler decides in the order of dispatch and does not look back. This pass tries to let each instruction dispatch a
//! little later, which often resolves a conflict at a port of the VRF.

use crate::compile::Prepared;
use crate::error::Error;
use crate::recipe::Recipe;
use crate::schedule::{Move, Tuning};
use sim::Machine;
use sim::timing::{Cycle, simulate};

/// The effort of the pass.
#[derive(Clone, Copy, Debug)]
pub(super) struct Polish {
    /// The numbers of instructions that overtake one, ascending.
    distances: &'static [u32],
    /// The most passes over the program. It ends earlier if one saves no cycles. The first makes most of the gain.
    passes: usize,
    /// It also ends with a schedule of so many cycles.
    enough: Cycle,
}

impl Polish {
    /// The usual distances, with so many passes.
    pub(super) const fn of(passes: usize) -> Self {
        Self { distances: &[1, 2, 4, 8], passes, enough: Cycle(0) }
    }

    /// Other distances, for schedules that the usual ones have improved.
    pub(super) const fn far() -> Self {
        Self { distances: &[3, 5, 6, 7, 10, 12, 16, 24], ..Self::of(2) }
    }

    /// The same until a schedule takes at most so many cycles.
    pub(super) const fn until(self, enough: Cycle) -> Self {
        Self { enough, ..self }
    }
}

/// A recipe with moves that save cycles, and its cycles.
///
/// # Errors
/// Returns an error if the recipe has no program on the machine.
pub(super) fn polished(
    prepared: &Prepared,
    machine: &Machine,
    recipe: &Recipe,
    Polish { distances, passes, enough }: Polish,
) -> Result<(Cycle, Recipe), Error> {
    let scheduled = prepared.schedule(machine, &recipe.tuning)?;
    let mut program = prepared.outline(machine, &scheduled)?;
    let mut cycles = simulate(machine, &program).cycles;
    let mut moves = recipe.tuning.moves.clone();
    for _ in 0..passes {
        let before = cycles;
        for from in 0..program.instructions.len() {
            for &by in distances {
                let change = Move { from: from as u32, by };
                if cycles <= enough || change.reach(&program.instructions) < by as usize {
                    break;
                }
                let moved = from..=from + by as usize;
                program.instructions[moved.clone()].rotate_left(1);
                let timing = simulate(machine, &program);
                if timing.cycles < cycles && timing.overtaking(machine, &program).is_none() {
                    cycles = timing.cycles;
                    moves.push(change);
                } else {
                    program.instructions[moved].rotate_right(1);
                }
            }
        }
        if cycles == before {
            break;
        }
    }
    let tuning = Tuning { moves, ..recipe.tuning.clone() };
    Ok((cycles, Recipe { tuning, ..recipe.clone() }))
}
