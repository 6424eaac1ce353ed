//! The append-only journal of a sweep.
//!
//! A record is one line, written by one call. A process that is killed leaves at most one line
//! without its end, the last: readers leave it out, and the next run cuts it off. Only a failure of
//! the computer itself can lose more, which then runs again.

use super::plan::{Manifest, Shard};
use super::results::{Record, Status};
use crate::files;
use serde::Deserialize;
use std::collections::HashMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use thiserror::Error;

const MANIFEST: &str = "sweep.json";

/// What can be wrong with a sweep's folder.
#[derive(Debug, Error)]
pub enum JournalError {
    /// No folder was named.
    #[error("no folder was named")]
    NoFolder,
    /// A file or folder cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A folder without a sweep.
    #[error("{} holds no sweep: there is no {MANIFEST}", folder.display())]
    NoSweep {
        /// The folder.
        folder: PathBuf,
    },
    /// A sweep that cannot be read.
    #[error("{}: {reason}", path.display())]
    Manifest {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A folder with another sweep.
    #[error("{} holds points of another sweep, `{name}`, than the first folder, `{expected}`", folder.display())]
    OtherSweep {
        /// The folder.
        folder: PathBuf,
        /// The name of its sweep.
        name: String,
        /// The name of the first folder's sweep.
        expected: String,
    },
    /// A line that is no record.
    #[error("{}:{line}: this is no record of a sweep: {reason}", path.display())]
    Line {
        /// The journal.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
    /// A record with unknown content.
    #[error("a record is not of this version: {reason}")]
    Record {
        /// What is wrong.
        reason: String,
    },
    /// Another process writes the same journal.
    #[error("{}: another process is running this sweep", path.display())]
    Locked {
        /// The journal.
        path: PathBuf,
    },
}

fn io_error(path: &Path) -> impl FnOnce(io::Error) -> JournalError {
    move |source| JournalError::Io { path: path.into(), source }
}

/// A journal that is open for appending. No other process can open it meanwhile.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    known: HashMap<String, Status>,
}

/// The part of a record that every version has.
#[derive(Deserialize)]
struct Head {
    key: String,
    status: Status,
}

impl Journal {
    /// Opens the journal of a shard in `folder`, which is made if need be, and writes the
    /// manifest. Points with a record in any journal of the folder are known from then on.
    ///
    /// # Errors
    /// Where files cannot be read or written, or another process has the journal open.
    pub fn open(folder: &Path, shard: Shard, manifest: &Manifest) -> Result<Self, JournalError> {
        fs::create_dir_all(folder).map_err(io_error(folder))?;
        let path = folder.join(shard.journal());
        let options = OpenOptions::new().create(true).read(true).append(true).clone();
        let file = options.open(&path).map_err(io_error(&path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(JournalError::Locked { path }),
            Err(TryLockError::Error(error)) => return Err(io_error(&path)(error)),
        }
        let content = fs::read(&path).map_err(io_error(&path))?;
        let whole = content.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
        file.set_len(whole as u64).map_err(io_error(&path))?;

        let json = serde_json::to_vec(manifest)
            .map_err(|error| JournalError::Record { reason: error.to_string() })?;
        let manifest_path = folder.join(MANIFEST);
        // The shards of one sweep all write the same one.
        if !fs::read(&manifest_path).is_ok_and(|present| present == json) {
            files::write(&manifest_path, &json).map_err(io_error(&manifest_path))?;
        }

        let mut known = HashMap::new();
        for_each_record(folder, |key, status, _| {
            let known = known.entry(key.to_owned()).or_insert(status);
            *known = status.min(*known);
        })?;
        Ok(Self { path, file, known })
    }

    /// How a point went, if it has a record.
    pub fn status(&self, key: &str) -> Option<Status> {
        self.known.get(key).copied()
    }

    /// Appends a record.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn append(&mut self, record: &Record) -> Result<(), JournalError> {
        let mut line =
            serde_json::to_vec(record).map_err(|error| JournalError::Record { reason: error.to_string() })?;
        line.push(b'\n');
        self.file.write_all(&line).map_err(io_error(&self.path))?;
        self.known.insert(record.key.clone(), record.status);
        Ok(())
    }
}

/// The manifest of a sweep's folder.
pub(super) fn read_manifest(folder: &Path) -> Result<Manifest, JournalError> {
    let path = folder.join(MANIFEST);
    let text = match fs::read(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(JournalError::NoSweep { folder: folder.into() });
        }
        text => text.map_err(io_error(&path))?,
    };
    serde_json::from_slice(&text).map_err(|error| JournalError::Manifest { path, reason: error.to_string() })
}

/// Calls `visit` with key, status and line of every record in the journals of a folder.
pub(super) fn for_each_record(
    folder: &Path,
    mut visit: impl FnMut(&str, Status, &str),
) -> Result<(), JournalError> {
    let mut journals = Vec::new();
    for entry in fs::read_dir(folder).map_err(io_error(folder))? {
        let name = entry.map_err(io_error(folder))?.file_name();
        let name = name.to_string_lossy();
        if name.starts_with("journal") && name.ends_with(".jsonl") {
            journals.push(folder.join(&*name));
        }
    }
    journals.sort();
    for path in journals {
        let content = fs::read(&path).map_err(io_error(&path))?;
        let whole = content.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
        for (number, line) in content[..whole].split(|&byte| byte == b'\n').enumerate() {
            if line.is_empty() {
                continue;
            }
            let wrong = |reason: String| JournalError::Line { path: path.clone(), line: number + 1, reason };
            let line = str::from_utf8(line).map_err(|error| wrong(error.to_string()))?;
            let head: Head = serde_json::from_str(line).map_err(|error| wrong(error.to_string()))?;
            visit(&head.key, head.status, line);
        }
    }
    Ok(())
}
