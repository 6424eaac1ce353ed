//! Choice of a recipe. It may search, which takes seconds; [`compile`] builds the result.

use crate::compile::compile;
use crate::error::Error;
use crate::kernel::Kernel;
use crate::library::{BUILT_IN, Target};
use crate::named;
use crate::recipe::Recipe;
use crate::request::Request;
use crate::search::{Effort, adapt, tune};
use sim::Machine;
use sim::timing::Cycle;
use std::fmt;

/// The way to choose a recipe.
#[derive(Clone, PartialEq, Debug)]
pub enum PlanChoice {
    /// The fastest known for the machine: the library's recipe for it, the fastest of the library's
    /// recipes for similar machines, or else the result of a short search.
    Best,
    /// [`named::constant_geometry`].
    Classical,
    /// [`named::paper`].
    Paper,
    /// [`named::unoptimised`].
    Unoptimised,
    /// A given recipe, for instance from a file that an earlier search wrote.
    Recipe(Box<Recipe>),
}

/// A recipe and its origin.
#[derive(Clone, PartialEq, Debug)]
pub struct Choice {
    /// The recipe.
    pub recipe: Recipe,
    /// Its origin.
    pub origin: Origin,
}

/// The origin of a recipe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// The built-in library, for this request and machine.
    Library,
    /// The built-in library, for other machines, adapted to this one.
    Neighbour {
        /// The recipes that were tried on this machine.
        tried: usize,
        /// The cycles of the fastest one.
        cycles: Cycle,
    },
    /// A search.
    Search {
        /// The recipes that it tried.
        tried: usize,
        /// The cycles of the best one.
        cycles: Cycle,
    },
    /// A recipe with a name.
    Named(&'static str),
    /// The caller.
    Given,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Library => f.write_str("from the built-in library"),
            Self::Neighbour { tried, cycles } => {
                write!(
                    f,
                    "the library's recipe for a similar machine, adapted: the fastest of {tried}, {cycles} cycles"
                )
            }
            Self::Search { tried, cycles } => {
                write!(f, "the best of {tried} recipes tried, {cycles} cycles")
            }
            Self::Named(name) => f.write_str(name),
            Self::Given => f.write_str("as given"),
        }
    }
}

/// Chooses a recipe for a request on a machine.
///
/// [`PlanChoice::Best`] searches if the library has no recipe for the request and the machine.
///
/// # Errors
/// Returns an error if the request is invalid, or if a search finds no program that fits the
/// machine.
pub fn choose(request: &Request, machine: &Machine, plan: &PlanChoice) -> Result<Choice, Error> {
    let isa = machine.instruction_set();
    request.check(isa)?;
    let named = |name, recipe| Choice { recipe, origin: Origin::Named(name) };
    Ok(match plan {
        PlanChoice::Classical => named("the classical pair", named::constant_geometry(request, isa)),
        PlanChoice::Paper => named("the paper's program", named::paper(request, isa)),
        PlanChoice::Unoptimised => {
            named("the classical pair in textbook order", named::unoptimised(request, isa))
        }
        PlanChoice::Recipe(recipe) => Choice { recipe: (**recipe).clone(), origin: Origin::Given },
        PlanChoice::Best => best(request, machine)?,
    })
}

/// The fastest recipe known for a machine.
///
/// A machine with the timing of one that the library was tuned for gets that recipe. One that differs
/// from it in latencies, say, gets the fastest of all recipes of the task, refined. Others are searched.
fn best(request: &Request, machine: &Machine) -> Result<Choice, Error> {
    let isa = machine.instruction_set();
    // The library's recipes are for B512's vector length.
    let fits = |recipe: &Recipe| recipe.plans.iter().all(|plan| plan.shape() == request.shape(isa));
    let target = Target::of(machine);
    if let Some(recipe) = BUILT_IN.find(request, &target).filter(|&recipe| fits(recipe)) {
        if machine.has_the_timing_of(&target.machine()) {
            return Ok(Choice { recipe: recipe.clone(), origin: Origin::Library });
        }
        let others = BUILT_IN.recipes(request).filter(|&other| other != recipe && fits(other));
        let mut recipes: Vec<Recipe> = std::iter::once(recipe).chain(others).cloned().collect();
        recipes.push(named::constant_geometry(request, isa));
        let found = adapt(request, machine, &target.machine(), recipes)?;
        let origin = Origin::Neighbour { tried: found.tried, cycles: found.cycles };
        return Ok(Choice { recipe: found.recipe, origin });
    }
    let found = tune(request, machine, Effort::QUICK, &(), |_, _, _| ())?;
    let origin = Origin::Search { tried: found.tried, cycles: found.cycles };
    Ok(Choice { recipe: found.recipe, origin })
}

/// Chooses a recipe and compiles it.
///
/// # Errors
/// Returns the errors of [`choose`] and [`compile`].
pub fn generate(request: &Request, machine: &Machine, plan: &PlanChoice) -> Result<Kernel, Error> {
    compile(request, &choose(request, machine, plan)?.recipe, machine)
}
