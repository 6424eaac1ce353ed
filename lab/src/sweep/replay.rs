//! One point of a sweep again.

use super::definition::Definition;
use super::execute::{Generate, records};
use super::journal::{self, JournalError};
use super::manifest::{Manifest, Settings};
use super::plan::{Plan, PlannedPoint};
use super::record::Status;
use diagnostic::Diagnostic;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why a point cannot be run again.
#[derive(Debug, Error)]
pub enum ReplayError {
    /// The folder cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The sweep's definition makes no sense any more, such as where a file is gone that it names.
    #[error(transparent)]
    Config(#[from] Diagnostic),
    /// No point has such a key.
    #[error("{}: no key begins with `{prefix}`; each line of results.jsonl has a key", folder.display())]
    Unknown {
        /// The sweep's folder.
        folder: PathBuf,
        /// What was looked for.
        prefix: String,
    },
    /// Several points have such a key.
    #[error("{} points have keys that begin with `{prefix}`:{}", candidates.len(), Listed(candidates))]
    Ambiguous {
        /// What was looked for.
        prefix: String,
        /// Key and settings of each of these points, ordered by key.
        candidates: Vec<(String, Settings)>,
    },
    /// The sweep has other points than when the folder was written.
    #[error("`{file}` no longer defines the point {key}")]
    Changed {
        /// The definition's file.
        file: String,
        /// The point's key.
        key: String,
    },
}

/// The most candidates that an error lists.
const LISTED: usize = 10;

/// Points, a line each.
struct Listed<'a>(&'a [(String, Settings)]);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (key, settings) in self.0.iter().take(LISTED) {
            let settings: Vec<String> =
                settings.iter().map(|(key, value)| format!("{key}={value}")).collect();
            write!(f, "\n{key}  {}", settings.join(" "))?;
        }
        match self.0.len().saturating_sub(LISTED) {
            0 => Ok(()),
            more => write!(f, "\nand {more} more"),
        }
    }
}

/// A point of a sweep's folder, ready to run again.
#[derive(Clone, Debug)]
pub struct Replay {
    /// Its key in the folder.
    key: String,
    /// The line of its record, if there is one: the one that stands in the results.
    recorded: Option<String>,
    /// A sweep of this point alone.
    plan: Plan,
}

/// A point that has been run again.
#[derive(Clone, PartialEq, Debug)]
pub struct Replayed {
    /// The point's key in the folder.
    pub key: String,
    /// The new record as a line of a journal, without its end.
    pub line: String,
    /// What the journal says of the point.
    pub verdict: Verdict,
}

/// What a journal says of a point that has been run again.
#[derive(Clone, PartialEq, Debug)]
pub enum Verdict {
    /// The same, byte for byte.
    Same,
    /// Nothing: the point has not run before.
    NoRecord,
    /// Something else.
    Differs(Vec<Difference>),
}

