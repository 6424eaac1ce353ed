//! The recipes that a search tries.

use crate::named;
use crate::ops;
use crate::plan::derive::derive;
use crate::plan::{Algorithm, Direction, Plan, PlanError};
use crate::recipe::{Order, Recipe};
use crate::request::Request;
use crate::schedule::{Margin, PartSettings, SramCare, TableOrder, Tuning};
use sim::Machine;

/// `count` derived plans for each algorithm, each in two orders, and the classical pair.
pub(super) fn survey(request: &Request, machine: &Machine, count: usize) -> Vec<Recipe> {
    let plans = plans_for(request, machine, count);
    let ways = plans.into_iter().map(|plans| Way { method: None, plans });
    let recipes = ways.flat_map(|way| variants(request, machine, &way, 2));
    let others = ways_without_plans(request, machine);
    let recipes = recipes.chain(others.iter().flat_map(|way| variants(request, machine, way, 3)));
    // With the classical pair among the candidates, the result is never slower than that pair.
    recipes.chain([named::constant_geometry(request, machine.instruction_set())]).collect()
}

/// The part of a recipe that decides which instructions there are.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Way {
    pub(super) method: Option<String>,
    pub(super) plans: Vec<Plan>,
}

impl Way {
    pub(super) fn of(recipe: &Recipe) -> Self {
        Self { method: recipe.method.clone(), plans: recipe.plans.clone() }
    }
}

/// The methods of transforms that work without plans.
fn ways_without_plans(request: &Request, machine: &Machine) -> Vec<Way> {
    let op = ops::of(request.operation);
    let transforms = !op.transforms().is_empty();
    let suits = |method: &&str| {
        transforms && !op.has_plans(method) && op.obstacle(method, request, machine).is_none()
    };
    let methods = op.methods().iter().copied().filter(suits);
    methods.map(|method| Way { method: Some(method.to_owned()), plans: Vec::new() }).collect()
}

/// Recipes with those in the first order before the others.
pub(super) fn first_order_first(mut recipes: Vec<Recipe>) -> Vec<Recipe> {
    // The sort is stable.
    recipes.sort_by_key(|recipe| recipe.order != ORDERS[0]);
    recipes
}

/// A recipe with each of the proven settings.
pub(super) fn proven(recipe: &Recipe) -> impl Iterator<Item = Recipe> {
    let settings = |tuning| Tuning { table: recipe.tuning.table, ..tuning };
    tunings().into_iter().map(move |tuning| Recipe { tuning: settings(tuning), ..recipe.clone() })
}

/// A recipe with the other proven settings.
pub(super) fn other_settings(recipe: &Recipe, _: &Machine) -> Vec<Recipe> {
    let with = |(srams, part): (SramCare, PartSettings)| {
        let tuning = part.of(Tuning { srams, parts: Vec::new(), ..recipe.tuning.clone() });
        Recipe { tuning, ..recipe.clone() }
    };
    PROVEN.map(with).into_iter().filter(|other| other != recipe).collect()
}

/// A recipe with other code for the same plans: under other limits of forwarding, and in other orders.
pub(super) fn other_codes(recipe: &Recipe, _: &Machine) -> Vec<Recipe> {
    let limits = LIMITS.map(|forwarding| Recipe { forwarding, ..recipe.clone() });
    let orders = ORDERS.map(|order| Recipe { order, ..recipe.clone() });
    limits.into_iter().chain(orders).filter(|other| other != recipe).collect()
}

/// Recipes of a way with the first of the proven settings, in so many orders.
fn variants(request: &Request, machine: &Machine, Way { method, plans }: &Way, orders: usize) -> Vec<Recipe> {
    // Between several transforms, many values can stay in registers, and with few banks memory is
    // the bottleneck. Other cases are left to the random changes.
    let much = ops::of(request.operation).transforms().len() > 1 || machine.vdm.banks < machine.hple.count;
    let forwarding = much.then_some(FIRST_FORWARDING);
    let staggers = if request.towers() > 1 { FIRST_STAGGERS } else { &[None] };
    let (srams, part) = PROVEN[0];
    let mut recipes = Vec::new();
    for &order in &ORDERS[..orders] {
        for share in staggers {
            let stagger = share.map(|share| stagger(plans, share));
            let tuning = part.of(Tuning { srams, ..Tuning::default() });
            let (method, plans) = (method.clone(), plans.clone());
            recipes.push(Recipe { tuning, order, stagger, forwarding, method, plans });
        }
    }
    recipes
}

/// A recipe, and its schedule for the machine that it was tuned for: the very program if `machine` is better
/// in every respect, else one for the latencies of that machine.
pub(super) fn as_tuned(recipe: &Recipe, machine: &Machine, reference: &Machine) -> Vec<Recipe> {
    let other = if machine.dominates(reference) {
        as_on(recipe, reference, machine)
    } else {
        let margin = recipe.tuning.margin + excess(reference, machine);
        if margin == recipe.tuning.margin {
            return vec![recipe.clone()];
        }
        Recipe { tuning: Tuning { margin, ..recipe.tuning.clone() }, ..recipe.clone() }
    };
    let mut recipes = vec![recipe.clone(), other];
    recipes.dedup();
    recipes
}

