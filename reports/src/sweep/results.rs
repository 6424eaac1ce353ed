//! Results of a sweep, from one journal or many.

use super::journal::{self, JournalError};
use super::plan::Manifest;
use crate::run::RunReport;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::path::Path;

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
    /// The point's settings.
    pub point: serde_json::Map<String, serde_json::Value>,
    /// The run, in a point that went well.
    #[serde(flatten)]
    pub report: Option<RunReport>,
}

/// How a point went.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Generated, checked and simulated.
    Ok,
    /// There is no result; the record says why.
    Failed,
}

/// The results of a sweep, as far as there are any.
#[derive(Clone, PartialEq, Debug)]
pub struct Results {
    /// The sweep.
    pub manifest: Manifest,
    /// The line of each point, in the order of the sweep.
    lines: Vec<Option<(Status, String)>>,
}

impl Results {
    /// Collects the journals of `folders`, which are of one sweep.
    ///
    /// Where a point has several records, one that went well stands; among those that say the same
    /// the choice does not depend on the order of folders and journals.
    ///
    /// # Errors
    /// Where a folder has no sweep, or that of another one, or a journal cannot be read.
    pub fn merge(folders: &[&Path]) -> Result<Self, JournalError> {
        let mut manifest: Option<Manifest> = None;
        let mut best: HashMap<String, (Status, String)> = HashMap::new();
        for folder in folders {
            let found = journal::read_manifest(folder)?;
            match &manifest {
                Some(manifest) if *manifest != found => {
                    return Err(JournalError::OtherSweep {
                        folder: folder.to_path_buf(),
                        name: found.name,
                        expected: manifest.name.clone(),
                    });
                }
                _ => manifest = Some(found),
            }
            journal::for_each_record(folder, |key, status, line| {
                let candidate = (status, line.to_owned());
                let best = best.entry(key.to_owned()).or_insert_with(|| candidate.clone());
                if candidate < *best {
                    *best = candidate;
                }
            })?;
        }
        let manifest = manifest.ok_or(JournalError::NoFolder)?;
        let lines = manifest.points.iter().map(|point| best.remove(&point.key)).collect();
        Ok(Self { manifest, lines })
    }

    /// The line of each point that has one, in the order of the sweep, and its number there.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.lines.iter().enumerate().filter_map(|(i, line)| Some((i, line.as_ref()?.1.as_str())))
    }

    /// The record of each point that has one, in the order of the sweep.
    ///
    /// # Errors
    /// Where a record is not of this version of the project.
    pub fn records(&self) -> Result<Vec<Record>, JournalError> {
        let record = |(_, line): (usize, &str)| {
            serde_json::from_str(line).map_err(|error| JournalError::Record { reason: error.to_string() })
        };
        self.lines().map(record).collect()
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
