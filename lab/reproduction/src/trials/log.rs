//! The log of a run of all candidates, from which a killed run resumes.
//!
//! The first line identifies the space, the claims and the model. Each other line is a result of one
//! candidate. An incomplete last line is dropped.

use crate::setting::{Picks, Space};
use crate::trials::header;
use diagnostic::input::{self, Content};
use lab_run::model::MODEL_VERSION;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use thiserror::Error;

/// A log that cannot be used.
#[derive(Debug, Error)]
pub enum LogError {
    /// The file cannot be read or written.
    #[error("cannot read, write or delete `{}`: {source}", diagnostic::path(path))]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file is of another version of the models.
    #[error(
        "{}: a log by version {model} of the models, and this rpu has version {MODEL_VERSION}",
        diagnostic::path(path)
    )]
    OtherModel {
        /// The file.
        path: PathBuf,
        /// Its version.
        model: u32,
    },
    /// The file is of another space, or of other claims.
    #[error("{}: not a log of these candidates", diagnostic::path(path))]
    Other {
        /// The file.
        path: PathBuf,
    },
}

/// The results of a candidate so far.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Entry {
    pub(super) picks: Picks,
    /// Whether it agrees with C1.
    pub(super) in_time: bool,
    /// The numbers of the claims, if it was simulated in full.
    pub(super) numbers: Option<Vec<f64>>,
}

/// What the results depend on.
#[derive(PartialEq, Serialize, Deserialize)]
struct Identity {
    model: u32,
    space: Space,
    header: Vec<String>,
}

/// A log that is open for appending.
#[derive(Debug)]
pub struct Log {
    path: PathBuf,
    file: Mutex<File>,
    known: HashMap<Picks, Entry>,
}

impl Log {
    /// The path of a log beside an output; `None` if the output is a folder or a device.
    pub fn beside(output: &Path) -> Option<PathBuf> {
        if output.metadata().is_ok_and(|metadata| !metadata.is_file()) {
            return None;
        }
        let mut name = output.file_name()?.to_owned();
        name.push(".log");
        Some(output.with_file_name(name))
    }

    /// Opens the log of a space, or begins it.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or written, or belongs to other candidates.
    pub fn open(path: &Path, space: &Space) -> Result<Self, LogError> {
        let failed = |source| LogError::Io { path: path.into(), source };
        let identity = Identity { model: MODEL_VERSION, space: space.clone(), header: header(space) };
        let text = match input::read_text(path, Content::Document) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            text => text.map_err(failed)?,
        };
        let whole = text.rfind('\n').map_or(0, |newline| newline + 1);
        let mut lines = text[..whole].lines();
        if let Some(first) = lines.next() {
            let path = path.to_owned();
            match serde_json::from_str::<Identity>(first) {
                Ok(known) if known == identity => {}
                Ok(Identity { model, .. }) if model != MODEL_VERSION => {
                    return Err(LogError::OtherModel { path, model });
                }
                Ok(_) | Err(_) => return Err(LogError::Other { path }),
            }
        }
        let entries = lines.filter_map(|line| serde_json::from_str::<Entry>(line).ok());
        // A later entry of a candidate has more.
        let known: HashMap<Picks, Entry> = entries.map(|entry| (entry.picks.clone(), entry)).collect();
        let mut file = OpenOptions::new().create(true).append(true).open(path).map_err(failed)?;
        file.set_len(whole as u64).map_err(failed)?;
        if whole == 0 {
            file.write_all(line(&identity).as_bytes()).map_err(failed)?;
        }
        Ok(Self { path: path.into(), file: Mutex::new(file), known })
    }

    /// What is known of a candidate.
    pub(super) fn get(&self, picks: &Picks) -> Option<&Entry> {
        self.known.get(picks)
    }

    /// Appends a result.
    pub(super) fn put(&self, entry: &Entry) -> Result<(), LogError> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let written = file.write_all(line(entry).as_bytes());
        written.map_err(|source| LogError::Io { path: self.path.clone(), source })
    }

    /// Deletes the file.
    ///
    /// # Errors
    /// Returns an error if it cannot be deleted.
    pub fn remove(self) -> Result<(), LogError> {
        let Self { path, file, .. } = self;
        drop(file);
        std::fs::remove_file(&path).map_err(|source| LogError::Io { path, source })
    }
}

fn line(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("plain data becomes JSON") + "\n"
}
