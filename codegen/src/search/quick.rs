//! The quick search: a good recipe at a limited cost.

use super::candidates::{as_on, as_tuned, cautious, first_order_first, proven, survey};
use super::parts::Beam;
use super::{CAUTIOUS_LEADERS, Found, Search, similar};
use crate::error::Error;
use crate::library::{BUILT_IN, Target};
use crate::named;
use crate::ops;
use crate::plan::Costs;
use crate::recipe::{Order, Recipe};
use crate::request::Request;
use b512_asm::{PerPipe, Pipe};
use sim::Machine;
use sim::timing::Cycle;

/// The [steps](crate::schedule::Scheduled::steps) of the scheduler in a search. A step takes about as long on one machine as on
/// another, an instruction does not.
const STEPS: u64 = 500_000;
/// The most instructions that it schedules.
const INSTRUCTIONS: u64 = 120_000;
/// The most trials. Small programs gain nothing from more.
const TRIALS: usize = 400;
/// Its shares of both.
const SHARES: Shares = Shares { known: 30, settings: 10, cautious: 5, beams: 55 };
/// The shares if they do not pay for a beam: of large programs, the budget pays for a handful of schedules.
const SHARES_WITHOUT_BEAMS: Shares = Shares { known: 50, settings: 40, cautious: 10, beams: 0 };
/// The beams.
const BEAMS: [Beam; 2] = [Beam { width: 4, settings: 4 }, Beam { width: 2, settings: 3 }];
/// Beam searches end after so many that find no faster program.
const FRUITLESS: usize = 4;
/// The number of plans to derive for each algorithm.
const PLANS: usize = 8;
/// The number of the library's recipes, the nearest ones, to try with the settings for their own
/// machines.
const AS_TUNED: usize = 2;
/// The number of kinds to try before the others are compared with the best.
const FIRST_KINDS: usize = 2;
/// The number of codes to try with all proven settings.
const PROVEN_LEADERS: usize = 4;
/// The time for which a balanced plan keeps its busiest pipe busy at most, in percent of the time of the multipliers.
const MUCH_LONGER: u64 = 150;

/// The shares of a budget, in percent.
#[derive(Clone, Copy)]
struct Shares {
    /// For the library's recipes and derived plans.
    known: u64,
    /// For the fastest of these with other proven settings.
    settings: u64,
    /// For more cautious schedules of the fastest.
    cautious: u64,
    /// For beam searches.
    beams: u64,
}

/// What is left of a budget.
#[derive(Clone)]
struct Budget {
    instructions: u64,
    trials: usize,
}

impl Budget {
    /// The whole of a search in which the scheduler takes `steps` for a program of `instructions`.
    fn whole(steps: u64, instructions: u64) -> Self {
        let instructions = (STEPS * instructions / steps.max(1)).min(INSTRUCTIONS);
        Self { instructions, trials: TRIALS }
    }

    /// A share of it.
    fn percent(&self, share: u64) -> Self {
        let &Self { instructions, trials } = self;
        Self { instructions: instructions * share / 100, trials: trials * share as usize / 100 }
    }

    /// Pays for schedules of one code with so many instructions, if the budget allows it.
    fn pay(&mut self, instructions: u64, schedules: usize, code_is_new: bool) -> bool {
        // The code takes some 30% of the time of a schedule.
        let code = if code_is_new { instructions * 3 / 10 } else { 0 };
        let cost = instructions * schedules as u64 + code;
        let affordable = cost <= self.instructions && schedules <= self.trials;
        if affordable {
            self.instructions -= cost;
            self.trials -= schedules;
        }
        affordable
    }

    /// Pays for the derivation of plans for a transform with so many index bits, if the budget allows it.
    fn pay_for_plans(&mut self, bits: u32) -> bool {
        // Fitted to the times of derivations.
        let cost = PLANS as u64 * u64::from(bits).pow(3);
        let affordable = cost <= self.instructions;
        if affordable {
            self.instructions -= cost;
        }
        affordable
    }
}

/// The budgets of the rounds.
struct Budgets {
    known: Budget,
    settings: Budget,
    cautious: Budget,
    beams: Budget,
    /// Whether the budget pays for beams at first.
    beams_pay: bool,
}

