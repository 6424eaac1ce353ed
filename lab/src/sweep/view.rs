//! What is shown of a sweep, and in which words.

use super::manifest::{Manifest, Workload};
use super::record::Record;
use crate::run::TimingReport;
use serde_json::Value;
use std::collections::HashSet;

/// What is shown of a group: all that a chart or a table needs.
pub(super) struct View<'v> {
    pub(super) title: String,
    pub(super) manifest: &'v Manifest,
    pub(super) workload: &'v Workload,
    /// The keys that vary between the points.
    pub(super) varying: Vec<&'v str>,
    pub(super) records: Vec<&'v Record>,
    /// The keys of the points on the front.
    pub(super) front: HashSet<&'v str>,
}

/// The cycles and the area of a record that has them.
pub(super) fn costs(record: &Record) -> Option<(&TimingReport, f64)> {
    let report = record.report.as_ref()?;
    Some((report.timing.as_ref()?, report.area_mm2))
}

/// A value as people write it: no quotes around text.
pub(super) fn plain(value: Option<&Value>) -> String {
    match value {
        None => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

/// A key as people call it.
pub(super) fn title(key: &str) -> &str {
    match key {
        "hple.count" => "HPLEs",
        "vdm.banks" => "VDM banks",
        other => other,
    }
}
