//! Replay of one point of a sweep.

use super::definition::Definition;
use super::execute::{Generate, records};
use super::explore::Space;
use super::journal::{self, JournalError};
use super::manifest::{Manifest, Settings};
use super::plan::{Plan, PlannedPoint};
use super::record::Status;
use super::results::Results;
use diagnostic::Diagnostics;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The reason why a point cannot be replayed.
#[derive(Debug, Error)]
pub enum ReplayError {
    /// The folder cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The sweep's definition is no longer valid, for example because a file that it names is
    /// missing.
    #[error(transparent)]
    Config(#[from] Diagnostics),
    /// No point has this key.
    #[error("{}: no key begins with `{prefix}`; each line of results.jsonl has a key", folder.display())]
    Unknown {
        /// The sweep's folder.
        folder: PathBuf,
        /// The requested key.
        prefix: String,
    },
    /// Several points have this key.
    #[error("{} points have keys that begin with `{prefix}`:{}", candidates.len(), Listed(candidates))]
    Ambiguous {
        /// The requested prefix.
        prefix: String,
        /// Key and settings of each of these points, ordered by key.
        candidates: Vec<(String, Settings)>,
    },
    /// The points of the sweep have changed since the folder was written.
    #[error("`{file}` no longer defines the point {key}")]
    Changed {
        /// The definition's file.
        file: String,
        /// The point's key.
        key: String,
    },
}

/// The maximum number of candidates in an error.
const LISTED: usize = 10;

/// Points, one per line.
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

/// A point of a sweep's folder, ready for replay.
#[derive(Clone, Debug)]
pub struct Replay {
    /// Its key in the folder.
    key: String,
    /// The line of its record in the results, if there is one.
    recorded: Option<String>,
    /// A sweep of this point alone.
    plan: Plan,
}

/// A replayed point.
#[derive(Clone, PartialEq, Debug)]
pub struct Replayed {
    /// The point's key in the folder.
    pub key: String,
    /// The new record as a line of a journal, without its end.
    pub line: String,
    /// The comparison with the journal.
    pub verdict: Verdict,
}

/// The comparison of a replayed point with its record.
#[derive(Clone, PartialEq, Debug)]
pub enum Verdict {
    /// Identical, byte for byte.
    Same,
    /// No record: the point has not run before.
    NoRecord,
    /// Different.
    Differs(Vec<Difference>),
}

/// A value that differs between the record and the replay.
#[derive(Clone, PartialEq, Debug)]
pub struct Difference {
    /// Its dotted name, such as `stalls.busy_compute`.
    pub name: String,
    /// The value in the journal; `null` if absent.
    pub recorded: Value,
    /// The new value; `null` if absent.
    pub now: Value,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` was {} and is {}", self.name, self.recorded, self.now)
    }
}

/// The position of a point in a plan.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// The rung of the halving; `None` for the point itself.
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
    /// Finds the point of a sweep's folder whose key begins with `prefix`, including points on the
    /// small rings of a halving.
    ///
    /// # Errors
    /// Returns an error if no point or several have such a key, the folder holds no sweep, or its
    /// definition no longer contains the point.
    pub fn find(folder: &Path, prefix: &str) -> Result<Self, ReplayError> {
        let manifest = manifest(folder)?;
        let mut found = places(&manifest, prefix);
        let (key, place) = match (found.pop_first(), found.first_key_value()) {
            (None, _) => {
                return Err(ReplayError::Unknown { folder: folder.into(), prefix: prefix.into() });
            }
            (Some(only), None) => only,
            // A full key takes precedence over longer keys that it is a prefix of.
            (Some(first), Some(_)) if first.0 == prefix => first,
            (Some(first), Some(_)) => {
                let all = [first].into_iter().chain(found);
                let candidates =
                    all.map(|(key, place)| (key.to_owned(), place.settings(&manifest))).collect();
                return Err(ReplayError::Ambiguous { prefix: prefix.into(), candidates });
            }
        };
        let plan = planned(&manifest, &[(key, place)])?;
        let recorded = recorded(folder, |other| other == key)?.remove(key);
        Ok(Self { key: key.to_owned(), recorded, plan })
    }

    /// Runs the point: generates and checks its program and simulates it. Nothing is written.
    ///
    /// # Errors
    /// Returns an error if the new record or the old one is not JSON.
    pub fn run(&self, generate: &Generate<'_>) -> Result<Replayed, JournalError> {
        let lines: Result<Vec<String>, _> = records(&self.plan, generate).iter().map(journal::line).collect();
        let line = lines?.concat().trim_end().to_owned();
        let verdict = match &self.recorded {
            None => Verdict::NoRecord,
            Some(recorded) if *recorded == line => Verdict::Same,
            Some(recorded) => Verdict::Differs(differences(recorded, &line)?),
        };
        Ok(Replayed { key: self.key.clone(), line, verdict })
    }
}

/// The manifest of a folder. That of an exploration lists the points with a record.
pub(super) fn manifest(folder: &Path) -> Result<Manifest, JournalError> {
    let manifest = journal::read_manifest(folder)?;
    if manifest.explored { Ok(Results::merge(&[folder])?.manifest) } else { Ok(manifest) }
}

/// A sweep of these points alone, as the definition in the manifest gives them now; in the same order.
pub(super) fn planned(manifest: &Manifest, points: &[(&str, Place)]) -> Result<Plan, ReplayError> {
    let definition = Definition::from_source(&manifest.source)?;
    let changed =
        |key: &str| ReplayError::Changed { file: manifest.source.file.clone(), key: key.to_owned() };
    if manifest.explored {
        let space = Space::new(&definition)?;
        let point = |(key, place): &(&str, Place)| {
            space.find(&manifest.points[place.index].settings).ok_or_else(|| changed(key))
        };
        let points = points.iter().map(point).collect::<Result<_, _>>()?;
        return Ok(Plan {
            points,
            rungs: Vec::new(),
            manifest: space.manifest(),
            data: space.data().clone(),
        });
    }
    let plan = Plan::new(&definition)?;
    let settings = manifest.points.iter().map(|point| &point.settings);
    let is_same = plan.points.iter().map(|point| &point.settings).eq(settings);
    let point = |(key, place): &(&str, Place)| {
        place.of(&plan).filter(|_| is_same).cloned().ok_or_else(|| changed(key))
    };
    let points = points.iter().map(point).collect::<Result<_, _>>()?;
    Ok(Plan { points, rungs: Vec::new(), ..plan })
}

/// The lines of the records of a folder, by key. A successful record takes precedence.
pub(super) fn recorded(
    folder: &Path,
    is_wanted: impl Fn(&str) -> bool,
) -> Result<BTreeMap<String, String>, JournalError> {
    let mut recorded: BTreeMap<String, (Status, String)> = BTreeMap::new();
    journal::for_each_record(folder, |key, outcome, line, _| {
        let stands = |(status, known): &(Status, String)| (*status, known.as_str()) <= (outcome.status, line);
        if is_wanted(key) && !recorded.get(key).is_some_and(stands) {
            recorded.insert(key.to_owned(), (outcome.status, line.to_owned()));
        }
        Ok(())
    })?;
    Ok(recorded.into_iter().map(|(key, (_, line))| (key, line)).collect())
}

/// The values in which two records differ.
pub(super) fn differences(recorded: &str, now: &str) -> Result<Vec<Difference>, JournalError> {
    let value = |line: &str| {
        serde_json::from_str::<Value>(line)
            .map_err(|error| JournalError::Record { reason: error.to_string() })
    };
    let mut differences = Vec::new();
    compare("", &value(recorded)?, &value(now)?, &mut differences);
    Ok(differences)
}

/// The points whose keys begin with `prefix`, by key. The same point on several rungs counts once.
pub(super) fn places<'m>(manifest: &'m Manifest, prefix: &str) -> BTreeMap<&'m str, Place> {
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
