//! The search for fast recipes, with the cycle model as the cost.
//!
//! A search first tries known recipes: the library's for the same task, and [derived](crate::plan::derive)
//! plans. It then tries the fastest with proven settings, and with more cautious schedules. A full search also
//! tries random settings for the fastest plans, and small changes of the best recipe so far. Last come
//! beam searches, which choose the settings anew for each part of the code (`search/parts.rs`). A search is deterministic, with any
//! number of threads and at any speed: budgets count trials and instructions.

mod build;
mod candidates;
mod parts;
mod quick;
mod trials;

pub use self::build::build;
pub(crate) use self::quick::quick;

#[cfg(test)]
pub(crate) use self::candidates::plans_for;

use self::candidates::{Random, Way, as_tuned, cautious, neighbour, random_recipe, survey, variants};
use self::parts::{Beam, by_parts};
use self::trials::Trials;
use crate::compile::Prepared;
use crate::error::Error;
use crate::library::{BUILT_IN, Target};
use crate::recipe::Recipe;
use crate::request::Request;
use crate::schedule::under_one_placement;
use rayon::prelude::*;
use sim::Machine;
use sim::timing::Cycle;
use std::sync::{Mutex, PoisonError};

/// The effort of a full search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effort {
    /// The number of plans to derive for each algorithm.
    pub plans: usize,
    /// The maximum number of scheduler settings to try with each leading plan and order.
    pub tunings: usize,
    /// The number of orders to try with each leading plan, at most three.
    pub orders: usize,
    /// The number of random settings to try for the fastest plans together.
    pub refinements: usize,
    /// The seed of the random settings.
    pub seed: u64,
}

impl Effort {
    /// The default effort of a tuning run, and of a target of the library.
    pub const DEFAULT: Self = Self { plans: 64, tunings: 16, orders: 3, refinements: 100, seed: 0 };

    /// This effort, stated for 65,536 points, for another request: smaller programs get more refinements in
    /// about the same time, up to 16 times as many.
    fn scaled_to(self, request: &Request) -> Self {
        let points = request.n() as usize * request.towers();
        Self { refinements: self.refinements * (65536 / points).clamp(1, 16), ..self }
    }
}

/// A recipe and its cost.
#[derive(Clone, PartialEq, Debug)]
pub struct Found {
    /// The recipe.
    pub recipe: Recipe,
    /// The cycles of its program.
    pub cycles: Cycle,
    /// The number of recipes tried.
    pub tried: usize,
    /// Whether it is one of the library's recipes, unchanged.
    pub known: bool,
}

/// The results of earlier searches for the same request on the same machine.
pub trait Memory: Sync {
    /// The cycles of a recipe's program if they are known. The inner `None` marks a recipe without
    /// a program on this machine.
    fn get(&self, recipe: &Recipe) -> Option<Option<Cycle>>;
    /// Records the cycles of a recipe.
    fn put(&self, recipe: &Recipe, cycles: Option<Cycle>);
}

/// No memory.
impl Memory for () {
    fn get(&self, _: &Recipe) -> Option<Option<Cycle>> {
        None
    }
    fn put(&self, _: &Recipe, _: Option<Cycle>) {}
}

/// The beam of a full search. Wide ones find more in the same time than many narrow ones.
const FULL_BEAM: Beam = Beam { width: 12, settings: 12 };
/// A full search ends with one beam search for this number of refinements.
const REFINEMENTS_PER_BEAM: usize = 40;
/// The number of recipes that a search tries with more cautious schedules.
const CAUTIOUS_LEADERS: usize = 5;

/// The library's recipes that suit a request, each with the target that it was tuned for, those for similar machines
/// first.
fn similar(request: &Request, machine: &Machine) -> impl Iterator<Item = (&'static Recipe, &'static Target)> {
    let isa = machine.instruction_set();
    let nearest = BUILT_IN.nearest(request, &Target::of(machine));
    nearest.filter(move |(recipe, _)| recipe.suits(request, isa))
}

/// Searches for the fastest recipe for `request`.
///
/// Recipes that `memory` knows are not tried again. `progress` is called after each recipe with the
/// number tried, the total, and the cycles of the best one so far.
///
/// # Errors
/// Returns the error of the first candidate if none fits the machine.
pub fn tune(
    request: &Request,
    machine: &Machine,
    effort: Effort,
    memory: &dyn Memory,
    progress: &Progress<'_>,
) -> Result<Found, Error> {
    let machine = &under_one_placement(machine);
    // A recipe that is fast on one machine is often fast on another.
    let known = similar(request, machine)
        .flat_map(|(recipe, reference)| as_tuned(recipe, machine, &reference.machine()))
        .collect();
    search(request, machine, effort, known, memory, progress)
}

