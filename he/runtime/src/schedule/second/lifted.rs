//! Both models on the launches of random ring programs, with calls and without. `LIFTED_CASES` is the number of programs.

use super::{Launch, Program, model};
use crate::flow::ValueId;
use crate::kernels::Timed;
use crate::lift::{Launches, Work};
use crate::place::Item;
use crate::schedule::{LAUNCH_WORD_BYTES, Plan};
use crate::traffic::{Keys, Kind};
use crate::{Limits, Runtime, testing};
use codegen::Merit;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus as Random;
use ring_program::Interface;
use sim::Machine;

/// The items and the launches, by the chapter: zero, inputs, results, then a table for each operation and ring.
fn program(plan: &Plan<'_>) -> Program {
    let Plan { program, flow, launches, kernels, machine, .. } = plan;
    let n = program.degree().get() as u32;
    let mut items: Vec<Item> = vec![Item::made(n); flow.values];
    items[0] = Item::given(n, Kind::Tables, 2);
    flow.inputs.iter().for_each(|(_, value)| items[value.index()] = Item::given(n, Kind::Inputs, 2));
    for value in flow.outputs.iter().flatten() {
        (items[value.index()].is_output, items[value.index()].has_home) = (true, true);
    }
    // Of each table: operation, recipe, modulus and root; of each program: its work, and the rings.
    let (mut tables, mut programs) = (Vec::new(), Vec::new());
    let mut of_launches = Vec::new();
    for launch in &launches.launches {
        let rings = launches.rings(program, launch);
        let timed = match launch.work {
            Work::Elementwise(shape) => Some(kernels.elementwise(shape)),
            Work::Operation(_) => Some(kernels.operation(launches.batch(launch).unwrap())),
            Work::Permute(_) => None,
        };
        let ids = |values: &[ValueId]| values.iter().map(|it| it.index()).collect::<Vec<_>>();
        let mut operands: Vec<usize> = Vec::new();
        for source in ids(launches.sources(launch)) {
            if !operands.contains(&source) {
                operands.push(source);
            }
        }
        let sources = operands.len();
        let has_table = |timed: &&Timed| launches.batch(launch).is_some() && timed.table_words > 0;
        if let Some(timed) = timed.filter(has_table) {
            let recipe: *const _ = kernels.recipe(launches.batch(launch).unwrap());
            let words = timed.table_words.div_ceil(rings.len() as u32);
            for ring in &rings {
                let table = (launch.work, recipe, *ring);
                let place = tables.iter().position(|known| *known == table).unwrap_or_else(|| {
                    tables.push(table);
                    items.push(Item::given(words, Kind::Tables, 2));
                    tables.len() - 1
                });
                let item = flow.values + place;
                items[item].words = items[item].words.max(words);
                if !operands[sources..].contains(&item) {
                    operands.push(item);
                }
            }
        }
        let kernel = timed.map(|timed| {
            let of = (launch.work, launches.batch(launch).map_or(0, |batch| batch.rings));
            let number = programs.iter().position(|known| *known == of).unwrap_or_else(|| {
                programs.push(of);
                programs.len() - 1
            });
            let words = launches.moduli(launch).len()
                + launches.scalars(launch).len()
                + timed.address_registers * timed.runs as usize;
            (timed.facts(), number as u32, LAUNCH_WORD_BYTES * words as u64)
        });
        of_launches.push(Launch { kernel, operands, sources, results: ids(launches.results(launch)) });
    }
    Program { items, launches: of_launches, capacity: machine.vdm_words().into() }
}

