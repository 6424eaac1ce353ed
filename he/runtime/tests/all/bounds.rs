//! Times below which no schedule of the launches of a program can be: in their order, and in any order.

use ring_program::RingProgram;
use runtime::Runtime;
use runtime::launches::kernels::Timed;
use runtime::launches::{Launch, Work};
use runtime::schedule::INSTRUCTION_BYTES;
use sim::{Clock, Machine};
use std::collections::{BTreeMap, HashMap, HashSet};

/// A launch: its kernel, and the words of what it reads and writes.
struct Job<'r> {
    timed: &'r Timed,
    operands: Vec<(Item, u64)>,
    results: Vec<(Item, u64)>,
}

impl Job<'_> {
    fn runs(&self) -> u64 {
        self.timed.runs.into()
    }

    /// The time of one run, in ns.
    fn run_ns(&self, machine: &Machine) -> f64 {
        f64::from(machine.launch.cycles) / Clock::of(machine).ghz() + self.timed.run_ns()
    }
}

/// The launches of a program.
fn jobs<'r>(program: &RingProgram, runtime: &'r Runtime<'_>) -> Vec<Job<'r>> {
    let (launches, kernels) = (runtime.launches(), runtime.kernels());
    let n = program.degree().get();
    // Tables have the numbers from here on.
    let values = launches.launches.iter().flat_map(|launch| launches.results(launch));
    let first_table = 1 + values.map(|value| value.index()).max().unwrap_or(0);
    let mut tables = HashMap::new();
    let job = |launch: &Launch| {
        let timed = match (launch.work, launches.batch(launch)) {
            (Work::Elementwise(shape), _) => kernels.elementwise(shape),
            (_, Some(batch)) => kernels.operation(batch),
            (_, None) => unreachable!("no program here moves words"),
        };
        let mut operands: Vec<_> =
            launches.sources(launch).iter().map(|source| (source.index(), n)).collect();
        if let Work::Operation(operation) = launch.work {
            let rings = launches.rings(program, launch);
            let words = u64::from(timed.table_words);
            for ring in rings {
                let next = first_table + tables.len();
                let table = *tables.entry((operation, ring)).or_insert(next);
                // Limbs of one ring share it.
                if operands.iter().all(|&(known, _)| known != table) {
                    operands.push((table, words));
                }
            }
        }
        let results = launches.results(launch).iter().map(|result| (result.index(), n)).collect();
        Job { timed, operands, results }
    };
    launches.launches.iter().map(job).collect()
}

/// A time below which no schedule of these launches in this order can be: a run begins after the loads of all
/// that it and those before it read and that a VDM of this size, which always keeps the words of the nearest
/// next use, does not have any more; and what it and those after it write is saved after its end.
pub(crate) fn least_ns(program: &RingProgram, machine: &Machine, runtime: &Runtime<'_>) -> f64 {
    let jobs = jobs(program, runtime);
    let isa = machine.instruction_set();
    let mut vdm = Vdm::new(machine.vdm_words().into(), &jobs);
    let mut fetched = HashSet::new();
    let latency = machine.hbm.latency_ns;
    let (mut loaded, mut done, mut runs) = (0.0, 0.0_f64, Vec::new());
    for (index, job) in jobs.iter().enumerate() {
        let Job { timed, operands, results } = job;
        let missing = vdm.launch(index, job);
        let unread = results.iter().filter(|(result, _)| !vdm.uses.contains_key(result));
        let unread: u64 = unread.map(|&(_, words)| words).sum();
        if fetched.insert(std::ptr::from_ref(*timed)) {
            loaded += machine.hbm.occupancy_ns(INSTRUCTION_BYTES * timed.instructions as u64);
        }
        let before = loaded;
        for run in 1..=job.runs() {
            // The words in the VDM may serve the first runs.
            let needed = operands
                .iter()
                .zip(&missing)
                .map(|((_, words), missing)| (words * run / job.runs()).saturating_sub(words - missing));
            loaded = before + machine.hbm.occupancy_ns(isa.bytes(needed.sum()));
            done = done.max(loaded + latency) + job.run_ns(machine);
            runs.push((done, machine.hbm.occupancy_ns(isa.bytes(unread) / job.runs())));
        }
    }
    let mut saved = 0.0;
    let ends = runs.into_iter().rev().map(|(done, save)| {
        saved += save;
        done + if saved > 0.0 { saved + latency } else { 0.0 }
    });
    ends.fold(0.0, f64::max)
}

