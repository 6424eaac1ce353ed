//! The search for fast recipes, with the cycle model as the cost.
//!
//! The candidates are all plans of a few families, each with several scheduler settings, and the
//! library's recipes for the same task on any machine. The search tries all of them. It then
//! refines in rounds: it tries random settings for the fastest plans, and small changes of the best
//! recipe so far. For a given seed it is deterministic, with any number of threads.

use crate::compile::Prepared;
use crate::error::Error;
use crate::library;
use crate::named;
use crate::ops;
use crate::plan::{Algorithm, Bit, Direction, Plan, PlanError, Shape};
use crate::recipe::{Order, Recipe};
use crate::request::Request;
use crate::schedule::{Margin, TableOrder, Tuning};
use rayon::prelude::*;
use sim::Machine;
use sim::machine::BankMapping;
use sim::timing::{Cycle, simulate};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// The effort of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effort {
    /// The maximum number of scheduler settings to try with each plan and order.
    pub tunings: usize,
    /// The number of orders to try with each plan, at most three.
    pub orders: usize,
    /// The number of random settings to try for the fastest plans together.
    pub refinements: usize,
    /// The seed of the random settings.
    pub seed: u64,
}

impl Effort {
    /// The effort of a search during code generation, when the library has no recipe.
    pub const QUICK: Self = Self { tunings: 1, orders: 2, refinements: 0, seed: 0 };
    /// The default effort of a tuning run.
    pub const DEFAULT: Self = Self { tunings: 6, orders: 3, refinements: 100, seed: 0 };
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

/// Adapts `recipes`, which were tuned for machines like `reference`, to another machine.
///
/// It tries them all on that machine, also with the margins of a schedule for the reference machine if
/// its latencies are longer, and refines the best. The number of trials depends on the degree only.
///
/// # Errors
/// Returns the error of the first recipe if none fits the machine.
pub(crate) fn adapt(
    request: &Request,
    machine: &Machine,
    reference: &Machine,
    recipes: Vec<Recipe>,
) -> Result<Found, Error> {
    let with = |recipe: &Recipe, more| {
        let tuning = Tuning { margin: recipe.tuning.margin + more, ..recipe.tuning.clone() };
        Recipe { tuning, ..recipe.clone() }
    };
    let mut first = recipes;
    let excess = excess(reference, machine);
    if excess != Margin::default() {
        let for_reference: Vec<Recipe> = first.iter().map(|recipe| with(recipe, excess)).collect();
        first.extend(for_reference);
    }
    let effort = Effort { refinements: (ADAPTATION / request.n() as usize).clamp(8, 128), ..Effort::QUICK };
    refine(request, machine, &first, effort, &(), |_, _, _| ())
}

/// Coefficients of the programs that [`adapt`] refines, all together.
const ADAPTATION: usize = 1 << 20;

/// The cycles by which the latencies and the interval of `slow` exceed those of `fast`.
const fn excess(slow: &Machine, fast: &Machine) -> Margin {
    let multiplier = slow.hple.multiplier_latency_cycles;
    Margin {
        load_store: slow.vbar.latency_cycles.saturating_sub(fast.vbar.latency_cycles),
        shuffle: slow.sbar.latency_cycles.saturating_sub(fast.sbar.latency_cycles),
        compute: multiplier.saturating_sub(fast.hple.multiplier_latency_cycles),
        initiation_interval: slow.hple.initiation_interval.saturating_sub(fast.hple.initiation_interval),
    }
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
    progress: impl Fn(usize, usize, Cycle) + Sync,
) -> Result<Found, Error> {
    let plans = plans_for(request, machine);
    let tunings = tunings();
    let tunings = &tunings[..effort.tunings.clamp(1, tunings.len())];
    let several = request.towers() > 1;
    // Between several transforms, many values can stay in registers, and with few banks memory is
    // the bottleneck. Other cases are left to the refinements.
    let much = ops::of(request.operation).transforms().len() > 1 || machine.vdm.banks < machine.hple.count;
    let forwarding = much.then_some(FIRST_FORWARDING);
    let staggers = if several { FIRST_STAGGERS } else { &[None] };
    let mut first = Vec::new();
    for plans in &plans {
        for &order in &ORDERS[..effort.orders.clamp(1, ORDERS.len())] {
            for share in staggers {
                for tuning in tunings {
                    let stagger = share.map(|share| stagger(plans, share));
                    let (tuning, plans) = (tuning.clone(), plans.clone());
                    first.push(Recipe { tuning, order, stagger, forwarding, plans });
                }
            }
        }
    }
    // A recipe that is fast on one machine is often fast on another. With the classical
    // pair among them, the result is never slower than that pair.
    first.extend(library::BUILT_IN.recipes(request).cloned());
    first.push(named::constant_geometry(request, machine.instruction_set()));
    refine(request, machine, &first, effort, memory, progress)
}

/// Tries the candidates `first`, and then the effort's refinements of the fastest.
fn refine(
    request: &Request,
    machine: &Machine,
    first: &[Recipe],
    effort: Effort,
    memory: &dyn Memory,
    progress: impl Fn(usize, usize, Cycle) + Sync,
) -> Result<Found, Error> {
    let several = request.towers() > 1;
    let total = first.len() + effort.refinements;
    let state = Mutex::new((0, Cycle(u64::MAX)));
    let trials = Trials::new(request, machine);
    let measure = |recipe: &Recipe| {
        let cycles = memory.get(recipe).unwrap_or_else(|| {
            let cycles = trials.cycles(recipe).ok();
            memory.put(recipe, cycles);
            cycles
        });
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        state.0 += 1;
        state.1 = state.1.min(cycles.unwrap_or(Cycle(u64::MAX)));
        progress(state.0, total, state.1);
        cycles
    };
    let outcomes: Vec<_> = first.par_iter().map(&measure).collect();
    let mut ranked: Vec<(Cycle, &Recipe)> =
        outcomes.into_iter().zip(first).filter_map(|(cycles, recipe)| Some((cycles?, recipe))).collect();
    // The sort is stable: of equals, the first candidate wins.
    ranked.sort_by_key(|&(cycles, _)| cycles);
    let Some(&(mut cycles, best)) = ranked.first() else {
        return Err(trials.cycles(&first[0]).expect_err("no candidate has a program"));
    };
    let mut recipe = best.clone();

    let mut leaders: Vec<&Vec<Plan>> = Vec::new();
    for (_, recipe) in &ranked {
        if leaders.len() < LEADERS && !leaders.contains(&&recipe.plans) {
            leaders.push(&recipe.plans);
        }
    }
    let mut random = Random(effort.seed ^ 0x9e37_79b9_7f4a_7c15);
    let mut left = effort.refinements;
    while left > 0 {
        let mut round = Vec::new();
        for number in 0..left.min(ROUND) {
            // Alternately random settings for one of the leaders, and a neighbour of the best
            // recipe.
            round.push(if number % 2 == 0 {
                random_recipe(&mut random, leaders[number / 2 % leaders.len()], several)
            } else {
                neighbour(&mut random, &recipe, several)
            });
        }
        left -= round.len();
        let outcomes: Vec<_> = round.par_iter().map(&measure).collect();
        for (outcome, candidate) in outcomes.into_iter().zip(round) {
            if let Some(found) = outcome.filter(|&found| found < cycles) {
                cycles = found;
                recipe = candidate;
            }
        }
    }
    // Drop `forwarding` if it removed nothing.
    if trials.prepared(&recipe)?.removes_nothing() {
        recipe.forwarding = None;
    }
    Ok(Found { recipe, cycles, tried: total })
}

/// The trials of recipes for one request on one machine.
///
/// It keeps the code of the latest recipes: others that differ in scheduling only share it.
struct Trials<'a> {
    request: &'a Request,
    machine: &'a Machine,
    recent: Mutex<VecDeque<(Recipe, Arc<Prepared>)>>,
}