/// A full search that starts from derived plans and known recipes.
fn search(
    request: &Request,
    machine: &Machine,
    effort: Effort,
    known: Vec<Recipe>,
    memory: &dyn Memory,
    progress: &Progress<'_>,
) -> Result<Found, Error> {
    let mut search = Search::new(request, machine, memory, progress);
    let first = search.explore(effort, known)?;
    search.result(&first)
}

/// A full search that starts from known recipes only.
fn search_from(
    known: &[Recipe],
    request: &Request,
    machine: &Machine,
    effort: Effort,
) -> Result<Found, Error> {
    let mut search = Search::new(request, machine, &(), &|_, _, _| ());
    search.try_all(known);
    search.improve(effort)?;
    search.result(&known[0])
}

/// Receives the number of recipes tried, the total, and the cycles of the best one so far.
pub type Progress<'a> = dyn Fn(usize, usize, Cycle) + Sync + 'a;

/// The number of plans whose settings are refined.
const LEADERS: usize = 3;

/// The number of settings with which a full search tries each plan first.
const SURVEY_SETTINGS: usize = 2;

/// The number of plans that a full search tries with all settings.
const SETTINGS_LEADERS: usize = 10;

/// The number of refinements per round; each round starts from the best recipe of the previous one.
const ROUND: usize = 12;

/// The state of a search.
struct Search<'a> {
    request: &'a Request,
    trials: Trials<'a>,
    progress: &'a Progress<'a>,
    /// The number of recipes tried, and of those that will be.
    tried: usize,
    expected: usize,
    /// The recipes tried that have a program, the fastest first; of equals, the one tried first.
    ranked: Vec<(Cycle, Recipe)>,
}

impl<'a> Search<'a> {
    fn new(
        request: &'a Request,
        machine: &'a Machine,
        memory: &'a dyn Memory,
        progress: &'a Progress<'a>,
    ) -> Self {
        let trials = Trials::new(request, machine, memory);
        Self { request, trials, progress, tried: 0, expected: 0, ranked: Vec::new() }
    }

    /// The cycles of the fastest program so far.
    fn best_cycles(&self) -> Cycle {
        self.ranked.first().map_or(Cycle(u64::MAX), |&(cycles, _)| cycles)
    }

    /// Tries recipes in parallel.
    fn try_all(&mut self, recipes: &[Recipe]) {
        let state = Mutex::new((self.tried, self.best_cycles()));
        let outcomes: Vec<Option<Cycle>> = recipes
            .par_iter()
            .map(|recipe| {
                let cycles = self.trials.try_recipe(recipe);
                let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
                state.0 += 1;
                state.1 = state.1.min(cycles.unwrap_or(Cycle(u64::MAX)));
                (self.progress)(state.0, self.expected, state.1);
                cycles
            })
            .collect();
        self.tried += recipes.len();
        let tried = outcomes.into_iter().zip(recipes);
        self.ranked.extend(tried.filter_map(|(cycles, recipe)| Some((cycles?, recipe.clone()))));
        // The sort is stable.
        self.ranked.sort_by_key(|&(cycles, _)| cycles);
    }

    /// Tries derived plans and known recipes, the fastest of them with other settings, and improvements. Returns the first.
    ///
    /// # Errors
    /// Returns an error if a recipe that has a program has no code.
    fn explore(&mut self, effort: Effort, known: Vec<Recipe>) -> Result<Recipe, Error> {
        let (request, machine) = (self.request, self.trials.machine());
        let mut first = survey(request, machine, effort.plans, SURVEY_SETTINGS);
        first.extend(known);
        self.expected += first.len() + effort.refinements;
        self.try_all(&first);
        let leading = self.leading_ways(SETTINGS_LEADERS);
        let settings = |way: &Way| variants(request, machine, way, effort.orders, effort.tunings);
        let round: Vec<Recipe> = leading.iter().flat_map(settings).collect();
        self.expected += round.len();
        self.try_all(&round);
        self.improve(effort)?;
        Ok(first.swap_remove(0))
    }

    /// The ways of the fastest recipes, each once.
    fn leading_ways(&self, count: usize) -> Vec<Way> {
        let mut leaders: Vec<Way> = Vec::new();
        for (_, recipe) in &self.ranked {
            let way = Way::of(recipe);
            if leaders.len() < count && !leaders.contains(&way) {
                leaders.push(way);
            }
        }
        leaders
    }

