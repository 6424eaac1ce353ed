//! The profile of a run: whose each picosecond, byte and joule is.
//!
//! An owner is a stage, an operation on ciphertexts, a function of the program, and a kernel. Sums over
//! owners are those of the run: exact in picoseconds and bytes, and in joules up to rounding. The schedule
//! [accounts](crate::schedule::Account) for the time and the bytes of each launch. A launch with lines of
//! several owners is divided by the number of its lines, in whole picoseconds and bytes; what division leaves
//! goes to the largest remainders. The energy of a kernel belongs to its launches, the energy of transfers
//! and of expanded keys goes by bytes, and what a machine takes while time passes (leakage, idle clocks, the
//! memory's background) goes by time.

use crate::launches::Launch;
use crate::run::Runtime;
use crate::schedule::traffic::Kind;
use crate::schedule::{Account, Timeline};
use ring_program::{RegionIndex, RingProgram, Step};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use sim::{Events, Machine, RunEnergy, Work};
use std::collections::BTreeMap;

/// The profile of a run.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Profile {
    /// The entries, in the order of the first launches.
    pub entries: Vec<Entry>,
    /// All launches in order, those with several entries in parts. It is in no document.
    #[serde(skip)]
    pub parts: Vec<LaunchShare>,
}

/// What the launches of one kernel take for one owner.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Entry {
    /// The owner.
    #[serde(flatten)]
    pub owner: Owner,
    /// The name of the kernel; `permute` for movements of words.
    pub kernel: String,
    /// The launches with lines of this owner.
    pub launches: u64,
    /// These lines.
    pub lines: u64,
    /// The time, in ps.
    pub time_ps: u64,
    /// The part of the time in which transfers are waited for, in ps.
    pub waiting_ps: u64,
    /// The bytes of off-chip transfers by kind, without kinds of none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub bytes_by_kind: BTreeMap<String, u64>,
    /// The modular multiplications.
    pub multiplications: u64,
    /// The energy, in uJ.
    pub energy_uj: f64,
}

/// Whose lines they are.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
pub struct Owner {
    /// The stages, the outermost first; none if the program names none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<String>,
    /// The operations on ciphertexts, the outermost first; none if the program names none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<String>,
    /// The function, if the program has functions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
}

/// The part of a launch that belongs to an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LaunchShare {
    /// The index of the launch.
    pub launch: u32,
    /// The index of the entry.
    pub entry: u32,
    /// The time in which transfers are waited for, in ps. It comes first.
    pub waiting_ps: u64,
    /// The time in which the kernel runs or is launched, in ps.
    pub busy_ps: u64,
}

impl Owner {
    /// What stands for the names of a program without any.
    pub const UNNAMED: &str = "unnamed";

    /// The names from the stages to the function; `unnamed` if there is none.
    pub fn path(&self) -> Vec<&str> {
        let names = self.stages.iter().chain(&self.operations).chain(&self.function).map(String::as_str);
        let names: Vec<&str> = names.collect();
        if names.is_empty() { vec![Self::UNNAMED] } else { names }
    }
}

impl Entry {
    /// All bytes of off-chip transfers.
    pub fn bytes(&self) -> u64 {
        self.bytes_by_kind.values().sum()
    }
}

