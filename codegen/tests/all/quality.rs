//! The quality of programs on machines other than the paper's.
//!
//! `RPU_PAIRS=1000 cargo test --release -p codegen --test all quality -- --nocapture` compares so many pairs of
//! machines; `RPU_SEED=99` draws others.

use codegen::library::BUILT_IN;
use codegen::search::{Slower, lags_behind};
use codegen::{Error, Kernel, PlanChoice, Request, choose_beside, compile, generate};
use rayon::prelude::*;
use ring::Degree;
use sim::Machine;
use sim::machine::{BankMapping, Busyboard, SourceRelease, VbarPaths};
use sim::timing::{Cycle, simulate};
use std::time::{Duration, Instant};

/// The cycles of a program, and their ratio to its bound.
fn measure(n: u32, plan: &PlanChoice, machine: &Machine) -> (u64, f64) {
    let request = Request::with_primes(golden::NTT, Degree::try_from(n).unwrap(), 60, 1).unwrap();
    let kernel = generate(&request, machine, plan).unwrap();
    let cycles = simulate(machine, &kernel.program).cycles.0;
    let bound: u64 = kernel.bounds(machine).iter().map(|pass| pass.cycles().0).sum();
    (cycles, cycles as f64 / bound as f64)
}

fn cycles(n: u32, plan: &PlanChoice, machine: &Machine) -> u64 {
    measure(n, plan, machine).0
}

/// The delay between dispatch and issue lengthens each dependence, but it does not idle the pipes.
#[test]
fn an_issue_delay_does_not_stall_the_scheduler() {
    let mut machine = Machine::rpu_128x128();
    for n in [4096, 16384, 65536] {
        let without = cycles(n, &PlanChoice::Best, &Machine::rpu_128x128());
        for delay in 1..=4 {
            machine.frontend.dispatch_to_issue_cycles = delay;
            let best = cycles(n, &PlanChoice::Best, &machine);
            assert!(100 * best <= 135 * without, "n = {n}, delay {delay}: {best} cycles, {without} without");
            let classical = cycles(n, &PlanChoice::Classical, &machine);
            assert!(
                best <= classical,
                "n = {n}, delay {delay}: {best} cycles, the classical pair {classical}"
            );
        }
    }
}

/// A machine that the library was not tuned for gets a program at least as fast as that of each of the
/// library's recipes, not only of that for the same numbers of HPLEs and banks.
///
/// This is less than dominance: a recipe fitted to one latency can be faster there than any that a short
/// search finds for a smaller one, since its accesses then meet in other cycles.
#[test]
fn no_recipe_of_the_library_is_faster() {
    let mut machine = Machine::rpu_128x128();
    machine.vdm.banks = 64;
    for latency in [8, 9, 10, 12] {
        machine.hple.multiplier_latency_cycles = latency;
        let best = cycles(16384, &PlanChoice::Best, &machine);
        let request = Request::with_primes(golden::NTT, Degree::try_from(16384u32).unwrap(), 60, 1).unwrap();
        let recipes: Vec<_> = BUILT_IN.recipes(&request).cloned().collect();
        assert!(recipes.len() > 1);
        for recipe in recipes {
            let known = PlanChoice::Recipe(Box::new(recipe));
            let Ok(kernel) = generate(&request, &machine, &known) else { continue };
            let cycles = simulate(&machine, &kernel.program).cycles.0;
            assert!(best <= cycles, "latency {latency}: {best} cycles, a known recipe {cycles}");
        }
    }
}

/// Shuffles of these machines take as long as two products of vectors. Plans of the library have many, derived ones few.
#[test]
fn a_machine_with_slow_shuffles_gets_a_plan_with_few() {
    let mut machine = Machine::rpu_128x128();
    machine.sbar.initiation_interval = 2;
    for (n, hples) in [(8192, 16), (32768, 8), (65536, 32)] {
        machine.hple.count = hples;
        let (cycles, ratio) = measure(n, &PlanChoice::Best, &machine);
        assert!(ratio <= 1.1, "n = {n} with {hples} HPLEs: {cycles} cycles, {ratio:.3} times the bound");
        let known = self::cycles(n, &PlanChoice::Known, &machine);
        assert!(
            100 * known > 105 * cycles,
            "n = {n} with {hples} HPLEs: {cycles} cycles, {known} of the library"
        );
    }
}