    /// The fastest recipe of each of the leading codes.
    fn leading_codes(&self, count: usize) -> Vec<Recipe> {
        let machine = self.trials.machine();
        let mut leaders: Vec<Recipe> = Vec::new();
        for (_, recipe) in &self.ranked {
            let alike = |known: &Recipe| Prepared::serves(known, recipe, machine);
            if leaders.len() < count && !leaders.iter().any(alike) {
                leaders.push(recipe.clone());
            }
        }
        leaders
    }

    /// Tries more cautious schedules of the fastest recipes, then refinements, then settings of parts.
    ///
    /// # Errors
    /// Returns an error if a recipe that has a program has no code.
    fn improve(&mut self, effort: Effort) -> Result<(), Error> {
        let machine = self.trials.machine();
        let leaders = self.ranked.iter().take(CAUTIOUS_LEADERS);
        let round: Vec<Recipe> = leaders.flat_map(|(_, leader)| cautious(leader, machine)).collect();
        self.expected += round.len();
        self.try_all(&round);
        self.refine(effort.refinements, effort.seed);
        let beams = effort.refinements.div_ceil(REFINEMENTS_PER_BEAM);
        self.expected += beams * FULL_BEAM.width;
        self.search_parts(beams, FULL_BEAM, effort.seed, usize::MAX)
    }

    /// Tries `count` recipes in rounds: alternately random settings for one of the leading plans, and a
    /// change of the best recipe.
    fn refine(&mut self, count: usize, seed: u64) {
        let (several, machine) = (self.request.towers() > 1, self.trials.machine());
        let leaders = self.leading_ways(LEADERS);
        let mut random = Random(seed ^ 0x9e37_79b9_7f4a_7c15);
        let mut left = count;
        while left > 0 {
            let Some((_, best)) = self.ranked.first() else { return };
            let one = |number: usize| match number % 2 {
                0 => random_recipe(&mut random, &leaders[number / 2 % leaders.len()], several, machine),
                _ => neighbour(&mut random, best, several, machine),
            };
            let round: Vec<Recipe> = (0..left.min(ROUND)).map(one).collect();
            left -= round.len();
            self.try_all(&round);
        }
    }

    /// Searches for settings of parts, `count` times at most: once for each of the leading recipes, then for the
    /// best. Ends after `fruitless` searches that find no faster program.
    ///
    /// # Errors
    /// Returns an error if a recipe that has a program has no code.
    fn search_parts(&mut self, count: usize, beam: Beam, seed: u64, fruitless: usize) -> Result<(), Error> {
        let mut since_success = 0;
        let mut random = Random(seed ^ 0x2545_f491_4f6c_dd1d);
        let mut leaders: Vec<Recipe> = Vec::new();
        for (_, recipe) in &self.ranked {
            let alike = |known: &Recipe| {
                known.tuning.plain == recipe.tuning.plain
                    && known.tuning.margin == recipe.tuning.margin
                    && Prepared::serves(known, recipe, self.trials.machine())
            };
            if leaders.len() < LEADERS && recipe.tuning.reorder && !leaders.iter().any(alike) {
                leaders.push(recipe.clone());
            }
        }
        for number in 0..count {
            let Some(&(before, ref best)) = self.ranked.first() else { return Ok(()) };
            let recipe = match leaders.get(number) {
                Some(leader) => leader.clone(),
                None => best.clone(),
            };
            let prepared = self.trials.prepared(&recipe)?;
            let found = by_parts(&prepared, self.trials.machine(), &recipe, beam, &mut random);
            self.try_all(&found);
            since_success = if self.ranked[0].0 < before { 0 } else { since_success + 1 };
            if since_success >= fruitless {
                break;
            }
        }
        Ok(())
    }

    /// The fastest recipe.
    ///
    /// # Errors
    /// Returns the error of `first` if no recipe has a program.
    fn result(self, first: &Recipe) -> Result<Found, Error> {
        let Some((cycles, recipe)) = self.ranked.first() else {
            return Err(self.trials.cycles(first).expect_err("no candidate has a program"));
        };
        let known = BUILT_IN.recipes(self.request).any(|known| known == recipe);
        let mut recipe = recipe.clone();
        // Drop `forwarding` if it removed nothing.
        if self.trials.prepared(&recipe)?.removes_nothing() {
            recipe.forwarding = None;
        }
        Ok(Found { recipe, cycles: *cycles, tried: self.tried, known })
    }
}