/// The number of codes that [`Trials`] keeps. One of 64K points takes some 5 MB.
const RECENT: usize = 16;

impl<'a> Trials<'a> {
    fn new(request: &'a Request, machine: &'a Machine) -> Self {
        Self { request, machine, recent: Mutex::default() }
    }

    /// The cycles of a recipe's program.
    fn cycles(&self, recipe: &Recipe) -> Result<Cycle, Error> {
        let prepared = self.prepared(recipe)?;
        let scheduled = prepared.schedule(self.machine, &recipe.tuning)?;
        let outline = prepared.outline(self.machine, &scheduled)?;
        Ok(simulate(self.machine, &outline).cycles)
    }

    /// The code of a recipe.
    fn prepared(&self, recipe: &Recipe) -> Result<Arc<Prepared>, Error> {
        let recent = || self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        let known = recent().iter().find(|(known, _)| Prepared::serves(known, recipe)).map(|(_, p)| p.clone());
        if let Some(prepared) = known {
            return Ok(prepared);
        }
        let prepared = Arc::new(Prepared::new(self.request, recipe, self.machine)?);
        let mut recent = recent();
        recent.truncate(RECENT - 1);
        recent.push_front((recipe.clone(), prepared.clone()));
        Ok(prepared)
    }
}

/// The limits on live values for forwarding: first those that are likely to pay, then those for
/// refinements (`None`: no forwarding). The other registers are for constants.
const FIRST_FORWARDING: u32 = 44;
const FORWARDINGS: [Option<u32>; 6] = [None, None, Some(32), Some(40), Some(48), Some(56)];