#[test]
fn both_models_agree_on_programs_with_calls() {
    let cases = std::env::var("LIFTED_CASES").map_or(12, |cases| cases.parse().expect("a number"));
    let mut rng = Random::seed_from_u64(17);
    let (mut fitting, mut spilling, mut in_order) = (0, 0, [0; 3]);
    for case in 0..cases {
        let ring_program =
            if case % 4 == 0 { testing::random_program(&mut rng) } else { testing::random_calls(&mut rng) };
        let mut machine = Machine::rpu_128x128();
        machine
            .edit(|values| {
                values.vdm.size_mib = 1;
                values.isa.word_bits = 128;
                values.hbm.gb_per_s = rng.random_range(10.0..1000.0);
                values.hbm.latency_ns = [0.0, 33.3][rng.random_range(0..2)];
                values.hbm.turn_ns = [0.0, 12.5, 100.0][case as usize % 3];
                values.generator.words_per_cycle = 1 << (case % 6);
                values.launch.cycles = [0, 1000][rng.random_range(0..2)];
                values.frontend.instruction_memory_kib = rng.random_range(4..64);
            })
            .unwrap();
        // Large groups have kernels of their own, which take long to generate.
        let limits = match case % 8 {
            0 | 1 => Limits::for_degree(ring_program.degree().get(), &machine),
            _ => Limits { rings: 1 + case % 4, window: 64, ..Limits::LINES },
        };
        let choice = (Keys::Streamed, Merit::Cycles);
        let runtime = Runtime::with_limits(&ring_program, &machine, choice, limits).unwrap();
        let program = program(&runtime.plan(true));
        let (timeline, model) = (runtime.plan(true).timeline(), model(&program, &machine));
        assert_eq!(timeline.is_ok(), model.is_some(), "case {case}");
        let (Ok(timeline), Some(model)) = (timeline, model) else { continue };
        fitting += 1;
        spilling += usize::from(timeline.traffic[Kind::Spills] > 0);
        model.assert_equal(&timeline, case);
        in_order[assert_fastest(&runtime, case).0] += 1;
    }
    assert!(2 * fitting > cases && 8 * spilling > cases, "{fitting} programs fit, {spilling} spill");
    assert!(in_order[1] > 0, "no program is in the deep order");
    assert!(cases < 100 || in_order[2] > 0, "no program is in the lean order");
}

/// Plans all variants by the model: the first of the fastest is right. Returns its order and the words of the VDM.
fn assert_fastest(runtime: &Runtime<'_>, case: usize) -> (usize, u32) {
    let own = runtime.launches_as_lifted();
    let orders = [(0..own.launches.len()).collect(), ordered(own, false), ordered(own, true)];
    let orders = orders.map(|order| results(&with_order(own, &order)));
    let ends = runtime.plans(|order, plan| {
        assert_eq!(results(plan.launches), orders[order], "case {case}, order {order}");
        let program = self::program(plan);
        let end = model(&program, plan.machine).map_or(u64::MAX, |model| model.end());
        (end, order, plan.machine.vdm_words())
    });
    let whole = runtime.machine().vdm_words();
    let is_part = |words: u32| (0..32).any(|halvings| words == whole >> halvings);
    assert!(ends.is_sorted_by(|one, other| one.2 >= other.2) && ends.iter().all(|end| is_part(end.2)));
    let &(end, order, words) = ends.iter().min_by_key(|(end, ..)| end).expect("at least one variant");
    let chosen = runtime.plan(false);
    let program = self::program(&chosen);
    let found = model(&program, chosen.machine).map_or(u64::MAX, |model| model.end());
    assert_eq!((found, chosen.machine.vdm_words()), (end, words), "case {case}");
    assert_eq!(results(chosen.launches), orders[order], "case {case}");
    (order, words)
}

/// In a part of the VDM, slices are shorter. So the first run waits for less, and the last one leaves less to save.
#[test]
fn a_program_leaves_memory_unused_if_it_is_faster() {
    let text = "modulus_count 2\nm[0] 0xFFFFFFFFFFFFFFFF\nm[1] 0x10001\nsr_addp %3, %1, %2, m=1\nhalt\n";
    let ring_program = ring_program::read("", text.as_bytes(), Interface::Degree(4096)).unwrap();
    let mut machine = Machine::rpu_128x128();
    machine.edit(|values| (values.vdm.size_mib, values.isa.word_bits) = (1, 64)).unwrap();
    let limits = Limits::for_degree(4096, &machine);
    let runtime = Runtime::with_limits(&ring_program, &machine, (Keys::Streamed, Merit::Cycles), limits);
    let (order, words) = assert_fastest(&runtime.unwrap(), 0);
    assert!(order == 0 && words < machine.vdm_words(), "{words} words");
}

