//! Results of a sweep, from one or more journals.

use super::halving::{self, Costs};
use super::journal::{self, JournalError};
use super::manifest::{Manifest, ManifestPoint, Settings};
use super::record::{Record, Status};
use rayon::prelude::*;
use serde::Deserialize;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::Path;

/// The results of a sweep so far.
#[derive(Clone, PartialEq, Debug)]
pub struct Results {
    /// The sweep.
    pub manifest: Manifest,
    /// The line of each point, in the order of the sweep.
    lines: Vec<Option<(Status, String)>>,
    /// The lines of records on the rungs of a halving and of dropped points, ordered by key.
    rest: Vec<String>,
}

impl Results {
    /// Collects the journals of `folders`, which belong to one sweep.
    ///
    /// If a point has several records, a successful one takes precedence. Otherwise the choice does
    /// not depend on the order of folders and journals.
    ///
    /// # Errors
    /// Returns an error if a folder has no sweep, or another one, if a journal cannot be read, or if two
    /// results of one point differ.
    pub fn merge(folders: &[&Path]) -> Result<Self, JournalError> {
        let mut manifest: Option<Manifest> = None;
        let mut best: HashMap<String, (Status, String)> = HashMap::new();
        let mut costs: HashMap<String, Option<Costs>> = HashMap::new();
        for folder in folders {
            let found = journal::read_manifest(folder)?;
            match &manifest {
                Some(manifest) if !manifest.is_same_sweep(&found) => {
                    return Err(JournalError::OtherSweep {
                        folder: folder.to_path_buf(),
                        name: found.name,
                        expected: manifest.name.clone(),
                    });
                }
                Some(_) => {}
                None => manifest = Some(found),
            }
            journal::for_each_record(folder, |key, outcome, line, (path, number)| {
                let known = costs.entry(key.to_owned()).or_default();
                *known = known.or(outcome.costs);
                let candidate = (outcome.status, line);
                match best.entry(key.to_owned()) {
                    Entry::Vacant(place) => _ = place.insert((outcome.status, line.to_owned())),
                    Entry::Occupied(mut best) => {
                        let (status, known) = best.get();
                        if (*status, candidate.0) == (Status::Ok, Status::Ok) && known != line {
                            let (path, key) = (path.to_owned(), key.to_owned());
                            return Err(JournalError::Disagree { path, line: number, key });
                        }
                        if candidate < (*status, known) {
                            best.insert((candidate.0, candidate.1.to_owned()));
                        }
                    }
                }
                Ok(())
            })?;
        }
        let mut manifest = manifest.ok_or(JournalError::NoFolder)?;
        if manifest.explored {
            let records = best.iter().map(|(key, (_, line))| Ok((key.clone(), settings(line)?)));
            let records: Vec<_> = records.collect::<Result<_, JournalError>>()?;
            manifest.points = manifest.explored_points(records.into_iter());
        }
        let dropped = halving::standing(&manifest, |key| costs.get(key).copied()).dropped;
        let line = |(point, dropped): (&ManifestPoint, Option<usize>)| match dropped {
            // If the rung has the point's own degree, its result is the point's.
            Some(rung) if point.rungs[rung] != point.key => pruned(&manifest, point, rung).map(Some),
            _ => Ok(best.remove(&point.key)),
        };
        let lines = manifest.points.iter().zip(dropped).map(line).collect::<Result<_, _>>()?;
        let mut rest: Vec<(String, String)> = best.into_iter().map(|(key, (_, line))| (key, line)).collect();
        rest.sort();
        Ok(Self { manifest, lines, rest: rest.into_iter().map(|(_, line)| line).collect() })
    }

    /// Writes the manifest and one journal of all records to `folder`, which can then be used as if the
    /// sweep had run there.
    ///
    /// # Errors
    /// Returns an error if a file cannot be written.
    pub fn save(&self, folder: &Path) -> Result<(), JournalError> {
        let ran = self.lines.iter().flatten().filter(|(status, _)| *status != Status::Pruned);
        let lines = ran.map(|(_, line)| line).chain(&self.rest);
        let journal: String = lines.flat_map(|line| [line.as_str(), "\n"]).collect();
        let mut manifest = self.manifest.clone();
        if manifest.explored {
            manifest.points.clear();
        }
        journal::save(folder, &manifest, &journal)
    }

    /// The line of each point that has one, and the point's index, in the order of the sweep.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.lines.iter().enumerate().filter_map(|(i, line)| Some((i, line.as_ref()?.1.as_str())))
    }

    /// The record of each point that has one, in the order of the sweep.
    ///
    /// # Errors
    /// Returns an error if a record has another version of the format.
    pub fn records(&self) -> Result<Vec<Record>, JournalError> {
        let record = |line: &Option<(Status, String)>| {
            let (_, line) = line.as_ref()?;
            let record = serde_json::from_str(line);
            Some(record.map_err(|error| JournalError::Record { reason: error.to_string() }))
        };
        self.lines.par_iter().filter_map(record).collect()
    }

    /// The number of points that were dropped on small rings.
    pub fn pruned(&self) -> usize {
        self.lines.iter().flatten().filter(|(status, _)| *status == Status::Pruned).count()
    }

    /// The number of points without a record.
    pub fn missing(&self) -> usize {
        self.lines.iter().filter(|line| line.is_none()).count()
    }

    /// The number of points that failed.
    pub fn failed(&self) -> usize {
        self.lines.iter().flatten().filter(|(status, _)| *status == Status::Failed).count()
    }
}

/// The settings of a record.
fn settings(line: &str) -> Result<Settings, JournalError> {
    #[derive(Deserialize)]
    struct Head {
        point: Settings,
    }
    let head: Result<Head, _> = serde_json::from_str(line);
    head.map(|head| head.point).map_err(|error| JournalError::Record { reason: error.to_string() })
}

/// The line of a point that was dropped on a rung.
fn pruned(manifest: &Manifest, point: &ManifestPoint, rung: usize) -> Result<(Status, String), JournalError> {
    let record = Record {
        key: point.key.clone(),
        status: Status::Pruned,
        error: None,
        rung: manifest.halving.as_ref().map(|halving| halving.rungs[rung]),
        point: point.settings.clone(),
        program_source: None,
        recipes_tried: None,
        report: None,
    };
    Ok((record.status, journal::line(&record)?.trim_end().to_owned()))
}
