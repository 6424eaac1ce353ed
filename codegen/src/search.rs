//! The search for fast recipes, with the cycle model as the cost.
//!
//! There is one search. Its [effort](Effort) is a budget, which counts schedules, and nothing else depends on
//! the user. A search starts from [known recipes](known), from [derived](crate::plan::derive) plans and from
//! the classical pair. The fastest then get other settings. The best one descends: each of its decisions is
//! changed by itself, as long as this helps. Random changes follow. Last come beam searches, which choose the
//! settings anew for each part of the code (`search/parts.rs`). The result depends on the arguments alone,
//! with any number of threads and at any speed.

mod budget;
mod build;
mod candidates;
mod parts;
mod starts;
mod trials;

pub use self::budget::Effort;
pub use self::build::build;
pub(crate) use self::candidates::settings;
pub use self::candidates::{as_on, plans_for};
pub use self::starts::known;

use self::budget::Budget;
use self::candidates::{
    Random, Way, cautious, neighbour, other_codes, other_settings, proven, random_recipe,
};
use self::parts::{Beam, by_parts};
use self::trials::Trials;
use crate::compile::Prepared;
use crate::error::Error;
use crate::library::BUILT_IN;
use crate::named;
use crate::recipe::Recipe;
use crate::request::Request;
use crate::schedule::under_one_placement;
use rayon::prelude::*;
use sim::Machine;
use sim::timing::Cycle;
use std::sync::{Mutex, PoisonError};

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

/// Receives the number of recipes tried, the total, and the cycles of the best one so far.
pub type Progress<'a> = dyn Fn(usize, usize, Cycle) + Sync + 'a;

/// The shares of the phases in a budget, in percent.
const STARTS: u64 = 46;
const SETTINGS: u64 = 15;
const CHANGES: u64 = 8;
const PARTS: u64 = 31;

/// The codes that get other settings: one for so many schedules of that phase's budget, and the least and the
/// most.
const SCHEDULES_PER_CODE: u64 = 8;
const CODES: [u64; 2] = [2, 10];
/// The number of recipes whose settings change at random, or by parts.
const LEADERS: usize = 3;
/// The number of random changes per round; each round starts from the best recipe of the previous one.
const ROUND: u64 = 12;
/// The most beam searches of a search: one for each of the leaders, and one for the best.
const BEAMS: u64 = 2;

/// Searches for the fastest recipe for `request`.
///
/// It starts from `given` recipes, most often the [known](known()) ones, among others. Those that `memory`
/// knows are not tried again. `progress` is called after each recipe.
///
/// # Errors
/// Returns the error of the classical pair if no candidate fits the machine.
pub fn search(
    request: &Request,
    machine: &Machine,
    effort: Effort,
    given: Vec<Recipe>,
    memory: &dyn Memory,
    progress: &Progress<'_>,
) -> Result<Found, Error> {
    let machine = &under_one_placement(machine);
    let classical = named::constant_geometry(request, machine.instruction_set());
    let mut search = Search::new(request, machine, memory, progress);
    let mut budget = search.budget(effort, given.first().unwrap_or(&classical));
    search.start(given, effort.budget, &mut budget, STARTS);
    // The classical program is large: try it only if its bound is below the best cycles.
    if search.least_cycles(&classical) < search.best_cycles() && search.cycles_of(&classical).is_none() {
        search.try_all(std::slice::from_ref(&classical));
    }
    search.try_settings(budget.percent(SETTINGS));
    search.try_changes(budget.percent(CHANGES), effort.seed);
    search.search_parts(budget.percent(PARTS), effort.seed)?;
    search.result(&classical)
}

/// A recipe with each of the other choices for one decision.
type Decision = fn(&Recipe, &Machine) -> Vec<Recipe>;

/// The decisions that a descent changes, in turn.
const DECISIONS: [Decision; 3] = [other_codes, other_settings, cautious];

