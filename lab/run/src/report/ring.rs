//! The document of a ring program's run.

use super::RunReport;
use crate::stream::OffChip;
use runtime::Report;
use sim::Clock;

impl RunReport {
    /// The report with the result of the runtime.
    pub fn of_ring(self, report: Report) -> Self {
        let Report {
            n,
            parameters,
            keys,
            key_bytes,
            optimise,
            mapping,
            schedules_tried,
            time_us,
            operations,
            operations_by_name,
            lifted_operations,
            unused_operations,
            least_bytes,
            ..
        } = report;
        let Report { costs, hbm, compute, binds, binds_over_time, vdm_peak_words, energy, area, .. } = report;
        let clock = Clock::of(&self.machine);
        let frequency_ghz = clock.ghz();
        Self {
            cycles: Some((time_us * 1e3 * frequency_ghz).ceil() as u64),
            frequency_ghz: Some(frequency_ghz),
            clock_binds: Some(clock.binds().to_owned()),
            time_us: Some(time_us),
            hbm: Some(OffChip::Ring(hbm)),
            n: Some(n),
            slot_level_ns: parameters
                .as_ref()
                .and_then(|parameters| parameters.slot_levels)
                .map(|slot_levels| 1e3 * time_us / slot_levels as f64),
            parameters,
            keys: Some(keys),
            key_mib: Some(key_bytes as f64 / f64::from(1 << 20)),
            optimise,
            mapping: Some(mapping),
            schedules_tried: Some(schedules_tried),
            operations: Some(operations),
            operations_by_name: Some(operations_by_name),
            lifted_operations: Some(lifted_operations),
            unused_operations: Some(unused_operations),
            least_bytes: Some(least_bytes),
            kernels: Some(costs.iter().map(|(name, cost)| (name.clone(), cost.launches)).collect()),
            costs: Some(costs),
            compute: Some(compute),
            binds: Some(binds),
            binds_over_time: Some(binds_over_time),
            vdm_peak_words: Some(vdm_peak_words),
            area_mm2: area.total(),
            area_rpu_mm2: area.rpu(),
            area_breakdown_mm2: area,
            beyond_reticle: area.is_beyond_reticle(),
            ..self.with_energy(&energy, time_us)
        }
    }
}
