//! The presentation of a sweep: its values and their names.

use super::basis::basis;
use super::front::{Constraint, Goals};
use super::key::PointKey;
use super::manifest::Manifest;
use super::measure::Measure;
use super::parameter::PARAMETERS;
use super::record::Record;
use super::value::{ABSENT, plain};
use super::workload::Workload;
use serde_json::Value;
use sim::machine::table::{Effect, Key, Rest};
use sim::{Area, Machine};
use std::borrow::Cow;
use std::collections::HashSet;

/// A group of points, with everything that a chart or a table needs.
pub(super) struct View<'v> {
    pub(super) title: String,
    pub(super) manifest: &'v Manifest,
    pub(super) workload: &'v Workload,
    pub(super) goals: &'v Goals,
    /// The number of points that ran.
    pub(super) ran: usize,
    /// The number of those that exceed a constraint.
    pub(super) beyond: usize,
    /// See [`Goals::unmet`].
    pub(super) unmet: &'v [(Constraint, f64)],
    /// The axes on which the points differ.
    pub(super) varying: Vec<&'v str>,
    /// The number of points with a result.
    pub(super) points: usize,
    /// Their records, or those of the front and of a sample, see [`MAX_SHOWN`].
    pub(super) records: Vec<&'v Record>,
    /// The keys of the points on the front.
    pub(super) front: HashSet<PointKey>,
    /// See [`efforts_differ`].
    pub(super) efforts_differ: bool,
}

/// The most points of a sweep that its charts and its page show. Of more, they show the front and about
/// [`SAMPLE`] others of each workload.
pub(super) const MAX_SHOWN: usize = 20_000;
/// See [`MAX_SHOWN`].
pub(super) const SAMPLE: usize = 5000;

impl View<'_> {
    /// The number of points that are not on the front: among the records, and in all.
    pub(super) fn beside_front(&self) -> (usize, usize) {
        (self.records.len() - self.front.len(), self.points - self.front.len())
    }

    /// The number of points with a result that are not among the records.
    pub(super) const fn hidden(&self) -> usize {
        self.points - self.records.len()
    }

    /// What the numbers of records rest on; nothing if none has a machine.
    pub(super) fn basis<'r>(records: impl IntoIterator<Item = &'r Record>) -> Option<String> {
        let reports = records.into_iter().filter_map(|record| record.report.as_ref());
        let mut machines = reports.map(|report| &report.machine).peekable();
        machines.peek().is_some().then(|| basis(machines))
    }

    /// Remarks on axes that cost nothing, or whose cost no model covers, and on the front.
    pub(super) fn notes(&self) -> Vec<String> {
        cost_notes(self.varying.iter().copied())
            .chain(reticle_note(self.records.iter().filter(|record| is_beyond_reticle(record)).count()))
            .chain(self.goals.notes(self.beyond, self.ran, self.unmet))
            .collect()
    }

    /// What all points share beside their task: the machine with its changes, and choices such as the
    /// dataflow.
    pub(super) fn shared(&self, record: &Record) -> Option<String> {
        let report = record.report.as_ref()?;
        let is_shared = |key: &str| !self.manifest.varying.iter().any(|varying| varying == key);
        let changes = report.machine.changes_from(&Machine::rpu_128x128()).into_iter();
        let changes = changes.filter(|change| change.key != "name" && !change.key.starts_with("technology."));
        let machine = changes.filter(|change| is_shared(change.key));
        let machine = machine.map(|change| format!("{} = {}", change.key, change.to));
        let choices =
            PARAMETERS.iter().filter(|parameter| !parameter.identifies && is_shared(parameter.name));
        let choices = choices.filter_map(|choice| {
            Some(format!("{} {}", choice.name, plain(Some(record.point.get(choice.name)?))))
        });
        let name = std::iter::once(report.machine.name.clone());
        Some(name.chain(machine).chain(choices).collect::<Vec<_>>().join(", "))
    }

    /// Whether a record exceeds a constraint.
    pub(super) fn is_beyond(&self, record: &Record) -> bool {
        record.outcome().costs.is_some_and(|costs| !self.goals.allow(&costs))
    }

    /// Whether the program of a record was searched for with less effort than others of the chart.
    pub(super) fn is_searched(&self, record: &Record) -> bool {
        self.efforts_differ && is_searched(record.program_source.as_deref())
    }

    /// The value of a measure in a record that has one.
    pub(super) fn value(record: &Record, measure: Measure) -> Option<f64> {
        record.outcome().costs.map(|costs| measure.of(&costs))
    }
}