/// The recipe that gives `machine` the program of another one.
pub fn as_on(recipe: &Recipe, reference: &Machine, machine: &Machine) -> Recipe {
    let assumed = reference.with(&recipe.tuning.assume);
    let assume = assumed.as_ref().unwrap_or(reference).speed_beside(machine);
    Recipe { tuning: Tuning { assume, ..recipe.tuning.clone() }, ..recipe.clone() }
}

/// A recipe with other schedules: as for a plain front end, and with more time for some instructions. On a
/// machine that is better in one respect, such a program can be the faster one.
pub(super) fn cautious(recipe: &Recipe, machine: &Machine) -> Vec<Recipe> {
    let later = |load_store| Margin { load_store, ..Margin::default() };
    let slower = Margin { compute: 4, ..Margin::default() };
    let delay = machine.frontend.dispatch_to_issue_cycles;
    // To a scheduler that ignores the issue delay, it is part of each latency.
    let delayed = Margin { load_store: delay, shuffle: delay, compute: delay, initiation_interval: 0 };
    let margins = [later(0), later(1), later(2), slower, delayed];
    let with = |plain: bool, margin: Margin| {
        let plain = plain || recipe.tuning.plain;
        let tuning = Tuning { margin: recipe.tuning.margin + margin, plain, ..recipe.tuning.clone() };
        Recipe { tuning, ..recipe.clone() }
    };
    // The queues filled: each pipe finds its next instruction waiting.
    let ahead = |plain| {
        let early = recipe.tuning.early.max(beats(machine));
        let tuning = Tuning { early, srams: SramCare::Queues, plain, ..recipe.tuning.clone() };
        Recipe { tuning, ..recipe.clone() }
    };
    let first = [with(true, Margin::default()), ahead(false)];
    let others = margins.iter().flat_map(|&margin| [with(false, margin), with(true, margin)]);
    let mut distinct = vec![recipe.clone()];
    for other in first.into_iter().chain(others).chain([ahead(true)]) {
        if !distinct.contains(&other) {
            distinct.push(other);
        }
    }
    distinct.split_off(1)
}

/// The cycles by which the latencies and the interval of `slow` exceed those of `fast`.
fn excess(slow: &Machine, fast: &Machine) -> Margin {
    let multiplier = slow.hple.multiplier_latency_cycles;
    Margin {
        load_store: slow.load_latency().saturating_sub(fast.load_latency()),
        shuffle: slow.sbar_stages().saturating_sub(fast.sbar_stages()),
        compute: multiplier.saturating_sub(fast.hple.multiplier_latency_cycles),
        initiation_interval: slow.hple.initiation_interval.saturating_sub(fast.hple.initiation_interval),
    }
}

/// The limits on live values for forwarding: that of plans that are likely to need it, those that a descent
/// tries, and those for random changes (`None`: no forwarding). The other registers are for constants.
const FIRST_FORWARDING: u32 = 44;
const LIMITS: [Option<u32>; 4] = [None, Some(32), Some(FIRST_FORWARDING), Some(56)];
const FORWARDINGS: [Option<u32>; 6] = [None, None, Some(32), Some(40), Some(48), Some(56)];

/// The orders to try, the best first.
const ORDERS: [Order; 3] = [Order::ByLevel, Order::ByDemand, Order::ByStep];

/// The distance between the towers of a batch, in sixteenths of a tower's length: first those to
/// try with every plan (`None`: one tower after the other), then those for random changes.
const FIRST_STAGGERS: &[Option<u32>] = &[None, Some(1), Some(3)];
const STAGGERS: [u32; 8] = [0, 1, 2, 3, 4, 5, 6, 8];

/// A number of sixteenths of a tower, in instructions.
fn stagger(plans: &[Plan], sixteenths: u32) -> u32 {
    plans.iter().map(Plan::instructions).sum::<u32>() * sixteenths / 16
}

/// The plans to try for the transforms of an operation: `count` derived ones for each algorithm.
pub fn plans_for(request: &Request, machine: &Machine, count: usize) -> Vec<Vec<Plan>> {
    let transforms = ops::of(request.operation).transforms();
    if transforms.is_empty() {
        return vec![Vec::new()];
    }
    let forward = derive(request.shape(machine.instruction_set()), machine, count);
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
fn inverses(machine: &Machine) -> &'static [(Algorithm, bool)] {
    const TWISTED: (Algorithm, bool) = (Algorithm::InverseTwisted, false);
    if machine.isa.gs_butterfly {
        &[(Algorithm::Inverse, false), TWISTED]
    } else {
        &[TWISTED, (Algorithm::InverseTwisted, true), (Algorithm::Inverse, false)]
    }
}

/// Proven settings: ten that together gave the fastest programs on random machines, the most useful first,
/// and six that ignore queued instructions, for machines with few HPLEs.
fn tunings() -> Vec<Tuning> {
    PROVEN.map(|(srams, part)| part.of(Tuning { srams, ..Tuning::default() })).to_vec()
}

