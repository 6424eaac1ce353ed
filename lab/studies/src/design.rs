//! What pages say of a ring program on a machine.

use lab_run::{OffChip, RunReport};
use lab_sweep::Record;
use sim::Machine;

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

    /// Cells of a table: areas without and with the interface, powers without and with the off-chip memory, and the
    /// resource that limits most of the time.
    pub(crate) fn costs(&self) -> String {
        let [area, power] = [Self::area_mm2, Self::power_w];
        let [rpu, chip, watts, all] =
            [area(self, false), area(self, true), power(self, false), power(self, true)];
        let binds = self.report.binds.iter().flatten().max_by(|a, b| a.1.total_cmp(b.1));
        let (name, share) = binds.expect("something limits a ring program");
        format!("{rpu:.1} | {chip:.1} | {watts:.1} | {all:.1} | {name} {:.0}%", 100.0 * share)
    }
}
