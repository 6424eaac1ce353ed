//! The quality of programs on machines other than the paper's.
//!
//! `RPU_PAIRS=1000 cargo test --release -p codegen --test all quality -- --nocapture` compares so many pairs of
//! machines; `RPU_SEED=99` draws others.

use crate::pairs::{ORDERED, Pair, UNORDERED, pairs};
use codegen::library::BUILT_IN;
use codegen::{Error, PlanChoice, Request, check, choose, compile, generate};
use rayon::prelude::*;
use ring::Degree;
use sim::Machine;
use sim::machine::table::Effect;
use sim::machine::{Assignment, VbarPaths, keys};
use sim::timing::simulate;
use std::collections::BTreeSet;

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

/// The placement of registers in SRAMs is a matter of their names: programs take the same cycles under both.
#[test]
fn placements_of_registers_do_not_change_cycles() {
    let request = Request::with_primes(golden::NTT, Degree::try_from(8192u32).unwrap(), 60, 1).unwrap();
    for latency in [11, 13] {
        for plan in [PlanChoice::Best, PlanChoice::Classical, PlanChoice::Unoptimised] {
            let [(one, one_cycles), (other, other_cycles)] = ["mod", "div"].map(|placement| {
                let settings = [
                    format!("vrf.placement={placement}"),
                    format!("hple.multiplier_latency_cycles={latency}"),
                ];
                let settings: Vec<Assignment> = settings.iter().map(|text| text.parse().unwrap()).collect();
                let machine = Machine::rpu_128x128().with(&settings).unwrap();
                let choice = choose(&request, &machine, &plan).unwrap();
                let kernel = compile(&request, &choice.recipe, &machine).unwrap();
                check::schedule(&kernel.code, &kernel.program).unwrap();
                (choice.origin, simulate(&machine, &kernel.program).cycles)
            });
            assert_eq!((one, one_cycles), (other, other_cycles));
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

/// On machines whose vectors take 16 beats, programs for polynomials of 32 vectors are near their bounds. Only the number of stages
/// depends on the vector length.
#[test]
fn vectors_of_all_lengths_get_programs_near_their_bounds() {
    for lanes in [64, 128, 256, 512] {
        let settings = [format!("isa.vector_length={lanes}"), format!("hple.count={}", lanes / 16)];
        let settings: Vec<Assignment> = settings.iter().map(|text| text.parse().unwrap()).collect();
        let machine = Machine::rpu_128x128().with(&settings).unwrap();
        let (cycles, ratio) = measure(32 * lanes, &PlanChoice::Best, &machine);
        assert!(ratio <= 1.25, "vectors of {lanes}: {cycles} cycles, {ratio:.3} times the bound");
    }
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

/// Every key that affects cycles is varied.
#[test]
fn the_pairs_vary_every_key_that_affects_cycles() {
    let of = |with_order: bool| {
        let keys = keys().filter(move |key| key.effects.contains(&Effect::Cycles));
        let keys = keys.filter(move |key| key.faster.is_some() == with_order);
        keys.map(|key| key.path).collect::<BTreeSet<&str>>()
    };
    let names =
        |list: &[(&'static str, &[&str])]| list.iter().map(|(name, _)| *name).collect::<BTreeSet<_>>();
    assert_eq!(names(ORDERED), of(true));
    assert_eq!(names(UNORDERED), of(false));
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

/// Over random pairs, no program is slower than the classical one. The better machine's program can be the slower one, since
/// each search knows one machine: the test prints how often, and by how much.
#[test]
fn a_better_machine_has_a_better_program() {
    let pairs = pairs(128, 13);
    let ratio = |Pair { n, better, worse, text }: &Pair| {
        assert!(better.dominates(worse), "{text}");
        let [fast, slow] = [better, worse].map(|machine| {
            let [best, classical] =
                [PlanChoice::Best, PlanChoice::Classical].map(|plan| cycles(*n, &plan, machine));
            assert!(best <= classical, "{text}: {best} cycles, the classical pair {classical}");
            best
        });
        fast as f64 / slow as f64
    };
    let ratios: Vec<f64> = pairs.par_iter().map(ratio).collect();
    let mut slower: Vec<f64> =
        ratios.iter().map(|ratio| 100.0 * (ratio - 1.0)).filter(|&by| by > 0.0).collect();
    slower.sort_by(f64::total_cmp);
    let rank = |percent: usize| slower.get(slower.len() * percent / 100).copied().unwrap_or_default();
    println!(
        "{} pairs, {} with the slower program on the better machine, {} by more than 0.5%: median {:.2}%, 99% {:.2}%, \
         worst {:.2}%",
        pairs.len(),
        slower.len(),
        slower.iter().filter(|&&by| by > 0.5).count(),
        rank(50),
        rank(99),
        slower.last().copied().unwrap_or_default()
    );
}
