//! What pages say of a ring program on a machine.

use crate::page::Fault;
use lab_run::{OffChip, RunReport};
use lab_sweep::{Definition, Plan, Record, generate, records};
use runtime::resource_label;
use sim::Machine;
use std::collections::BTreeMap;

/// The resource that limits most of the time, with its share.
pub(crate) fn most(binds: &BTreeMap<String, f64>) -> String {
    let most = binds.iter().max_by(|a, b| a.1.total_cmp(b.1));
    most.map_or_else(String::new, |(resource, share)| {
        format!("{} {:.0}%", resource_label(resource), 100.0 * share)
    })
}

/// How many of so many points did not run, as the rest of a sentence; nothing if all did.
pub(crate) fn failures(points: usize, ran: usize) -> String {
    if points == ran { String::new() } else { format!("; {} could not run", points - ran) }
}

/// The time of a task on a machine, in us; `task` has the keys of a point, each on a line of its own.
pub(crate) fn simulated(machine: &Machine, task: &str) -> Result<f64, Fault> {
    let changes = machine.changes_from(&Machine::rpu_128x128());
    let others = changes.iter().filter(|change| !task.contains(&format!("{} = ", change.key)));
    let keys: String = others.map(|change| format!("{} = {}\n", change.key, change.to)).collect();
    let definition = Definition::parse("simulated.toml", &format!("[[list]]\n{task}{keys}"))?;
    let record = records(&Plan::new(&definition)?, &generate).remove(0);
    let report = record.report.ok_or_else(|| format!("{task}: {:?}", record.error))?;
    Ok(report.time_us.ok_or("a run in time")?)
}

/// A point of a sweep that ran.
#[derive(Clone, Copy)]
pub(crate) struct Design<'r> {
    record: &'r Record,
    report: &'r RunReport,
}

impl<'r> Design<'r> {
    /// The points that ran.
    pub(crate) fn all(records: &'r [Record]) -> impl Iterator<Item = Self> {
        records.iter().filter_map(|record| Some(Self { record, report: record.report.as_ref()? }))
    }

    pub(crate) fn machine(&self) -> &'r Machine {
        &self.report.machine
    }

    /// A setting of the point; empty without one.
    pub(crate) fn text(&self, key: &str) -> &'r str {
        self.record.point.get(key).and_then(|value| value.as_str()).unwrap_or_default()
    }

    pub(crate) fn time_us(&self) -> f64 {
        self.report.time_us.expect("a run in time")
    }

    /// The time of a bootstrap, over the slots of its message and the levels left.
    pub(crate) fn slot_level_ns(&self) -> f64 {
        self.report.slot_level_ns.expect("a bootstrap in time")
    }

    /// The area of the chip, with or without the interface of the off-chip memory.
    pub(crate) fn area_mm2(&self, whole: bool) -> f64 {
        if whole { self.report.area_mm2 } else { self.report.area_rpu_mm2 }
    }

    /// The power, with or without the off-chip memory and its interface.
    pub(crate) fn power_w(&self, whole: bool) -> f64 {
        let power_w = if whole { self.report.power_w } else { self.report.power_rpu_w };
        power_w.expect("a run in time")
    }

    /// The share of the time in which a kernel runs.
    pub(crate) fn compute_share(&self) -> f64 {
        self.report.compute.map_or(0.0, |compute| compute.busy)
    }

    /// The time of all kernels by the sum of their lower bounds.
    pub(crate) fn bound_ratio(&self) -> Option<f64> {
        self.report.compute.and_then(|compute| compute.bound_ratio)
    }

    /// The share of the time in which the channel of the off-chip memory is busy.
    pub(crate) fn channel_share(&self) -> f64 {
        match &self.report.hbm {
            Some(OffChip::Ring(hbm)) => hbm.busy,
            Some(OffChip::Stream(stream)) => stream.hbm_utilisation,
            None => 0.0,
        }
    }

    /// Cells of a table: areas without and with the interface, powers without and with the off-chip memory,
    /// and the resource that limits most of the time.
    pub(crate) fn costs(&self) -> [String; 5] {
        let [area, power] = [Self::area_mm2, Self::power_w];
        let [rpu, chip, watts, all] =
            [area(self, false), area(self, true), power(self, false), power(self, true)]
                .map(|cost| format!("{cost:.1}"));
        let chip = if self.report.beyond_reticle { format!("{chip} †") } else { chip };
        [rpu, chip, watts, all, most(self.report.binds.as_ref().expect("a ring program in time"))]
    }
}