impl Budgets {
    /// The budgets of a search that starts from `probe`, among others.
    fn new(search: &Search<'_>, probe: &Recipe) -> Self {
        // The scheduler takes more steps for an instruction on some machines than on others.
        let steps = search.trials.steps(probe);
        let (steps, instructions) = steps.map_or((1, 1), |steps| (steps, search.size(probe)));
        let whole = Budget::whole(steps, instructions);
        let beams = whole.percent(SHARES.beams);
        let beams_pay = BEAMS.iter().any(|beam| beams.clone().pay(instructions, beam.schedules(), true));
        let shares = if beams_pay { SHARES } else { SHARES_WITHOUT_BEAMS };
        let [known, settings, cautious, beams] =
            [shares.known, shares.settings, shares.cautious, shares.beams].map(|share| whole.percent(share));
        Self { known, settings, cautious, beams, beams_pay }
    }
}

/// A search of limited cost, for code generation on a machine that the library was not tuned for.
///
/// It starts from recipes of the library for the same task, those for similar machines first, and from derived plans, which
/// come first if the library's do not suit the machine. It tries one recipe of each kind, then others of the best kinds. The
/// fastest then get other settings.
///
/// # Errors
/// Returns the error of the classical pair if no candidate fits the machine.
pub(crate) fn quick(request: &Request, machine: &Machine) -> Result<Found, Error> {
    let mut search = Search::new(request, machine, &(), &|_, _, _| ());
    let library = from_library(request, machine);
    let classical = named::constant_geometry(request, machine.instruction_set());
    let mut budgets = Budgets::new(&search, library.first().unwrap_or(&classical));
    let candidates = search.candidates(library, &mut budgets);
    search.try_candidates(candidates, &mut budgets.known);
    // It is large, so it is a trial only if it can be faster.
    if search.least_cycles(&classical) < search.best_cycles() && !search.has(&classical) {
        search.try_all(std::slice::from_ref(&classical));
    }

    let leaders = search.leading_codes(PROVEN_LEADERS);
    let mut round = in_turn(leaders.iter().map(|leader| proven(leader).collect()).collect());
    round.retain(|recipe| !search.has(recipe) && budgets.settings.pay(search.size(recipe), 1, false));
    search.try_all(&round);

    let leaders = search.ranked.iter().take(CAUTIOUS_LEADERS);
    let mut round = in_turn(leaders.map(|(_, leader)| cautious(leader, machine)).collect());
    round.retain(|recipe| !search.has(recipe) && budgets.cautious.pay(search.size(recipe), 1, false));
    search.try_all(&round);

    if let Some((_, best)) = search.ranked.first() {
        let best = search.size(best);
        for (seed, beam) in (0..).zip(BEAMS) {
            let beams = (0..).take_while(|_| budgets.beams.pay(best, beam.schedules(), true)).count();
            search.search_parts(beams, beam, seed, FRUITLESS)?;
        }
    }
    search.result(&classical)
}

