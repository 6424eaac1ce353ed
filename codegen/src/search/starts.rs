//! The recipes that a search starts from.

use super::Search;
use super::budget::Budget;
use super::candidates::{as_on, as_tuned, first_order_first, proven, survey};
use crate::library::{BUILT_IN, Measured, Target, Task};
use crate::ops;
use crate::plan::Costs;
use crate::recipe::{Order, Recipe};
use crate::request::Request;
use b512_asm::{PerPipe, Pipe};
use sim::Machine;
use sim::machine::Speed;
use sim::timing::Cycle;

/// The number of a task's recipes, the nearest ones, to try with the settings for their own machines.
const AS_TUNED: usize = 2;
/// The plans to derive for each algorithm: so many for the budget of a quick search, and the most.
const PLANS: [usize; 2] = [16, 64];
/// The number of kinds to try before the others are compared with the best.
const FIRST_KINDS: usize = 2;
/// The time for which a balanced plan keeps its busiest pipe busy at most, in percent of the time of the
/// multipliers.
const MUCH_LONGER: u64 = 150;

/// The recipes of the library to start from: those for the nearest number of rings.
pub fn known(request: &Request, machine: &Machine) -> Vec<Recipe> {
    let Some((task, speeds)) = BUILT_IN.nearest_task(request) else { return Vec::new() };
    starts(request, machine, task, speeds)
}

/// The recipes of a task, those for similar machines first, each with the first of the proven settings. The
/// nearest ones come also with their schedules for the machines that they were tuned for. Before all comes
/// the fastest program of a worse machine.
///
/// `speeds` are those of the machines of the task's [programs](Task::programs), in their order.
pub(super) fn starts(request: &Request, machine: &Machine, task: &Task, speeds: &[Speed]) -> Vec<Recipe> {
    let isa = machine.instruction_set();
    let suits = |recipe: &Recipe| recipe.suits(request, isa);
    let worse = fastest_of_worse(machine, task, speeds).filter(|(recipe, _)| suits(recipe));
    let worse = worse.map(|(recipe, known)| as_on(recipe, &known.machine.machine(), machine));
    let with_settings = |(number, (recipe, target)): (usize, (&Recipe, &Target))| {
        let as_tuned =
            if number < AS_TUNED { as_tuned(recipe, machine, &target.machine()) } else { Vec::new() };
        as_tuned.into_iter().chain(proven(recipe).next())
    };
    let nearest = task.nearest(&Target::of(machine)).filter(|(recipe, _)| suits(recipe));
    worse.into_iter().chain(nearest.enumerate().flat_map(with_settings)).collect()
}

/// The fastest program of a task for a target that a machine [dominates](Machine::dominates).
fn fastest_of_worse<'t>(
    machine: &Machine,
    task: &'t Task,
    speeds: &[Speed],
) -> Option<(&'t Recipe, &'t Measured)> {
    let speed = machine.speed();
    let programs = task.programs().zip(speeds);
    let worse = programs.filter(|(_, other)| speed.dominates(other)).map(|(program, _)| program);
    let (_, entry, known) = worse.min_by_key(|(_, _, known)| known.cycles)?;
    Some((&entry.recipe, known))
}

