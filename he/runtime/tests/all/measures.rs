//! Figures of merit on random generated programs and machines.
//!
//! `RUNTIME_CASES=200 cargo test -p runtime --test all measures -- --nocapture` prints them for 200 programs.

use programs::{DATAFLOWS, Options, ParameterSet, find_program, generate};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus as Random;
use ring_program::RingProgram;
use runtime::{Keys, Runtime, Timeline};
use sim::Machine;
use sim::machine::BankMapping;

/// The number of cases of a test: the default, or the value of an environment variable.
pub(crate) fn cases(variable: &str, default: u32) -> u32 {
    std::env::var(variable).map_or(default, |text| text.parse().expect("a number of cases"))
}

/// A random key switch, product or rotation, and its name.
fn program(rng: &mut Random) -> (RingProgram, String) {
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
fn machine(rng: &mut Random) -> Machine {
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

/// Random programs and machines with their timelines; those that do not fit are left out.
fn timelines(cases: u32) -> impl Iterator<Item = (String, Machine, RingProgram, Timeline)> {
    let mut rng = Random::seed_from_u64(1);
    std::iter::repeat_with(move || {
        let ((program, name), machine) = (program(&mut rng), machine(&mut rng));
        let timeline = time(&program, &machine)?;
        let vdm = machine.vdm.size_mib;
        let name = format!("{name}, {} HPLEs, {vdm} MiB, {} GB/s", machine.hple.count, machine.hbm.gb_per_s);
        Some((name, machine, program, timeline))
    })
    .flatten()
    .take(cases as usize)
}

fn time(program: &RingProgram, machine: &Machine) -> Option<Timeline> {
    let runtime = Runtime::new(program, machine, Keys::Streamed).ok()?;
    runtime.time(false).ok()
}

/// The time over the longer one of computing and transferring.
fn over_bound(timeline: &Timeline) -> f64 {
    timeline.total_ns / timeline.compute_ns.max(timeline.channel_ns)
}

#[test]
fn time_is_near_that_of_the_busier_side() {
    let mut ratios: Vec<(f64, String)> = timelines(cases("RUNTIME_CASES", 10))
        .map(|(name, _, _, timeline)| {
            let [total, compute, channel] =
                [timeline.total_ns, timeline.compute_ns, timeline.channel_ns].map(|ns| ns / 1e3);
            assert!(total >= compute && total >= channel, "{name}");
            for (kernel, cost) in &timeline.costs {
                assert!(cost.time_ns >= cost.bound_ns, "{kernel} in {name} takes less than its bound");
            }
            (
                over_bound(&timeline),
                format!("{name}: {total:.1} us, compute {compute:.1}, channel {channel:.1}"),
            )
        })
        .collect();
    ratios.sort_by(|one, other| one.0.total_cmp(&other.0));
    let at = |share: usize| ratios[(ratios.len() * share / 100).min(ratios.len() - 1)].0;
    println!("time over max(compute, channel) of {}: median {:.3}, 90% {:.3}", ratios.len(), at(50), at(90));
    for (ratio, name) in ratios.iter().rev().take(12) {
        println!("{ratio:.3} {name}");
    }
    assert!(at(50) < 1.15 && at(90) < 1.4, "{} and {}", at(50), at(90));
}