/// The state of a search.
struct Search<'a> {
    request: &'a Request,
    trials: Trials<'a>,
    progress: &'a Progress<'a>,
    /// The number of recipes tried, and about the number of those that will be.
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

    /// The budget of a search with programs like that of `probe`: the scheduler takes more steps for an
    /// instruction on some machines than on others.
    fn budget(&mut self, effort: Effort, probe: &Recipe) -> Budget {
        let (steps, instructions) =
            self.trials.steps(probe).map_or((1, 1), |steps| (steps, self.size(probe)));
        let budget = Budget::of(effort, steps, instructions);
        self.expected = budget.percent(100 - PARTS).schedules(instructions) as usize;
        budget
    }

    /// The cycles of the fastest program so far.
    fn best_cycles(&self) -> Cycle {
        self.ranked.first().map_or(Cycle(u64::MAX), |&(cycles, _)| cycles)
    }

    /// The cycles of a recipe that has been tried and has a program.
    fn cycles_of(&self, recipe: &Recipe) -> Option<Cycle> {
        self.ranked.iter().find(|(_, known)| known == recipe).map(|&(cycles, _)| cycles)
    }

    /// Tries recipes in parallel. Those that random changes repeat are not scheduled again.
    fn try_all(&mut self, recipes: &[Recipe]) {
        let state = Mutex::new((self.tried, self.best_cycles()));
        let expected = self.expected.max(self.tried + recipes.len());
        let outcomes: Vec<Option<Cycle>> = recipes
            .par_iter()
            .map(|recipe| {
                let cycles = self.cycles_of(recipe).or_else(|| self.trials.try_recipe(recipe));
                let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
                state.0 += 1;
                state.1 = state.1.min(cycles.unwrap_or(Cycle(u64::MAX)));
                (self.progress)(state.0, expected, state.1);
                cycles
            })
            .collect();
        self.tried += recipes.len();
        let tried = outcomes.into_iter().zip(recipes);
        self.ranked.extend(tried.filter_map(|(cycles, recipe)| Some((cycles?, recipe.clone()))));
        // The sort is stable.
        self.ranked.sort_by_key(|&(cycles, _)| cycles);
    }

    /// Tries the leading codes with other proven settings.
    fn try_settings(&mut self, budget: Budget) {
        let Some((_, best)) = self.ranked.first() else { return };
        let [least, most] = CODES;
        let count = (budget.schedules(self.size(best)) / SCHEDULES_PER_CODE).clamp(least, most);
        let leaders = self.leading_codes(count as usize);
        self.try_in_turn(leaders.iter().map(|leader| proven(leader).collect()).collect(), budget);
    }

    /// Tries the recipes of some lists, as many as a budget pays for: the first of all lists, then the
    /// second.
    fn try_in_turn(&mut self, lists: Vec<Vec<Recipe>>, mut budget: Budget) {
        let most = lists.iter().map(Vec::len).max().unwrap_or(0);
        let in_turn = (0..most).flat_map(|number| lists.iter().filter_map(move |list| list.get(number)));
        let is_paid =
            |recipe: &&Recipe| self.cycles_of(recipe).is_none() && budget.pay(self.size(recipe), 1, false);
        let round: Vec<Recipe> = in_turn.filter(is_paid).cloned().collect();
        self.try_all(&round);
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

    /// The fastest recipes, of those that are alike the first.
    fn leading(&self, count: usize, alike: impl Fn(&Recipe, &Recipe) -> bool) -> Vec<Recipe> {
        let mut leaders: Vec<Recipe> = Vec::new();
        for (_, recipe) in &self.ranked {
            if leaders.len() < count && !leaders.iter().any(|known| alike(known, recipe)) {
                leaders.push(recipe.clone());
            }
        }
        leaders
    }

    /// The fastest recipe of each of the leading codes.
    fn leading_codes(&self, count: usize) -> Vec<Recipe> {
        self.leading(count, |known, recipe| Prepared::serves(known, recipe, self.trials.machine()))
    }

    /// Changes one decision of the best recipe after the other, until no change makes it faster.
    fn descend(&mut self, budget: &mut Budget) {
        let machine = self.trials.machine();
        loop {
            let before = self.best_cycles();
            for others in DECISIONS {
                let Some((_, best)) = self.ranked.first() else { return };
                let is_paid = |recipe: &Recipe| {
                    self.cycles_of(recipe).is_none() && budget.pay(self.size(recipe), 1, true)
                };
                let round: Vec<Recipe> = others(best, machine).into_iter().filter(is_paid).collect();
                self.try_all(&round);
            }
            if self.best_cycles() == before {
                return;
            }
        }
    }

    /// Descends from the best recipe, then tries recipes in rounds: alternately random settings for one of
    /// the leading plans, and a change of the best recipe.
    fn try_changes(&mut self, mut budget: Budget, seed: u64) {
        self.descend(&mut budget);
        let (several, machine) = (self.request.towers() > 1, self.trials.machine());
        let leaders = self.leading_ways(LEADERS);
        let mut random = Random(seed ^ 0x9e37_79b9_7f4a_7c15);
        while let Some((_, best)) = self.ranked.first() {
            let mut round = Vec::new();
            for number in 0..ROUND as usize {
                let recipe = match number % 2 {
                    0 => random_recipe(&mut random, &leaders[number / 2 % leaders.len()], several, machine),
                    _ => neighbour(&mut random, best, several, machine),
                };
                if !budget.pay(self.size(&recipe), 1, true) {
                    break;
                }
                round.push(recipe);
            }
            self.try_all(&round);
            if round.len() < ROUND as usize {
                break;
            }
        }
    }

    /// Searches for settings of parts: once for each of the leading recipes, then for the best.
    ///
    /// # Errors
    /// Returns an error if a recipe that has a program has no code.
    fn search_parts(&mut self, mut budget: Budget, seed: u64) -> Result<(), Error> {
        let Some((_, best)) = self.ranked.first() else { return Ok(()) };
        let size = self.size(best);
        let schedules = budget.schedules(size);
        let beam = Beam::of(schedules / (schedules / Beam::NARROWEST).clamp(1, BEAMS));
        let mut random = Random(seed ^ 0x2545_f491_4f6c_dd1d);
        let machine = self.trials.machine();
        let mut leaders = self.leading(LEADERS, |known, recipe| {
            known.tuning.plain == recipe.tuning.plain
                && known.tuning.margin == recipe.tuning.margin
                && Prepared::serves(known, recipe, machine)
        });
        leaders.retain(|recipe| recipe.tuning.reorder);
        let mut leaders = leaders.into_iter();
        while budget.pay(size, beam.schedules(), true) {
            let recipe = leaders.next().unwrap_or_else(|| self.ranked[0].1.clone());
            let prepared = self.trials.prepared(&recipe)?;
            let found = by_parts(&prepared, machine, &recipe, beam, &mut random);
            self.try_all(&found);
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
        let library = BUILT_IN.nearest_task(self.request);
        let known = library.is_some_and(|(task, _)| task.entries.iter().any(|entry| entry.recipe == *recipe));
        let mut recipe = recipe.clone();
        // Drop `forwarding` if it removed nothing.
        if self.trials.prepared(&recipe)?.removes_nothing() {
            recipe.forwarding = None;
        }
        Ok(Found { recipe, cycles: *cycles, tried: self.tried, known })
    }
}
