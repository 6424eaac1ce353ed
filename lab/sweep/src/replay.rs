//! Replay of one point of a sweep.

use super::catch_up::{CatchUp, Searched};
use super::definition::Definition;
use super::execute::{Generate, each};
use super::explore::{Design, Designs, Space};
use super::journal::{self, JournalError};
use super::key::PointKey;
use super::manifest::{Manifest, Settings};
use super::plan::{Beside, OnRung, Plan};
use super::record::Record;
use super::results::Results;
use diagnostic::Diagnostics;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
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
    #[error("{}: no key begins with `{prefix}`", folder.display())]
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
    place: Place,
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

/// The position of a point in a plan.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// The rung of the halving; `None` for the point itself.
    pub(super) rung: Option<usize>,
    pub(super) index: usize,
}

impl Place {
    fn settings(self, manifest: &Manifest) -> Settings {
        let mut settings = manifest.points.settings(self.index);
        if let (Some(rung), Some(halving)) = (self.rung, &manifest.halving) {
            let n = manifest.points.workload(self.index).n.min(halving.rungs[rung].into());
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
        let results = Results::merge(&[folder])?;
        let mut found = places(&results.manifest, prefix);
        let (key, place) = match (found.pop_first(), found.first_key_value()) {
            (None, _) => {
                return Err(ReplayError::Unknown { folder: folder.into(), prefix: prefix.into() });
            }
            (Some(only), None) => only,
            (Some(first), Some(_)) => {
                let all = [first].into_iter().chain(found).take(LISTED + 1);
                let candidates = all.map(|(key, place)| (key, place.settings(&results.manifest))).collect();
                return Err(ReplayError::Ambiguous { prefix: prefix.into(), candidates });
            }
        };
        let sweep = Planned::new(&results, &[(key, place)])?;
        let recorded = results.line_of(&key, place.index)?;
        Ok(Self { key, recorded, place, sweep })
    }

    /// Runs the point: generates and checks its program and simulates it. Nothing is written.
    ///
    /// # Errors
    /// Returns an error if the new record or the old one is not JSON.
    pub fn run(&self, generate: &Generate<'_>) -> Result<Replayed, JournalError> {
        let line = Mutex::new(String::new());
        self.sweep.each(&[self.place], generate, &|record| {
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

/// A sweep's folder as the definition in its manifest gives it now.
pub(super) enum Planned {
    /// A sweep, with the programs of points that were searched for beside slower machines.
    Sweep(Box<Plan>, HashMap<usize, Arc<Beside>>),
    /// An exploration, with the design of each point.
    Exploration(Box<Space>, HashMap<usize, Design>),
}

impl Planned {
    /// The points of a folder, of which some will be simulated again.
    pub(super) fn new(results: &Results, points: &[(PointKey, Place)]) -> Result<Self, ReplayError> {
        let manifest = &results.manifest;
        let definition = Definition::from_source(&manifest.source)?;
        let changed = |key: PointKey| changed(manifest, key);
        if manifest.explored {
            let space = Space::new(&definition)?;
            let design = |&(key, place): &(PointKey, Place)| {
                let design =
                    space.find(&manifest.points.settings(place.index)).ok_or_else(|| changed(key))?;
                Ok::<_, ReplayError>((place.index, design))
            };
            let designs = points.iter().map(design).collect::<Result<_, _>>()?;
            return Ok(Self::Exploration(Box::new(space), designs));
        }
        let plan = Plan::new(&definition)?;
        match points.first() {
            Some(&(key, _)) if !plan.manifest.points.have_settings_of(&manifest.points) => Err(changed(key)),
            _ => Ok(Self::Sweep(Box::new(plan), programs_beside(results, points)?)),
        }
    }

    /// The keys that points have now.
    pub(super) fn key(&self, place: Place) -> PointKey {
        match (self, place.rung) {
            (Self::Sweep(plan, _), None) => plan.manifest.points.key(place.index),
            (Self::Sweep(plan, _), Some(rung)) => plan.manifest.points.rungs(place.index)[rung],
            (Self::Exploration(space, designs), _) => {
                space.point(&designs[&place.index]).expect("the design has a point").key
            }
        }
    }

    /// Simulates points.
    pub(super) fn each(
        &self,
        places: &[Place],
        generate: &Generate<'_>,
        done: &(dyn Fn(Record) -> Result<(), JournalError> + Sync),
    ) -> Result<(), JournalError> {
        match self {
            Self::Sweep(plan, beside) => {
                let rungs: BTreeSet<Option<usize>> = places.iter().map(|place| place.rung).collect();
                for rung in rungs {
                    let here = places.iter().filter(|place| place.rung == rung).map(|place| place.index);
                    let here: Vec<usize> = here.collect();
                    match rung {
                        None => each(&Searched { plan, beside: beside.clone() }, &here, generate, done)?,
                        Some(_) => each(&OnRung { plan, rung }, &here, generate, done)?,
                    };
                }
            }
            Self::Exploration(space, designs) => {
                let designs: Vec<Design> = places.iter().map(|place| designs[&place.index].clone()).collect();
                let all: Vec<usize> = (0..designs.len()).collect();
                each(&Designs { space, designs }, &all, generate, done)?;
            }
        }
        Ok(())
    }
}

fn changed(manifest: &Manifest, key: PointKey) -> ReplayError {
    ReplayError::Changed { file: manifest.source.file.clone(), key }
}

impl Plan {
    /// The plan of a folder's sweep, if it has points to search for again.
    ///
    /// # Errors
    /// Returns an error if the definition is no longer valid, or no longer has the points of the folder.
    pub fn to_catch_up(results: &Results) -> Result<Option<Self>, ReplayError> {
        let manifest = &results.manifest;
        if manifest.explored || manifest.points.is_empty() || results.missing() > 0 {
            return Ok(None);
        }
        let definition = Definition::from_source(&manifest.source)?;
        if !CatchUp::concerns(&definition) {
            return Ok(None);
        }
        let plan = Self::new(&definition)?;
        match plan.manifest.points.keys() == manifest.points.keys() {
            true => Ok(Some(plan)),
            false => Err(changed(manifest, manifest.points.key(0))),
        }
    }
}

/// The programs of those points that were searched for beside slower machines.
fn programs_beside(
    results: &Results,
    points: &[(PointKey, Place)],
) -> Result<HashMap<usize, Arc<Beside>>, JournalError> {
    let points = points.iter().map(|(_, place)| place).filter(|place| place.rung.is_none());
    let mut programs = HashMap::new();
    for &Place { index, .. } in points.filter(|place| results.is_beside(place.index)) {
        let record = results.record(index)?;
        programs.extend(record.as_ref().and_then(Beside::of).map(|beside| (index, Arc::new(beside))));
    }
    Ok(programs)
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
pub(super) fn places(manifest: &Manifest, prefix: &str) -> BTreeMap<PointKey, Place> {
    let mut places = BTreeMap::new();
    for index in 0..manifest.points.len() {
        let rungs = manifest.points.rungs(index).iter().enumerate().map(|(rung, key)| (*key, Some(rung)));
        for (key, rung) in [(manifest.points.key(index), None)].into_iter().chain(rungs) {
            if prefix.is_empty() || key.to_string().starts_with(prefix) {
                places.entry(key).or_insert(Place { rung, index });
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