impl Search<'_> {
    /// Whether a recipe has been tried and has a program.
    fn has(&self, recipe: &Recipe) -> bool {
        self.ranked.iter().any(|(_, known)| known == recipe)
    }

    /// The recipes to start from, the most promising first: derived ones come before those of the library if these do not
    /// suit the machine.
    fn candidates(&self, library: Vec<Recipe>, budgets: &mut Budgets) -> Vec<Recipe> {
        let library_suits = library.iter().any(|recipe| self.is_balanced(recipe));
        let mut known = budgets.known.clone();
        let is_small = library.iter().all(|recipe| known.pay(self.size(recipe), 1, true));
        let derived =
            if library_suits && !is_small { Vec::new() } else { self.derived(library.is_empty(), budgets) };
        let recipes = if library_suits { [library, derived] } else { [derived, library] };
        let mut distinct: Vec<Recipe> = Vec::new();
        for recipe in recipes.into_iter().flatten() {
            if !distinct.contains(&recipe) {
                distinct.push(recipe);
            }
        }
        distinct
    }

    /// Recipes with derived plans, the most promising first, if the budget pays for them or nothing else is known. This takes
    /// the time of some beams.
    fn derived(&self, is_needed: bool, budgets: &mut Budgets) -> Vec<Recipe> {
        let (request, machine) = (self.request, self.trials.machine());
        let purse = if budgets.beams_pay { &mut budgets.beams } else { &mut budgets.settings };
        let has_plans = !ops::of(request.operation).transforms().is_empty();
        let bits = request.shape(machine.instruction_set()).bits();
        let affordable = !has_plans || purse.pay_for_plans(bits);
        let count = if is_needed { 2 * PLANS } else { PLANS };
        if affordable || is_needed {
            first_order_first(survey(request, machine, count, 1))
        } else {
            Vec::new()
        }
    }

    /// Tries one of the candidates of each kind, then others of the kinds with the fastest programs.
    fn try_candidates(&mut self, candidates: Vec<Recipe>, budget: &mut Budget) {
        let (mut kinds, mut others) = one_of_each_kind(candidates);
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

    /// Whether the plans of a recipe keep no pipe busy for much longer than the multipliers. A plan of the library suits a
    /// machine like that of its target, perhaps not one in which shuffles or accesses take longer.
    fn is_balanced(&self, recipe: &Recipe) -> bool {
        let busy = self.busy(recipe);
        let most = busy.values().copied().fold(0, u64::max);
        100 * most <= MUCH_LONGER * busy[Pipe::Compute]
    }

    /// The cycles that a recipe's program takes at least: those of its busiest pipe. Forwarding can remove loads and stores,
    /// but rarely more than half of them.
    fn least_cycles(&self, recipe: &Recipe) -> Cycle {
        let mut busy = self.busy(recipe);
        if recipe.forwarding.is_some() {
            busy[Pipe::LoadStore] /= 2;
        }
        Cycle(busy.values().copied().fold(0, u64::max))
    }

    /// The instructions of a recipe's program, about. A transform without a plan has four for each vector of a stage.
    fn size(&self, recipe: &Recipe) -> u64 {
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

/// What recipes of one kind share: the method, the stages and shuffles in each pass, and the order of blocks. They take
/// similar cycles.
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

/// The elements of some lists in turn: the first of all lists comes before the second of any.
fn in_turn<T: Clone>(lists: Vec<Vec<T>>) -> Vec<T> {
    let most = lists.iter().map(Vec::len).max().unwrap_or(0);
    (0..most).flat_map(|number| lists.iter().filter_map(move |list| list.get(number).cloned())).collect()
}

/// The library's recipes, the nearest ones first, with the first of the proven settings. The nearest ones come also with their
/// schedules for the machines that they were tuned for. Before all comes the fastest program of a worse machine.
fn from_library(request: &Request, machine: &Machine) -> Vec<Recipe> {
    let isa = machine.instruction_set();
    let worse = BUILT_IN.fastest_of_worse(request, machine).filter(|(recipe, _)| recipe.suits(request, isa));
    let worse = worse.map(|(recipe, reference)| as_on(recipe, &reference.machine(), machine));
    let with_settings = |(number, (recipe, reference)): (usize, (&Recipe, &Target))| {
        let as_tuned =
            if number < AS_TUNED { as_tuned(recipe, machine, &reference.machine()) } else { Vec::new() };
        as_tuned.into_iter().chain(proven(recipe).next())
    };
    worse.into_iter().chain(similar(request, machine).enumerate().flat_map(with_settings)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::trials::Trials;
    use super::*;
    use ring::Degree;

    /// A schedule takes more than three times as many steps on some of these machines as on others. Searches take less than
    /// three times as many, since they try fewer schedules if these take more.
    #[test]
    fn the_scheduler_takes_about_as_many_steps_on_every_machine() {
        let request = Request::with_primes(golden::NTT, Degree::try_from(65536u32).unwrap(), 60, 1).unwrap();
        let mut searches = Vec::new();
        for (hples, interval, delay) in [(128, 1, 0), (64, 4, 0), (4, 1, 1), (8, 2, 3), (4, 4, 0)] {
            let mut machine = Machine::rpu_128x128();
            machine.hple.count = hples;
            machine.hple.initiation_interval = interval;
            machine.hple.multiplier_latency_cycles = 13;
            machine.frontend.dispatch_to_issue_cycles = delay;
            let found = quick(&request, &machine).unwrap();
            let steps = Trials::new(&request, &machine, &()).steps(&found.recipe).unwrap();
            let all = steps * found.tried as u64;
            assert!(2 * all <= 3 * STEPS, "{hples} HPLEs: {} trials of {steps} steps", found.tried);
            assert!(found.tried > 5, "{hples} HPLEs: {} trials", found.tried);
            searches.push((steps, all));
        }
        let of_schedules = searches.iter().map(|&(steps, _)| steps);
        let of_searches = searches.iter().map(|&(_, all)| all);
        assert!(of_schedules.clone().max() > of_schedules.min().map(|least| 3 * least), "{searches:?}");
        assert!(of_searches.clone().max() < of_searches.min().map(|least| 3 * least), "{searches:?}");
    }
}
