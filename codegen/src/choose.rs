//! Choice of a recipe. It may search, which takes seconds; [`compile`] builds the result.

use crate::compile::{Prepared, compile};
use crate::error::Error;
use crate::kernel::Kernel;
use crate::library::{BUILT_IN, Target};
use crate::merit::{Merit, Tried, least};
use crate::named;
use crate::recipe::Recipe;
use crate::request::Request;
use crate::schedule::under_one_placement;
use crate::search::{self, Effort, Found};
use sim::Machine;
use sim::machine::VbarPaths;
use sim::timing::Cycle;
use std::fmt;

/// The name of [`named::constant_geometry`] in messages.
const CLASSICAL: &str = "the classical pair";
/// The name of [`named::unoptimised`] in messages.
const TEXTBOOK: &str = "the classical pair in textbook order";

/// The way to choose a recipe.
#[derive(Clone, PartialEq, Debug)]
pub enum PlanChoice {
    /// The fastest known for the machine: the library's recipe for it, or else the result of a quick search
    /// that starts from the library's recipes for other machines.
    Best,
    /// The library's recipe for the machine or a similar one, without a search.
    Known,
    /// The result of a search.
    Tuned(Effort),
    /// Of the known recipes, and with an effort those that a search tries, the one with the least value of
    /// this merit.
    Least(Merit, Option<Effort>),
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
    pub origin: RecipeOrigin,
}

/// The origin of a recipe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RecipeOrigin {
    /// The built-in library, for this request and machine.
    Library,
    /// The built-in library, for a similar machine. Nothing was tried.
    Similar,
    /// The built-in library, for another machine.
    Neighbour {
        /// The recipes that were tried on this machine.
        tried: usize,
        /// The cycles of the fastest one.
        cycles: Cycle,
    },
    /// A search.
    Tuned {
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

impl RecipeOrigin {
    /// Its name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Library => "library",
            Self::Similar | Self::Neighbour { .. } => "neighbour",
            Self::Tuned { .. } => "tuned",
            Self::Named(_) => "named",
            Self::Given => "file",
        }
    }

    /// The number of recipes that were tried.
    pub const fn tried(self) -> usize {
        match self {
            Self::Neighbour { tried, .. } | Self::Tuned { tried, .. } => tried,
            Self::Library | Self::Similar | Self::Named(_) | Self::Given => 0,
        }
    }
}

impl fmt::Display for RecipeOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Library => f.write_str("from the built-in library"),
            Self::Similar => f.write_str("from the built-in library, for a similar machine, untried"),
            Self::Neighbour { tried, cycles } => {
                write!(
                    f,
                    "from the built-in library, for another machine: the best of {tried} recipes tried, {cycles} cycles"
                )
            }
            Self::Tuned { tried, cycles } => {
                write!(f, "found by a search: the best of {tried} recipes tried, {cycles} cycles")
            }
            Self::Named(name) => f.write_str(name),
            Self::Given => f.write_str("as given"),
        }
    }
}

/// Chooses a recipe for a request on a machine.
///
/// [`PlanChoice::Best`] searches if the library has no recipe for the request, with its number of rings, and
/// the machine; [`PlanChoice::Tuned`] always does.
///
/// # Errors
/// Returns an error if the request is invalid, or if a search finds no program that fits the
/// machine.
pub fn choose(request: &Request, machine: &Machine, plan: &PlanChoice) -> Result<Choice, Error> {
    let machine = &under_one_placement(machine);
    let isa = machine.instruction_set();
    request.check(isa)?;
    let named = |name, recipe| Choice { recipe, origin: RecipeOrigin::Named(name) };
    Ok(match plan {
        PlanChoice::Classical => named(CLASSICAL, named::constant_geometry(request, isa)),
        PlanChoice::Paper => named("the paper's program", named::paper(request, isa)),
        PlanChoice::Unoptimised => named(TEXTBOOK, named::unoptimised(request, isa)),
        PlanChoice::Recipe(recipe) => Choice { recipe: (**recipe).clone(), origin: RecipeOrigin::Given },
        PlanChoice::Best => best(request, machine)?,
        PlanChoice::Known => known(request, machine),
        PlanChoice::Least(merit, effort) => best_by(*merit, request, machine, *effort)?,
        PlanChoice::Tuned(effort) => searched(request, machine, *effort)?,
    })
}