/// The proven settings, and random ones up to so many.
pub(crate) fn settings(machine: &Machine, count: usize) -> Vec<Tuning> {
    let mut random = Random(0);
    let others = std::iter::repeat_with(|| random_tuning(&mut random, machine));
    tunings().into_iter().chain(others).take(count).collect()
}

const PROVEN: [(SramCare, PartSettings); 16] = {
    const fn queues(part: [u32; 6]) -> (SramCare, PartSettings) {
        (SramCare::Queues, PartSettings::new(part))
    }
    const fn schedule(part: [u32; 6]) -> (SramCare, PartSettings) {
        (SramCare::Schedule, PartSettings::new(part))
    }
    [
        queues([32, 16, 0, 2, 20, 3]),
        schedule([6, 100, 0, 0, 12, 2]),
        queues([32, 64, 3, 4, 16, 1]),
        queues([48, 32, 0, 2, 12, 2]),
        queues([48, 64, 0, 2, 8, 1]),
        queues([64, 64, 3, 0, 16, 3]),
        queues([16, 16, 0, 2, 12, 2]),
        queues([32, 64, 0, 1, 12, 2]),
        queues([48, 64, 0, 1, 8, 5]),
        queues([32, 64, 0, 1, 20, 3]),
        schedule([16, 8, 0, 2, 20, 3]),
        schedule([8, 48, 0, 0, 8, 4]),
        schedule([32, 16, 0, 0, 10, 3]),
        schedule([16, 48, 0, 0, 10, 1]),
        schedule([24, 48, 3, 1, 16, 2]),
        schedule([16, 100, 0, 2, 20, 3]),
    ]
};

/// The cycles for which an arithmetic instruction holds its pipe.
fn beats(machine: &Machine) -> u32 {
    machine.vector_length() / machine.hple.count * machine.hple.initiation_interval
}

/// Random settings of a part: as often as not proven ones.
pub(super) fn random_part(random: &mut Random, machine: &Machine) -> PartSettings {
    if random.pick(&[true, false]) {
        return random.pick(&PROVEN).1;
    }
    PartSettings {
        constants_ahead: random.pick(&[4, 6, 8, 12, 16, 24, 32, 48]),
        candidates: random.pick(&[8, 16, 32, 64, 100]),
        patience: random.pick(&[0, 0, 0, 1, 2, 3]),
        early: random.pick(&[0, 0, 0, 1, 2, beats(machine)]),
        reserve: random.pick(&[4, 6, 8, 10, 12, 16, 20]),
        copies: random.pick(&[1, 2, 3, 4, 5]),
    }
}

/// A way with random settings.
pub(super) fn random_recipe(random: &mut Random, way: &Way, several: bool, machine: &Machine) -> Recipe {
    let Way { method, plans } = way;
    let tuning = random_tuning(random, machine);
    let order = random.pick(&ORDERS);
    let stagger = several.then(|| stagger(plans, random.pick(&STAGGERS)));
    let forwarding = random.pick(&FORWARDINGS);
    Recipe { tuning, order, stagger, forwarding, method: method.clone(), plans: plans.clone() }
}

/// Random settings.
fn random_tuning(random: &mut Random, machine: &Machine) -> Tuning {
    random_part(random, machine).of(Tuning {
        margin: Margin {
            load_store: random.pick(&[0, 0, 0, 1, 2, 4]),
            shuffle: random.pick(&[0, 0, 0, 1, 2]),
            compute: random.pick(&[0, 0, 0, 1, 2]),
            initiation_interval: 0,
        },
        table: TableOrder::BySize,
        plain: random.pick(&[false, false, true]),
        srams: random.pick(&[SramCare::Queues, SramCare::Queues, SramCare::Schedule]),
        ..Tuning::default()
    })
}

/// A recipe that differs from this one in at most three settings.
pub(super) fn neighbour(random: &mut Random, recipe: &Recipe, several: bool, machine: &Machine) -> Recipe {
    let other = random_recipe(random, &Way::of(recipe), several, machine);
    let mut recipe = recipe.clone();
    let tuning = &mut recipe.tuning;
    for _ in 0..random.pick(&[1, 2, 3]) {
        match random.pick(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]) {
            0 => tuning.constants_ahead = other.tuning.constants_ahead,
            1 => tuning.candidates = other.tuning.candidates,
            2 => tuning.patience = other.tuning.patience,
            3 => tuning.early = other.tuning.early,
            4 => tuning.reserve = other.tuning.reserve,
            5 => tuning.copies = other.tuning.copies,
            6 => tuning.margin = other.tuning.margin,
            7 => recipe.order = other.order,
            8 => recipe.forwarding = other.forwarding,
            9 => tuning.plain = other.tuning.plain,
            10 => tuning.srams = other.tuning.srams,
            _ => recipe.stagger = other.stagger,
        }
    }
    recipe
}

/// SplitMix64.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn pick<T: Copy>(&mut self, options: &[T]) -> T {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        options[((z ^ (z >> 31)) % options.len() as u64) as usize]
    }
}
