//! Mappings of random homomorphic operations: bounds of their times, their files, and more of a resource.
//!
//! `MONOTONY_CASES=400 cargo test --release -p rpu-runtime --test all mappings -- --nocapture` prints the
//! worst pairs.

use crate::bounds::{least_in_any_order_ns, least_ns};
use crate::cases;
use programs::{DATAFLOWS, Options, ParameterSet, find_program, generate};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus as Random;
use ring_program::RingProgram;
use runtime::mapping::{Batch, Form, Mapping, Order, Recipes};
use runtime::{Choice, Keys, Lifted, Merit, Runtime};
use sim::machine::{BankMapping, Values};
use sim::{Clock, Machine};

/// A random key switch, product or rotation, and its name.
pub(crate) fn program(rng: &mut Random) -> (RingProgram, String) {
    let log2 = rng.random_range(11..=14);
    let (levels, special) = (rng.random_range(2..=12), rng.random_range(1..=4));
    let bits = rng.random_range(40..=60);
    let digits = rng.random_range(1..=levels.min(4));
    // All digits are needed.
    let digits = usize::div_ceil(levels, levels.div_ceil(digits));
    // P is no less than a digit.
    let special = special.max(levels.div_ceil(digits));
    let text = format!(
        "n = {}\nq = [{{ bits = {bits}, count = {levels} }}]\np = [{{ bits = {bits}, count = {special} }}]\ndigits = {digits}\nsecurity = \"none\"\n",
        1 << log2
    );
    let set = ParameterSet::parse("random", "random.toml", &text, None).unwrap();
    let name = ["keyswitch", "hmult", "hrot"][rng.random_range(0..3)];
    let dataflow = DATAFLOWS[rng.random_range(0..DATAFLOWS.len())];
    let level = rng.random_range(2..=levels);
    let options = Options::of([("level", level.to_string()), ("dataflow", dataflow.name.to_owned())]);
    let program = generate(&find_program(name).unwrap(), &set, &options).unwrap();
    (program, format!("{name} {} 2^{log2} {level}/{levels}+{special}, {digits} digits", dataflow.name))
}

/// The HPLEs, the banks and the mapping of the machines. Few, since each takes searches for kernels.
const CORES: [(u32, u32, BankMapping); 5] = [
    (32, 64, BankMapping::Interleaved),
    (64, 64, BankMapping::Xor),
    (128, 128, BankMapping::Interleaved),
    (128, 256, BankMapping::Xor),
    (256, 256, BankMapping::Interleaved),
];

/// A random machine.
pub(crate) fn machine(rng: &mut Random) -> Machine {
    let mut machine = Machine::rpu_128x128();
    machine
        .edit(|values| {
            (values.hple.count, values.vdm.banks, values.vdm.mapping) =
                CORES[rng.random_range(0..CORES.len())];
            values.vdm.size_mib = 1 << rng.random_range(0..=4);
            values.hbm.gb_per_s = f64::from(1 << rng.random_range(6..=10));
            values.isa.word_bits = [64, 128][rng.random_range(0..2)];
            values.hbm.latency_ns = [0.0, 100.0][rng.random_range(0..2)];
        })
        .unwrap();
    machine
}

/// A random mapping that a search for the fastest one tries.
fn mapping(rng: &mut Random) -> Mapping {
    Mapping {
        order: [Order::Modulus, Order::Program][rng.random_range(0..2)],
        batch: Batch::ALL[rng.random_range(0..4)],
        recipes: [Recipes::Fastest, Recipes::SmallTables][rng.random_range(0..2)],
        elementwise: Form::ALL[rng.random_range(0..3)],
    }
}