/// The library holds programs for shorter multipliers: over all numbers of HPLEs and banks, at most one in a hundred is
/// more than 0.5% slower than that for the multiplier of the paper's machine, and none by 1%.
#[test]
fn a_faster_multiplier_is_not_slower() {
    let grid = [4, 8, 16, 32, 64, 128, 256].map(|hples| [32, 64, 128, 256].map(|banks| (hples, banks)));
    let cases: Vec<_> = [4096, 8192, 16384, 32768, 65536]
        .into_iter()
        .flat_map(|n| grid.iter().flatten().map(move |&(hples, banks)| (n, hples, banks)))
        .collect();
    let slower: Vec<String> = cases
        .par_iter()
        .filter_map(|&(n, hples, banks)| {
            let mut machine = Machine::rpu_128x128();
            (machine.hple.count, machine.vdm.banks) = (hples, banks);
            let slow = cycles(n, &PlanChoice::Best, &machine);
            machine.hple.multiplier_latency_cycles = 8;
            let fast = cycles(n, &PlanChoice::Best, &machine);
            let text = format!("n = {n} on ({hples}, {banks}), latency 8: {fast} cycles, 11: {slow} cycles");
            assert!(100 * fast <= 101 * slow, "{text}");
            (200 * fast > 201 * slow).then_some(text)
        })
        .collect();
    assert!(100 * slower.len() <= cases.len(), "{slower:#?}");
}

/// Of the pairs of the library's programs, at most one in fifty has a better machine that is more than 0.5% slower,
/// none by 3%. Further searches for the better machine do not reach the cycles of the worse one.
#[test]
fn the_library_gives_a_better_machine_a_better_program() {
    let (mut pairs, mut slower) = (0, Vec::new());
    for task in BUILT_IN.tasks() {
        let known: Vec<_> =
            task.programs().map(|(_, _, known)| (known.machine.machine().speed(), known)).collect();
        for &(ref speed, better) in &known {
            for &(_, worse) in known.iter().filter(|(worse, _)| speed.dominates(worse)) {
                pairs += 1;
                let ratio = better.cycles as f64 / worse.cycles as f64;
                assert!(ratio < 1.03, "{}: {better:?} against {worse:?}", task.file_name());
                slower.extend((ratio > 1.005).then_some((task.file_name(), better, worse)));
            }
        }
    }
    println!("{pairs} pairs, {} slower by more than 0.5%", slower.len());
    assert!(pairs > 4000 && 50 * slower.len() <= pairs, "{pairs} pairs, slower: {slower:#?}");
}

/// On split paths, no generated program has an access that overtakes another.
#[test]
fn no_access_overtakes_another() {
    let mut machine = Machine::rpu_128x128();
    (machine.hple.count, machine.vdm.banks, machine.vdm.ports) = (256, 64, 2);
    machine.vbar.paths = VbarPaths::Split;
    let request = Request::with_primes(golden::NTT, Degree::try_from(8192u32).unwrap(), 60, 1).unwrap();
    let refused = BUILT_IN
        .recipes(&request)
        .filter(|recipe| matches!(compile(&request, recipe, &machine), Err(Error::Overtaking { .. })));
    assert!(refused.count() > 0);
    for plan in [PlanChoice::Best, PlanChoice::Known] {
        let program = generate(&request, &machine, &plan).unwrap().program;
        assert_eq!(simulate(&machine, &program).overtaking(&machine, &program), None);
    }
}

/// A key that affects cycles: its values, from the best to the worst for speed.
struct Key {
    name: &'static str,
    values: &'static [u32],
    set: fn(&mut Machine, u32),
}

