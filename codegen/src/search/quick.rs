//! The quick search: a good recipe at a limited cost.

use super::candidates::{as_tuned, cautious, proven, survey, varied};
use super::parts::Beam;
use super::trials::Trials;
use super::{CAUTIOUS_LEADERS, Found, Search, similar};
use crate::error::Error;
use crate::named;
use crate::ops;
use crate::recipe::Recipe;
use crate::request::Request;
use b512_asm::Pipe;
use sim::Machine;
use sim::timing::scheduling::Decoder;

/// The [steps](crate::schedule::Scheduled::steps) of the scheduler in a search. A step takes about as long on one machine as on
/// another, an instruction does not.
const STEPS: u64 = 900_000;
/// The most instructions that it schedules.
const INSTRUCTIONS: u64 = 200_000;
/// The most trials. Small programs gain nothing from more.
const TRIALS: usize = 400;
/// Its shares of both.
const SHARES: Shares = Shares { known: 35, settings: 15, cautious: 10, beams: 40 };
/// The shares if they do not pay for a beam: of large programs, the budget pays for a handful of schedules.
const SHARES_WITHOUT_BEAMS: Shares = Shares { known: 50, settings: 40, cautious: 10, beams: 0 };
/// The beams.
const BEAMS: [Beam; 2] = [Beam { width: 4, settings: 4 }, Beam { width: 2, settings: 3 }];
/// The number of plans to derive for each algorithm.
const PLANS: usize = 16;
/// The instructions that could be scheduled while one plan is derived, for each index bit.
const DERIVATION: u64 = 100;
/// The number of the library's recipes, the nearest ones, to try with the settings for their own
/// machines.
const AS_TUNED: usize = 2;
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
        let cost = PLANS as u64 * u64::from(bits) * DERIVATION;
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
    /// The instructions of the smallest of the known programs.
    smallest: u64,
}

impl Budgets {
    /// The budgets of a search that starts from `known` recipes, of so many instructions each.
    fn new(trials: &Trials<'_>, known: &[Vec<Recipe>], size: &dyn Fn(&Recipe) -> u64) -> Self {
        let smallest = known.iter().flatten().map(size).min().unwrap_or(0);
        // The scheduler takes more steps for an instruction on some machines than on others.
        let probe = known.iter().flatten().take(2).last();
        let steps = probe.and_then(|probe| Some((trials.steps(probe)?, size(probe))));
        let (steps, instructions) = steps.unwrap_or((1, 1));
        let whole = Budget::whole(steps, instructions);
        let beams = whole.percent(SHARES.beams);
        let beams_pay = BEAMS.iter().any(|beam| beams.clone().pay(smallest, beam.schedules(), true));
        let shares = if beams_pay { SHARES } else { SHARES_WITHOUT_BEAMS };
        let [known, settings, cautious, beams] =
            [shares.known, shares.settings, shares.cautious, shares.beams].map(|share| whole.percent(share));
        Self { known, settings, cautious, beams, beams_pay, smallest }
    }
}

/// A search of limited cost, for code generation on a machine that the library was not tuned for.
///
/// It tries the library's recipes for the same task, those for similar machines first: the nearest ones as they are,
/// all with proven settings. If the budget is large enough, it derives plans and tries them, before the library's if these do
/// not suit the machine. The fastest then get other settings.
///
/// # Errors
/// Returns the error of the first candidate if none fits the machine.
pub(crate) fn quick(request: &Request, machine: &Machine) -> Result<Found, Error> {
    let size = |recipe: &Recipe| size(request, recipe, machine);
    let mut search = Search::new(request, machine, &(), &|_, _, _| ());
    let known = known(request, machine);
    let mut budgets = Budgets::new(&search.trials, &known, &size);
    let first = first_round(request, machine, known, &mut budgets);
    search.try_all(&first);

    let leaders = search.leading_codes(PROVEN_LEADERS);
    let alternatives = leaders.iter().map(|leader| proven(leader).collect()).collect();
    let mut round = in_turn(alternatives);
    round.retain(|recipe| !first.contains(recipe) && budgets.settings.pay(size(recipe), 1, false));
    search.try_all(&round);

    let leaders = search.ranked.iter().take(CAUTIOUS_LEADERS);
    let mut round = in_turn(leaders.map(|(_, leader)| cautious(leader, machine)).collect());
    round.retain(|recipe| budgets.cautious.pay(size(recipe), 1, false));
    search.try_all(&round);

    if let Some((_, best)) = search.ranked.first() {
        let best = size(best);
        for (seed, beam) in (0..).zip(BEAMS) {
            let beams = (0..).take_while(|_| budgets.beams.pay(best, beam.schedules(), true)).count();
            search.search_parts(beams, beam, seed)?;
        }
    }
    search.result(&first[0])
}