/// A value of a record that came out differently.
#[derive(Clone, PartialEq, Debug)]
pub struct Difference {
    /// Its dotted name, such as `stalls.busy_compute`.
    pub name: String,
    /// What the journal has; `null` where it has nothing.
    pub recorded: Value,
    /// What it is now; `null` where there is nothing.
    pub now: Value,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` was {} and is {}", self.name, self.recorded, self.now)
    }
}

/// Where a point stands in a plan.
#[derive(Clone, Copy)]
struct Place {
    /// The rung of the halving; none for the point itself.
    rung: Option<usize>,
    index: usize,
}

impl Place {
    fn of(self, plan: &Plan) -> Option<&PlannedPoint> {
        match self.rung {
            None => plan.points.get(self.index),
            Some(rung) => plan.rungs.get(rung)?.get(self.index),
        }
    }

    fn settings(self, manifest: &Manifest) -> Settings {
        let mut settings = manifest.points[self.index].settings.clone();
        if let (Some(rung), Some(halving)) = (self.rung, &manifest.halving) {
            let n = manifest.points[self.index].workload().n.min(halving.rungs[rung].into());
            settings.insert("n".into(), n.into());
        }
        settings
    }
}

impl Replay {
    /// Finds the point of a sweep's folder whose key begins with `prefix`, the points on the small
    /// rings of a halving included.
    ///
    /// # Errors
    /// Returns an error if no point or more than one has such a key, the folder holds no sweep, or
    /// its definition no longer leads to the point.
    pub fn find(folder: &Path, prefix: &str) -> Result<Self, ReplayError> {
        let manifest = journal::read_manifest(folder)?;
        let mut found = places(&manifest, prefix);
        let (key, place) = match (found.pop_first(), found.first_key_value()) {
            (None, _) => {
                return Err(ReplayError::Unknown { folder: folder.into(), prefix: prefix.into() });
            }
            (Some(only), None) => only,
            // Among several, a key in full names its point.
            (Some(first), Some(_)) if first.0 == prefix => first,
            (Some(first), Some(_)) => {
                let all = [first].into_iter().chain(found);
                let candidates =
                    all.map(|(key, place)| (key.to_owned(), place.settings(&manifest))).collect();
                return Err(ReplayError::Ambiguous { prefix: prefix.into(), candidates });
            }
        };
        let plan = Plan::new(&Definition::from_source(&manifest.source)?)?;
        let same_points = plan.points.iter().map(|point| &point.settings);
        let same_points = same_points.eq(manifest.points.iter().map(|point| &point.settings));
        let Some(point) = place.of(&plan).filter(|_| same_points).cloned() else {
            return Err(ReplayError::Changed { file: manifest.source.file.clone(), key: key.into() });
        };
        let mut recorded: Option<(Status, String)> = None;
        journal::for_each_record(folder, |other, outcome, line| {
            let stands =
                |(status, known): &(Status, String)| (*status, known.as_str()) <= (outcome.status, line);
            if other == key && !recorded.as_ref().is_some_and(stands) {
                recorded = Some((outcome.status, line.to_owned()));
            }
        })?;
        Ok(Self {
            key: key.to_owned(),
            recorded: recorded.map(|(_, line)| line),
            plan: Plan { points: vec![point], rungs: Vec::new(), ..plan },
        })
    }

    /// Runs the point: generates and checks its program and simulates it. Nothing is written.
    ///
    /// # Errors
    /// Returns an error if the new record or the old one is no JSON.
    pub fn run(&self, generate: &Generate<'_>) -> Result<Replayed, JournalError> {
        let lines: Result<Vec<String>, _> = records(&self.plan, generate).iter().map(journal::line).collect();
        let line = lines?.concat().trim_end().to_owned();
        let verdict = match &self.recorded {
            None => Verdict::NoRecord,
            Some(recorded) if *recorded == line => Verdict::Same,
            Some(recorded) => {
                let value = |line: &str| {
                    serde_json::from_str::<Value>(line)
                        .map_err(|error| JournalError::Record { reason: error.to_string() })
                };
                let mut differences = Vec::new();
                compare("", &value(recorded)?, &value(&line)?, &mut differences);
                Verdict::Differs(differences)
            }
        };
        Ok(Replayed { key: self.key.clone(), line, verdict })
    }
}

/// The points whose keys begin with `prefix`, by key. The same point on several rungs counts once.
fn places<'m>(manifest: &'m Manifest, prefix: &str) -> BTreeMap<&'m str, Place> {
    let mut places = BTreeMap::new();
    for (index, point) in manifest.points.iter().enumerate() {
        let rungs = point.rungs.iter().enumerate().map(|(rung, key)| (key, Some(rung)));
        for (key, rung) in [(&point.key, None)].into_iter().chain(rungs) {
            if key.starts_with(prefix) {
                places.entry(key.as_str()).or_insert(Place { rung, index });
            }
        }
    }
    places
}

/// Collects the values in which two documents differ.
fn compare(name: &str, recorded: &Value, now: &Value, differences: &mut Vec<Difference>) {
    match (recorded, now) {
        (Value::Object(old), Value::Object(new)) => {
            let added = new.iter().filter(|(key, _)| !old.contains_key(*key));
            for (key, _) in old.iter().chain(added) {
                let name = if name.is_empty() { key.clone() } else { format!("{name}.{key}") };
                let value = |map: &Settings| map.get(key).cloned().unwrap_or_default();
                compare(&name, &value(old), &value(new), differences);
            }
        }
        _ if recorded == now => {}
        _ => differences.push(Difference {
            name: name.to_owned(),
            recorded: recorded.clone(),
            now: now.clone(),
        }),
    }
}
