//! Replay of one point of a sweep.

use super::definition::Definition;
use super::execute::{Generate, each};
use super::explore::{Design, Designs, Space};
use super::journal::{self, JournalError, model_of_line};
use super::key::PointKey;
use super::manifest::Manifest;
use super::outputs::OutputError;
use super::parameter::Settings;
use super::plan::Plan;
use super::record::Record;
use super::results::Results;
use diagnostic::{Diagnostic, Diagnostics};
use lab_run::model::MODEL_VERSION;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
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
    /// The results cannot be written for a comparison.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// No point has this key.
    #[error("{}: no key begins with `{prefix}`", diagnostic::path(folder))]
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
        candidates: Vec<(PointKey, Settings)>,
    },
    /// A file that the definition names is another one than in the sweep.
    #[error("`{file}` names files with another content than when the point {key} ran")]
    OtherFiles {
        /// The definition's file.
        file: String,
        /// The point's key.
        key: PointKey,
    },
    /// The points of the sweep have changed since the folder was written.
    #[error("`{file}` no longer defines the point {key}")]
    Changed {
        /// The definition's file.
        file: String,
        /// The point's key.
        key: PointKey,
    },
}

/// The maximum number of candidates in an error.
const LISTED: usize = 10;

/// Points, one per line.
struct Listed<'a>(&'a [(PointKey, Settings)]);

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
pub struct Replay {
    /// Its key in the folder.
    key: PointKey,
    /// The line of its record in the results, if there is one.
    recorded: Option<String>,
    index: usize,
    sweep: Planned,
}

/// A replayed point.
#[derive(Clone, PartialEq, Debug)]
pub struct Replayed {
    /// The point's key in the folder.
    pub key: PointKey,
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

impl Replay {
    /// Finds the point of a sweep's folder whose key begins with `prefix`.
    ///
    /// # Errors
    /// Returns an error if no point or several have such a key, the folder holds no sweep, or its
    /// definition no longer contains the point.
    pub fn find(folder: &Path, prefix: &str) -> Result<Self, ReplayError> {
        let results = Results::merge(&[folder])?;
        let points = &results.manifest.points;
        let mut found: Vec<(PointKey, usize)> = points.keys().iter().copied().zip(0..).collect();
        found.retain(|(key, _)| key.to_string().starts_with(prefix));
        found.sort_unstable();
        let (key, index) = match found[..] {
            [] => return Err(ReplayError::Unknown { folder: folder.into(), prefix: prefix.into() }),
            [only] => only,
            _ => {
                let candidates = found
                    .iter()
                    .take(LISTED + 1)
                    .map(|&(key, index)| (key, points.settings(index)))
                    .collect();
                return Err(ReplayError::Ambiguous { prefix: prefix.into(), candidates });
            }
        };
        let sweep = Planned::new(&results, &[index])?;
        let recorded = results.line(index)?;
        Ok(Self { key, recorded, index, sweep })
    }

    /// Runs the point: generates and checks its program and simulates it. Nothing is written.
    ///
    /// # Errors
    /// Returns an error if the new record or the old one is not JSON.
    pub fn run(&self, generate: &Generate<'_>) -> Result<Replayed, JournalError> {
        let line = Mutex::new(String::new());
        self.sweep.each(&[self.index], generate, &|record| {
            *line.lock().unwrap_or_else(PoisonError::into_inner) =
                journal::line(&record)?.trim_end().to_owned();
            Ok(())
        })?;
        let line = line.into_inner().unwrap_or_else(PoisonError::into_inner);
        let verdict = match &self.recorded {
            None => Verdict::NoRecord,
            Some(recorded) if *recorded == line => Verdict::Same,
            Some(recorded) => Verdict::Differs(differences(recorded, &line)?),
        };
        Ok(Replayed { key: self.key, line, verdict })
    }
}

/// What is right if a file of a definition is another one, or not there.
pub const AGAIN: &str = "the definition's files are found from the folder in which the sweep ran: go there, \
                         and restore the files";

/// A sweep's folder as the definition in its manifest gives it now.
pub(super) enum Planned {
    /// A sweep.
    Sweep(Box<Plan>),
    /// An exploration, with the design of each point.
    Exploration(Box<Space>, HashMap<usize, Design>),
}

impl Planned {
    /// The points of a folder, of which some will be simulated again.
    pub(super) fn new(results: &Results, points: &[usize]) -> Result<Self, ReplayError> {
        let is_of_this_version = |&index: &usize| -> Result<bool, JournalError> {
            Ok(results.line(index)?.and_then(|line| model_of_line(&line)) == Some(MODEL_VERSION))
        };
        let planned = match Self::defined(results, points) {
            // The definition was valid; only files that it names can be others.
            Err(ReplayError::Config(errors)) if points.first().map_or(Ok(false), is_of_this_version)? => {
                let elsewhere = |error| Diagnostic { help: Some(AGAIN.into()), ..error };
                return Err(ReplayError::Config(errors.map(elsewhere)));
            }
            planned => planned?,
        };
        for index in points {
            let key = results.manifest.points.key(*index);
            // Another version of the models gives other keys, too.
            if planned.key(*index) != key && is_of_this_version(index)? {
                return Err(ReplayError::OtherFiles { file: results.manifest.source.file.clone(), key });
            }
        }
        Ok(planned)
    }