impl Runtime<'_> {
    /// The profile of a timeline with accounts.
    ///
    /// # Panics
    /// Panics if the timeline has no accounts, or is of another program.
    pub fn profile(&self, timeline: &Timeline) -> Profile {
        let launches = self.launches();
        assert_eq!(timeline.accounts.len(), launches.launches.len(), "an account of each launch");
        let mut owners = Owners::new(self.program);
        let mut profile = Profile::default();
        let (mut bytes, mut expanded) = (Vec::<[u64; Kind::ALL.len()]>::new(), Vec::<u64>::new());
        let mut known: FxHashMap<(u32, &'static str), u32> = FxHashMap::default();
        let mut lines = Vec::new();
        let mut weights: Vec<(u32, u64)> = Vec::new();
        for (index, (launch, account)) in (0..).zip(launches.launches.iter().zip(&timeline.accounts)) {
            lines.clear();
            for executed in launches.operations(launch) {
                lines.extend([executed.product, executed.result]);
            }
            if lines.is_empty() {
                lines.push(launch.first);
            }
            lines.sort_unstable();
            lines.dedup();
            let kernel = self.kernel(launch);
            let name = kernel.map_or("permute", |kernel| kernel.name);
            weights.clear();
            for &line in &lines {
                let owner = owners.of_line(launch, line);
                match weights.iter_mut().find(|(known, _)| *known == owner) {
                    Some((_, weight)) => *weight += 1,
                    None => weights.push((owner, 1)),
                }
            }
            for (owner, _) in &mut weights {
                *owner = *known.entry((*owner, name)).or_insert_with_key(|&(owner, name)| {
                    let owner = owners.names[owner as usize].clone();
                    profile.entries.push(Entry { owner, kernel: name.to_owned(), ..Entry::default() });
                    bytes.push([0; Kind::ALL.len()]);
                    expanded.push(0);
                    profile.entries.len() as u32 - 1
                });
            }
            let runs = kernel.map_or(0, |kernel| u64::from(kernel.runs));
            let multiplications = kernel.map_or(0, |kernel| runs * kernel.events.multiplications);
            let energy_uj = kernel.map_or(0.0, |kernel| kernel.launch_energy_uj());
            let &Account { time_ps, busy_ps, traffic, expanded_bytes } = account;
            let [waiting, busy, multiplications] =
                [time_ps - busy_ps, busy_ps, multiplications].map(|whole| divide(whole, &weights));
            for (place, &(entry, weight)) in weights.iter().enumerate() {
                let (waiting_ps, busy_ps) = (waiting[place], busy[place]);
                profile.parts.push(LaunchShare { launch: index, entry, waiting_ps, busy_ps });
                let entry = &mut profile.entries[entry as usize];
                entry.launches += 1;
                entry.lines += weight;
                entry.time_ps += waiting_ps + busy_ps;
                entry.waiting_ps += waiting_ps;
                entry.multiplications += multiplications[place];
                entry.energy_uj += energy_uj * weight as f64 / lines.len() as f64;
            }
            for (&(entry, _), part) in weights.iter().zip(divide(expanded_bytes, &weights)) {
                expanded[entry as usize] += part;
            }
            for &kind in Kind::ALL.iter().filter(|&&kind| traffic[kind] > 0) {
                for (&(entry, _), part) in weights.iter().zip(divide(traffic[kind], &weights)) {
                    bytes[entry as usize][kind as usize] += part;
                }
            }
        }
        for (entry, bytes) in profile.entries.iter_mut().zip(bytes) {
            let kinds = Kind::ALL.iter().map(|&kind| (kind.name().to_owned(), bytes[kind as usize]));
            entry.bytes_by_kind = kinds.filter(|(_, bytes)| *bytes > 0).collect();
        }
        self.add_energy(timeline, &mut profile.entries, &expanded);
        profile
    }

    /// Adds the energy beside that of kernels: of transfers and of expanded keys by bytes, and all else by
    /// time.
    fn add_energy(&self, timeline: &Timeline, entries: &mut [Entry], expanded: &[u64]) {
        let events = self.events();
        let work = timeline.work(&events, self.key_bytes_on_chip());
        let energy = RunEnergy::of(self.machine(), &work);
        let of_bytes = transfer_uj(self.machine(), work.off_chip_bytes.unwrap_or(0));
        let of_time = energy.total() - energy.kernels - energy.generator - of_bytes;
        let time_ps: u64 = entries.iter().map(|entry| entry.time_ps).sum();
        let bytes: u64 = entries.iter().map(Entry::bytes).sum();
        let share = |part: u64, whole: u64| part as f64 / whole.max(1) as f64;
        let all_expanded: u64 = expanded.iter().sum();
        for (entry, &expanded) in entries.iter_mut().zip(expanded) {
            entry.energy_uj += of_bytes * share(entry.bytes(), bytes)
                + energy.generator * share(expanded, all_expanded)
                + of_time * share(entry.time_ps, time_ps);
        }
    }
}

/// The energy of so many bytes of off-chip transfers, in no time.
fn transfer_uj(machine: &Machine, bytes: u64) -> f64 {
    let events = Events::default();
    let off_chip_bytes = Some(bytes);
    let work = Work { events: &events, time_us: 0.0, off_chip_bytes, key_bytes: 0, seeded_bytes: None };
    let energy = RunEnergy::of(machine, &work);
    energy.hbm + energy.bus
}

/// Divides a whole number by weights, which are not all zero. The parts are whole and add up to it; those
/// with the largest remainders get one more, the earlier one of equals.
fn divide(whole: u64, weights: &[(u32, u64)]) -> Vec<u64> {
    if let [_] = weights {
        return vec![whole];
    }
    let sum: u128 = weights.iter().map(|&(_, weight)| u128::from(weight)).sum();
    let exact = |&(_, weight): &(u32, u64)| u128::from(whole) * u128::from(weight);
    let mut parts: Vec<u64> = weights.iter().map(|weight| (exact(weight) / sum) as u64).collect();
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by_key(|&place| std::cmp::Reverse(exact(&weights[place]) % sum));
    let left = whole - parts.iter().sum::<u64>();
    order.iter().take(left as usize).for_each(|&place| parts[place] += 1);
    parts
}

