//! The recipes of a program's operations, to choose among.
//!
//! An operation has one recipe for all numbers of rings and all exponents: that for the number of rings, and
//! the exponent, which most launches have; of equals, the first in the program. A number of rings that this
//! recipe's method does not suit has its own.
//!
//! * *Fastest*: the recipe with the fewest cycles, of the library or of a search. A large kernel does without
//!   scratch words if it can.
//! * *Least energy*: the recipe whose kernel has the least value by itself, of those that a search for the
//!   fastest one tries.
//! * *Small tables*: of the fastest recipe and of recipes of the library with other plans that need fewer
//!   words: that with the least sum of its cycles and a transfer of its table and its scratch words. Recipes
//!   for this number of rings come first, then, for several rings, those for other numbers; of each number,
//!   those for the most similar machines. Each in the least words that it can work with.

use super::Recipes;
use crate::flow::operation::{Batch, RingOperation, RingParameters};
use crate::known::Known;
use crate::launches::Launches;
use crate::launches::kernels::{Kernels, RecipeTable, Tables, Timed, compile_small, request};
use codegen::library::{BUILT_IN, Target};
use codegen::search::Effort;
use codegen::{Choice, Error, Merit, PlanChoice, Recipe, Request, compile, least_words};
use rayon::prelude::*;
use ring_program::RingProgram;
use rustc_hash::FxHashMap;
use sim::Machine;
use std::cmp::Reverse;
use std::mem::Discriminant;
use std::sync::Arc;

/// The number of the library's recipes to try for a kernel with small tables.
const OTHER_RECIPES: usize = 6;

/// The kernels that `launches` need, to choose among: what neither the off-chip memory nor the origin of keys
/// changes.
#[derive(Debug)]
pub struct Candidates {
    samples: Vec<(Batch, Vec<RingParameters>)>,
    requests: Vec<Request>,
    /// The recipes with the fewest cycles.
    fastest: RecipeTable,
    /// The kernels of these recipes.
    large: Kernels,
    /// The recipes with small tables.
    small: Known<OfRecipe, Arc<Vec<SmallRecipe>>>,
    /// The recipes that are least by themselves, by objective.
    thrifty: Known<(Merit, OfRecipe), Arc<Recipe>>,
}

/// An operation, and its fastest recipe. What is known of it suits all launches of a program.
type OfRecipe = (Discriminant<RingOperation>, Arc<Recipe>);

/// A recipe for a small table.
#[derive(Debug)]
struct SmallRecipe {
    recipe: Arc<Recipe>,
    /// The time of a launch, in ns.
    launch_ns: f64,
    /// The bytes of its table and of its scratch words.
    bytes: u64,
}

impl Candidates {
    /// The kernels that `launches` need on a machine.
    ///
    /// # Errors
    /// Returns an error if a kernel does not fit the machine, or if its vectors are longer than a limb.
    pub fn new(program: &RingProgram, launches: &Launches, machine: &Machine) -> Result<Self, Error> {
        Self::beside((program, launches, machine), &PlanChoice::Best, None)
    }

    /// The same, with recipes and kernels that `other` launches of the program have too. `plan` says where
    /// other recipes come from.
    ///
    /// # Errors
    /// The same.
    pub(crate) fn beside(
        (program, launches, machine): (&RingProgram, &Launches, &Machine),
        plan: &PlanChoice,
        other: Option<(&Launches, &Self)>,
    ) -> Result<Self, Error> {
        let of = other.map(|(_, of)| of);
        let samples = samples(program, launches);
        let requests = samples.iter().map(|(batch, rings)| request(batch.operation, program.degree(), rings));
        let requests: Vec<Request> = requests.collect::<Result<_, Error>>()?;
        let mut origins = Vec::from_iter(of.and_then(|of| of.large.origin));
        let fastest = recipes(&samples, &requests, machine, |batch, request| {
            let first = of.and_then(|of| Some((of, first_of(&of.samples, batch)?.kind())));
            if let Some((of, _)) = first.filter(|&(_, kind)| kind == batch.kind()) {
                return Ok(Arc::clone(&of.fastest[&batch.kind()]));
            }
            let Choice { recipe, origin } = codegen::choose(request, machine, plan)?;
            origins.push(origin);
            Ok(Arc::new(recipe))
        })?;
        let other = other.map(|(own, of)| (own, &of.large));
        let mut large = Kernels::build(program, launches, machine, (&fastest, Tables::Large), other)?;
        large.origin = origins.into_iter().max_by_key(|origin| origin.tried());
        let (small, thrifty) = (Known::new(), Known::new());
        Ok(Self { samples, requests, fastest, large, small, thrifty })
    }

    /// The kernels by some recipes, on a machine that differs from the one of [`new`](Self::new) in its
    /// off-chip memory only. None if a kernel does not fit it.
    ///
    /// # Errors
    /// Returns an error if a recipe does not suit a request.
    pub fn kernels(
        &self,
        program: &RingProgram,
        launches: &Launches,
        machine: &Machine,
        of: Recipes,
    ) -> Result<Option<Kernels>, Error> {
        let (recipes, tables) = match of {
            Recipes::Fastest => return Ok(Some(self.large.clone())),
            Recipes::SmallTables => (self.small(machine)?, Tables::Small),
            Recipes::LeastEnergy => (self.thrifty(machine, Merit::Energy)?, Tables::Large),
            Recipes::LeastEnergyDelay => (self.thrifty(machine, Merit::EnergyDelay)?, Tables::Large),
        };
        let kernels =
            |recipes: &RecipeTable| self.large.with_recipes(program, launches, machine, (recipes, tables));
        Ok(kernels(&recipes))
    }

