//! Small changes of the order of a schedule, each kept if the cycle model says that it costs no cycles.
//!
//! The scheduler decides in the order of dispatch and does not look back. This pass tries to let each instruction dispatch a
//! little later, which often resolves a conflict at a port of the VRF.

use super::candidates::Random;
use crate::compile::Prepared;
use crate::error::Error;
use crate::recipe::Recipe;
use crate::schedule::{Move, Tuning, moves_between};
use b512_asm::Program;
use sim::Machine;
use sim::machine::VbarPaths;
use sim::timing::scheduling::Rerun;
use sim::timing::{Cycle, simulate};

/// The effort of the pass.
#[derive(Clone, Copy, Debug)]
pub(super) struct Polish {
    walk: Walk,
    /// The most passes over the program.
    passes: usize,
    /// It ends earlier after so many passes, one after the other, that save no cycles.
    patience: usize,
    /// It also ends with a schedule of so many cycles.
    enough: Cycle,
}

/// The changes to try at each instruction, and those to keep.
#[derive(Clone, Copy, Debug)]
enum Walk {
    /// Tries these numbers of instructions that overtake it, ascending. Keeps changes that save cycles.
    Descent(&'static [u32]),
    /// Tries random numbers. Keeps changes that cost no cycles: many of them together make room for one that saves some.
    Plateau,
}

/// The tries at each instruction in a pass over a plateau, and the most instructions that overtake it.
const PLATEAU_TRIES: usize = 2;
const PLATEAU_REACH: [u32; 6] = [1, 2, 3, 4, 6, 8];

impl Polish {
    /// So many passes that keep changes only if they save cycles. The first makes most of the gain.
    pub(super) const fn of(passes: usize) -> Self {
        Self { walk: Walk::Descent(&[1, 2, 4, 8]), passes, patience: 1, enough: Cycle(0) }
    }

    /// Changes over other distances, for schedules that the usual ones have improved.
    pub(super) const fn far() -> Self {
        Self { walk: Walk::Descent(&[3, 5, 6, 7, 10, 12, 16, 24]), ..Self::of(2) }
    }

    /// So many passes that also keep changes without effect on the cycles. The schedule has many moves then.
    pub(super) const fn plateau(passes: usize) -> Self {
        Self { walk: Walk::Plateau, patience: passes.div_ceil(2), ..Self::of(passes) }
    }

    /// The same until a schedule takes at most so many cycles.
    pub(super) const fn until(self, enough: Cycle) -> Self {
        Self { enough, ..self }
    }
}

/// A schedule whose order changes.
struct Order<'a> {
    machine: &'a Machine,
    program: Program,
    /// For each instruction, its place in the schedule without moves.
    origin: Vec<u32>,
    cycles: Cycle,
}

impl<'a> Order<'a> {
    fn of(prepared: &Prepared, machine: &'a Machine, tuning: &Tuning) -> Result<Self, Error> {
        let mut scheduled = prepared.schedule(machine, &tuning.without_moves())?;
        let mut origin: Vec<u32> = (0..scheduled.instructions.len() as u32).collect();
        for &change in &tuning.moves {
            let (from, reach) = (change.from as usize, change.apply(&mut scheduled));
            if reach > 0 {
                origin[from..=from + reach].rotate_left(1);
            }
        }
        let program = prepared.outline(machine, &scheduled)?;
        let cycles = simulate(machine, &program).cycles;
        Ok(Self { machine, program, origin, cycles })
    }

    /// Lets the instruction at `from` dispatch behind `by` others.
    fn delay(&mut self, from: usize, by: usize) {
        self.program.instructions[from..=from + by].rotate_left(1);
        self.origin[from..=from + by].rotate_left(1);
    }

    /// Undoes a delay.
    fn restore(&mut self, from: usize, by: usize) {
        self.program.instructions[from..=from + by].rotate_right(1);
        self.origin[from..=from + by].rotate_right(1);
    }

    /// Whether an access overtakes another one in this order.
    fn overtakes(&self) -> bool {
        self.machine.vbar.paths == VbarPaths::Split
            && simulate(self.machine, &self.program).overtaking(self.machine, &self.program).is_some()
    }