/// The orders to try, the best first.
const ORDERS: [Order; 3] = [Order::ByLevel, Order::ByDemand, Order::ByStep];

/// The distance between the towers of a batch, in sixteenths of a tower's length: first those to
/// try with every plan (`None`: one tower after the other), then those for refinements.
const FIRST_STAGGERS: &[Option<u32>] = &[None, Some(1), Some(3)];
const STAGGERS: [u32; 8] = [0, 1, 2, 3, 4, 5, 6, 8];

/// A number of sixteenths of a tower, in instructions.
fn stagger(plans: &[Plan], sixteenths: u32) -> u32 {
    plans.iter().map(Plan::instructions).sum::<u32>() * sixteenths / 16
}

/// The number of plans whose settings are refined.
const LEADERS: usize = 3;

/// The number of refinements per round; each round starts from the best recipe of the previous one.
const ROUND: usize = 12;

/// The plans to try for the transforms of an operation.
pub(crate) fn plans_for(request: &Request, machine: &Machine) -> Vec<Vec<Plan>> {
    let transforms = ops::of(request.operation).transforms();
    if transforms.is_empty() {
        return vec![Vec::new()];
    }
    let forward = forward_plans(request.shape(machine.instruction_set()), machine);
    let with_inverse = |(inverse, twisted_stage)| {
        forward.iter().filter_map(move |forward| {
            let plans = transforms.iter().map(|direction| match direction {
                Direction::Forward => Ok(forward.clone()),
                Direction::Inverse => {
                    let back = forward.reversed(&forward.name, inverse)?;
                    Ok(if twisted_stage { back.with_twisted_stage() } else { back })
                }
            });
            plans.collect::<Result<_, PlanError>>().ok()
        })
    };
    // Without an inverse transform, the choice makes no difference.
    let only = [(Algorithm::Inverse, false)];
    let inverses = if transforms.contains(&Direction::Inverse) { inverses(machine) } else { &only };
    inverses.iter().flat_map(|&inverse| with_inverse(inverse)).collect()
}

/// The algorithms that compute inverse transforms well on a machine, and whether the last stage and
/// the twist are one step. Without a Gentleman-Sande butterfly, the twisted algorithm takes fewer
/// instructions, but it needs larger tables.
const fn inverses(machine: &Machine) -> &'static [(Algorithm, bool)] {
    const TWISTED: (Algorithm, bool) = (Algorithm::InverseTwisted, false);
    if machine.isa.gs_butterfly {
        &[(Algorithm::Inverse, false), TWISTED]
    } else {
        &[TWISTED, (Algorithm::InverseTwisted, true), (Algorithm::Inverse, false)]
    }
}

