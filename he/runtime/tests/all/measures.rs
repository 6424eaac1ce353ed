//! Figures of merit on random generated programs and machines.
//!
//! `RUNTIME_CASES=200 cargo test -p runtime --test all measures -- --nocapture` prints them for 200 programs.

use crate::bounds::{least_in_any_order_ns, least_ns};
use crate::moves::moved;
use codegen::{Choice, PlanChoice, Request};
use programs::{DATAFLOWS, Options, ParameterSet, find_program, generate};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus as Random;
use ring_program::RingProgram;
use runtime::{Keys, Lifted, Merit, Runtime, Timeline};
use sim::Machine;
use sim::machine::BankMapping;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

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

/// The recipes of quick searches for machines with a VDM of 16 MiB and words of 128 bits. Neither changes the cycles of a kernel, if
/// an access takes as many.
#[derive(Default)]
pub(crate) struct Recipes(RefCell<HashMap<String, Choice>>);

impl Recipes {
    /// The program on a machine; `None` if it does not fit.
    pub(crate) fn lift<'p>(&self, program: &'p RingProgram, machine: &Machine) -> Option<Arc<Lifted<'p>>> {
        let choose = |request: &Request, machine: &Machine| self.choose(request, machine);
        Lifted::with_recipes(program, machine, &choose).ok().map(Arc::new)
    }

    fn choose(&self, request: &Request, machine: &Machine) -> Result<Choice, codegen::Error> {
        let mut core = Machine::rpu_128x128();
        core.edit(|values| {
            (values.hple.count, values.vdm.banks, values.vdm.mapping) =
                (machine.hple.count, machine.vdm.banks, machine.vdm.mapping);
            (values.vdm.size_mib, values.vdm.access_cycles) = (16, machine.vdm_access_cycles());
        })
        .expect("only the size and the width of words differ");
        // Limbs of one ring share a table.
        let first = |ring| request.rings.iter().position(|other| other == ring);
        let rings: Vec<_> = request.rings.iter().map(first).collect();
        let key = format!("{} {rings:?} {:?} {:?}", request.name(), request.parameters, core.speed());
        if let Some(known) = self.0.borrow().get(&key) {
            return Ok(known.clone());
        }
        let choice = codegen::choose(request, &core, &PlanChoice::Best)?;
        self.0.borrow_mut().insert(key, choice.clone());
        Ok(choice)
    }
}

/// A program on a machine: its name, its timeline, [`least_ns`], [`least_in_any_order_ns`] and [`moved`].
struct Case {
    name: String,
    timeline: Timeline,
    least_ns: f64,
    in_any_order_ns: f64,
    moved: Timeline,
}

/// Random programs on random machines; those that do not fit are left out.
fn timelines(cases: u32) -> impl Iterator<Item = Case> {
    let (mut rng, recipes) = (Random::seed_from_u64(1), Recipes::default());
    std::iter::repeat_with(move || {
        let ((program, name), machine) = (program(&mut rng), machine(&mut rng));
        let lifted = recipes.lift(&program, &machine)?;
        let runtime = Runtime::of(lifted, &machine, (Keys::Streamed, Merit::Cycles)).ok()?;
        let timeline = runtime.time(false).ok()?;
        let least_ns = least_ns(&program, &machine, &runtime);
        let in_any_order_ns = least_in_any_order_ns(&program, &machine, &runtime);
        let moved = moved(&program, &machine, &runtime);
        let vdm = machine.vdm.size_mib;
        let name = format!("{name}, {} HPLEs, {vdm} MiB, {} GB/s", machine.hple.count, machine.hbm.gb_per_s);
        Some(Case { name, timeline, least_ns, in_any_order_ns, moved })
    })
    .flatten()
    .take(cases as usize)
}

/// The value that a share of some values, in percent, is below.
fn percentile(values: &[f64], percent: usize) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values[(values.len() * percent / 100).min(values.len() - 1)]
}

#[test]
fn time_is_near_that_of_the_busier_side() {
    // The time over the busier side's time, or over that and the least for the order of the launches; the least for any order
    // over the busier side; and the time over the busier side if launches move.
    let mut ratios: Vec<([f64; 4], String)> = Vec::new();
    for Case { name, timeline, least_ns, in_any_order_ns, moved } in timelines(cases("RUNTIME_CASES", 5)) {
        let [total, compute, channel] = [timeline.total_ns, timeline.compute_ns, timeline.channel_ns];
        assert!(total >= compute && total >= channel && total >= least_ns, "{name}: {total} and {least_ns}");
        let moved_ns = moved.total_ns;
        assert!(
            total >= moved_ns && moved_ns >= in_any_order_ns,
            "{name}: {total}, {moved_ns}, {in_any_order_ns}"
        );
        for (kernel, cost) in &timeline.costs {
            assert!(cost.time_ns >= cost.bound_ns, "{kernel} in {name} takes less than its bound");
        }
        let busier = compute.max(channel);
        let us = [total, compute, channel, least_ns, in_any_order_ns, moved_ns].map(|ns| ns / 1e3);
        let [us, compute, channel, least, any, in_moved] = us;
        let name = format!(
            "{name}: {us:.1} us, compute {compute:.1}, channel {channel:.1}, least {least:.1}, in any order {any:.1}, moved {in_moved:.1}"
        );
        let least = total / busier.max(least_ns);
        let of_moved = moved_ns / moved.compute_ns.max(moved.channel_ns);
        ratios.push(([total / busier, least, in_any_order_ns.max(busier) / busier, of_moved], name));
    }
    let of = |column: usize| {
        let values: Vec<f64> = ratios.iter().map(|(ratio, _)| ratio[column]).collect();
        (percentile(&values, 50), percentile(&values, 90))
    };
    let [busier, least, in_any_order, moved] = [0, 1, 2, 3].map(of);
    let print = |what: &str, (median, most): (f64, f64)| {
        println!("{what}: median {median:.3}, 90% {most:.3}");
    };
    print(&format!("time over max(compute, channel) of {}", ratios.len()), busier);
    print("time over max(compute, channel, least for this order)", least);
    print("least for any order over max(compute, channel)", in_any_order);
    print("time over max(compute, channel) if launches move", moved);
    ratios.sort_by(|one, other| other.0[0].total_cmp(&one.0[0]));
    for ([busier, least, any, moved], name) in ratios.iter().take(ratios.len() / 8) {
        println!("{busier:.3} {least:.3} {any:.3} {moved:.3} {name}");
    }
    // The lines of 200 programs, which few programs do not have to hold; the default number does.
    assert!(busier.0 < 1.08 && busier.1 < 1.25, "{busier:?}");
    assert!(least.0 < 1.1 && least.1 < 1.35, "{least:?}");
}
