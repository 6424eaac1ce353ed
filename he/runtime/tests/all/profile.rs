//! Every picosecond, byte and joule of a run has an owner.

use crate::mappings;
use programs::{Options, ParameterSet, find_program, generate};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use ring_program::{FunctionIndex, Operation, Region, RegionKind, RingProgram};
use runtime::mapping::Order;
use runtime::schedule::traffic::Kind;
use runtime::testing::{random_calls, random_program};
use runtime::{Choice, Entry, Keys, Mapping, Profile, Runtime};
use sim::Machine;
use std::collections::BTreeMap;

fn runtime<'p>(program: &'p RingProgram, machine: &'p Machine, order: Order) -> Runtime<'p> {
    let mapping = Mapping { order, ..Mapping::START };
    Runtime::mapped(program, machine, (Keys::Streamed, Choice::Given(mapping))).unwrap()
}

fn bootstrap() -> RingProgram {
    let set = ParameterSet::built_in("lattigo-n16qp1546", Some(2048)).unwrap().unwrap();
    generate(&find_program("bootstrap").unwrap(), &set, &Options::default()).unwrap()
}

/// The sums of entries by an owner: time, bytes, energy.
fn sums<'p, K: Ord>(profile: &'p Profile, owner: impl Fn(&'p Entry) -> K) -> BTreeMap<K, (u64, u64, f64)> {
    let mut sums: BTreeMap<K, (u64, u64, f64)> = BTreeMap::new();
    for entry in &profile.entries {
        let sum = sums.entry(owner(entry)).or_default();
        *sum = (sum.0 + entry.time_ps, sum.1 + entry.bytes(), sum.2 + entry.energy_uj);
    }
    sums
}

/// Compares all sums of a profile with the totals of the timeline and of the report, and its parts with
/// recorded launches.
fn check(program: &RingProgram, machine: &Machine, order: Order) -> Profile {
    let runtime = runtime(program, machine, order);
    let timeline = runtime.accounted().unwrap();
    let (profile, report) = (runtime.profile(&timeline), runtime.report(&timeline));
    let total_ps = (timeline.total_ns * 1e3).round() as u64;
    let bytes: u64 = Kind::ALL.iter().map(|&kind| timeline.traffic[kind]).sum();
    let energy_uj = report.energy.total();
    let all: Vec<Vec<(u64, u64, f64)>> = vec![
        sums(&profile, |entry| &entry.owner.stages).into_values().collect(),
        sums(&profile, |entry| &entry.owner.operations).into_values().collect(),
        sums(&profile, |entry| &entry.owner.function).into_values().collect(),
        sums(&profile, |entry| &entry.kernel).into_values().collect(),
    ];
    for sums in all {
        assert_eq!(sums.iter().map(|sum| sum.0).sum::<u64>(), total_ps);
        assert_eq!(sums.iter().map(|sum| sum.1).sum::<u64>(), bytes);
        let energy: f64 = sums.iter().map(|sum| sum.2).sum();
        assert!((energy - energy_uj).abs() <= 1e-9 * energy_uj, "{energy} uJ of {energy_uj} uJ");
    }
    for &kind in Kind::ALL {
        let of_kind = |entry: &Entry| entry.bytes_by_kind.get(kind.name()).copied().unwrap_or(0);
        assert_eq!(
            profile.entries.iter().map(of_kind).sum::<u64>(),
            timeline.traffic[kind],
            "{}",
            kind.name()
        );
    }
    let busy: u64 = profile.entries.iter().map(|entry| entry.time_ps - entry.waiting_ps).sum();
    assert_eq!(busy, (timeline.compute_ns * 1e3).round() as u64);
    let multiplications: u64 = profile.entries.iter().map(|entry| entry.multiplications).sum();
    assert_eq!(multiplications, runtime.events().multiplications);
    // An account changes nothing, and neither does a record.
    let recorded = runtime.time(true).unwrap();
    assert_eq!((recorded.total_ns, &recorded.accounts), (timeline.total_ns, &timeline.accounts));
    // A launch has the time from the end of the one before to its own end; the last transfer's has what is
    // left.
    let mut of_launches = vec![0; recorded.runs.len()];
    profile.parts.iter().for_each(|part| of_launches[part.launch as usize] += part.waiting_ps + part.busy_ps);
    let (mut before, mut longer) = (0, Vec::new());
    for (run, time_ps) in recorded.runs.iter().zip(&of_launches) {
        let end = (run.span.end_ns * 1e3).round() as u64;
        match time_ps - (end - before) {
            0 => {}
            left => longer.push(left),
        }
        before = end;
    }
    let left = total_ps - before;
    assert_eq!(longer, [left].into_iter().filter(|&left| left > 0).collect::<Vec<_>>());
    // Busy shares are from all events.
    let loads = runtime.loads(&recorded, 100);
    let busy = |name| {
        let load = loads.iter().find(|load| load.name == name).unwrap();
        load.shares.iter().sum::<f64>() / 100.0 * timeline.total_ns
    };
    assert!((busy("HBM") - timeline.channel_ns).abs() <= 1e-6 * timeline.total_ns);
    let slots = f64::from(machine.hple.count) * sim::Clock::of(machine).ghz();
    let expected = runtime.events().multiplications as f64 / slots;
    assert!((busy("multipliers") - expected).abs() <= 1e-6 * timeline.total_ns);
    profile
}

