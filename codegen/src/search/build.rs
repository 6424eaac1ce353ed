//! Construction of the library.

use super::candidates::as_tuned;
use super::trials::Trials;
use super::{Effort, Found, search, search_from};
use crate::error::Error;
use crate::library::{Entry, Measured, Target, Task};
use crate::recipe::Recipe;
use crate::request::Request;
use rayon::prelude::*;
use sim::machine::Speed;

/// The number of targets that [`build`] searches for again, and how often. The first is the paper's machine.
const IMPROVED: usize = 2;
const IMPROVEMENTS: usize = 2;
/// The least number of refinements in these searches if the task has no other targets, whose recipes would help.
const REFINEMENTS_ALONE: usize = 600;
/// The most rounds of further searches for targets that are slower than dominated ones.
const ROUNDS: usize = 4;
/// How many times as many refinements these searches try, since they start from known recipes only.
const MORE: usize = 2;

/// Searches the recipes of a task for some targets. It starts from nothing: the library has no influence.
///
/// There is one full search for each target, which also tries the recipes found for the targets before.
/// Each target gets the fastest of all recipes found. The first targets had few others to learn from, so each
/// is searched for again, from the recipes of all. Up to four rounds of searches follow, for each target that
/// is slower than one that it [dominates](Speed::dominates). The result depends on the arguments only. `effort` is for 65,536
/// points; smaller programs get more refinements.
///
/// # Errors
/// Returns the error of the first candidate if a target has no program.
pub fn build(
    request: &Request,
    targets: &[Target],
    effort: Effort,
    progress: &dyn Fn(&Measured),
) -> Result<Task, Error> {
    let mut recipes: Vec<Recipe> = Vec::new();
    let scaled = effort.scaled_to(request);
    for target in targets {
        let machine = target.machine();
        let found = search(request, &machine, scaled, recipes.clone(), &(), &|_, _, _| ())?;
        progress(&Measured { cycles: found.cycles.0, machine: target.clone() });
        if !recipes.contains(&found.recipe) {
            recipes.push(found.recipe);
        }
    }
    let mut task = Task::of(request);
    for target in targets {
        let machine = target.machine();
        let trials = Trials::new(request, &machine, &());
        let cycles: Vec<_> = recipes.par_iter().map(|recipe| trials.try_recipe(recipe)).collect();
        let tried = cycles.into_iter().zip(&recipes).filter_map(|(cycles, recipe)| Some((cycles?, recipe)));
        let (cycles, recipe) = tried.min_by_key(|(cycles, _)| *cycles).expect("its search found a recipe");
        task.insert(recipe.clone(), Measured { cycles: cycles.0, machine: target.clone() });
    }
    let least = if targets.len() > IMPROVED { 0 } else { REFINEMENTS_ALONE };
    let improved = Effort { refinements: scaled.refinements.max(least), ..scaled };
    for seed in (improved.seed..).take(IMPROVEMENTS) {
        for target in targets.iter().take(IMPROVED) {
            let Found { cycles, .. } = improve(request, &mut task, target, Effort { seed, ..improved })?;
            progress(&Measured { cycles: cycles.0, machine: target.clone() });
        }
    }
    let further = Effort { refinements: improved.refinements * MORE, ..improved };
    for seed in (further.seed + IMPROVEMENTS as u64..).take(ROUNDS) {
        for target in lagging(&task) {
            let machine = target.machine();
            let tuned =
                |entry: &Entry| as_tuned(&entry.recipe, &machine, &entry.targets[0].machine.machine());
            let known: Vec<Recipe> = task.entries.iter().flat_map(tuned).collect();
            let found = search_from(&known, request, &machine, Effort { seed, ..further })?;
            give(request, &mut task, &found.recipe);
            progress(&Measured { cycles: found.cycles.0, machine: target.clone() });
        }
    }
    Ok(task)
}

/// The targets of a task that are more than 0.5% slower than one that they [dominate](Speed::dominates).
fn lagging(task: &Task) -> Vec<Target> {
    let programs: Vec<(&Measured, Speed)> =
        task.programs().map(|(_, _, known)| (known, known.machine.machine().speed())).collect();
    let lags = |(own, speed): &&(&Measured, Speed)| {
        programs.iter().any(|(other, worse)| 200 * own.cycles > 201 * other.cycles && speed.dominates(worse))
    };
    programs.iter().filter(lags).map(|(own, _)| own.machine.clone()).collect()
}

/// Searches again for a target of a task, from all recipes of the task. Gives the result to all targets, and
/// returns it.
///
/// # Errors
/// Returns the error of the first candidate if the target has no program.
fn improve(request: &Request, task: &mut Task, target: &Target, effort: Effort) -> Result<Found, Error> {
    let recipes = task.entries.iter().map(|entry| entry.recipe.clone()).collect();
    let machine = target.machine();
    let found = search(request, &machine, effort, recipes, &(), &|_, _, _| ())?;
    give(request, task, &found.recipe);
    Ok(found)
}

/// Gives a recipe to each target of a task for which it is faster than its own.
fn give(request: &Request, task: &mut Task, recipe: &Recipe) {
    for target in task.targets() {
        let machine = target.machine();
        if let Some(cycles) = Trials::new(request, &machine, &()).try_recipe(recipe) {
            task.insert(recipe.clone(), Measured { cycles: cycles.0, machine: target });
        }
    }
}
