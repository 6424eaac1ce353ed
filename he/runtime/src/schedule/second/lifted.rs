//! Both models on the launches of random ring programs, with calls and without. `LIFTED_CASES` is the number
//! of programs.

use super::{Launch, Program, model};
use crate::flow::ValueId;
use crate::launches::Work;
use crate::launches::kernels::Timed;
use crate::mapping::{Batch, Form, Mapping, Order, Recipes};
use crate::schedule::Plan;
use crate::schedule::place::Item;
use crate::schedule::traffic::{Keys, Kind};
use crate::{Choice, Lifted, Runtime, testing};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus as Random;
use sim::Machine;
use sim::machine::BankMapping;

/// The items and the launches, by the chapter: zero, inputs, results, then a table for each operation and
/// ring.
fn program(plan: &Plan<'_>) -> Program {
    let Plan { program, flow, launches, kernels, machine, .. } = plan;
    let n = program.degree().get() as u32;
    // A page has a sixteenth of a limb, a vector and a row of all banks at least.
    let page = (n / machine.vdm.limb_pages).max(machine.isa.vector_length).max(machine.vdm.banks);
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
            for ring in &rings {
                let table = (launch.work, recipe, *ring);
                let place = tables.iter().position(|known| *known == table).unwrap_or_else(|| {
                    tables.push(table);
                    items.push(Item::given(timed.table_words, Kind::Tables, 2));
                    tables.len() - 1
                });
                let item = flow.values + place;
                items[item].words = items[item].words.max(timed.table_words);
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
            let is_elementwise = matches!(launch.work, Work::Elementwise(_));
            let scalars =
                if is_elementwise { launches.scalars(launch).len() } else { timed.sdm_words as usize };
            let values = timed.moduli.len() + scalars;
            // An address has 28 bits and the numbers of a limb's pages. Tables and scratch words of several
            // limbs have several.
            let pages = machine.vdm_words() / page;
            let bits = 28 + n.div_ceil(page) * (32 - (pages - 1).leading_zeros());
            let tables = rings.len() as u32 * timed.table_words.div_ceil(page);
            let limbs = [tables, (timed.scratch_words as u32).div_ceil(page)]
                .map(|pages| pages.div_ceil(n.div_ceil(page)).max(1));
            let addresses = (timed.address_registers as u32 + limbs[0] + limbs[1] - 2) * bits.div_ceil(128);
            (timed.facts(), number as u32, [values as u64, addresses.into()])
        });
        of_launches.push(Launch { kernel, operands, sources, results: ids(launches.results(launch)) });
    }
    let capacity = (machine.vdm_words() / page).into();
    Program { items, launches: of_launches, capacity, page: page.into() }
}

/// A random mapping of the fastest recipes.
fn mapping(rng: &mut Random) -> Mapping {
    Mapping {
        order: [Order::Modulus, Order::Program][rng.random_range(0..2)],
        batch: Batch::ALL[rng.random_range(0..4)],
        recipes: Recipes::Fastest,
        elementwise: Form::ALL[rng.random_range(0..3)],
    }
}

/// The HPLEs, banks and lengths of vectors: with ports, and mappings of words to banks, twenty machines.
const CORES: [(u32, u32, u32); 5] =
    [(128, 128, 512), (32, 64, 512), (64, 32, 256), (256, 256, 1024), (64, 128, 512)];

#[test]
fn both_models_agree_on_programs_with_calls() {
    let cases = std::env::var("LIFTED_CASES").map_or(12, |cases| cases.parse().expect("a number"));
    let mut rng = Random::seed_from_u64(17);
    let (mut fitting, mut spilling) = (0, 0);
    for case in 0..cases {
        let ring_program =
            if case % 4 == 0 { testing::random_program(&mut rng) } else { testing::random_calls(&mut rng) };
        let mut machine = Machine::rpu_128x128();
        machine
            .edit(|values| {
                values.vdm.size_mib = 1;
                values.isa.word_bits = 128;
                (values.hple.count, values.vdm.banks, values.isa.vector_length) = CORES[case % CORES.len()];
                values.vdm.ports = 1 + (case / CORES.len() % 2) as u32;
                values.vdm.mapping = [BankMapping::Interleaved, BankMapping::Xor][case / 10 % 2];
                values.hbm.gb_per_s = rng.random_range(10.0..1000.0);
                values.hbm.latency_ns = [0.0, 33.3][rng.random_range(0..2)];
                values.hbm.turn_ns = [0.0, 12.5, 100.0][case % 3];
                values.generator.words_per_cycle = 1 << (case % 6);
                values.vdm.limb_pages = 1 << (case % 7);
                values.launch.cycles = [0, 1000][rng.random_range(0..2)];
                values.frontend.instruction_memory_kib = rng.random_range(4..64);
            })
            .unwrap();
        // So few limbs that programs spill.
        let machine = machine.with_half_of_the_vdm().with_half_of_the_vdm();
        let choice = (Keys::Streamed, Choice::Given(mapping(&mut rng)));
        // Some kernels need more than so small a VDM.
        let Ok(lifted) = Lifted::without_search(&ring_program, &machine) else { continue };
        let Ok(runtime) = Runtime::of(&lifted, &machine, choice) else { continue };
        let program = program(&runtime.plan(true));
        let (timeline, model) = (runtime.plan(true).timeline(), model(&program, &machine));
        assert_eq!(timeline.is_ok(), model.is_some(), "case {case}");
        let (Ok(timeline), Some(model)) = (timeline, model) else { continue };
        fitting += 1;
        spilling += usize::from(timeline.traffic[Kind::Spills] > 0);
        model.assert_equal(&timeline, case);
        let kinds = [Kind::Inputs, Kind::Keys, Kind::Outputs, Kind::Permutations];
        let least = timeline.hbm.compulsory_bytes;
        assert!(least <= kinds.map(|kind| timeline.traffic[kind]).iter().sum(), "case {case}");
    }
    assert!(2 * fitting > cases && 8 * spilling > cases, "{fitting} programs fit, {spilling} spill");
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
    let choice = (Keys::Streamed, Choice::Given(Mapping::START));
    let runtime = Runtime::mapped(&ring_program, &machine, choice).unwrap();
    let launches = runtime.launches();
    let is_twice = |sources: &[ValueId]| sources.len() == 2 && sources[0] == sources[1];
    assert!(launches.launches.iter().any(|launch| is_twice(launches.sources(launch))));
    let program = program(&runtime.plan(true));
    let (timeline, model) = (runtime.plan(true).timeline(), model(&program, &machine));
    model.unwrap().assert_equal(&timeline.unwrap(), 0);
}