/// The transforms of each stage, from the expansion's regions.
fn transforms(program: &RingProgram) -> BTreeMap<Vec<String>, u64> {
    let flat = program.flat();
    let mut counts = BTreeMap::new();
    for (lines, region) in flat.regions().segments(flat.own_lines()) {
        let owner = region.map(|region| flat.regions().owner(region)).unwrap_or_default();
        let is_transform =
            |operation: &&Operation| matches!(operation, Operation::Ntt(_) | Operation::Intt(_));
        let count = flat.operations()[lines].iter().filter(is_transform).count() as u64;
        let stages = owner.stages.into_iter().map(str::to_owned).collect();
        *counts.entry(stages).or_default() += count;
    }
    counts.retain(|_, count| *count > 0);
    counts
}

fn transforms_of(profile: &Profile) -> BTreeMap<Vec<String>, u64> {
    let mut counts = BTreeMap::new();
    for entry in profile.entries.iter().filter(|entry| ["ntt", "intt"].contains(&&*entry.kernel)) {
        *counts.entry(entry.owner.stages.clone()).or_default() += entry.lines;
    }
    counts
}

#[test]
fn stages_of_a_bootstrap_add_up() {
    let (program, machine) = (bootstrap(), Machine::rpu_128x128());
    for order in [Order::Modulus, Order::Program] {
        let profile = check(&program, &machine, order);
        let stages = sums(&profile, |entry| entry.owner.stages.first().map(String::as_str));
        for stage in ["coeff-to-slot", "eval-mod", "slot-to-coeff"] {
            assert!(stages[&Some(stage)].0 > 0, "{stage}");
        }
        assert!(profile.entries.iter().all(|entry| !entry.owner.operations.is_empty()));
        assert_eq!(transforms_of(&profile), transforms(&program));
    }
}

/// Nested regions of a text with this many lines: stages of some lines, with operations inside.
fn regions(rng: &mut Xoshiro256PlusPlus, lines: usize) -> Vec<Region> {
    let (mut regions, mut at) = (Vec::new(), 0);
    while at < lines {
        let end = (at + rng.random_range(1..=9)).min(lines);
        if rng.random_range(0..4) > 0 {
            let name = format!("stage {}", rng.random_range(0..3));
            regions.push(Region { lines: at..end, kind: RegionKind::Stage, name: name.into() });
            let inside = rng.random_range(at..end)..end;
            regions.push(Region { lines: inside, kind: RegionKind::Operation, name: "product".into() });
        }
        at = end;
    }
    regions
}

#[test]
fn random_programs_add_up() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(11);
    let mut machine = Machine::rpu_128x128();
    machine.edit(|values| values.vdm.size_mib = 1).unwrap();
    for case in 0..12 {
        let mut program = if case % 2 == 0 { random_calls(&mut rng) } else { random_program(&mut rng) };
        let unnamed = check(&program, &machine, Order::Modulus);
        assert!(unnamed.entries.iter().all(|entry| entry.owner.stages.is_empty()));
        if program.functions().is_empty() {
            assert!(unnamed.entries.iter().all(|entry| entry.owner.path() == ["unnamed"]));
        }
        let own = program.own_lines();
        program.set_regions(None, regions(&mut rng, own)).unwrap();
        let functions: Vec<(FunctionIndex, usize)> = program
            .functions()
            .iter()
            .map(|function| {
                let index = program.function_index(function.name()).unwrap();
                (index, function.body().own_lines())
            })
            .collect();
        for (function, lines) in functions {
            let regions = regions(&mut rng, lines);
            program.set_regions(Some(function), regions).unwrap();
        }
        for order in [Order::Modulus, Order::Program] {
            let named = check(&program, &machine, order);
            let total = |profile: &Profile| profile.entries.iter().map(|entry| entry.time_ps).sum::<u64>();
            if order == Order::Modulus {
                assert_eq!(total(&named), total(&unnamed), "names change no time");
            }
        }
    }
    let (program, _) = mappings::program(&mut rng);
    check(&program, &machine, Order::Modulus);
}
