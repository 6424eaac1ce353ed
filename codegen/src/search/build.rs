//! Construction of the library.

use super::trials::Trials;
use super::{Effort, search};
use crate::error::Error;
use crate::library::{Measured, Target, Task};
use crate::recipe::Recipe;
use crate::request::Request;
use rayon::prelude::*;

/// Searches the recipes of a task for some targets. It starts from nothing: the library has no influence.
///
/// There is one full search for each target, which also tries the recipes found for the targets before.
/// In the end, each target gets the fastest of all recipes found. The result depends on the arguments only.
/// `effort` is for 65,536 points; smaller programs get more refinements.
///
/// # Errors
/// Returns the error of the first candidate if a target has no program.
pub fn build(
    request: &Request,
    targets: &[Target],
    effort: Effort,
    progress: &dyn Fn(&Measured),
) -> Result<Task, Error> {
    let (mut recipes, effort): (Vec<Recipe>, Effort) = (Vec::new(), effort.scaled_to(request));
    for target in targets {
        let machine = target.machine();
        let found = search(request, &machine, effort, recipes.clone(), &(), &|_, _, _| ())?;
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
    Ok(task)
}
