//! Both models on random programs and machines.

use super::super::record::Records;
use super::super::rpu::{Parameters, ProgramId, Rpu, Task};
use super::super::timeline::Timeline;
use super::super::uses::Uses;
use super::{Launch, Program, model};
use crate::launches::facts::{Facts, Resource};
use crate::schedule::place::{Item, ItemId};
use crate::schedule::traffic::Kind;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus as Random;
use sim::Machine;

/// The times of the runtime; none if a launch does not fit.
fn runtime(program: &Program, machine: &Machine) -> Option<Timeline> {
    let launches = (0..).zip(&program.launches);
    let pairs = launches
        .clone()
        .flat_map(|(index, launch)| launch.operands.iter().map(move |&item| (ItemId(item as u32), index)));
    let uses = Uses::of(program.items.len(), pairs);
    let records = Records { record: true, accounts: true, events: true };
    let vdm = (program.capacity, program.page);
    let mut rpu = Rpu::new(machine, vdm, (program.items.clone(), uses), records);
    let ids = |items: &[usize]| items.iter().map(|&item| ItemId(item as u32)).collect::<Vec<_>>();
    for (index, Launch { kernel, operands, sources, results }) in launches {
        let kernel = kernel
            .map(|(kernel, program, [launch, run])| (kernel, ProgramId(program), Parameters { launch, run }));
        let (operands, results) = (ids(operands), ids(results));
        rpu.launch(index, &Task { kernel, operands: &operands, sources: *sources, results: &results })
            .ok()?;
    }
    Some(rpu.finish().0)
}

/// The words of a limb in random programs.
const LIMB: u32 = 1 << 10;

fn kernel(rng: &mut Random) -> Facts {
    let slices = (rng.random_range(0..3) > 0).then(|| {
        let runs = 1 << rng.random_range(0..5);
        (LIMB / runs, runs)
    });
    let is_whole = slices.is_none();
    let cycles = rng.random_range(1..2000);
    Facts {
        name: "random",
        instructions: rng.random_range(10..100),
        cycles,
        bank_cycles: rng.random_range(0..=cycles),
        resource: Resource::Latency,
        slices,
        scratch_words: [0, 0, 300][rng.random_range(0..3)],
        overwrites_operand: is_whole && rng.random_range(0..3) == 0,
        may_work_in_place: is_whole && rng.random_range(0..2) == 0,
    }
}

/// A random program. Everything that it makes is used, or an output.
fn program(rng: &mut Random) -> Program {
    let kernels: Vec<Facts> = (0..6).map(|_| kernel(rng)).collect();
    let mut items = Vec::new();
    let inputs = rng.random_range(1..8);
    for _ in 0..inputs {
        let kind = [Kind::Inputs, Kind::Keys, Kind::Tables][rng.random_range(0..3)];
        let halves = if kind == Kind::Keys { rng.random_range(0..3) } else { 2 };
        items.push(Item { is_output: rng.random_range(0..8) == 0, ..Item::given(LIMB, kind, halves) });
    }
    let mut made: Vec<usize> = (0..inputs).collect();
    let tables = items.len();
    items.extend((0..4).map(|_| Item::given(rng.random_range(1..=2 * LIMB), Kind::Tables, 2)));
    let mut numbers = Vec::new();
    let mut launches: Vec<Launch> = Vec::new();
    for _ in 0..rng.random_range(1..40) {
        let number = rng.random_range(0..=kernels.len());
        let kernel = kernels.get(number).copied();
        let whole = kernel.is_some_and(|kernel| kernel.slices.is_none());
        let most = if kernel.is_none() { 2 } else { 5 };
        let mut operands = Vec::new();
        for _ in 0..rng.random_range(1..=most) {
            // Most operands are young.
            let young = made.len().saturating_sub(6);
            let from = if rng.random_range(0..3) > 0 { young } else { 0 };
            let item = made[rng.random_range(from..made.len())];
            if !operands.contains(&item) {
                operands.push(item);
            }
        }
        let sources = operands.len();
        let count = match kernel {
            None => 1,
            Some(_) if whole => sources,
            Some(_) => rng.random_range(1..4),
        };
        if whole {
            operands.extend((tables..tables + 4).filter(|_| rng.random_range(0..4) == 0));
        }
        let results: Vec<usize> = (items.len()..items.len() + count).collect();
        items.extend(results.iter().map(|_| Item::made(LIMB)));
        made.extend(&results);
        let kernel = kernel.map(|kernel| {
            if !numbers.contains(&number) {
                numbers.push(number);
            }
            let program = numbers.iter().position(|&known| known == number).unwrap() as u32;
            (kernel, program, [rng.random_range(0..20), rng.random_range(0..100)])
        });
        launches.push(Launch { kernel, operands, sources, results });
    }
    for (index, item) in items.iter_mut().enumerate().skip(tables + 4) {
        let is_read = launches.iter().any(|launch| launch.operands.contains(&index));
        item.is_output = !is_read || rng.random_range(0..10) == 0;
        item.has_home = item.is_output;
    }
    let page = 1 << rng.random_range(0..11);
    let capacity = (u64::from(LIMB) * rng.random_range(4..30) + rng.random_range(0..1000)) / page;
    Program { items, launches, capacity, page }
}

fn machine(rng: &mut Random) -> Machine {
    let mut machine = Machine::rpu_128x128();
    machine
        .edit(|values| {
            values.frontend.instruction_memory_kib = rng.random_range(1..4);
            values.hbm.gb_per_s = rng.random_range(10.0..1000.0);
            values.hbm.latency_ns = [0.0, 0.0, 33.3, 400.0][rng.random_range(0..4)];
            values.hbm.turn_ns = [0.0, 12.5, 100.0][rng.random_range(0..3)];
            values.generator.words_per_cycle = 1 << rng.random_range(0..6);
            values.launch.cycles = [0, 16, 1000][rng.random_range(0..3)];
            values.sdm.size_kib = rng.random_range(1..20);
            values.isa.word_bits = rng.random_range(28..=128);
            values.vdm.banks = 1 << rng.random_range(3..9);
            values.vdm.ports = rng.random_range(1..3);
            values.vdm.size_mib = 4 << rng.random_range(0..8);
        })
        .unwrap();
    machine
}

/// `SCHEDULE_CASES` is the number of random programs.
#[test]
fn both_models_agree_on_every_launch_and_every_transfer() {
    let cases = std::env::var("SCHEDULE_CASES").map_or(1000, |cases| cases.parse().expect("a number"));
    let mut rng = Random::seed_from_u64(7);
    let (mut fitting, mut spilling) = (0, 0);
    for case in 0..cases {
        let (program, machine) = (program(&mut rng), machine(&mut rng));
        let (first, second) = (runtime(&program, &machine), model(&program, &machine));
        assert_eq!(first.is_some(), second.is_some(), "case {case}");
        let (Some(timeline), Some(model)) = (first, second) else { continue };
        fitting += 1;
        spilling += usize::from(timeline.traffic[Kind::Spills] > 0);
        model.assert_equal(&timeline, case);
    }
    assert!(2 * fitting > cases && 3 * spilling > cases, "{fitting} programs fit, {spilling} spill");
}