    /// Delays the instruction at the position of `run` if the program then takes at most so many cycles.
    fn delay_within(&mut self, run: &mut Rerun, by: usize, most: Cycle) {
        let from = run.position();
        if run.cycles_behind(by) > most {
            return;
        }
        self.delay(from, by);
        if self.overtakes() {
            self.restore(from, by);
        } else {
            run.put_behind(by);
            self.cycles = run.cycles();
        }
    }

    /// Tries to delay each instruction.
    fn pass(&mut self, walk: Walk, random: &mut Random, enough: Cycle) {
        let mut run = Rerun::new(self.machine, &self.program);
        for from in 0..self.program.instructions.len() {
            let reach = |order: &Self, by| Move { from: from as u32, by }.reach(&order.program.instructions);
            match walk {
                Walk::Descent(distances) => {
                    for &by in distances {
                        if self.cycles <= enough || reach(self, by) < by as usize {
                            break;
                        }
                        self.delay_within(&mut run, by as usize, Cycle(self.cycles.0 - 1));
                    }
                }
                Walk::Plateau => {
                    for _ in 0..PLATEAU_TRIES {
                        let by = reach(self, random.pick(&PLATEAU_REACH));
                        if self.cycles <= enough || by == 0 {
                            break;
                        }
                        self.delay_within(&mut run, by, self.cycles);
                    }
                }
            }
            run.advance();
        }
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
    Polish { walk, passes, patience, enough }: Polish,
) -> Result<(Cycle, Recipe), Error> {
    let mut order = Order::of(prepared, machine, &recipe.tuning)?;
    let mut random = Random(0);
    let mut best = (order.cycles, order.origin.clone());
    let (before, mut idle) = (order.cycles, 0);
    for _ in 0..passes {
        order.pass(walk, &mut random, enough);
        if order.cycles < best.0 {
            best = (order.cycles, order.origin.clone());
            idle = 0;
        } else {
            idle += 1;
        }
        if order.cycles <= enough || idle == patience {
            break;
        }
    }
    let (cycles, origin) = best;
    if cycles == before {
        return Ok((cycles, recipe.clone()));
    }
    let tuning = Tuning { moves: moves_between(&origin), ..recipe.tuning.clone() };
    Ok((cycles, Recipe { tuning, ..recipe.clone() }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile;
    use crate::library::BUILT_IN;
    use crate::request::Request;
    use ring::Degree;

    /// The cycles are those of the program that the recipe gives, and no instruction moves twice.
    #[test]
    fn a_polished_recipe_gives_the_schedule_that_was_found() {
        let request = Request::with_primes(golden::NTT, Degree::try_from(8192u32).unwrap(), 60, 1).unwrap();
        let mut machine = Machine::rpu_128x128();
        machine.sbar.latency_cycles = 5;
        machine.hple.multiplier_latency_cycles = 9;
        let mut split = machine.clone();
        (split.vdm.ports, split.vbar.paths) = (2, VbarPaths::Split);
        let mut better = 0;
        for machine in [machine, split] {
            for recipe in BUILT_IN.recipes(&request).take(4) {
                let Ok(kernel) = compile(&request, recipe, &machine) else { continue };
                let start = simulate(&machine, &kernel.program).cycles;
                let prepared = Prepared::new(&request, recipe, &machine).unwrap();
                let polish = |recipe: &Recipe, effort| polished(&prepared, &machine, recipe, effort).unwrap();
                let (fewer, descended) = polish(recipe, Polish::of(2));
                let (fewest, found) = polish(&descended, Polish::plateau(6));
                assert!(fewest <= fewer && fewer <= start);
                better += usize::from(fewest < start);
                let kernel = compile(&request, &found, &machine).unwrap();
                assert_eq!(simulate(&machine, &kernel.program).cycles, fewest);
                assert!(found.tuning.moves.len() < kernel.program.instructions.len());
            }
        }
        assert!(better > 0);
    }
}