/// Remarks on those of some keys that cost nothing, or whose cost no model covers.
pub(super) fn cost_notes<'k>(keys: impl Iterator<Item = &'k str>) -> impl Iterator<Item = String> {
    keys.filter_map(|key| cost_note(sim::machine::key(key)?))
}

/// A remark on a key that costs nothing, or whose cost no model covers, with the reason.
fn cost_note(key: &Key) -> Option<String> {
    let costs = [Effect::Clock, Effect::Area, Effect::Energy];
    let has_costs = key.effects.iter().any(|effect| costs.contains(effect));
    match key.cost.as_ref()?.rest {
        Rest::NotModelled(because) => Some(format!("Not modelled: costs of {} ({because})", key.path)),
        Rest::Free(because) if !has_costs => Some(format!("Costs nothing: {} ({because})", key.path)),
        Rest::Free(_) | Rest::None => None,
    }
}

/// Whether the chip of a record is larger than one exposure makes.
pub(super) fn is_beyond_reticle(record: &Record) -> bool {
    record.report.as_ref().is_some_and(|report| report.beyond_reticle)
}

/// A remark on so many designs beyond a reticle; none if there are none.
pub(super) fn reticle_note(count: usize) -> Option<String> {
    let limit = Area::RETICLE_MM2;
    (count > 0).then(|| format!("Beyond a reticle, {limit} mm², are {count} of the designs"))
}

/// The machine keys for whose values in this record costs are extrapolated, whatever sets them: an axis, the
/// sweep or the machine file. A record without a machine has no costs.
pub(super) fn extrapolated(record: &Record) -> Vec<&'static str> {
    record.report.as_ref().map_or_else(Vec::new, |report| report.machine.extrapolated())
}

/// Whether costs are extrapolated for a value of a setting.
pub(super) fn extrapolates(path: &str, value: &Value) -> bool {
    sim::machine::key(path).is_some_and(|key| {
        let number = value.as_str().map_or(value.as_u64(), |text| key.kind.number(text));
        number.is_some_and(|number| key.extrapolates(number))
    })
}

/// The meaning of the mark of such records.
pub(super) const EXTRAPOLATED: &str = "costs extrapolated";

/// Whether a program was found by a quick search: the library's come from long ones, others are as they were
/// given.
pub(super) fn is_searched(source: Option<&str>) -> bool {
    matches!(source, Some("neighbour" | "tuned"))
}

/// Whether some programs are from the library and some from quick searches. Such designs differ in
/// the effort of their searches too.
pub(super) fn efforts_differ<'s>(sources: impl Iterator<Item = Option<&'s str>> + Clone) -> bool {
    sources.clone().any(|source| source == Some("library")) && sources.into_iter().any(is_searched)
}

/// The meaning of the dot in such designs.
pub(super) const SEARCHED: &str = "program of a quick search";

/// The value of a key in a record: the point's setting, or else the machine's value.
pub(super) fn setting<'r>(record: &'r Record, key: &str) -> Option<Cow<'r, Value>> {
    if let Some(value) = record.point.get(key) {
        return Some(Cow::Borrowed(value));
    }
    sim::machine::key(key)?;
    let machine = serde_json::to_value(&record.report.as_ref()?.machine).ok()?;
    let value = key.split('.').try_fold(machine, |mut value, part| Some(value.get_mut(part)?.take()));
    value.map(Cow::Owned)
}

/// The display text of a key's value in a record; a dash if there is none, since an empty text would leave a
/// gap in a list.
pub(super) fn text(record: &Record, key: &str) -> String {
    setting(record, key).map_or_else(|| ABSENT.to_owned(), |value| plain(Some(&value)))
}
