//! The result of a point.

use super::front::is_ideal;
use super::key::PointKey;
use super::measure::Costs;
use super::parameter::Settings;
use super::value::plain;
use lab_run::{RunReport, json};
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
    /// The run of a successful point. In a line of a journal, its keys follow those above.
    #[serde(skip)]
    pub report: Option<RunReport>,
}

impl Record {
    /// The record in a line of a journal.
    ///
    /// # Errors
    /// Returns an error if the line has another form.
    pub fn parse(line: &str) -> Result<Self, serde_json::Error> {
        let mut record: Self = serde_json::from_str(line)?;
        if record.status == Status::Ok {
            record.report = Some(serde_json::from_str(line)?);
        }
        Ok(record)
    }

    /// The point in messages, by its settings that vary: `hple.count = 64, plan = kl`. Its key if there are
    /// none.
    pub fn name(&self, varying: &[String]) -> String {
        let setting = |name: &String| {
            let value = self.point.get(name)?;
            Some(format!("{name} = {}", plain(Some(value))))
        };
        let settings: Vec<String> = varying.iter().filter_map(setting).collect();
        if settings.is_empty() { self.key.to_string() } else { settings.join(", ") }
    }

    /// The record as one line, which [`Self::parse`] reads.
    ///
    /// # Errors
    /// Returns an error if a value has no JSON form.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        let mut line = json::to_string(self)?;
        if let Some(report) = &self.report {
            line.truncate(line.len() - 1);
            line.push(',');
            line += &json::to_string(report)?[1..];
        }
        Ok(line)
    }

    pub(super) fn outcome(&self) -> Outcome {
        Outcome { status: self.status, costs: self.report.as_ref().and_then(Costs::of) }
    }

    /// Whether its machine is ideal by a setting.
    pub(super) fn is_ideal(&self) -> bool {
        self.point.iter().any(|(key, value)| is_ideal(key, value))
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

/// The status of a point, and its costs if it succeeded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outcome {
    pub(super) status: Status,
    pub(super) costs: Option<Costs>,
}
