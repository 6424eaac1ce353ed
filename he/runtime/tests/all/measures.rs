//! Figures of merit on random generated programs and machines.
//!
//! `RUNTIME_CASES=200 cargo test -p runtime --test all measures -- --nocapture` prints them for 200 programs.

use codegen::{Choice, PlanChoice, Request};
use programs::{DATAFLOWS, Options, ParameterSet, find_program, generate};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus as Random;
use ring_program::RingProgram;
use runtime::kernels::Timed;
use runtime::lift::Work;
use runtime::schedule::INSTRUCTION_BYTES;
use runtime::{Keys, Lifted, Merit, Runtime, Timeline};
use sim::machine::BankMapping;
use sim::{Clock, Machine};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
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

/// A program on a machine: its name, its timeline, and [`least_ns`].
struct Case {
    name: String,
    timeline: Timeline,
    least_ns: f64,
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
        let vdm = machine.vdm.size_mib;
        let name = format!("{name}, {} HPLEs, {vdm} MiB, {} GB/s", machine.hple.count, machine.hbm.gb_per_s);
        Some(Case { name, timeline, least_ns })
    })
    .flatten()
    .take(cases as usize)
}

/// A time below which no schedule of these launches in this order can be: a run begins after the loads of all that it and
/// those before it read and that a VDM of this size, which always keeps the words of the nearest next use, does not have any more;
/// and what it and those after it write is saved after its end.
fn least_ns(program: &RingProgram, machine: &Machine, runtime: &Runtime<'_>) -> f64 {
    let (launches, kernels) = (runtime.launches(), runtime.kernels());
    let isa = machine.instruction_set();
    let n = program.degree().get();
    // Tables have the numbers from here on.
    let values = launches.launches.iter().flat_map(|launch| launches.results(launch));
    let first_table = 1 + values.map(|value| value.index()).max().unwrap_or(0);
    let mut tables = HashMap::new();
    let tasks: Vec<(&Timed, Vec<(Item, u64)>)> = launches
        .launches
        .iter()
        .map(|launch| {
            let timed = match (launch.work, launches.batch(launch)) {
                (Work::Elementwise(shape), _) => kernels.elementwise(shape),
                (_, Some(batch)) => kernels.operation(batch),
                (_, None) => unreachable!("no program here moves words"),
            };
            let mut operands: Vec<_> =
                launches.sources(launch).iter().map(|source| (source.index(), n)).collect();
            if let Work::Operation(operation) = launch.work {
                let rings = launches.rings(program, launch);
                let words = u64::from(timed.table_words) / rings.len() as u64;
                for ring in rings {
                    let next = first_table + tables.len();
                    let table = *tables.entry((operation, ring)).or_insert(next);
                    // Limbs of one ring share it.
                    if operands.iter().all(|&(known, _)| known != table) {
                        operands.push((table, words));
                    }
                }
            }
            (timed, operands)
        })
        .collect();
    let mut vdm = Vdm::new(machine.vdm_words().into(), &tasks);
    let mut fetched = HashSet::new();
    let latency = machine.hbm.latency_ns;
    let overhead = f64::from(machine.launch.cycles) / Clock::of(machine).ghz();
    let (mut loaded, mut done, mut runs) = (0.0, 0.0_f64, Vec::new());
    for (index, (launch, (timed, operands))) in launches.launches.iter().zip(&tasks).enumerate() {
        let results = launches.results(launch);
        let missing = vdm.launch(index, timed, operands, results.iter().map(|result| (result.index(), n)));
        let unread = results.iter().filter(|result| !vdm.uses.contains_key(&result.index())).count() as u64;
        if fetched.insert(std::ptr::from_ref(*timed)) {
            loaded += machine.hbm.occupancy_ns(INSTRUCTION_BYTES * timed.instructions as u64);
        }
        let before = loaded;
        for run in 1..=u64::from(timed.runs) {
            // The words that are there may be those of the first runs.
            let needed = operands.iter().zip(&missing).map(|((_, words), missing)| {
                (words * run / u64::from(timed.runs)).saturating_sub(words - missing)
            });
            loaded = before + machine.hbm.occupancy_ns(isa.bytes(needed.sum()));
            done = done.max(loaded + latency) + overhead + timed.run_ns();
            let saved = isa.bytes(unread * n) / u64::from(timed.runs);
            runs.push((done, machine.hbm.occupancy_ns(saved)));
        }
    }
    let mut saved = 0.0;
    let ends = runs.into_iter().rev().map(|(done, save)| {
        saved += save;
        done + if saved > 0.0 { saved + latency } else { 0.0 }
    });
    ends.fold(0.0, f64::max)
}

/// What launches read: limbs, by the indices of their values, and tables.
type Item = usize;

/// A VDM that keeps any words, those of the nearest next use. Nothing loads fewer words up to any launch.
struct Vdm {
    capacity: u64,
    /// The launches that read each item, the last one first.
    uses: HashMap<Item, Vec<usize>>,
    /// The words of items that are read again, by their next uses.
    kept: BTreeMap<(usize, Item), u64>,
}

impl Vdm {
    fn new(capacity: u64, tasks: &[(&Timed, Vec<(Item, u64)>)]) -> Self {
        let mut uses: HashMap<Item, Vec<usize>> = HashMap::new();
        for (index, (_, operands)) in tasks.iter().enumerate().rev() {
            operands.iter().for_each(|&(item, _)| uses.entry(item).or_default().push(index));
        }
        Self { capacity, uses, kept: BTreeMap::new() }
    }

    /// The words of each operand that a launch loads. Kernels for other numbers of rings may have larger tables.
    fn launch(
        &mut self,
        index: usize,
        timed: &Timed,
        operands: &[(Item, u64)],
        results: impl Iterator<Item = (Item, u64)>,
    ) -> Vec<u64> {
        let missing = operands
            .iter()
            .map(|&(item, words)| words.saturating_sub(self.kept.remove(&(index, item)).unwrap_or(0)));
        let missing = missing.collect();
        if !timed.is_elementwise {
            // It has all of its operands at once; its results may take their place.
            let own: u64 = operands.iter().map(|&(_, words)| words).sum();
            self.keep(self.capacity.saturating_sub(own));
        }
        for &(item, _) in operands {
            self.uses.get_mut(&item).and_then(Vec::pop);
        }
        for (item, words) in operands.iter().copied().chain(results) {
            if let Some(&next) = self.uses.get(&item).and_then(|uses| uses.last()) {
                self.kept.insert((next, item), words);
            }
        }
        self.keep(self.capacity);
        missing
    }

    /// Keeps up to so many words.
    fn keep(&mut self, most: u64) {
        let mut beyond = self.kept.values().sum::<u64>().saturating_sub(most);
        while beyond > 0 {
            let mut farthest = self.kept.last_entry().expect("some words");
            let leaving = beyond.min(*farthest.get());
            *farthest.get_mut() -= leaving;
            if *farthest.get() == 0 {
                farthest.remove();
            }
            beyond -= leaving;
        }
    }
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
