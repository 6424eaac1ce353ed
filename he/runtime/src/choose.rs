//! The choice of kernels: those with which the program takes the least time, or the least by another objective.
//!
//! A kernel moves its table. The fastest kernel of an operation may have a table that takes longer to load than
//! the kernel saves. And the kernels that take the least time may leave transfers too little of it. So there are up to six
//! variants of a program's kernels: operations with large or with small tables, elementwise kernels in their fastest
//! order, in the program's order, or in their fastest order with short slices. Large launches wait for many
//! transfers, and their kernels have long programs. So there are *finer* launches too, each with up to six variants of its
//! kernels. The program is scheduled with each, with the origin of keys that is asked for, and the fastest one is right; of equals,
//! the first in this order: large tables, small ones, then both in the order of the program, then both with short slices; all of these
//! with launches in the deep order, then in the lean one; then those of finer launches, in the same order; then all of these in a
//! half of the VDM, in a quarter of it, and so on. Variants that there is no room for are not taken.
//!
//! A machine may leave memory unused: each program is also lifted, and scheduled, as if the VDM had a half of its words, a quarter,
//! and so on, at the same clock. So with the same recipes, twice the VDM never takes more cycles.
//!
//! Groups of finer launches of short limbs have at most 32 operands. The first finer launches are those if groups may have more; then
//! come those with at most a half, a quarter and an eighth of the transforms or automorphisms of a launch, rounded down, while these
//! are one or more; then, if a launch may have several, those with a *ramp*: the first launch of a transform or an automorphism has
//! one limb, the second at most two, the third at most four, and so on, up to the limit. So the first transfers are short. Finer launches
//! of long limbs have groups of at most 16 operands and a reach of 64 lines, then of at most 8 and a reach of 32. Programs of more than
//! 4,096 launches have no finer launches, and no variants in a part of the VDM.
//!
//! `optimise` names another objective than cycles: the energy of the program, off-chip transfers and static energy included, or the
//! product of energy and time. Then there are three more variants, with the *thrifty* recipes of operations. They come
//! behind those with small tables. The variant with the least value is right.
//!
//! An operation has one recipe for all numbers of rings and all exponents: that for the number of rings, and the exponent,
//! which most launches have; of equals, the first in the program. A number of rings that this recipe's method does not suit has
//! its own. Finer launches have the same recipes, and so have those in a part of the VDM; there, the library's recipe takes the place
//! of one that does not fit.
//!
//! * *Large tables*: the recipe with the fewest cycles. A kernel of more than 1/16 of the VDM does without scratch words if it can.
//! * *Thrifty*: the recipe whose kernel has the least value by itself, of those that a search for the fastest one tries.
//! * *Small tables*: of this recipe and of up to six recipes of the library with other plans that need fewer words: that with the
//!   least sum of its cycles and a transfer of its table and its scratch words. Recipes for this number of rings come first, then, for
//!   several rings, those for other numbers; of each number, those for the most similar machines. Each in the least words that it can
//!   work with. There are no such variants if no table becomes smaller.
//!
//! An elementwise kernel works on a slice of so many vectors that it has about 512 instructions, a power of two, and at most 16 and a limb. Two
//! slices of each operand take at most a quarter of the VDM; short ones take at most 128 vectors too, whatever its size. Both
//! have the order that is fastest with long slices.

use crate::kernels::{Kernels, Recipes, Tables, Timed, compile_small, request};
use crate::known::Known;
use crate::lift::Launches;
use crate::operation::{Batch, RingOperation, RingParameters};
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

/// Chooses the recipe of an operation for a machine.
pub type Choose<'c> = dyn Fn(&Request, &Machine) -> Result<Choice, Error> + 'c;

/// The recipe of the library or of a search.
pub(crate) fn best(request: &Request, machine: &Machine) -> Result<Choice, Error> {
    codegen::choose(request, machine, &PlanChoice::Best)
}

/// The recipe of the library.
pub(crate) fn known(request: &Request, machine: &Machine) -> Result<Choice, Error> {
    codegen::choose(request, machine, &PlanChoice::Known)
}