/// The keys with an order. Repeated values are likelier.
const KEYS: &[Key] = &[
    Key { name: "hple.count", values: &[256, 128, 64, 32, 16, 8, 4], set: |m, v| m.hple.count = v },
    Key { name: "vdm.banks", values: &[256, 128, 64, 32], set: |m, v| m.vdm.banks = v },
    Key {
        name: "hple.multiplier_latency_cycles",
        values: &[2, 4, 6, 8, 9, 11, 12, 14, 16, 20, 24, 32, 40],
        set: |m, v| m.hple.multiplier_latency_cycles = v,
    },
    Key {
        name: "hple.initiation_interval",
        values: &[1, 1, 1, 2, 3, 4],
        set: |m, v| m.hple.initiation_interval = v,
    },
    Key {
        name: "hple.adder_latency_cycles",
        values: &[1, 1, 2, 3, 4, 6],
        set: |m, v| m.hple.adder_latency_cycles = v,
    },
    Key {
        name: "sbar.latency_cycles",
        values: &[1, 2, 3, 4, 5, 6, 7, 9, 12, 16],
        set: |m, v| m.sbar.latency_cycles = v,
    },
    Key {
        name: "sbar.initiation_interval",
        values: &[1, 1, 1, 2],
        set: |m, v| m.sbar.initiation_interval = v,
    },
    Key {
        name: "vbar.latency_cycles",
        values: &[1, 2, 4, 5, 6, 8, 10, 12, 16, 24],
        set: |m, v| m.vbar.latency_cycles = v,
    },
    Key {
        name: "vbar.initiation_interval",
        values: &[1, 1, 1, 2],
        set: |m, v| m.vbar.initiation_interval = v,
    },
    Key {
        name: "vbar.paths",
        values: &[1, 0, 0, 0],
        set: |m, v| {
            if v == 1 {
                m.vdm.ports = 2;
                m.vbar.paths = VbarPaths::Split;
            }
        },
    },
    Key { name: "frontend.width", values: &[4, 2, 1, 1], set: |m, v| m.frontend.width = v },
    Key {
        name: "frontend.queue_depth",
        values: &[64, 16, 8, 6, 4, 2, 1],
        set: |m, v| m.frontend.queue_depth = v,
    },
    Key {
        name: "frontend.fetch_to_dispatch_cycles",
        values: &[1, 2, 4],
        set: |m, v| m.frontend.fetch_to_dispatch_cycles = v,
    },
    Key {
        name: "frontend.dispatch_to_issue_cycles",
        values: &[0, 0, 1, 2, 3, 4],
        set: |m, v| m.frontend.dispatch_to_issue_cycles = v,
    },
    Key {
        name: "frontend.busyboard",
        values: &[1, 0, 0],
        set: |m, v| m.frontend.busyboard = [Busyboard::Strict, Busyboard::SharedReads][v as usize],
    },
    Key {
        name: "frontend.source_release",
        values: &[1, 1, 0],
        set: |m, v| m.frontend.source_release = [SourceRelease::Complete, SourceRelease::Read][v as usize],
    },
    Key {
        name: "scalar.load_latency_cycles",
        values: &[1, 2, 4],
        set: |m, v| m.scalar.load_latency_cycles = v,
    },
    Key { name: "vdm.ports", values: &[2, 1, 1], set: |m, v| m.vdm.ports = m.vdm.ports.max(v) },
    Key { name: "vdm.multicast", values: &[1, 1, 1, 0], set: |m, v| m.vdm.multicast = v == 1 },
    Key { name: "ideal.vrf_ports", values: &[1, 0, 0, 0, 0, 0], set: |m, v| m.ideal.vrf_ports = v == 1 },
    Key { name: "ideal.queues", values: &[1, 0, 0, 0, 0, 0], set: |m, v| m.ideal.queues = v == 1 },
    Key { name: "ideal.front_end", values: &[1, 0, 0, 0, 0, 0], set: |m, v| m.ideal.front_end = v == 1 },
    Key {
        name: "ideal.bank_conflicts",
        values: &[1, 0, 0, 0, 0, 0],
        set: |m, v| m.ideal.bank_conflicts = v == 1,
    },
];

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % end as u64) as usize
    }
}

/// Two machines of which the first is better in one to three keys and otherwise like the second.
struct Pair {
    n: u32,
    better: Machine,
    worse: Machine,
    text: String,
}

fn pair(random: &mut Random) -> Pair {
    let n = 1 << (10 + random.below(7));
    let mut worse = Machine::rpu_128x128();
    if random.below(6) == 0 {
        worse.vdm.mapping = BankMapping::Xor;
    }
    let mut better = worse.clone();
    let count = [1, 1, 1, 2, 3][random.below(5)];
    let mut differ: Vec<usize> = (0..KEYS.len()).collect();
    while differ.len() > count {
        differ.swap_remove(random.below(differ.len()));
    }
    let mut text = format!("n = {n} {:?}", worse.vdm.mapping);
    for (number, Key { name, values, set }) in KEYS.iter().enumerate() {
        if differ.contains(&number) {
            let (good, bad) = loop {
                let (a, b) = (random.below(values.len()), random.below(values.len()));
                if values[a] != values[b] {
                    break (values[a.min(b)], values[a.max(b)]);
                }
            };
            set(&mut better, good);
            set(&mut worse, bad);
            text += &format!(" {name} = {good} against {bad}");
        } else if random.below(3) == 0 {
            let value = values[random.below(values.len())];
            set(&mut better, value);
            set(&mut worse, value);
            text += &format!(" {name} = {value}");
        }
    }
    // Of two ports, a split path has one to itself: loads that take both on a shared path would be slower.
    if better.vbar.paths == VbarPaths::Split && worse.vbar.paths == VbarPaths::Shared {
        worse.vdm.ports = 1;
    }
    Pair { n, better, worse, text }
}

/// Pairs of machines. The environment can have another number and another seed.
fn pairs(default: usize, seed: u64) -> Vec<Pair> {
    let count = std::env::var("RPU_PAIRS").map_or(default, |count| count.parse().unwrap());
    let seed = std::env::var("RPU_SEED").map_or(seed, |seed| seed.parse().unwrap());
    let mut random = Random(seed);
    (0..count).map(|_| pair(&mut random)).collect()
}