    /// The recipes with small tables.
    fn small(&self, machine: &Machine) -> Result<RecipeTable, Error> {
        recipes(&self.samples, &self.requests, machine, |batch, request| {
            let fastest = &self.fastest[&batch.kind()];
            let of_recipe = (batch.kind().0, Arc::clone(fastest));
            let known = self.small.get(of_recipe, |_| Arc::new(small_recipes(request, fastest, machine)));
            let cost = |small: &SmallRecipe| small.launch_ns + machine.hbm.occupancy_ns(small.bytes);
            let least = known.iter().min_by(|one, other| cost(one).total_cmp(&cost(other)));
            Ok(Arc::clone(least.map_or(fastest, |least| &least.recipe)))
        })
    }

    /// The recipes that are least by themselves.
    fn thrifty(&self, machine: &Machine, merit: Merit) -> Result<RecipeTable, Error> {
        let plan = PlanChoice::Least(merit, Some(Effort::QUICK));
        recipes(&self.samples, &self.requests, machine, |batch, request| {
            let fastest = &self.fastest[&batch.kind()];
            Ok(self.thrifty.get((merit, (batch.kind().0, Arc::clone(fastest))), |_| {
                let choice = codegen::choose(request, machine, &plan);
                choice.map_or_else(|_| Arc::clone(fastest), |choice| Arc::new(choice.recipe))
            }))
        })
    }
}

/// The recipes of all samples. One for all numbers of rings of an operation, by which their tables are the
/// same: that for the number which most launches have. Others have their own if its method does not suit
/// them.
fn recipes(
    samples: &[(Batch, Vec<RingParameters>)],
    requests: &[Request],
    machine: &Machine,
    mut choose: impl FnMut(Batch, &Request) -> Result<Arc<Recipe>, Error>,
) -> Result<RecipeTable, Error> {
    let mut recipes = RecipeTable::default();
    for ((batch, _), request) in samples.iter().zip(requests) {
        let known = first_of(samples, *batch).and_then(|first| recipes.get(&first.kind()));
        let suits =
            |recipe: &&Arc<Recipe>| recipe.method.is_none() || compile(request, recipe, machine).is_ok();
        let recipe = known.filter(suits).map(Arc::clone).map_or_else(|| choose(*batch, request), Ok)?;
        recipes.insert(batch.kind(), recipe);
    }
    Ok(recipes)
}

/// The first sample of an operation with any exponent and number of rings.
fn first_of(samples: &[(Batch, Vec<RingParameters>)], batch: Batch) -> Option<Batch> {
    samples.iter().map(|&(other, _)| other).find(|other| other.kind().0 == batch.kind().0)
}

/// Of each kind, the exponent that most launches have, with the rings of the first of them; the kinds of the
/// most launches first.
fn samples(program: &RingProgram, launches: &Launches) -> Vec<(Batch, Vec<RingParameters>)> {
    let mut counts: Vec<(Batch, usize, usize)> = Vec::new();
    let mut places = FxHashMap::default();
    for (index, launch) in launches.launches.iter().enumerate() {
        if let Some(batch) = launches.batch(launch) {
            let place = *places.entry(batch).or_insert(counts.len());
            match counts.get_mut(place) {
                Some((.., count)) => *count += 1,
                None => counts.push((batch, index, 1)),
            }
        }
    }
    // The sort is stable: of equals, the first in the program comes first.
    counts.sort_by_key(|&(_, _, count)| Reverse(count));
    let mut samples: Vec<(Batch, Vec<RingParameters>)> = Vec::new();
    for (batch, index, _) in counts {
        if samples.iter().all(|(known, _)| known.kind() != batch.kind()) {
            samples.push((batch, launches.rings(program, &launches.launches[index])));
        }
    }
    samples
}

/// `fastest`, and recipes of the library for similar machines that need fewer words, each with a small table.
/// The cost of one is its launch and a transfer of its table and scratch memory, since these displace limbs.
fn small_recipes(request: &Request, fastest: &Arc<Recipe>, machine: &Machine) -> Vec<SmallRecipe> {
    let mut recipes = vec![Arc::clone(fastest)];
    let target = Target::of(machine);
    let own = BUILT_IN.nearest(request, &target).map(|(recipe, _)| recipe);
    // Recipes with the same plans have the same tables.
    for recipe in own.chain(BUILT_IN.nearest_of_other_towers(request, &target)) {
        if recipes.len() <= OTHER_RECIPES && recipes.iter().all(|known| known.plans != recipe.plans) {
            recipes.push(Arc::new(recipe.clone()));
        }
    }
    let words = |recipe: &Recipe| least_words(request, recipe, machine).unwrap_or(u32::MAX);
    let most = words(fastest);
    recipes.retain(|recipe| Arc::ptr_eq(recipe, fastest) || words(recipe) < most);
    let small = recipes.into_par_iter().filter_map(|recipe| {
        let kernel = compile_small(request, &recipe, machine, Tables::Small).ok()?;
        let timed = Timed::of(request, &kernel, machine);
        let words = timed.scratch_words + u64::from(timed.table_words) * request.rings.len() as u64;
        let bytes = machine.instruction_set().bytes(words);
        Some(SmallRecipe { launch_ns: timed.launch_ns(), bytes, recipe })
    });
    small.collect()
}