/// The number of the library's recipes to try for a kernel with small tables.
const OTHER_RECIPES: usize = 6;

/// The kernels that `launches` need, to choose among: what neither the off-chip memory nor the origin of keys changes.
#[derive(Debug)]
pub struct Candidates {
    samples: Vec<(Batch, Vec<RingParameters>)>,
    requests: Vec<Request>,
    /// The recipes with the fewest cycles.
    fastest: Recipes,
    /// The kernels of these recipes.
    large: Kernels,
    /// The recipes with small tables.
    small_recipes: Arc<Known<OfRecipe, Arc<Vec<SmallRecipe>>>>,
    /// The kernels with small tables, by their recipes; none if no table becomes smaller.
    small: Known<Recipes, Option<Kernels>>,
    /// The recipes that are least by themselves, by objective.
    thrifty_recipes: Arc<Known<(Merit, OfRecipe), Arc<Recipe>>>,
    /// The kernels of these recipes; none if these are the fastest.
    thrifty: Known<Merit, Option<Kernels>>,
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
        Self::with_recipes(program, launches, machine, &best)
    }

    /// As [`new`](Self::new), by recipes that `choose` gives.
    ///
    /// # Errors
    /// The same.
    pub(crate) fn with_recipes(
        program: &RingProgram,
        launches: &Launches,
        machine: &Machine,
        choose: &Choose<'_>,
    ) -> Result<Self, Error> {
        Self::build((program, launches, machine), choose, None)
    }

    /// The kernels that `launches` need in place of the launches `own`, by the same recipes where these suit their numbers of
    /// rings.
    ///
    /// # Errors
    /// The same.
    pub(crate) fn with_launches(
        &self,
        (program, launches, machine): (&RingProgram, &Launches, &Machine),
        own: &Launches,
        choose: &Choose<'_>,
    ) -> Result<Self, Error> {
        Self::build((program, launches, machine), choose, Some((own, self)))
    }

    /// With what is known of other launches of the program.
    fn build(
        (program, launches, machine): (&RingProgram, &Launches, &Machine),
        choose: &Choose<'_>,
        known: Option<(&Launches, &Self)>,
    ) -> Result<Self, Error> {
        let of = known.map(|(_, of)| of);
        let samples = samples(program, launches);
        let requests = samples.iter().map(|(batch, rings)| request(batch.operation, program.degree(), rings));
        let requests: Vec<Request> = requests.collect::<Result<_, Error>>()?;
        let mut origins = Vec::from_iter(of.and_then(|of| of.large.origin));
        let fastest = recipes(&samples, &requests, machine, |batch, request| {
            let recipe = of.and_then(|of| of.fastest.get(&first_of(&of.samples, batch)?.kind()));
            if let Some(recipe) = recipe.filter(|recipe| compile(request, recipe, machine).is_ok()) {
                return Ok(Arc::clone(recipe));
            }
            let Choice { recipe, origin } = choose(request, machine)?;
            origins.push(origin);
            Ok(Arc::new(recipe))
        })?;
        let known = known.map(|(own, of)| (own, &of.large));
        let mut large = Kernels::build(program, launches, machine, (&fastest, Tables::Large), known)?;
        large.origin = origins.into_iter().max_by_key(|origin| origin.tried());
        let (small_recipes, thrifty_recipes) = match of {
            Some(of) => (Arc::clone(&of.small_recipes), Arc::clone(&of.thrifty_recipes)),
            None => (Arc::new(Known::new()), Arc::new(Known::new())),
        };
        let (small, thrifty) = (Known::new(), Known::new());
        Ok(Self { samples, requests, fastest, large, small_recipes, small, thrifty_recipes, thrifty })
    }

    /// The variants of the kernels for a choice by `merit`, on a machine that differs from the one of [`new`](Self::new) in its
    /// off-chip memory only.
    ///
    /// # Errors
    /// Returns an error if a recipe does not suit a request.
    pub fn variants(
        &self,
        program: &RingProgram,
        launches: &Launches,
        machine: &Machine,
        merit: Merit,
    ) -> Result<Vec<Kernels>, Error> {
        let small = recipes(&self.samples, &self.requests, machine, |batch, request| {
            let fastest = &self.fastest[&batch.kind()];
            let of_recipe = (batch.kind().0, Arc::clone(fastest));
            let known =
                self.small_recipes.get(of_recipe, |_| Arc::new(small_recipes(request, fastest, machine)));
            let cost = |small: &SmallRecipe| small.launch_ns + machine.hbm.occupancy_ns(small.bytes);
            let least = known.iter().min_by(|one, other| cost(one).total_cmp(&cost(other)));
            Ok(Arc::clone(least.map_or(fastest, |least| &least.recipe)))
        })?;
        let large = &self.large;
        let small = self.small.get(small, |small| {
            let small = large.with_recipes(program, launches, machine, (small, Tables::Small));
            small.filter(|small| small.has_smaller_tables(large))
        });
        let thrifty = match merit {
            Merit::Cycles => None,
            Merit::Energy | Merit::EnergyDelay => {
                self.thrifty.get(merit, |&merit| self.thrifty(program, launches, machine, merit))
            }
        };
        let tables: Vec<Kernels> = std::iter::once(large.clone()).chain(small).chain(thrifty).collect();
        let (in_order, with_short_slices): (Vec<_>, Vec<_>) =
            tables.iter().map(|kernels| kernels.others().into()).unzip();
        let others = in_order.into_iter().chain(with_short_slices).flatten();
        Ok(tables.iter().cloned().chain(others).collect())
    }

    /// The kernels of the recipes that are least by themselves; none if these are the fastest, or do not fit the machine.
    fn thrifty(
        &self,
        program: &RingProgram,
        launches: &Launches,
        machine: &Machine,
        merit: Merit,
    ) -> Option<Kernels> {
        let plan = PlanChoice::Least(merit, Some(Effort::QUICK));
        let thrifty = recipes(&self.samples, &self.requests, machine, |batch, request| {
            let fastest = &self.fastest[&batch.kind()];
            Ok(self.thrifty_recipes.get((merit, (batch.kind().0, Arc::clone(fastest))), |_| {
                let choice = codegen::choose(request, machine, &plan);
                choice.map_or_else(|_| Arc::clone(fastest), |choice| Arc::new(choice.recipe))
            }))
        });
        let thrifty = thrifty.ok().filter(|thrifty| *thrifty != self.fastest)?;
        self.large.with_recipes(program, launches, machine, (&thrifty, Tables::Large))
    }
}

