//! Construction of the library.

use super::candidates::as_tuned;
use super::polish::{Polish, polished};
use super::trials::Trials;
use super::{Effort, Found, Slower, lags_behind, search, search_from};
use crate::compile::Prepared;
use crate::error::Error;
use crate::library::{Entry, Measured, Target, Task};
use crate::recipe::Recipe;
use crate::request::Request;
use rayon::prelude::*;
use sim::machine::Speed;
use sim::timing::Cycle;

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
/// [lags behind](lags_behind) one that it [dominates](Speed::dominates). At the end, each target's schedule is
/// polished, and then those of the worse targets that it still lags behind: moves are for one machine, so no
/// search before that uses them. The result depends on the arguments only. `effort` is for 65,536 points; smaller programs get
/// more refinements.
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
    let scaled = Effort { moves: 0, ..effort.scaled_to(request) };
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
        for (target, _) in lagging(&task) {
            let machine = target.machine();
            let tuned =
                |entry: &Entry| as_tuned(&entry.recipe, &machine, &entry.targets[0].machine.machine());
            let known: Vec<Recipe> = task.entries.iter().flat_map(tuned).collect();
            let found = search_from(&known, request, &machine, Effort { seed, ..further })?;
            give(request, &mut task, &found.recipe);
            progress(&Measured { cycles: found.cycles.0, machine: target.clone() });
        }
    }
    for schedules in [schedules, schedules_of_worse] {
        let schedules = schedules(&task);
        polish(request, &mut task, schedules, Polish::of(effort.moves))?;
    }
    Ok(task)
}

/// Tries moves in schedules, each for a target.
///
/// # Errors
/// Returns an error if a recipe has no program on its target.
fn polish(
    request: &Request,
    task: &mut Task,
    schedules: Vec<(Target, Recipe)>,
    effort: Polish,
) -> Result<(), Error> {
    let polished: Vec<(Recipe, Measured)> = schedules
        .into_par_iter()
        .map(|(target, recipe)| {
            let machine = target.machine();
            let prepared = Prepared::new(request, &recipe, &machine)?;
            let (cycles, recipe) = polished(&prepared, &machine, &recipe, effort)?;
            Ok((recipe, Measured { cycles: cycles.0, machine: target }))
        })
        .collect::<Result<_, Error>>()?;
    for (recipe, measured) in polished {
        task.insert(recipe, measured);
    }
    Ok(())
}

/// The schedules of a task's targets.
fn schedules(task: &Task) -> Vec<(Target, Recipe)> {
    task.programs().map(|(_, entry, known)| (known.machine.clone(), entry.recipe.clone())).collect()
}

/// The schedules of dominated targets, for those that [lag behind](lags_behind) them.
fn schedules_of_worse(task: &Task) -> Vec<(Target, Recipe)> {
    let lagging = lagging(task).into_iter();
    let theirs = lagging.flat_map(|(target, ahead)| {
        let machine = target.machine();
        ahead.into_iter().map(move |slower| (target.clone(), slower.program_on(&machine)))
    });
    theirs.collect()
}

/// The targets of a task that [lag behind](lags_behind) dominated ones, with the programs of these.
fn lagging(task: &Task) -> Vec<(Target, Vec<Slower>)> {
    let known = |(_, entry, known): (_, &Entry, &Measured)| {
        let (machine, recipe) = (known.machine.machine(), entry.recipe.clone());
        let (speed, cycles) = (machine.speed(), Cycle(known.cycles));
        (known.machine.clone(), speed, Slower { machine, recipe, cycles })
    };
    let programs: Vec<(Target, Speed, Slower)> = task.programs().map(known).collect();
    let ahead = |(target, speed, own): &(Target, Speed, Slower)| {
        let is_ahead = |(_, other, slower): &&(Target, Speed, Slower)| {
            lags_behind(own.cycles, slower.cycles) && speed.dominates(other)
        };
        let ahead: Vec<Slower> =
            programs.iter().filter(is_ahead).map(|(_, _, slower)| slower.clone()).collect();
        (!ahead.is_empty()).then(|| (target.clone(), ahead))
    };
    programs.iter().filter_map(ahead).collect()
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
