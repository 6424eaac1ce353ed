//! The result of a point.

use super::halving::Costs;
use super::manifest::Settings;
use crate::run::{RunReport, TimingReport};
use serde::{Deserialize, Serialize};

/// The result of one point: a line of a journal.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Record {
    /// The point's key.
    pub key: String,
    /// How it went.
    pub status: Status,
    /// What went wrong, in a failed point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The degree of the ring on which the point was dropped, in a pruned point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rung: Option<u32>,
    /// The point's settings.
    pub point: Settings,
    /// The run, in a point that went well.
    #[serde(flatten)]
    pub report: Option<RunReport>,
}

impl Record {
    pub(super) fn outcome(&self) -> Outcome {
        let costs = || {
            let report = self.report.as_ref()?;
            let TimingReport { cycles, time_us, .. } = *report.timing.as_ref()?;
            Some(Costs { cycles, time_us, area_mm2: report.area_mm2, energy_uj: report.energy_uj })
        };
        Outcome { status: self.status, costs: costs() }
    }
}

/// How a point went.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Generated, checked and simulated.
    Ok,
    /// There is no result; the record says why.
    Failed,
    /// Dropped on a small ring, as others did better there; only in results, not in journals.
    Pruned,
}

impl Status {
    /// The name in records and tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed => "failed",
            Self::Pruned => "pruned",
        }
    }
}

/// How a point went, and what it costs if it went well.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outcome {
    pub(super) status: Status,
    pub(super) costs: Option<Costs>,
}
