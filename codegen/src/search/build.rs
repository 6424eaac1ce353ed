//! Construction of the library.

use super::trials::Trials;
use super::{Effort, Found, search};
use crate::error::Error;
use crate::library::{Measured, Target, Task};
use crate::recipe::Recipe;
use crate::request::Request;
use rayon::prelude::*;

/// The number of targets that [`build`] searches for again, and how often. The first is the paper's machine.
const IMPROVED: usize = 2;
const IMPROVEMENTS: usize = 2;
/// The least number of refinements in these searches if the task has no other targets, whose recipes would help.
const REFINEMENTS_ALONE: usize = 600;

/// Searches the recipes of a task for some targets. It starts from nothing: the library has no influence.
///
/// There is one full search for each target, which also tries the recipes found for the targets before.
/// Each target gets the fastest of all recipes found. The first targets had few others to learn from, so each
/// is searched for again, from the recipes of all. The result depends on the arguments only. `effort` is for
/// 65,536 points; smaller programs get more refinements.
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
    let effort = Effort { refinements: scaled.refinements.max(least), ..scaled };
    for seed in (effort.seed..).take(IMPROVEMENTS) {
        for target in targets.iter().take(IMPROVED) {
            let Found { cycles, .. } = improve(request, &mut task, target, Effort { seed, ..effort })?;
            progress(&Measured { cycles: cycles.0, machine: target.clone() });
        }
    }
    Ok(task)
}

/// Searches again for a target of a task, from all recipes of the task. Each target for which the result
/// is faster than its recipe gets it. Returns the result.
///
/// # Errors
/// Returns the error of the first candidate if the target has no program.
fn improve(request: &Request, task: &mut Task, target: &Target, effort: Effort) -> Result<Found, Error> {
    let recipes = task.entries.iter().map(|entry| entry.recipe.clone()).collect();
    let machine = target.machine();
    let found = search(request, &machine, effort, recipes, &(), &|_, _, _| ())?;
    for target in task.targets() {
        let machine = target.machine();
        let cycles = Trials::new(request, &machine, &()).try_recipe(&found.recipe);
        if let Some(cycles) = cycles {
            task.insert(found.recipe.clone(), Measured { cycles: cycles.0, machine: target });
        }
    }
    Ok(found)
}
