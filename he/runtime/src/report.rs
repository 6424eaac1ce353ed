//! The result of a run as one document.

use crate::facts::Resource;
use crate::lift::Launches;
use crate::schedule::Timeline;
use crate::traffic::Kind;
use ring_program::{Parameters, RingProgram};
use serde::Serialize;
use sim::{Area, Events, Machine, RunEnergy, Work};
use std::collections::BTreeMap;

/// Intervals of equal length for which a report names the binding resource.
const INTERVALS: usize = 50;

/// The result of a run.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Report {
    /// The ring degree.
    pub n: u64,
    /// The parameter set, if the program's generator or manifest says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Parameters>,
    /// The time on the machine.
    pub time_us: f64,
    /// The operations of the program: its lines, without `halt`.
    pub operations: u64,
    /// The operations without a launch of their own: fused with others, or renamed.
    pub lifted_operations: u64,
    /// The operations that no output depends on. They are not executed.
    pub unused_operations: u64,
    /// The launches by name of the kernel.
    pub kernels: BTreeMap<String, u64>,
    /// The costs by name of the kernel.
    pub costs: BTreeMap<String, Cost>,
    /// The off-chip memory.
    pub hbm: Hbm,
    /// The kernels.
    pub compute: Compute,
    /// The share of the time that each resource limits. `latency` stands for kernels whose pipes are
    /// all idle for half of their cycles or longer, `hbm` for the time without a kernel.
    pub binds: BTreeMap<&'static str, f64>,
    /// The resource that limits most of each of some intervals of equal length.
    pub binds_over_time: Vec<&'static str>,
    /// The largest occupancy of the VDM.
    pub vdm_peak_words: u64,
    /// The energy of the run: the sum of the following three.
    pub energy_uj: f64,
    /// The energy of all kernels.
    pub energy_kernels_uj: f64,
    /// The energy of the off-chip memory and its interface.
    pub energy_hbm_uj: f64,
    /// The energy of leakage and idle clocks.
    pub energy_static_uj: f64,
    /// The energy by the time, in W.
    pub power_w: f64,
    /// The area of the machine, of the memory of resident keys, and of the interface of the off-chip memory.
    pub area_mm2: f64,
    /// The area of each component.
    pub area_breakdown_mm2: Area,
    /// Whether the executor on big integers confirmed every output.
    pub checked: bool,
    /// The machine.
    pub machine: Machine,
    /// The simulation itself.
    pub simulator: Simulator,
}

/// The cost of all launches of one name.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Cost {
    /// The launches.
    pub launches: u64,
    /// The lines that they execute.
    pub operations: u64,
    /// The time of their kernels.
    pub time_us: f64,
    /// A lower bound of this time: the occupancy of the busiest pipe in each pass of each kernel.
    pub bound_us: f64,
    /// The energy of their kernels.
    pub energy_uj: f64,
}

/// The off-chip memory.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Hbm {
    /// The bytes of all transfers by kind.
    pub bytes_by_kind: BTreeMap<&'static str, u64>,
    /// The bytes that the memory must have.
    pub needed_bytes: u64,
    /// The share of the time in which the channel is busy.
    pub busy: f64,
}

/// The kernels.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Compute {
    /// The share of the time in which a kernel runs.
    pub busy: f64,
    /// The time of all kernels by the sum of their lower bounds; none without a kernel.
    pub bound_ratio: Option<f64>,
}

/// The time that the simulation took on this computer.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Simulator {
    /// The total.
    pub wall_s: f64,
    /// The execution on data; none if there was no data.
    pub functional_wall_s: Option<f64>,
    /// The generation and the timing of all kernels, and the schedule.
    pub timing_wall_s: f64,
}

