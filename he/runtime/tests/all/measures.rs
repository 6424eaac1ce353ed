//! Figures of merit on random generated programs and machines.
//!
//! `RUNTIME_CASES=200 cargo test -p runtime --test all measures -- --nocapture` prints them for 200 programs.

use programs::{DATAFLOWS, Options, ParameterSet, find_program, generate};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus as Random;
use ring_program::RingProgram;
use runtime::lift::Work;
use runtime::schedule::INSTRUCTION_BYTES;
use runtime::{Keys, Runtime, Timeline};
use sim::machine::BankMapping;
use sim::{Clock, Machine};
use std::collections::HashSet;

/// The number of cases of a test: the default, or the value of an environment variable.
pub(crate) fn cases(variable: &str, default: u32) -> u32 {
    std::env::var(variable).map_or(default, |text| text.parse().expect("a number of cases"))
}

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
    let options = Options { level: Some(rng.random_range(2..=levels)), dataflow, ..Options::default() };
    let program = generate(&find_program(name).unwrap(), &set, &options).unwrap();
    let level = options.level.unwrap_or(levels);
    (program, format!("{name} {} 2^{log2} {level}/{levels}+{special}, {digits} digits", dataflow.name))
}

/// A random machine.
pub(crate) fn machine(rng: &mut Random) -> Machine {
    let mut machine = Machine::rpu_128x128();
    machine
        .edit(|values| {
            values.hple.count = 1 << rng.random_range(5..=8);
            values.vdm.banks = 1 << rng.random_range(5..=8);
            values.vdm.size_mib = 1 << rng.random_range(0..=4);
            values.hbm.gb_per_s = f64::from(1 << rng.random_range(6..=10));
            values.isa.word_bits = [64, 128][rng.random_range(0..2)];
            values.vdm.mapping = [BankMapping::Interleaved, BankMapping::Xor][rng.random_range(0..2)];
            values.hbm.latency_ns = [0.0, 100.0][rng.random_range(0..2)];
        })
        .unwrap();
    machine
}

/// A program on a machine: its name, its timeline, and [`least_ns`].
struct Case {
    name: String,
    timeline: Timeline,
    least_ns: f64,
}

/// Random programs on random machines; those that do not fit are left out.
fn timelines(cases: u32) -> impl Iterator<Item = Case> {
    let mut rng = Random::seed_from_u64(1);
    std::iter::repeat_with(move || {
        let ((program, name), machine) = (program(&mut rng), machine(&mut rng));
        let runtime = Runtime::new(&program, &machine, Keys::Streamed).ok()?;
        let timeline = runtime.time(false).ok()?;
        let least_ns = least_ns(&program, &machine, &runtime);
        let vdm = machine.vdm.size_mib;
        let name = format!("{name}, {} HPLEs, {vdm} MiB, {} GB/s", machine.hple.count, machine.hbm.gb_per_s);
        Some(Case { name, timeline, least_ns })
    })
    .flatten()
    .take(cases as usize)
}

/// A time below which no schedule of these launches in this order can be, whatever the VDM holds: a run begins after
/// the first loads of all that it and those before it read, and what it and those after it write is saved after its end.
fn least_ns(program: &RingProgram, machine: &Machine, runtime: &Runtime<'_>) -> f64 {
    let (launches, kernels) = (runtime.launches(), runtime.kernels());
    let isa = machine.instruction_set();
    let limb = isa.bytes(program.degree().get());
    let is_read: HashSet<_> = launches.launches.iter().flat_map(|launch| launches.sources(launch)).collect();
    let (mut known, mut tables, mut fetched) = (HashSet::new(), HashSet::new(), HashSet::new());
    let latency = machine.hbm.latency_ns;
    let overhead = f64::from(machine.launch.cycles) / Clock::of(machine).ghz();
    let (mut loaded, mut done, mut runs) = (0.0, 0.0_f64, Vec::new());
    for launch in &launches.launches {
        let timed = match (launch.work, launches.batch(launch)) {
            (Work::Elementwise(shape), _) => kernels.elementwise(shape),
            (_, Some(batch)) => kernels.operation(batch),
            (_, None) => unreachable!("no program here moves words"),
        };
        let sources = launches.sources(launch).iter().filter(|source| known.insert(**source)).count() as u64;
        let results =
            launches.results(launch).iter().filter(|result| !is_read.contains(result)).count() as u64;
        known.extend(launches.results(launch));
        let mut whole = 0;
        for ring in launches.rings(program, launch) {
            if launches.batch(launch).is_some_and(|batch| tables.insert((batch.operation, ring))) {
                whole += isa.bytes(u64::from(timed.table_words) / launches.moduli(launch).len() as u64);
            }
        }
        if fetched.insert(std::ptr::from_ref(timed)) {
            whole += INSTRUCTION_BYTES * timed.instructions as u64;
        }
        loaded += machine.hbm.occupancy_ns(whole);
        for _ in 0..timed.runs {
            loaded += machine.hbm.occupancy_ns(sources * limb) / f64::from(timed.runs);
            done = done.max(loaded + latency) + overhead + timed.run_ns();
            runs.push((done, machine.hbm.occupancy_ns(results * limb) / f64::from(timed.runs)));
        }
    }
    let mut saved = 0.0;
    let ends = runs.into_iter().rev().map(|(done, save)| {
        saved += save;
        done + if saved > 0.0 { saved + latency } else { 0.0 }
    });
    ends.fold(0.0, f64::max)
}

/// The value that a share of some values, in percent, is below.
fn percentile(values: &[f64], percent: usize) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values[(values.len() * percent / 100).min(values.len() - 1)]
}

#[test]
fn time_is_near_that_of_the_busier_side() {
    let mut ratios: Vec<(f64, f64, String)> = Vec::new();
    for Case { name, timeline, least_ns } in timelines(cases("RUNTIME_CASES", 5)) {
        let [total, compute, channel] = [timeline.total_ns, timeline.compute_ns, timeline.channel_ns];
        assert!(total >= compute && total >= channel && total >= least_ns, "{name}: {total} and {least_ns}");
        for (kernel, cost) in &timeline.costs {
            assert!(cost.time_ns >= cost.bound_ns, "{kernel} in {name} takes less than its bound");
        }
        let busier = compute.max(channel);
        let [us, compute, channel, least] = [total, compute, channel, least_ns].map(|ns| ns / 1e3);
        let name =
            format!("{name}: {us:.1} us, compute {compute:.1}, channel {channel:.1}, least {least:.1}");
        ratios.push((total / busier, total / busier.max(least_ns), name));
    }
    let (busier, least): (Vec<f64>, Vec<f64>) = ratios.iter().map(|ratio| (ratio.0, ratio.1)).unzip();
    let of = |values: &[f64]| (percentile(values, 50), percentile(values, 90));
    let (busier, least) = (of(&busier), of(&least));
    println!(
        "time over max(compute, channel) of {}: median {:.3}, 90% {:.3}",
        ratios.len(),
        busier.0,
        busier.1
    );
    println!(
        "time over max(compute, channel, least for this order): median {:.3}, 90% {:.3}",
        least.0, least.1
    );
    ratios.sort_by(|one, other| other.0.total_cmp(&one.0));
    for (busier, least, name) in ratios.iter().take(ratios.len() / 8) {
        println!("{busier:.3} {least:.3} {name}");
    }
    assert!(busier.0 < 1.15 && busier.1 < 1.4, "{busier:?}");
    assert!(least.0 < 1.1 && least.1 < 1.35, "{least:?}");
}
