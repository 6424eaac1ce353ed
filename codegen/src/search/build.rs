//! Construction of the library.

use super::starts::starts;
use super::trials::Trials;
use super::{Effort, search};
use crate::error::Error;
use crate::library::{Measured, Target, Task};
use crate::recipe::Recipe;
use crate::request::Request;
use rayon::prelude::*;
use sim::machine::Speed;

/// The rounds of searches: the first for all targets, the others for some.
const ROUNDS: u64 = 5;
/// The rounds that search for the first targets: those with most in common with the paper's machine.
const FIRST_ROUNDS: u64 = 3;
const FIRST: usize = 2;

/// Searches the recipes of a task for some targets. It starts from nothing: the library has no influence.
///
/// Each search starts from the recipes that were found before, and each recipe goes to all targets for which
/// it is faster than their own. After a round of searches for all targets come rounds for the first two,
/// which had few recipes to start from, and for those that are more than 0.5% slower than one that they
/// [dominate](Speed::dominates). The result depends on the arguments only.
///
/// # Errors
/// Returns the error of the first candidate if a target has no program.
pub fn build(
    request: &Request,
    targets: &[Target],
    effort: Effort,
    progress: &dyn Fn(&Measured),
) -> Result<Task, Error> {
    let mut task = Task::of(request);
    for round in 0..ROUNDS {
        let chosen = match round {
            0 => targets.to_vec(),
            _ => {
                let lagging = lagging(&task);
                let is_first = |target: &Target| {
                    round < FIRST_ROUNDS && targets[..FIRST.min(targets.len())].contains(target)
                };
                targets
                    .iter()
                    .filter(|&target| is_first(target) || lagging.contains(target))
                    .cloned()
                    .collect()
            }
        };
        for target in chosen {
            let machine = target.machine();
            let known = starts(request, &machine, &task, &speeds(&task));
            let effort = Effort { seed: effort.seed + round, ..effort };
            let found = search(request, &machine, effort, known, &(), &|_, _, _| ())?;
            progress(&Measured { cycles: found.cycles.0, machine: target });
            give(request, &mut task, targets, &found.recipe);
        }
    }
    Ok(task)
}

/// The speeds of the machines of a task's programs.
fn speeds(task: &Task) -> Vec<Speed> {
    task.programs().map(|(_, _, known)| known.machine.machine().speed()).collect()
}

/// The targets of a task that are more than 0.5% slower than one that they [dominate](Speed::dominates).
fn lagging(task: &Task) -> Vec<Target> {
    let programs: Vec<(&Measured, Speed)> =
        task.programs().map(|(_, _, known)| known).zip(speeds(task)).collect();
    let lags = |(own, speed): &&(&Measured, Speed)| {
        programs.iter().any(|(other, worse)| 200 * own.cycles > 201 * other.cycles && speed.dominates(worse))
    };
    programs.iter().filter(lags).map(|(own, _)| own.machine.clone()).collect()
}

/// Gives a recipe to each target for which it is faster than its own.
fn give(request: &Request, task: &mut Task, targets: &[Target], recipe: &Recipe) {
    let cycles = |target: &Target| Trials::new(request, &target.machine(), &()).try_recipe(recipe);
    let cycles: Vec<_> = targets.par_iter().map(cycles).collect();
    for (target, cycles) in targets.iter().zip(cycles) {
        if let Some(cycles) = cycles {
            task.insert(recipe.clone(), Measured { cycles: cycles.0, machine: target.clone() });
        }
    }
}