/// A time below which no schedule of these launches in any order can be, with a VDM of any size. A launch
/// begins after the launches that it depends on, and after the first loads of what it and they read; after
/// its end run those that depend on it, and what it and they write for good is saved. With these times before
/// and after each of them, neither the launches on the RPU nor the transfers on the channel can be over
/// earlier even if each could be cut anywhere.
pub(crate) fn least_in_any_order_ns(program: &RingProgram, machine: &Machine, runtime: &Runtime<'_>) -> f64 {
    let jobs = jobs(program, runtime);
    let (isa, latency) = (machine.instruction_set(), machine.hbm.latency_ns);
    let occupancy = |words: u64| machine.hbm.occupancy_ns(isa.bytes(words));
    let maker: HashMap<Item, usize> =
        jobs.iter().zip(0..).flat_map(|(job, index)| job.results.iter().map(move |r| (r.0, index))).collect();
    let read: HashSet<Item> = jobs.iter().flat_map(|job| &job.operands).map(|operand| operand.0).collect();
    // A program is an item of its own.
    let first_program = 1 + read.iter().chain(maker.keys()).max().copied().unwrap_or(0);
    let mut programs = HashMap::new();
    let (mut forward, mut backward) = (Vec::new(), Vec::new());
    for job in &jobs {
        let next = first_program + programs.len();
        let program = *programs.entry(std::ptr::from_ref(job.timed)).or_insert(next);
        let fetch = machine.hbm.occupancy_ns(INSTRUCTION_BYTES * job.timed.instructions as u64);
        let part = |&(item, words): &(Item, u64)| Transfer {
            item,
            ns: occupancy(words),
            run_ns: occupancy(words / job.runs()),
        };
        let given = job.operands.iter().filter(|operand| !maker.contains_key(&operand.0)).map(part);
        let parts = given.chain([Transfer { item: program, ns: fetch, run_ns: fetch }]).collect();
        let before: HashSet<usize> =
            job.operands.iter().filter_map(|operand| maker.get(&operand.0).copied()).collect();
        let ns = job.runs() as f64 * job.run_ns(machine);
        forward.push(Side { before, parts, ns });
        let unread = job.results.iter().filter(|result| !read.contains(&result.0));
        backward.push(Side { before: HashSet::new(), parts: unread.map(part).collect(), ns });
    }
    let last = jobs.len() - 1;
    for (index, side) in forward.iter().enumerate() {
        side.before.iter().for_each(|&before| {
            backward[before].before.insert(last - index);
        });
    }
    backward.reverse();
    let heads = heads(&forward, latency);
    let mut tails = self::heads(&backward, latency);
    tails.reverse();
    backward.reverse();
    let launches = forward.iter().zip(heads.iter().zip(&tails));
    let launches = launches.map(|(side, (&head, &tail))| Cut { head, ns: side.ns, tail });
    // Of each item that is loaded: its time, and the least time after its arrival.
    let mut loads: HashMap<Item, (f64, f64)> = HashMap::new();
    let mut transfers = Vec::new();
    for (index, job) in jobs.iter().enumerate() {
        let run_ns = job.run_ns(machine);
        for part in &forward[index].parts {
            let after = if part.item < first_program { run_ns } else { forward[index].ns } + tails[index];
            let load = loads.entry(part.item).or_insert((part.ns, after));
            *load = (load.0.max(part.ns), load.1.min(after));
        }
        for part in &backward[index].parts {
            let end = heads[index] + forward[index].ns;
            transfers.push(Cut { head: end, ns: part.run_ns, tail: latency });
            let head = heads[index] + run_ns;
            transfers.push(Cut { head, ns: part.ns - part.run_ns, tail: latency });
        }
    }
    transfers.extend(loads.into_values().map(|(ns, after)| Cut { head: 0.0, ns, tail: latency + after }));
    cut_anywhere(launches.collect()).max(cut_anywhere(transfers))
}

