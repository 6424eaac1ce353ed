//! The result of a run.

mod profile;
mod trace;

pub use self::profile::{Entry, LaunchShare, Owner, Profile};
pub use self::trace::{Load, TRACKS};
use crate::launches::Launches;
use crate::launches::facts::Resource;
use crate::mapping::Mapping;
use crate::schedule::Timeline;
use crate::schedule::traffic::{Keys, Kind};
use b512_asm::Pipe;
use codegen::Merit;
use ring_program::{Parameters, RingProgram};
use serde::{Deserialize, Serialize};
use sim::{Area, Machine, RunEnergy, Work};
use std::collections::BTreeMap;

/// Intervals of equal length for which a report names the binding resource.
const INTERVALS: usize = 50;

/// The result of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct Report {
    /// The ring degree.
    pub n: u64,
    /// The origin of keys.
    pub keys: Keys,
    /// The bytes of the keys that a memory holds: the limbs that the program reads, once each, without what
    /// comes from a seed.
    pub key_bytes: u64,
    /// What its mapping minimises; none if the mapping was given.
    pub optimise: Option<Merit>,
    /// How it was mapped to the machine.
    pub mapping: Mapping,
    /// The number of schedules that the search for the mapping tried.
    pub schedules_tried: usize,
    /// The parameter set, if the program's generator or manifest says it.
    pub parameters: Option<Parameters>,
    /// The time on the machine.
    pub time_us: f64,
    /// The operations of the program: its lines, without `halt`.
    pub operations: u64,
    /// The operations by opcode.
    pub operations_by_name: BTreeMap<String, u64>,
    /// The operations without a launch of their own: fused with others, or renamed.
    pub lifted_operations: u64,
    /// The operations that no output depends on. They are not executed.
    pub unused_operations: u64,
    /// The costs by name of the kernel.
    pub costs: BTreeMap<String, Cost>,
    /// The compulsory bytes of transfers, which no mapping undercuts without keys on the chip: each limb of
    /// an input that a launch reads, and each limb of an output that one makes, once.
    pub least_bytes: u64,
    /// The off-chip memory.
    pub hbm: Hbm,
    /// The kernels.
    pub compute: Compute,
    /// The share of the time that each resource limits. `front_end` stands for kernels whose instructions
    /// take the front end longer than any pipe, `latency` for those that leave all of these idle for half of
    /// their cycles or longer, `hbm` for the time without a kernel.
    pub binds: BTreeMap<String, f64>,
    /// The resource that limits most of each of some intervals of equal length.
    pub binds_over_time: Vec<String>,
    /// The largest occupancy of the VDM.
    pub vdm_peak_words: u64,
    /// The energy of the run.
    pub energy: RunEnergy,
    /// The area of the machine, of the memory of resident keys, and of the interface of the off-chip memory.
    pub area: Area,
}

/// The cost of all launches of one name.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Cost {
    /// The launches.
    pub launches: u64,
    /// The lines that they execute.
    pub operations: u64,
    /// The time of their kernels.
    pub time_us: f64,
    /// A lower bound of this time: for each kernel, the busiest resource or the longest chain of dependent
    /// instructions.
    pub bound_us: f64,
    /// The energy of their kernels.
    pub energy_uj: f64,
}

/// The off-chip memory.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Hbm {
    /// The bytes of all transfers by kind.
    pub bytes_by_kind: BTreeMap<String, u64>,
    /// The bytes that the memory must have.
    pub needed_bytes: u64,
    /// The share of the time in which the channel is busy.
    pub busy: f64,
}

/// The kernels.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Compute {
    /// The share of the time in which a kernel runs.
    pub busy: f64,
    /// The time of all kernels by the sum of their lower bounds; none without a kernel.
    pub bound_ratio: Option<f64>,
}