/// The recipes of all samples. One for all numbers of rings of an operation, by which their tables are the same: that for
/// the number which most launches have. Others have their own if its method does not suit them.
fn recipes(
    samples: &[(Batch, Vec<RingParameters>)],
    requests: &[Request],
    machine: &Machine,
    mut choose: impl FnMut(Batch, &Request) -> Result<Arc<Recipe>, Error>,
) -> Result<Recipes, Error> {
    let mut recipes = Recipes::default();
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

/// Of each kind, the exponent that most launches have, with the rings of the first of them; the kinds of the most launches
/// first.
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

/// `fastest`, and recipes of the library for similar machines that need fewer words, each with a small table. The cost of one is its
/// launch and a transfer of its table and scratch memory, since these displace limbs.
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
        let words = timed.scratch_words + u64::from(timed.table_words);
        let bytes = machine.instruction_set().bytes(words);
        Some(SmallRecipe { launch_ns: timed.launch_ns(), bytes, recipe })
    });
    small.collect()
}

/// The variant with the least value, and what else `value` computed for it; of equals, the first. `value` is given the least so far.
/// Without a choice, no value is computed.
pub(crate) fn least<V, T>(
    mut variants: Vec<V>,
    value: impl Fn(&V, f64) -> (f64, Option<T>),
) -> (V, Option<T>) {
    let mut best = (0, f64::INFINITY, None);
    if variants.len() > 1 {
        for (index, variant) in variants.iter().enumerate() {
            let (value, computed) = value(variant, best.1);
            best = if value < best.1 { (index, value, computed) } else { best };
        }
    }
    (variants.swap_remove(best.0), best.2)
}
