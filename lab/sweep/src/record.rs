//! The result of a point.

use super::key::PointKey;
use super::parameter::Settings;
use lab_run::RunReport;
use serde::{Deserialize, Serialize};

/// The result of one point: a line of a journal.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Record {
    /// The point's key.
    pub key: PointKey,
    /// The status.
    pub status: Status,
    /// The error of a failed point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The point's settings.
    pub point: Settings,
    /// The origin of the program, if there is one: `library`, `neighbour` (the library's, for another
    /// machine), `tuned`, `named` (a plan such as `kl`) or `file`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program_source: Option<String>,
    /// The number of recipes that were tried for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recipes_tried: Option<usize>,
    /// The run of a successful point.
    #[serde(flatten)]
    pub report: Option<RunReport>,
}

impl Record {
    pub(super) fn outcome(&self) -> Outcome {
        let costs = || {
            let report = self.report.as_ref()?;
            let (time_us, cycles) = report.duration()?;
            let stream_us = report.hbm.as_ref().map(|stream| stream.total_us);
            let (area_mm2, energy_uj) = (report.area_mm2, report.energy_uj);
            Some(Costs { cycles, time_us, stream_us, area_mm2, energy_uj })
        };
        Outcome { status: self.status, costs: costs() }
    }
}

/// The status of a point.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Generated, checked and simulated.
    Ok,
    /// Failed; the record has the reason.
    Failed,
}

impl Status {
    /// The name in records and tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed => "failed",
        }
    }
}

/// The costs of a simulated point.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Costs {
    pub(super) cycles: u64,
    pub(super) time_us: f64,
    /// The time of a stream of runs, if the point has one.
    pub(super) stream_us: Option<f64>,
    pub(super) area_mm2: f64,
    pub(super) energy_uj: f64,
}

/// The status of a point, and its costs if it succeeded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outcome {
    pub(super) status: Status,
    pub(super) costs: Option<Costs>,
}