    fn defined(results: &Results, points: &[usize]) -> Result<Self, ReplayError> {
        let manifest = &results.manifest;
        let definition = Definition::from_source(&manifest.source)?;
        let changed = |index: usize| ReplayError::Changed {
            file: manifest.source.file.clone(),
            key: manifest.points.key(index),
        };
        if manifest.explored.is_some() {
            let space = Space::new(&definition)?;
            let design = |&index: &usize| {
                let design = space.find(&manifest.points.settings(index)).ok_or_else(|| changed(index))?;
                Ok::<_, ReplayError>((index, design))
            };
            let designs = points.iter().map(design).collect::<Result<_, _>>()?;
            return Ok(Self::Exploration(Box::new(space), designs));
        }
        let plan = Plan::new(&definition)?;
        match points.first() {
            Some(&index) if !plan.manifest.points.have_settings_of(&manifest.points) => Err(changed(index)),
            _ => Ok(Self::Sweep(Box::new(plan))),
        }
    }

    /// The manifest that the definition gives.
    pub(super) fn manifest(&self) -> Cow<'_, Manifest> {
        match self {
            Self::Sweep(plan) => Cow::Borrowed(&plan.manifest),
            Self::Exploration(space, _) => Cow::Owned(space.manifest()),
        }
    }

    /// The key that a point has now.
    pub(super) fn key(&self, index: usize) -> PointKey {
        match self {
            Self::Sweep(plan) => plan.manifest.points.key(index),
            Self::Exploration(space, designs) => {
                space.point(&designs[&index]).expect("the design has a point").key
            }
        }
    }

    /// Simulates points.
    pub(super) fn each(
        &self,
        points: &[usize],
        generate: &Generate<'_>,
        done: &(dyn Fn(Record) -> Result<(), JournalError> + Sync),
    ) -> Result<(), JournalError> {
        match self {
            Self::Sweep(plan) => each(&**plan, points, generate, done)?,
            Self::Exploration(space, designs) => {
                let designs: Vec<Design> = points.iter().map(|index| designs[index].clone()).collect();
                let all: Vec<usize> = (0..designs.len()).collect();
                each(&Designs { space, designs }, &all, generate, done)?
            }
        };
        Ok(())
    }
}

/// Refuses a folder whose title, columns or points are not those that its definition gives. A definition that
/// cannot be read, as files that it names are elsewhere, says nothing about them.
///
/// # Errors
/// Returns an error if `sweep.json` differs from what its definition gives, or cannot be read.
pub fn check_presentation(folder: &Path) -> Result<(), JournalError> {
    let manifest = journal::read_manifest(folder)?;
    let Ok(definition) = Definition::from_source(&manifest.source) else { return Ok(()) };
    let defined = if manifest.explored.is_some() {
        Space::new(&definition).map(|space| space.manifest())
    } else {
        Plan::new(&definition).map(|plan| plan.manifest)
    };
    let Ok(defined) = defined else { return Ok(()) };
    let is_same = defined.is_presented_as(&manifest)
        && (manifest.explored.is_some() || defined.points.have_settings_of(&manifest.points));
    if is_same {
        return Ok(());
    }
    let reason = "its title, its columns or its points are not those that its definition gives".to_owned();
    Err(JournalError::Manifest { path: folder.join("sweep.json"), reason })
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