/// A function that transforms its zero and an argument that is zero: its launch has one operand.
#[test]
fn both_models_agree_on_a_launch_with_zero_twice() {
    let zero = |limb: u8| (12, [limb, 0, 0], 0, 0, 0);
    let ntt = |limb: u8| (7, [limb, limb, 0], 0, 0, 0);
    let bodies = vec![vec![zero(0)], vec![zero(4), ntt(0), ntt(4)]];
    let limbs: Vec<u8> = (0..10).collect();
    let calls = vec![(1, 0, limbs.clone()), (1, 1, limbs)];
    let ring_program = testing::program_with_calls(11, &(bodies, calls), false);
    let machine = Machine::rpu_128x128();
    let limits = Limits { rings: 2, window: 64, ..Limits::LINES };
    let choice = (Keys::Streamed, Merit::Cycles);
    let runtime = Runtime::with_limits(&ring_program, &machine, choice, limits).unwrap();
    let launches = runtime.launches();
    let is_twice = |sources: &[ValueId]| sources.len() == 2 && sources[0] == sources[1];
    assert!(launches.launches.iter().any(|launch| is_twice(launches.sources(launch))));
    let program = program(&runtime.plan(true));
    let (timeline, model) = (runtime.plan(true).timeline(), model(&program, &machine));
    model.unwrap().assert_equal(&timeline.unwrap(), 0);
}

/// The results of each launch.
fn results(launches: &Launches) -> Vec<Vec<ValueId>> {
    launches.launches.iter().map(|launch| launches.results(launch).to_vec()).collect()
}

fn with_order(lifted: &Launches, order: &[usize]) -> Launches {
    let mut launches = lifted.clone();
    launches.launches = order.iter().map(|&at| lifted.launches[at].clone()).collect();
    launches
}

/// Whether a launch reads what another makes.
fn follows(launches: &Launches, later: usize, earlier: usize) -> bool {
    let [later, earlier] = [later, earlier].map(|at| &launches.launches[at]);
    launches.sources(later).iter().any(|read| launches.results(earlier).contains(read))
}

/// The deep order, or the lean one.
fn ordered(lifted: &Launches, is_lean: bool) -> Vec<usize> {
    let all = &lifted.launches;
    let makers: Vec<Vec<usize>> = (0..all.len())
        .map(|launch| (0..all.len()).filter(|&it| follows(lifted, launch, it)).collect())
        .collect();
    let reads = |launch: usize| lifted.sources(&all[launch]);
    let is_read: Vec<ValueId> = all.iter().flat_map(|launch| lifted.sources(launch)).copied().collect();
    let is_made: Vec<ValueId> = all.iter().flat_map(|launch| lifted.results(launch)).copied().collect();
    let mut order: Vec<usize> = Vec::new();
    while order.len() < all.len() {
        let place = |launch: &usize| order.iter().position(|other| other == launch);
        let complete = |launch: usize| makers[launch].iter().map(|maker| place(maker).map(|at| at + 1)).max();
        let is_ready = |launch: &usize| {
            place(launch).is_none() && makers[*launch].iter().all(|maker| place(maker).is_some())
        };
        let growth = |launch: usize| {
            let made = lifted.results(&all[launch]).iter().filter(|limb| is_read.contains(limb)).count();
            let is_read_later = |limb: &ValueId| {
                let is_left = |other: &usize| *other != launch && place(other).is_none();
                (0..all.len()).filter(is_left).any(|other| reads(other).contains(limb))
            };
            let ends = |limb: &&ValueId| is_made.contains(limb) && !is_read_later(limb);
            made as i64 - reads(launch).iter().filter(ends).count() as i64
        };
        let rank = |&launch: &usize| (if is_lean { -growth(launch) } else { 0 }, complete(launch));
        // Of equals, the last one here.
        let next = (0..all.len()).rev().filter(is_ready).max_by_key(rank);
        order.push(next.expect("a launch whose operands are complete"));
    }
    order
}