impl Report {
    /// The report of a timeline, not checked: with the events of all kernels, and the bytes of keys in a memory of
    /// their own.
    pub(crate) fn new(
        program: &RingProgram,
        machine: &Machine,
        launches: &Launches,
        (renamed, unused): (u64, u64),
        timeline: &Timeline,
        (events, key_bytes): (&Events, u64),
    ) -> Self {
        let share = |part: f64| if timeline.total_ns > 0.0 { part / timeline.total_ns } else { 0.0 };
        let mut binds: BTreeMap<&'static str, f64> = BTreeMap::new();
        for (resource, span) in &timeline.binds {
            *binds.entry(resource.name()).or_default() += share(span.end_ns - span.begin_ns);
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
        let off_chip_bytes = Some(Kind::ALL.iter().map(|&kind| timeline.traffic[kind]).sum());
        let work = Work { events, time_us: timeline.total_ns / 1e3, off_chip_bytes, key_bytes };
        let (area, energy) = (Area::of_run(machine, &work.usage()), RunEnergy::of(machine, &work));
        let sum = |of: fn(&Cost) -> f64| costs.values().map(of).sum::<f64>();
        Self {
            n: program.degree().get(),
            parameters: program.parameters().cloned(),
            time_us: timeline.total_ns / 1e3,
            operations: program.operations().len() as u64,
            lifted_operations: launches.lifted() + renamed,
            unused_operations: unused,
            kernels: costs.iter().map(|(name, cost)| (name.clone(), cost.launches)).collect(),
            hbm: Hbm {
                bytes_by_kind: Kind::ALL.iter().map(|&kind| (kind.name(), timeline.traffic[kind])).collect(),
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
            energy_uj: energy.total(),
            energy_kernels_uj: energy.kernels,
            energy_hbm_uj: energy.hbm,
            energy_static_uj: energy.idle(),
            power_w: if work.time_us > 0.0 { energy.total() / work.time_us } else { 0.0 },
            costs,
            area_mm2: area.total(),
            area_breakdown_mm2: area,
            checked: false,
            machine: machine.clone(),
            simulator: Simulator::default(),
        }
    }
}

/// The resource that limits most of each interval.
fn over_time(timeline: &Timeline) -> Vec<&'static str> {
    let length = timeline.total_ns / INTERVALS as f64;
    let mut binds = timeline.binds.iter().peekable();
    let mut most = Vec::with_capacity(INTERVALS);
    for interval in 0..INTERVALS {
        let (begin, end) = (interval as f64 * length, (interval + 1) as f64 * length);
        let mut times: Vec<(Resource, f64)> = Vec::new();
        while let Some(&&(resource, span)) = binds.peek() {
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
            times.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).map(|(resource, _)| resource.name()),
        );
    }
    most
}

impl Report {
    /// The report as a table for reading.
    pub fn table(&self) -> String {
        let percent = |share: f64| format!("{:.1} %", 100.0 * share);
        let row = |name: &str, value: String| (name.to_owned(), value);
        let unused = match self.unused_operations {
            0 => String::new(),
            unused => format!(", {unused} without effect on an output"),
        };
        let mut rows =
            vec![row("machine", self.machine.name.clone()), row("ring degree", self.n.to_string())];
        if let Some(Parameters { set, log2_q, log2_p, log2_qp, security, key_switch_noise_bits }) =
            &self.parameters
        {
            rows.push(row("parameter set", set.clone()));
            rows.push(row("  log2 of Q, P, QP", format!("{log2_q}, {log2_p}, {log2_qp}")));
            rows.push(row("  security", security.clone()));
            rows.push(row("  noise of a key switch", format!("{key_switch_noise_bits} bits")));
        }
        rows.extend([
            row(
                "operations",
                format!("{}, {} fused or renamed{unused}", self.operations, self.lifted_operations),
            ),
            row("checked", if self.checked { "yes" } else { "no" }.to_owned()),
            row("time", format!("{:.3} us", self.time_us)),
            row("  a kernel runs", percent(self.compute.busy)),
            row("  off-chip channel busy", percent(self.hbm.busy)),
        ]);
        rows.extend(
            self.compute.bound_ratio.map(|ratio| row("  kernels over their bounds", format!("{ratio:.2}"))),
        );
        rows.push(row("area", format!("{:.3} mm2", self.area_mm2)));
        for (name, part) in self.area_breakdown_mm2.beside_the_machine() {
            rows.push(row(&format!("  {}", name.replace('_', " ")), format!("{part:.3} mm2")));
        }
        rows.push(row("energy", format!("{:.3} uJ", self.energy_uj)));
        rows.push(row("  kernels", format!("{:.3} uJ", self.energy_kernels_uj)));
        rows.push(row("  off chip", format!("{:.3} uJ", self.energy_hbm_uj)));
        rows.push(row("  static", format!("{:.3} uJ", self.energy_static_uj)));
        rows.push(row("power", format!("{:.3} W", self.power_w)));
        rows.push(row("off-chip memory needed", format!("{} bytes", self.hbm.needed_bytes)));
        let binds = self.binds.iter();
        rows.extend(binds.map(|(name, share)| row(&format!("limited by {}", limit(name)), percent(*share))));
        let traffic = self.hbm.bytes_by_kind.iter().filter(|(_, bytes)| **bytes > 0);
        rows.extend(traffic.map(|(name, bytes)| row(&format!("off-chip {name}"), format!("{bytes} bytes"))));
        rows.extend(self.costs.iter().map(|(name, cost)| {
            let Cost { launches, operations, time_us, energy_uj, .. } = cost;
            let launched = if *launches == 1 { "launch" } else { "launches" };
            let counts = format!("{launches} {launched} for {operations} of the operations");
            row(&format!("kernel {name}"), format!("{counts}, {time_us:.3} us, {energy_uj:.3} uJ"))
        }));
        let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        rows.iter().map(|(name, value)| format!("{name:width$}  {value}\n")).collect()
    }
}

/// The name of a resource that limits the time, for people.
pub fn limit(resource: &str) -> String {
    match resource {
        "hbm" => "off-chip transfers".to_owned(),
        "latency" => "latency of instructions".to_owned(),
        pipe => pipe.replace("load_store", "load/store"),
    }
}