impl Search<'_> {
    /// Tries some of the given recipes, and derived ones: one of each kind, then others of the best kinds.
    /// Derived ones come first if those given do not suit the machine. If they do, derived ones are tried
    /// only if the budget pays for all given ones.
    pub(super) fn start(&mut self, given: Vec<Recipe>, times: u32, budget: &mut Budget, share: u64) {
        let suit = given.iter().any(|recipe| self.is_balanced(recipe));
        let mut rest = budget.percent(share);
        let pays_for_all = given.iter().all(|recipe| rest.pay(self.size(recipe), 1, true));
        let derived =
            if suit && !pays_for_all { Vec::new() } else { self.derived(times, given.is_empty(), budget) };
        let recipes = if suit { [given, derived] } else { [derived, given] };
        let mut distinct: Vec<Recipe> = Vec::new();
        for recipe in recipes.into_iter().flatten() {
            if !distinct.contains(&recipe) {
                distinct.push(recipe);
            }
        }
        self.try_kinds(distinct, &mut budget.percent(share));
    }

    /// Recipes with derived plans, the most promising first, if the budget pays for them or nothing else is
    /// known.
    fn derived(&self, times: u32, is_needed: bool, budget: &mut Budget) -> Vec<Recipe> {
        let (request, machine) = (self.request, self.trials.machine());
        let [quick, most] = PLANS;
        let count = (quick * if is_needed { 2 } else { 1 } * times.max(1) as usize).min(most);
        let has_plans = !ops::of(request.operation).transforms().is_empty();
        let bits = request.shape(machine.instruction_set()).bits();
        if !has_plans || budget.pay_for_plans(count, bits) || is_needed {
            first_order_first(survey(request, machine, count))
        } else {
            Vec::new()
        }
    }

    /// Tries one recipe of each kind, then others of the kinds with the fastest programs.
    fn try_kinds(&mut self, recipes: Vec<Recipe>, budget: &mut Budget) {
        let (mut kinds, mut others) = one_of_each_kind(recipes);
        let later = kinds.split_off(kinds.len().min(FIRST_KINDS));
        self.try_promising(kinds, budget);
        self.try_promising(later, budget);
        let rank = |recipe: &Recipe| {
            let fastest = self.ranked.iter().position(|(_, tried)| kind(tried) == kind(recipe));
            fastest.unwrap_or(usize::MAX)
        };
        // The sort is stable.
        others.sort_by_cached_key(rank);
        self.try_promising(others, budget);
    }

    /// Tries those recipes that can be faster than the best so far, as many as a budget pays for.
    fn try_promising(&mut self, mut recipes: Vec<Recipe>, budget: &mut Budget) {
        let best = self.best_cycles();
        recipes.retain(|recipe| self.least_cycles(recipe) < best && budget.pay(self.size(recipe), 1, true));
        self.try_all(&recipes);
    }

    /// The cycles for which the plans of a recipe keep each pipe busy, in all towers.
    fn busy(&self, recipe: &Recipe) -> PerPipe<u64> {
        let (mut costs, towers) = (Costs::new(self.trials.machine()), self.request.towers() as u64);
        let of_plans = recipe.plans.iter().map(|plan| costs.busy(plan).map(|cycles| towers * cycles));
        of_plans.fold(PerPipe::default(), |sum, busy| PerPipe::from_fn(|pipe| sum[pipe] + busy[pipe]))
    }

    /// Whether the plans of a recipe keep no pipe busy for much longer than the multipliers. A plan of the
    /// library suits a machine like that of its target, perhaps not one in which shuffles or accesses take
    /// longer.
    fn is_balanced(&self, recipe: &Recipe) -> bool {
        let busy = self.busy(recipe);
        let most = busy.values().copied().fold(0, u64::max);
        100 * most <= MUCH_LONGER * busy[Pipe::Compute]
    }

    /// The cycles that a recipe's program takes at least: those of its busiest pipe. Forwarding can remove
    /// loads and stores, but rarely more than half of them.
    pub(super) fn least_cycles(&self, recipe: &Recipe) -> Cycle {
        let mut busy = self.busy(recipe);
        if recipe.forwarding.is_some() {
            busy[Pipe::LoadStore] /= 2;
        }
        Cycle(busy.values().copied().fold(0, u64::max))
    }

    /// The instructions of a recipe's program, about. A transform without a plan has four for each vector of
    /// a stage.
    pub(super) fn size(&self, recipe: &Recipe) -> u64 {
        let request = self.request;
        let vectors = u64::from(request.n() / self.trials.machine().vector_length()).max(1);
        let transforms = if recipe.plans.is_empty() {
            let transforms = ops::of(request.operation).transforms().len() as u64;
            4 * transforms * u64::from(request.n().ilog2()) * vectors
        } else {
            recipe.plans.iter().map(|plan| u64::from(plan.instructions())).sum()
        };
        (transforms + 4 * vectors) * request.towers() as u64
    }
}

/// What recipes of one kind share: the method, the stages and shuffles in each pass, and the order of blocks.
/// They take similar cycles.
fn kind(recipe: &Recipe) -> (&Option<String>, Vec<&str>, Order) {
    (&recipe.method, recipe.plans.iter().map(|plan| plan.name.as_str()).collect(), recipe.order)
}

/// The first recipe of each kind, and the others.
fn one_of_each_kind(recipes: Vec<Recipe>) -> (Vec<Recipe>, Vec<Recipe>) {
    let (mut first, mut others): (Vec<Recipe>, Vec<Recipe>) = Default::default();
    for recipe in recipes {
        let known = first.iter().any(|known| kind(known) == kind(&recipe));
        if known { others.push(recipe) } else { first.push(recipe) }
    }
    (first, others)
}
