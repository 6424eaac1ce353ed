//! Programs compared with the paper's figures and with the targets of the library.

use b512_asm::Pipe;
use codegen::library::{BUILT_IN, Standing, Target, Task};
use codegen::plan::Shape;
use codegen::plan::derive::derive;
use codegen::{PlanChoice, Recipe, Request, choose, compile, generate};
use golden::Operation;
use rayon::prelude::*;
use ring::Degree;
use sim::Machine;
use sim::machine::{BankMapping, Busyboard, Values};
use sim::timing::simulate;

fn request(function: Operation, n: u32) -> Request {
    Request::with_primes(function, Degree::try_from(n).unwrap(), 60, 1).unwrap()
}

fn cycles(n: u32, plan: PlanChoice, machine: &Machine) -> u64 {
    let kernel = generate(&request(golden::NTT, n), machine, &plan).unwrap();
    simulate(machine, &kernel.program).cycles.0
}

/// True if `value` is within `percent` of `expected`.
fn near(value: u64, expected: u64, percent: u64) -> bool {
    value.abs_diff(expected) * 100 <= expected * percent
}

#[test]
fn the_classical_program_takes_the_papers_cycles() {
    let machine = Machine::rpu_128x128();
    for (n, paper, percent) in [(1024, 309, 3), (16384, 2511, 10), (65536, 11305, 3)] {
        let found = cycles(n, PlanChoice::Classical, &machine);
        assert!(near(found, paper, percent), "n = {n}: {found} cycles, the paper has {paper}");
    }
}

#[test]
fn the_classical_program_has_the_papers_instructions_and_sensitivity() {
    let machine = Machine::rpu_128x128();
    let kernel = generate(&request(golden::NTT, 65536), &machine, &PlanChoice::Classical).unwrap();
    let timing = simulate(&machine, &kernel.program);
    let [load_store, compute, shuffle] =
        [Pipe::LoadStore, Pipe::Compute, Pipe::Shuffle].map(|pipe| timing.instructions[pipe]);
    assert_eq!((compute, shuffle), (1024, 1920));
    assert!(load_store < shuffle, "{load_store} loads and stores");
    // The program stays the same while the machine changes.
    let ratio = |change: fn(&mut Values)| {
        let mut machine = machine.clone();
        machine.edit(change).unwrap();
        simulate(&machine, &kernel.program).cycles.0 as f64 / timing.cycles.0 as f64
    };
    let slower = ratio(|values| values.hple.initiation_interval = 2);
    assert!((1.13..=1.19).contains(&slower), "initiation interval 2: {slower}; the paper has 1.16");
    let slower = ratio(|values| values.vbar.latency_cycles = 10);
    assert!((1.002..=1.032).contains(&slower), "load/store latency 10: {slower}; the paper has 1.017");
}

#[test]
fn the_papers_program_on_its_machine_takes_the_papers_cycles() {
    let machine = Machine::rpu_128x128_paper();
    for (n, paper) in [(1024, 309), (16384, 2511), (65536, 11305)] {
        let found = cycles(n, PlanChoice::Paper, &machine);
        assert!(near(found, paper, 5), "n = {n}: {found} cycles, the paper has {paper}");
    }
    let mut wide = machine;
    wide.edit(|values| values.hple.count = 256).unwrap();
    let found = cycles(65536, PlanChoice::Paper, &wide);
    assert!(near(found, 9746, 5), "256 HPLEs: {found} cycles, the paper has 9746");
}

#[test]
fn optimised_programs_beat_unoptimised_ones_as_in_the_paper() {
    let ratios: Vec<f64> = [4, 8, 16, 32, 64, 128, 256]
        .into_par_iter()
        .map(|hples| {
            let mut machine = Machine::rpu_128x128();
            machine.edit(|values| values.hple.count = hples).unwrap();
            let take = |plan| cycles(65536, plan, &machine) as f64;
            take(PlanChoice::Unoptimised) / take(PlanChoice::Classical)
        })
        .collect();
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    assert!(mean >= 1.8, "{ratios:?}");
}

#[test]
fn every_recipe_of_the_library_takes_the_cycles_that_it_claims() {
    let programs: Vec<_> = BUILT_IN.tasks().flat_map(Task::programs).collect();
    assert!(programs.len() > 50, "the library has {} programs", programs.len());
    programs.par_iter().for_each(|(task, entry, target)| {
        let Standing { cycles, pass_sum, passes, .. } =
            entry.measure(&task.request().unwrap(), &target.machine).unwrap();
        assert_eq!(cycles.0, target.cycles, "{} on {:?}", task.file_name(), target.machine);
        // A program of several passes may overlap them.
        assert!(
            passes > 1 || pass_sum <= cycles,
            "{} on {:?}: {cycles} cycles, bound {pass_sum}",
            task.file_name(),
            target.machine
        );
    });
}