/// A text with lines of its own: the body of a function, or a program without functions.
struct Text<'p> {
    program: &'p RingProgram,
    function: Option<&'p str>,
    /// The lines of the texts before it.
    first: usize,
    /// For each line, the innermost region.
    regions: Vec<Option<RegionIndex>>,
}

/// The owners of lines.
struct Owners<'p> {
    program: &'p RingProgram,
    texts: Vec<Text<'p>>,
    /// For each call, those of repeats again and again, the innermost region.
    calls: Vec<Option<RegionIndex>>,
    /// By the regions of call and line, and the text.
    known: FxHashMap<(Option<RegionIndex>, usize, Option<RegionIndex>), u32>,
    by_name: FxHashMap<Owner, u32>,
    names: Vec<Owner>,
}

impl<'p> Owners<'p> {
    fn new(program: &'p RingProgram) -> Self {
        let functions = program.functions().iter().map(|function| (function.body(), Some(function.name())));
        let own = program.functions().is_empty().then_some((program, None));
        let mut first = 0;
        let texts = functions.chain(own).map(|(program, function)| {
            let length = program.operations().len();
            let mut regions = vec![None; length];
            for (lines, region) in program.regions().segments(length) {
                regions[lines].fill(region);
            }
            first += length;
            Text { program, function, first: first - length, regions }
        });
        let texts = texts.collect();
        let mut written = vec![None; program.own_lines()];
        for (lines, region) in program.regions().segments(written.len()) {
            written[lines].fill(region);
        }
        let mut calls = Vec::new();
        add_calls(program.steps(), 0, &written, &mut calls);
        let (known, by_name) = (FxHashMap::default(), FxHashMap::default());
        Self { program, texts, calls, known, by_name, names: Vec::new() }
    }

    /// The index of the owner of a line, which a launch executes.
    fn of_line(&mut self, launch: &Launch, line: u32) -> u32 {
        let place = self.texts.partition_point(|text| text.first <= line as usize) - 1;
        let text = &self.texts[place];
        let inside = text.regions[line as usize - text.first];
        let call = self.calls.get(launch.call as usize).copied().flatten();
        if let Some(&owner) = self.known.get(&(call, place, inside)) {
            return owner;
        }
        let mut owner = Owner { function: text.function.map(str::to_owned), ..Owner::default() };
        for (program, region) in [(self.program, call), (text.program, inside)] {
            let names = region.map(|region| program.regions().owner(region)).unwrap_or_default();
            owner.stages.extend(names.stages.into_iter().map(str::to_owned));
            owner.operations.extend(names.operations.into_iter().map(str::to_owned));
        }
        let index = *self.by_name.entry(owner).or_insert_with_key(|owner| {
            self.names.push(owner.clone());
            self.names.len() as u32 - 1
        });
        self.known.insert((call, place, inside), index);
        index
    }
}

/// Adds the region of each call of some steps, of which the first call has the index `next` among those as
/// written. Returns the index of the next one.
fn add_calls(
    steps: &[Step],
    mut next: usize,
    written: &[Option<RegionIndex>],
    calls: &mut Vec<Option<RegionIndex>>,
) -> usize {
    for step in steps {
        match step {
            Step::Call(_) => {
                calls.push(written[next]);
                next += 1;
            }
            Step::Repeat(count, steps) => {
                let first = next;
                for _ in 0..count.get() {
                    next = add_calls(steps, first, written, calls);
                }
            }
        }
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_whole_and_add_up() {
        let weights = |weights: &[u64]| -> Vec<(u32, u64)> { (0..).zip(weights.iter().copied()).collect() };
        assert_eq!(divide(10, &weights(&[1, 1, 1])), [4, 3, 3], "of equals, the first");
        assert_eq!(divide(10, &weights(&[3, 1, 2])), [5, 2, 3], "5, 1.67 and 3.33");
        assert_eq!(
            divide(u64::MAX, &weights(&[u64::MAX / 2, u64::MAX / 2 + 1])).iter().sum::<u64>(),
            u64::MAX
        );
        assert_eq!(divide(0, &weights(&[2, 1])), [0, 0]);
        assert_eq!(divide(7, &weights(&[9])), [7]);
    }
}
