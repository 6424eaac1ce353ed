//! The results of a ring program, as far as sweeps record them.

use ring_program::Parameters;
use runtime::Report;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The parts of a ring program's timing.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RingTiming {
    /// The parameter set, if the program's generator or manifest says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Parameters>,
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
}

impl RingTiming {
    /// The timing in the report of a run.
    pub fn new(report: &Report) -> Self {
        let Report { operations, ref parameters, ref kernels, ref hbm, compute, .. } = *report;
        Self {
            parameters: parameters.clone(),
            operations,
            kernels: kernels.clone(),
            compute_busy: compute.busy,
            compute_bound_ratio: compute.bound_ratio,
            hbm_busy: hbm.busy,
            hbm_bytes: hbm.bytes_by_kind.values().sum(),
        }
    }
}