/// What a launch needs before it, or leaves after it.
struct Side {
    /// The launches before it.
    before: HashSet<usize>,
    parts: Vec<Transfer>,
    /// The time of the launch.
    ns: f64,
}

/// An item that the channel carries.
struct Transfer {
    item: Item,
    /// The time on the channel.
    ns: f64,
    /// That of the words of one run.
    run_ns: f64,
}

/// The earliest begin of each launch, those before it first.
fn heads(sides: &[Side], latency: f64) -> Vec<f64> {
    let mut heads: Vec<f64> = Vec::new();
    let mut ancestors: Vec<HashSet<usize>> = Vec::new();
    for side in sides {
        let of_direct = side.before.iter().flat_map(|&before| &ancestors[before]);
        let all: HashSet<usize> = of_direct.chain(&side.before).copied().collect();
        let mut carried: HashMap<Item, f64> = HashMap::new();
        let whole = all.iter().flat_map(|&before| &sides[before].parts).map(|part| (part.item, part.ns));
        for (item, ns) in whole.chain(side.parts.iter().map(|part| (part.item, part.run_ns))) {
            let known = carried.entry(item).or_default();
            *known = known.max(ns);
        }
        let carried: f64 = carried.into_values().sum();
        let mut launches: Vec<(f64, f64)> = all.iter().map(|&it| (heads[it], sides[it].ns)).collect();
        launches.sort_by(|one, other| one.0.total_cmp(&other.0));
        let done = launches.into_iter().fold(0.0, |done: f64, (head, ns)| done.max(head) + ns);
        heads.push(done.max(if carried > 0.0 { carried + latency } else { 0.0 }));
        ancestors.push(all);
    }
    heads
}

/// A job of one resource: the time before it, its own, and that after it.
struct Cut {
    head: f64,
    ns: f64,
    tail: f64,
}

/// The least time of jobs of one resource that can be cut anywhere: of those that can run, the one with the
/// longest tail runs (Jackson's rule).
fn cut_anywhere(mut jobs: Vec<Cut>) -> f64 {
    jobs.sort_by(|one, other| one.head.total_cmp(&other.head));
    let mut waiting = jobs.into_iter().peekable();
    let (mut now, mut end, mut ready): (f64, f64, Vec<Cut>) = (0.0, 0.0, Vec::new());
    loop {
        while let Some(job) = waiting.next_if(|job| job.head <= now) {
            ready.push(job);
        }
        let next = waiting.peek().map(|job| job.head);
        let longest = (0..ready.len()).max_by(|&a, &b| ready[a].tail.total_cmp(&ready[b].tail));
        match (longest, next) {
            (Some(job), Some(next)) if now + ready[job].ns > next => {
                ready[job].ns -= next - now;
                now = next;
            }
            (Some(job), _) => {
                now += ready[job].ns;
                end = end.max(now + ready.swap_remove(job).tail);
            }
            (None, Some(next)) => now = next,
            (None, None) => return end,
        }
    }
}

/// What launches read: limbs, by the indices of their values, and tables.
type Item = usize;

/// A VDM that keeps any words, the ones of nearest next use. Nothing loads fewer words up to any launch.
struct Vdm {
    capacity: u64,
    /// The launches that read each item, the last one first.
    uses: HashMap<Item, Vec<usize>>,
    /// The words of items that are read again, by their next uses.
    kept: BTreeMap<(usize, Item), u64>,
}

impl Vdm {
    fn new(capacity: u64, jobs: &[Job<'_>]) -> Self {
        let mut uses: HashMap<Item, Vec<usize>> = HashMap::new();
        for (index, job) in jobs.iter().enumerate().rev() {
            job.operands.iter().for_each(|&(item, _)| uses.entry(item).or_default().push(index));
        }
        Self { capacity, uses, kept: BTreeMap::new() }
    }

    /// The words of each operand that a launch loads. Kernels for other numbers of rings may have larger
    /// tables.
    fn launch(&mut self, index: usize, Job { timed, operands, results }: &Job<'_>) -> Vec<u64> {
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
        for &(item, words) in operands.iter().chain(results) {
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