/// With register file ports for all, a better machine never runs a program slower. So conflicts of these ports
/// are the only reason why it may: they depend on the cycle of each access.
#[test]
fn without_port_conflicts_no_program_is_slower_on_a_better_machine() {
    let slower: Vec<String> = pairs(64, 14)
        .into_par_iter()
        .flat_map_iter(|Pair { n, mut better, mut worse, text }| {
            (better.ideal.vrf_ports, worse.ideal.vrf_ports) = (true, true);
            let request = Request::with_primes(golden::NTT, Degree::try_from(n).unwrap(), 60, 1).unwrap();
            let programs = [&better, &worse].map(|machine| {
                // The library's recipe may need more memory than a machine without multicast has.
                let known = generate(&request, machine, &PlanChoice::Known);
                let kernel = known.or_else(|_| generate(&request, machine, &PlanChoice::Classical));
                kernel.unwrap().program
            });
            let cycles =
                programs.map(|program| [&better, &worse].map(|machine| simulate(machine, &program).cycles.0));
            let slower = cycles.into_iter().filter(|[fast, slow]| fast > slow);
            slower.map(move |[fast, slow]| format!("{text}: {fast} cycles, {slow} on the worse machine"))
        })
        .collect();
    assert!(slower.is_empty(), "{slower:#?}");
}

/// The results for a pair of machines.
struct Outcome {
    /// The cycles of the better machine's program, from its own search and beside the worse machine.
    alone: Cycle,
    beside: Cycle,
    /// The cycles of the worse machine's program.
    slow: Cycle,
    /// The ratios of both to their bounds.
    ratios: [f64; 2],
    /// The time of the further search.
    further: Duration,
}

impl Outcome {
    /// Measures both programs as a sweep over both machines finds them.
    fn of(Pair { n, better, worse, text }: &Pair) -> Self {
        assert!(better.dominates(worse), "{text}");
        let request = Request::with_primes(golden::NTT, Degree::try_from(*n).unwrap(), 60, 1).unwrap();
        let [own, other] =
            [better, worse].map(|machine| generate(&request, machine, &PlanChoice::Best).unwrap());
        let cycles = |machine: &Machine, kernel: &Kernel| simulate(machine, &kernel.program).cycles;
        let (alone, slow) = (cycles(better, &own), cycles(worse, &other));
        let start = Instant::now();
        let best = if lags_behind(alone, slow) {
            let slower = Slower { machine: worse.clone(), recipe: other.recipe.clone(), cycles: slow };
            let choice = choose_beside(&request, better, &own.recipe, &[slower]).unwrap();
            compile(&request, &choice.recipe, better).unwrap()
        } else {
            own
        };
        let further = start.elapsed();
        let ratio = |machine: &Machine, kernel: &Kernel| {
            let bound: u64 = kernel.bounds(machine).iter().map(|pass| pass.cycles().0).sum();
            cycles(machine, kernel).0 as f64 / bound as f64
        };
        let ratios = [ratio(better, &best), ratio(worse, &other)];
        let beside = cycles(better, &best);
        for (machine, cycles) in [(better, beside), (worse, slow)] {
            let classical = self::cycles(*n, &PlanChoice::Classical, machine);
            assert!(cycles.0 <= classical, "{text}: {cycles} cycles, the classical pair {classical}");
        }
        Self { alone, beside, slow, ratios, further }
    }
}

/// Over random pairs, the better machine has the faster program if both are searched for together, as in a sweep, no program
/// is slower than the classical one, and programs are near their bounds.
#[test]
fn a_better_machine_has_a_better_program() {
    let pairs = pairs(16, 13);
    let count = pairs.len();
    let outcomes: Vec<Outcome> = pairs.par_iter().map(Outcome::of).collect();
    let mut ratios: Vec<f64> = outcomes.iter().flat_map(|outcome| outcome.ratios).collect();
    ratios.sort_by(f64::total_cmp);
    let median = ratios[ratios.len() / 2];
    let lag = |outcome: &&Outcome| lags_behind(outcome.alone, outcome.slow);
    let alone = outcomes.iter().filter(lag).count();
    let further: Duration = outcomes.iter().map(|outcome| outcome.further).sum();
    println!(
        "{count} pairs, {alone} slower by more than 0.5% by their own searches; {:.1} s of further searches for these; \
         median ratio to the bound {median:.3}",
        further.as_secs_f64()
    );
    let slower = outcomes.iter().zip(&pairs).filter(|(outcome, _)| lags_behind(outcome.beside, outcome.slow));
    let slower: Vec<String> = slower
        .map(|(Outcome { beside, slow, .. }, Pair { text, .. })| format!("{beside} against {slow}: {text}"))
        .collect();
    assert!(slower.is_empty(), "{} of {count} pairs: {slower:#?}", slower.len());
    assert!(median <= 1.2, "{median}");
}