impl Report {
    /// The report of a timeline: with its work, the bytes and the origin of keys, and what its kernels
    /// minimise.
    pub(crate) fn new(
        program: &RingProgram,
        machine: &Machine,
        launches: &Launches,
        (renamed, unused): (u64, u64),
        timeline: &Timeline,
        (work, key_bytes, keys): (&Work<'_>, u64, Keys),
        (mapping, optimise, schedules_tried): (Mapping, Option<Merit>, usize),
    ) -> Self {
        let share = |part: f64| if timeline.total_ns > 0.0 { part / timeline.total_ns } else { 0.0 };
        let mut binds: BTreeMap<String, f64> = BTreeMap::new();
        for (resource, span) in timeline.binds.iter() {
            *binds.entry(resource.name().to_owned()).or_default() += share(span.end_ns - span.begin_ns);
        }
        let cost = |cost: &crate::schedule::Cost| Cost {
            launches: cost.launches,
            operations: cost.lines,
            time_us: cost.time_ns / 1e3,
            bound_us: cost.bound_ns / 1e3,
            energy_uj: cost.energy_uj,
        };
        let costs: BTreeMap<String, Cost> =
            timeline.costs.iter().map(|(name, of)| ((*name).to_owned(), cost(of))).collect();
        let sum = |of: fn(&Cost) -> f64| costs.values().map(of).sum::<f64>();
        Self {
            n: program.degree().get(),
            keys,
            key_bytes,
            optimise,
            mapping,
            schedules_tried,
            parameters: program.parameters().cloned(),
            time_us: work.time_us,
            operations: program.length(),
            operations_by_name: program
                .lines_by_opcode()
                .into_iter()
                .map(|(opcode, count)| (opcode.to_owned(), count))
                .collect(),
            lifted_operations: launches.lifted() + renamed,
            unused_operations: unused,
            least_bytes: timeline.hbm.compulsory_bytes,
            hbm: Hbm {
                bytes_by_kind: Kind::ALL
                    .iter()
                    .map(|&kind| (kind.name().to_owned(), timeline.traffic[kind]))
                    .collect(),
                needed_bytes: timeline.hbm.bytes(),
                busy: share(timeline.channel_ns),
            },
            compute: Compute {
                busy: share(timeline.compute_ns),
                bound_ratio: Some(sum(|cost| cost.time_us) / sum(|cost| cost.bound_us))
                    .filter(|r| r.is_finite()),
            },
            binds,
            binds_over_time: over_time(timeline),
            vdm_peak_words: timeline.peak_vdm_words,
            costs,
            energy: RunEnergy::of(machine, work),
            area: Area::of_run(machine, &work.usage()),
        }
    }
}

/// The resource that limits most of each interval.
fn over_time(timeline: &Timeline) -> Vec<String> {
    let length = timeline.total_ns / INTERVALS as f64;
    let mut binds = timeline.binds.iter().peekable();
    let mut most = Vec::with_capacity(INTERVALS);
    for interval in 0..INTERVALS {
        let (begin, end) = (interval as f64 * length, (interval + 1) as f64 * length);
        let mut times: Vec<(Resource, f64)> = Vec::new();
        while let Some(&(resource, span)) = binds.peek() {
            if span.begin_ns >= end {
                break;
            }
            let time = span.end_ns.min(end) - span.begin_ns.max(begin);
            match times.iter_mut().find(|(known, _)| *known == resource) {
                Some((_, total)) => *total += time,
                None => times.push((resource, time)),
            }
            if span.end_ns > end {
                break;
            }
            binds.next();
        }
        most.extend(
            times
                .into_iter()
                .max_by(|a, b| a.1.total_cmp(&b.1))
                .map(|(resource, _)| resource.name().to_owned()),
        );
    }
    most
}

/// The name of a resource for people, as short as in a cell of a table.
pub fn resource_label(resource: &str) -> &str {
    match resource {
        "hbm" => "HBM",
        "front_end" => "front end",
        name => match Pipe::ALL.into_iter().find(|pipe| pipe.name() == name) {
            Some(pipe) => pipe.label(),
            None => name,
        },
    }
}

/// What limits the time, for people.
pub fn limit(resource: &str) -> &str {
    match resource {
        "hbm" => "off-chip transfers",
        "latency" => "latency of instructions",
        name => resource_label(name),
    }
}