fn forward_plans(shape: Shape, machine: &Machine) -> Vec<Plan> {
    if let Some(plan) = Plan::copied(shape) {
        return vec![plan];
    }
    let (Shape { log_n, lanes }, vectors) = (shape, shape.vectors());
    let stages = Algorithm::Forward.stages(log_n);
    let add_doors = |plans: &mut Vec<Plan>, first| {
        for door in (lanes..log_n - first).map(|bit| Bit(bit as u8)) {
            let plan = Plan::through(shape, first, door);
            // The one for the topmost bit is one of the plans above.
            if !plans.iter().any(|known| known.passes == plan.passes) {
                plans.push(plan);
            }
        }
    };
    let mut plans = Vec::new();
    // Strides have no bank conflicts if the banks are folded, and fewer if a beat has few lanes.
    if machine.vdm.mapping == BankMapping::Xor || machine.vdm.banks > machine.hple.count {
        plans.extend(Plan::transposing(shape));
        plans.extend((0..=3).filter_map(|unpacks| Plan::folded(shape, unpacks)));
    }
    if vectors <= 5 {
        // Everything fits the registers.
        plans.push(Plan::korn_lambiotte(shape, 5));
        for early in [1, 2, 3] {
            plans.push(Plan::windowed(shape, 0, &stages[..early], 0, false));
            plans.push(Plan::windowed(shape, 0, &stages[..early], 0, true));
        }
        if vectors > 1 {
            let next = vectors as usize - 2;
            plans.push(Plan::windowed(shape, 0, &stages[next..next + 2], 0, false));
        }
        add_doors(&mut plans, 0);
    }
    for first in 2..=5u32.min(vectors) {
        let top = &stages[..first as usize];
        for early in [&top[..1], &top[first as usize - 1..], &top[..2], &top[first as usize - 2..]] {
            plans.push(Plan::windowed(shape, first, early, 0, false));
        }
        add_doors(&mut plans, first);
    }
    if vectors > 5 {
        plans.push(Plan::korn_lambiotte(shape, 4));
    }
    // Blocks beyond 32 registers leave too few for other uses.
    plans.retain(|plan| plan.passes.iter().all(|pass| pass.registers.len() <= 5) && plan.trace().is_ok());
    plans
}

/// Proven settings, the best first.
fn tunings() -> Vec<Tuning> {
    let base = Tuning::default();
    let with = |constants_ahead, candidates, reserve, copies, patience, early| Tuning {
        constants_ahead,
        candidates,
        reserve,
        copies,
        patience,
        early,
        ..base.clone()
    };
    vec![
        with(8, 48, 8, 4, 0, 0),
        with(32, 16, 10, 3, 0, 0),
        with(6, 100, 12, 2, 0, 0),
        with(16, 48, 10, 1, 0, 0),
        with(24, 48, 16, 2, 3, 1),
        with(16, 100, 20, 3, 0, 2),
    ]
}

fn random_recipe(random: &mut Random, plans: &[Plan], several: bool) -> Recipe {
    let tuning = Tuning {
        constants_ahead: random.pick(&[4, 6, 8, 12, 16, 24, 32, 48]),
        candidates: random.pick(&[8, 16, 32, 64, 100]),
        patience: random.pick(&[0, 0, 0, 1, 2, 3]),
        early: random.pick(&[0, 0, 0, 1, 2]),
        reserve: random.pick(&[4, 6, 8, 10, 12, 16, 20]),
        copies: random.pick(&[1, 2, 3, 4, 5]),
        margin: Margin {
            load_store: random.pick(&[0, 0, 0, 1, 2, 4]),
            shuffle: random.pick(&[0, 0, 0, 1, 2]),
            compute: random.pick(&[0, 0, 0, 1, 2]),
            initiation_interval: 0,
        },
        table: TableOrder::BySize,
        ..Tuning::default()
    };
    let order = random.pick(&ORDERS);
    let stagger = several.then(|| stagger(plans, random.pick(&STAGGERS)));
    let forwarding = random.pick(&FORWARDINGS);
    Recipe { tuning, order, stagger, forwarding, plans: plans.to_vec() }
}

/// A recipe that differs from this one in at most three settings.
fn neighbour(random: &mut Random, recipe: &Recipe, several: bool) -> Recipe {
    let other = random_recipe(random, &recipe.plans, several);
    let mut recipe = recipe.clone();
    let tuning = &mut recipe.tuning;
    for _ in 0..random.pick(&[1, 2, 3]) {
        match random.pick(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]) {
            0 => tuning.constants_ahead = other.tuning.constants_ahead,
            1 => tuning.candidates = other.tuning.candidates,
            2 => tuning.patience = other.tuning.patience,
            3 => tuning.early = other.tuning.early,
            4 => tuning.reserve = other.tuning.reserve,
            5 => tuning.copies = other.tuning.copies,
            6 => tuning.margin = other.tuning.margin,
            7 => recipe.order = other.order,
            8 => recipe.forwarding = other.forwarding,
            _ => recipe.stagger = other.stagger,
        }
    }
    recipe
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn pick<T: Copy>(&mut self, options: &[T]) -> T {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        options[((z ^ (z >> 31)) % options.len() as u64) as usize]
    }
}
