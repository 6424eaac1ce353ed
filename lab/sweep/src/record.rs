//! The result of a point.

use super::halving::Costs;
use super::key::PointKey;
use super::manifest::Settings;
use lab_run::RunReport;
use serde::{Deserialize, Serialize};
use sim::timing::Cycle;

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
    /// The ring degree on which the point was dropped, in a pruned point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rung: Option<u32>,
    /// The point's settings.
    pub point: Settings,
    /// The origin of the program, if there is one: `library`, `neighbour` (the library's, for another
    /// machine), `tuned`, `dominated` (the program of a slower machine), `named` (a plan such as `kl`) or `file`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program_source: Option<String>,
    /// The number of recipes that were tried for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recipes_tried: Option<usize>,
    /// The further search, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<Further>,
    /// The run of a successful point.
    #[serde(flatten)]
    pub report: Option<RunReport>,
}

/// A further search for a point, because another one on a worse machine had a faster program.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Further {
    /// The cycles of the other point.
    pub cycles: Cycle,
    /// The recipe that the search found, as a plan file.
    pub recipe: String,
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
    /// Dropped on a small ring because other points did better; in results only, not in journals.
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

/// The status of a point, and its cost if it succeeded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outcome {
    pub(super) status: Status,
    pub(super) costs: Option<Costs>,
}
