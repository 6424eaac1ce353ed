//! The results of a ring program, as far as sweeps record them.

use runtime::Report;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The timing of a ring program, with the energy of off-chip memory. The run has the energies of the kernels.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RingTiming {
    /// The time on the machine, with all transfers.
    pub time_us: f64,
    /// The cycles of the machine's clock in that time, rounded up.
    pub cycles: u64,
    /// The operations of the program.
    pub operations: u64,
    /// The launches by name of the kernel.
    pub kernels: BTreeMap<String, u64>,
    /// The share of the time in which a kernel runs.
    pub compute_busy: f64,
    /// The time of all kernels by the sum of their lower bounds; `None` without a kernel.
    pub compute_bound_ratio: Option<f64>,
    /// The share of the time in which the channel to the off-chip memory is busy.
    pub hbm_busy: f64,
    /// The bytes of all transfers.
    pub hbm_bytes: u64,
    /// The energy of all transfers.
    pub hbm_energy_uj: f64,
}

impl RingTiming {
    /// The timing in the report of a run.
    pub fn new(report: &Report) -> Self {
        let Report { time_us, operations, ref kernels, ref hbm, compute, .. } = *report;
        Self {
            time_us,
            cycles: (time_us * 1e3 * report.machine.frequency_ghz()).ceil() as u64,
            operations,
            kernels: kernels.clone(),
            compute_busy: compute.busy,
            compute_bound_ratio: compute.bound_ratio,
            hbm_busy: hbm.busy,
            hbm_bytes: hbm.bytes_by_kind.values().sum(),
            hbm_energy_uj: hbm.energy_uj,
        }
    }
}