/// The recipes of the first round, as many as their budget pays for: the classical pair, those of the library, derived ones.
/// Derived ones come before those of the library if these do not suit the machine.
fn first_round(
    request: &Request,
    machine: &Machine,
    mut known: Vec<Vec<Recipe>>,
    budgets: &mut Budgets,
) -> Vec<Recipe> {
    let mut first: Vec<Recipe> = Vec::new();
    let mut add = |mut recipes: Vec<Recipe>, budget: &mut Budget| {
        recipes.retain(|recipe| !first.contains(recipe));
        if !recipes.is_empty() && budget.pay(size(request, &recipes[0], machine), recipes.len(), true) {
            first.extend(recipes);
        }
    };
    let mut from_library = known.split_off(1);
    known.into_iter().for_each(|recipes| add(recipes, &mut budgets.known));
    let library_suits = from_library.iter().flatten().any(|recipe| is_balanced(recipe, machine));
    let origins =
        if library_suits { [Plans::Library, Plans::Derived] } else { [Plans::Derived, Plans::Library] };
    for origin in origins {
        let recipes = match origin {
            Plans::Library => std::mem::take(&mut from_library),
            Plans::Derived => derived(request, machine, budgets),
        };
        recipes.into_iter().for_each(|recipes| add(recipes, &mut budgets.known));
    }
    if first.is_empty() {
        first.push(named::constant_geometry(request, machine.instruction_set()));
    }
    first
}

/// The origin of the plans that a search tries first.
enum Plans {
    Library,
    Derived,
}

/// Whether the plans of a recipe keep no pipe busy for much longer than the multipliers. A plan of the library suits a machine
/// like that of its target, perhaps not one in which shuffles or accesses take longer.
fn is_balanced(recipe: &Recipe, machine: &Machine) -> bool {
    let decoder = Decoder::new(machine);
    recipe.plans.iter().all(|plan| {
        let busy = plan.busy(&decoder);
        let most = busy.values().copied().max().unwrap_or(0);
        100 * most <= MUCH_LONGER * busy[Pipe::Compute]
    })
}

/// The elements of some lists in turn: the first of all lists comes before the second of any.
fn in_turn<T: Clone>(lists: Vec<Vec<T>>) -> Vec<T> {
    let most = lists.iter().map(Vec::len).max().unwrap_or(0);
    (0..most).flat_map(|number| lists.iter().filter_map(move |list| list.get(number).cloned())).collect()
}

/// The known recipes for a request: the classical pair first, so that no result is slower, then the library's
/// with the first of the proven settings. The nearest ones come also with their schedules for the machines
/// that they were tuned for.
fn known(request: &Request, machine: &Machine) -> Vec<Vec<Recipe>> {
    let isa = machine.instruction_set();
    let library = similar(request, machine).enumerate().map(|(number, (recipe, reference))| {
        let as_tuned =
            if number < AS_TUNED { as_tuned(recipe, machine, &reference.machine()) } else { Vec::new() };
        as_tuned.into_iter().chain(proven(recipe).next()).collect()
    });
    let classical = std::iter::once(vec![named::constant_geometry(request, isa)]);
    classical.chain(library).collect()
}

/// Derived recipes if the budget pays for them, the most promising first. They are derived only if at least one of them can
/// be tried. This takes the time of some beams.
fn derived(request: &Request, machine: &Machine, budgets: &mut Budgets) -> Vec<Vec<Recipe>> {
    if !budgets.known.clone().pay(budgets.smallest, 1, true) {
        return Vec::new();
    }
    let purse = if budgets.beams_pay { &mut budgets.beams } else { &mut budgets.settings };
    let has_plans = !ops::of(request.operation).transforms().is_empty();
    let bits = request.shape(machine.instruction_set()).bits();
    let affordable = !has_plans || purse.pay_for_plans(bits);
    let recipes = if affordable { varied(survey(request, machine, PLANS, 1)) } else { Vec::new() };
    recipes.into_iter().map(|recipe| vec![recipe]).collect()
}

/// The instructions of a recipe's program, about. A transform without a plan has four for each vector of a stage.
fn size(request: &Request, recipe: &Recipe, machine: &Machine) -> u64 {
    let vectors = u64::from(request.n() / machine.vector_length()).max(1);
    let transforms = if recipe.plans.is_empty() {
        let transforms = ops::of(request.operation).transforms().len() as u64;
        4 * transforms * u64::from(request.n().ilog2()) * vectors
    } else {
        recipe.plans.iter().map(|plan| u64::from(plan.instructions())).sum()
    };
    (transforms + 4 * vectors) * request.towers() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use ring::Degree;

    /// A schedule takes several times as many steps on some of these machines as on the paper's. The search then tries fewer.
    #[test]
    fn the_scheduler_takes_about_as_many_steps_on_every_machine() {
        let request = Request::with_primes(golden::NTT, Degree::try_from(65536u32).unwrap(), 60, 1).unwrap();
        let mut trials = Vec::new();
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
            trials.push(found.tried);
        }
        let (most, fewest) = (trials.iter().max().unwrap(), trials.iter().min().unwrap());
        assert!(2 * fewest < *most && *fewest > 5, "{trials:?}");
    }
}