/// The library's program for 1,024 points, by streams, reaches the bound of its code, which is below the
/// bound of any derived plan of one pass. So no schedule of such a plan is faster.
#[test]
fn no_program_by_a_plan_is_as_fast_as_streams_of_two_vectors() {
    let machine = Machine::rpu_128x128();
    let request = request(golden::NTT, 1024);
    let recipe = choose(&request, &machine, &PlanChoice::Best).unwrap().recipe;
    assert_eq!(recipe.method.as_deref(), Some("streams"));
    let bound = |recipe: &Recipe| compile(&request, recipe, &machine).unwrap().bounds(&machine)[0].cycles();
    let cycles = simulate(&machine, &compile(&request, &recipe, &machine).unwrap().program).cycles;
    assert_eq!(cycles, bound(&recipe));
    assert!(cycles.0 < 300, "{cycles} cycles");
    let plans = derive(Shape::b512(10), &machine, 256);
    assert!(plans.len() > 10, "{} plans", plans.len());
    for plan in plans.into_iter().filter(|plan| plan.passes.len() == 1) {
        let other = Recipe { method: None, plans: vec![plan.clone()], ..recipe.clone() };
        assert!(bound(&other) > cycles, "{plan}");
    }
}

/// The machine with the given bank mapping, busyboard and register file ports.
fn variant(mapping: BankMapping, busyboard: Busyboard, ideal_ports: bool) -> Machine {
    let mut machine = Machine::rpu_128x128();
    machine
        .edit(|values| {
            values.vdm.mapping = mapping;
            values.frontend.busyboard = busyboard;
            values.ideal.vrf_ports = ideal_ports;
        })
        .unwrap();
    machine
}

#[test]
fn the_best_programs_beat_the_papers() {
    use BankMapping::{Interleaved, Xor};
    use Busyboard::{SharedReads, Strict};
    let targets = [
        (Interleaved, Strict, false, 65536, 8600),
        (Interleaved, SharedReads, false, 65536, 8200),
        (Xor, Strict, false, 65536, 7600),
        (Xor, SharedReads, false, 65536, 6900),
        (Interleaved, Strict, false, 16384, 2050),
        (Interleaved, Strict, false, 1024, 299),
        (Interleaved, Strict, true, 65536, 7000),
        (Interleaved, SharedReads, true, 65536, 6600),
        (Xor, Strict, true, 65536, 5800),
        (Xor, SharedReads, true, 65536, 5200),
    ];
    for (mapping, busyboard, ideal_ports, n, most) in targets {
        let found = cycles(n, PlanChoice::Best, &variant(mapping, busyboard, ideal_ports));
        assert!(
            found <= most,
            "{mapping:?} {busyboard:?} {ideal_ports} {n}: {found} cycles, more than {most}"
        );
    }
}

/// The library has a program for each machine of the paper's Fig. 4. From 16384 points on, its cycle
/// count is at most 1.5 times the bound of its plan.
#[test]
fn the_best_programs_come_close_to_the_bounds_of_their_plans() {
    let mut cases = Vec::new();
    for hples in [4, 8, 16, 32, 64, 128, 256] {
        for banks in [32, 64, 128, 256] {
            cases.extend([4096, 8192, 16384, 32768, 65536].map(|n| (hples, banks, n)));
        }
    }
    cases.par_iter().for_each(|&(hples, banks, n)| {
        let mut machine = Machine::rpu_128x128();
        machine
            .edit(|values| {
                values.hple.count = hples;
                values.vdm.banks = banks;
            })
            .unwrap();
        let target = Target::of(&machine);
        let mut programs = BUILT_IN.tasks().flat_map(Task::programs);
        let program = programs.find(|(task, _, known)| {
            (&*task.operation, task.n, task.towers) == ("ntt", n, 1) && known.machine == target
        });
        let (task, entry, _) =
            program.unwrap_or_else(|| panic!("no program for {n} points on ({hples}, {banks})"));
        let Standing { cycles, pass_sum, .. } = entry.measure(&task.request().unwrap(), &target).unwrap();
        if n >= 16384 {
            assert!(
                cycles.0 * 2 <= pass_sum.0 * 3,
                "{n} points on ({hples}, {banks}): {cycles} cycles, its passes take {pass_sum}"
            );
        }
    });
}

/// With a Gentleman-Sande butterfly, the inverse is almost as fast as the forward transform. The library
/// holds the forward transform for many more machines, and each search starts from the recipes of those
/// before; at 16,384 points this is worth 5.2%.
#[test]
fn inverse_transforms_take_as_long_as_forward_ones() {
    let forward = Machine::rpu_128x128();
    let mut inverse = forward.clone();
    inverse.edit(|values| values.isa.gs_butterfly = true).unwrap();
    for log_n in 10..=16 {
        let n = 1 << log_n;
        let there = cycles(n, PlanChoice::Best, &forward);
        let kernel = generate(&request(golden::INTT, n), &inverse, &PlanChoice::Best).unwrap();
        let back = simulate(&inverse, &kernel.program).cycles.0;
        assert!(back * 100 <= there * 105, "n = {n}: {there} cycles there, {back} back");

        // Without that butterfly, the best programs are still much faster than three instructions per
        // butterfly would be.
        let kernel = generate(&request(golden::INTT, n), &forward, &PlanChoice::Best).unwrap();
        let without = simulate(&forward, &kernel.program).cycles.0;
        assert!(without * 100 <= there * 115, "n = {n}: {there} cycles there, {without} back");
    }
}