/// The library's recipe for the timing of a machine and this number of rings, or else the result of a quick
/// search. In smaller memories than those of the library's machine, the recipe may have other code, which
/// spills or is slow, or not fit.
fn best(request: &Request, machine: &Machine) -> Result<Choice, Error> {
    let target = Target::of(machine);
    let (held, reference) = (BUILT_IN.find(request, &target), target.machine());
    let has_the_memory = |recipe| {
        machine.vdm_words() >= reference.vdm_words()
            || Prepared::new(request, recipe, machine).is_ok_and(|prepared| !prepared.saves_memory())
    };
    let fits = |recipe| {
        let sizes = |machine: &Machine| (machine.instruction_capacity(), machine.sdm_words());
        let (own, others) = (sizes(machine), sizes(&reference));
        own.0 >= others.0 && own.1 >= others.1 || compile(request, recipe, machine).is_ok()
    };
    if let Some(recipe) = held.filter(|recipe| recipe.applies(request, machine))
        && machine.has_the_timing_of(&reference)
        && has_the_memory(recipe)
        && fits(recipe)
    {
        return Ok(Choice { recipe: recipe.clone(), origin: RecipeOrigin::Library });
    }
    searched(request, machine, Effort::QUICK)
}

/// The result of a search that starts from the library's recipes.
fn searched(request: &Request, machine: &Machine, effort: Effort) -> Result<Choice, Error> {
    let known = search::known(request, machine);
    Ok(search::search(request, machine, effort, known, &(), &|_, _, _| ())?.into())
}

/// The library's recipe for the machine or a similar one, without a trial; else the classical pair. On split
/// paths, the first recipe in whose program no access overtakes another.
fn known(request: &Request, machine: &Machine) -> Choice {
    let (isa, target) = (machine.instruction_set(), Target::of(machine));
    let is_safe = |recipe: &Recipe| {
        machine.vbar.paths == VbarPaths::Shared || compile(request, recipe, machine).is_ok()
    };
    let suits = |recipe: &&Recipe| recipe.applies(request, machine) && is_safe(recipe);
    let held = BUILT_IN.find(request, &target).filter(suits);
    let is_held = machine.has_the_timing_of(&target.machine());
    let nearest = || BUILT_IN.nearest(request, &target).map(|(recipe, _)| recipe).find(suits);
    let other_towers = || BUILT_IN.nearest_of_other_towers(request, &target).find(suits);
    let choice = |recipe: &Recipe, origin| Choice { recipe: recipe.clone(), origin };
    match held {
        Some(recipe) if is_held => choice(recipe, RecipeOrigin::Library),
        held => match held.or_else(nearest).or_else(other_towers) {
            Some(recipe) => choice(recipe, RecipeOrigin::Similar),
            None => choice(&named::constant_geometry(request, isa), RecipeOrigin::Named(CLASSICAL)),
        },
    }
}

/// The recipe with the least value: of the usual one, the library's, those that a search tries and the named
/// ones.
fn best_by(
    merit: Merit,
    request: &Request,
    machine: &Machine,
    effort: Option<Effort>,
) -> Result<Choice, Error> {
    let usual = if effort.is_some() { best(request, machine)? } else { known(request, machine) };
    let (near, isa) = (search::known(request, machine), machine.instruction_set());
    let mut candidates = vec![(usual.recipe, usual.origin)];
    match effort {
        Some(effort) => {
            let tried = Tried::default();
            search::search(request, machine, effort, near, &tried, &|_, _, _| ())?;
            let recipes = tried.into_recipes();
            let tried = recipes.len();
            let searched = |(cycles, recipe)| (recipe, RecipeOrigin::Tuned { tried, cycles });
            candidates.extend(recipes.into_iter().map(searched));
        }
        None => candidates.extend(near.into_iter().map(|recipe| (recipe, RecipeOrigin::Similar))),
    }
    candidates.push((named::constant_geometry(request, isa), RecipeOrigin::Named(CLASSICAL)));
    candidates.push((named::unoptimised(request, isa), RecipeOrigin::Named(TEXTBOOK)));
    let first = candidates[0].clone();
    let (recipe, origin) = least(candidates, |recipe| merit.of(request, recipe, machine)).unwrap_or(first);
    Ok(Choice { recipe, origin })
}

impl From<Found> for Choice {
    fn from(Found { recipe, cycles, tried, known }: Found) -> Self {
        let origin = if known {
            RecipeOrigin::Neighbour { tried, cycles }
        } else {
            RecipeOrigin::Tuned { tried, cycles }
        };
        Self { recipe, origin }
    }
}

/// Chooses a recipe and compiles it.
///
/// # Errors
/// Returns the errors of [`choose`] and [`compile`].
pub fn generate(request: &Request, machine: &Machine, plan: &PlanChoice) -> Result<Kernel, Error> {
    compile(request, &choose(request, machine, plan)?.recipe, machine)
}