/// No mapping gives a time below a bound; the search finds one that is no slower than its start and than a
/// random one of its last pass; and a given mapping gives its own time.
#[test]
fn a_search_is_no_slower_than_its_start_and_its_mapping_gives_its_time() {
    let mut rng = Random::seed_from_u64(1);
    let mut done = 0;
    while done < cases("MAPPING_CASES", 6) {
        let ((program, name), machine) = (program(&mut rng), machine(&mut rng));
        let Ok(lifted) = Lifted::without_search(&program, &machine) else { continue };
        let run = |choice: Choice| Runtime::of(&lifted, &machine, (Keys::Streamed, choice)).unwrap();
        let found = run(Merit::Cycles.into());
        let Ok(timeline) = found.time(false) else { continue };
        done += 1;
        let of = |mapping| Some(run(Choice::Given(mapping)).time(false).ok()?.total_ns);
        assert_eq!(of(found.mapping()), Some(timeline.total_ns), "{name}: {}", found.mapping());
        assert!(
            found.schedules() <= 12 && of(Mapping::START).is_some_and(|start| timeline.total_ns <= start)
        );
        for mapping in [found.mapping(), mapping(&mut rng)] {
            let runtime = run(Choice::Given(mapping));
            let Ok(timeline) = runtime.time(false) else { continue };
            let [total, compute, channel] = [timeline.total_ns, timeline.compute_ns, timeline.channel_ns];
            let least = least_ns(&program, &machine, &runtime);
            let in_any_order = least_in_any_order_ns(&program, &machine, &runtime);
            let bounds = [compute, channel, least, in_any_order];
            assert!(bounds.iter().all(|&bound| total >= bound), "{name}, {mapping}: {total} and {bounds:?}");
        }
    }
}

/// Times above this ratio are slower.
const SLOWER: f64 = 1.01;

/// The cycles of a program, and its mapping; `None` if it does not fit.
fn cycles(lifted: &Lifted<'_>, machine: &Machine) -> Option<(f64, Mapping)> {
    let runtime = Runtime::of(lifted, machine, (Keys::Streamed, Merit::Cycles.into())).ok()?;
    Some((runtime.time(false).ok()?.total_ns * Clock::of(machine).ghz(), runtime.mapping()))
}

/// A machine with other values, whose off-chip memory and VDM have the same speed in cycles.
fn with(machine: &Machine, edit: impl Fn(&mut Values)) -> Machine {
    let before = Clock::of(machine).ghz();
    let mut other = machine.clone();
    let access_cycles = machine.vdm_access_cycles();
    other
        .edit(|values| {
            values.vdm.access_cycles = access_cycles;
            edit(values);
        })
        .unwrap();
    let ratio = Clock::of(&other).ghz() / before;
    other
        .edit(|values| {
            values.hbm.gb_per_s *= ratio;
            values.hbm.latency_ns /= ratio;
        })
        .unwrap();
    other
}

#[test]
fn more_of_a_resource_seldom_costs_time() {
    // Its name, whether kernels are the same, and the doubled resource.
    type Resource = (&'static str, bool, fn(&mut Values));
    let resources: [Resource; 3] = [
        ("VDM", false, |values| values.vdm.size_mib *= 2),
        ("HPLEs", false, |values| values.hple.count *= 2),
        ("bandwidth", true, |values| values.hbm.gb_per_s *= 2.0),
    ];
    let mut rng = Random::seed_from_u64(2);
    let mut ratios = [const { Vec::new() }; 3];
    let count = cases("MONOTONY_CASES", 2);
    let mut done = 0;
    while done < count {
        let ((program, name), machine) = (program(&mut rng), machine(&mut rng));
        let own = with(&machine, |_| {});
        let Ok(lifted) = Lifted::without_search(&program, &own) else { continue };
        let Some((before, first)) = cycles(&lifted, &own) else { continue };
        done += 1;
        for ((resource, has_same_kernels, edit), ratios) in resources.iter().zip(&mut ratios) {
            let more = with(&machine, edit);
            let other = if *has_same_kernels { None } else { Lifted::without_search(&program, &more).ok() };
            let after = cycles(other.as_ref().unwrap_or(&lifted), &more);
            let (after, second) = after.expect("more room than before");
            let ratio = after / before;
            if ratio > SLOWER {
                println!(
                    "{ratio:.3} with more {resource}: {name}, {} HPLEs, {} banks, {} MiB, {} GB/s, {} bits; \
                     {first}; then {second}",
                    machine.hple.count,
                    machine.vdm.banks,
                    machine.vdm.size_mib,
                    machine.hbm.gb_per_s,
                    machine.isa.word_bits
                );
            }
            ratios.push(ratio);
        }
    }
    let held = resources.iter().zip(&ratios).filter(|((resource, ..), ratios)| {
        let slower = ratios.iter().filter(|&&ratio| ratio > SLOWER).count();
        let worst = ratios.iter().copied().fold(0.0, f64::max);
        println!("more {resource}: {slower} of {} slower, at worst {worst:.3}", ratios.len());
        worst < 1.02 && 200 * slower <= ratios.len()
    });
    assert_eq!(held.count(), resources.len());
}
