//! The quality of programs on machines other than the paper's.
//!
//! `RPU_PAIRS=1000 cargo test --release -p rpu-codegen --test all quality -- --nocapture` compares so many
//! pairs of machines; `RPU_SEED=99` draws others.

use codegen::library::BUILT_IN;
use codegen::testing::pairs::{ORDERED, Pair, UNORDERED, pairs, selected};
use codegen::{Error, PlanChoice, Request, check, choose, compile, generate};
use rayon::prelude::*;
use ring::Degree;
use sim::Machine;
use sim::machine::table::Effect;
use sim::machine::{Assignment, VbarPaths, keys};
use sim::timing::simulate;
use std::collections::BTreeSet;

/// The cycles of a program.
fn cycles(n: u32, plan: &PlanChoice, machine: &Machine) -> u64 {
    let request = Request::with_primes(golden::NTT, Degree::try_from(n).unwrap(), 60, 1).unwrap();
    let kernel = generate(&request, machine, plan).unwrap();
    simulate(machine, &kernel.program).cycles.0
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

/// On split paths, no generated program has an access that overtakes another.
#[test]
fn no_access_overtakes_another() {
    let mut machine = Machine::rpu_128x128();
    machine.edit(|values| (values.hple.count, values.vdm.banks, values.vdm.ports) = (256, 64, 2)).unwrap();
    machine.edit(|values| values.vbar.paths = VbarPaths::Split).unwrap();
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

/// With register file ports for all, a better machine never runs a program slower. So conflicts of these
/// ports are the only reason why it may: they depend on the cycle of each access.
#[test]
fn without_port_conflicts_no_program_is_slower_on_a_better_machine() {
    let slower: Vec<String> = pairs(64, 4096, 14)
        .into_par_iter()
        .flat_map_iter(|Pair { n, mut better, mut worse, text }| {
            for machine in [&mut better, &mut worse] {
                machine.edit(|values| values.ideal.vrf_ports = true).unwrap();
            }
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

/// On the machines of selected and random pairs. How often the better machine of a pair has the slower
/// program, and by how much, the example `noise` tells.
#[test]
fn no_program_is_slower_than_the_classical_one() {
    let pairs: Vec<Pair> = selected().into_iter().chain(pairs(2, 4096, 13)).collect();
    pairs.par_iter().for_each(|Pair { n, better, worse, text }| {
        assert!(better.dominates(worse), "{text}");
        for machine in [better, worse] {
            let [best, classical] =
                [PlanChoice::Best, PlanChoice::Classical].map(|plan| cycles(*n, &plan, machine));
            assert!(best <= classical, "{text}: {best} cycles, the classical pair {classical}");
        }
    });
}
