//! The append-only journal of a sweep.
//!
//! A record is one line, written by one call, and ends with a checksum of its text. A process that is
//! killed, or a disk that is full, leaves an incomplete record: readers skip it, and its point runs again.
//! A complete record with another checksum is an error, and so are two results of one point that differ.

use super::key::PointKey;
use super::manifest::{FORMAT, Manifest};
use super::measure::Costs;
use super::plan::Plan;
use super::record::{Outcome, Record, Status};
use super::shard::Shard;
use diagnostic::input;
use lab_run::files::NewFile;
use lab_run::json;
use lab_run::model::MODEL_VERSION;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::{HashMap, HashSet};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use thiserror::Error;

mod read;

pub(super) use read::{Entry, for_each_record, model_of_line};

const MANIFEST: &str = "sweep.json";

/// Errors of a sweep's folder.
#[derive(Debug, Error)]
pub enum JournalError {
    /// No folder was named.
    #[error("missing folder")]
    NoFolder,
    /// A file or folder cannot be read or written.
    #[error("cannot read or write `{}`: {source}", diagnostic::path(path))]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A folder without a sweep.
    #[error("{} is not the folder of a sweep: {MANIFEST} is missing", diagnostic::path(folder))]
    NoSweep {
        /// The folder.
        folder: PathBuf,
    },
    /// A sweep that cannot be read.
    #[error("{}: {reason}", diagnostic::path(path))]
    Manifest {
        /// The file.
        path: PathBuf,
        /// The error.
        reason: String,
    },
    /// A folder with another sweep.
    #[error("{} belongs to {}", diagnostic::path(folder), other_sweep(name, expected))]
    OtherSweep {
        /// The folder.
        folder: PathBuf,
        /// The name of its sweep.
        name: String,
        /// The name of the first folder's sweep.
        expected: String,
    },
    /// A line that is not a record.
    #[error("{}:{line}: invalid record: {reason}", diagnostic::path(path))]
    Line {
        /// The journal.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The error.
        reason: String,
    },
    /// Two results of one point.
    #[error("{}:{line}: point {key} has two results that differ", diagnostic::path(path))]
    Disagree {
        /// The journal with the second one.
        path: PathBuf,
        /// Its line, from 1.
        line: usize,
        /// The point's key.
        key: PointKey,
    },
    /// A folder that holds another sweep.
    #[error("{} holds {}", diagnostic::path(folder), occupant(name, wanted))]
    Occupied {
        /// The folder.
        folder: PathBuf,
        /// The name of its sweep.
        name: String,
        /// The name of the sweep that should be written there.
        wanted: String,
    },
    /// A folder with results that another version of the models gave.
    #[error(
        "{} holds results of `{name}` by version {model} of the models, and this rpu has version {MODEL_VERSION}",
        diagnostic::path(folder)
    )]
    OtherModel {
        /// The folder.
        folder: PathBuf,
        /// The name of its sweep.
        name: String,
        /// Their version.
        model: u32,
    },
    /// Results of two versions of the models.
    #[error(
        "{} has results by version {model} of the models, {} by version {expected}",
        diagnostic::path(path),
        diagnostic::path(first)
    )]
    Models {
        /// A journal or a folder.
        path: PathBuf,
        /// Its version.
        model: u32,
        /// The first journal or folder.
        first: PathBuf,
        /// Its version.
        expected: u32,
    },
    /// A folder of an exploration where a sweep should be, or the reverse.
    #[error("{} holds {} `{name}`", diagnostic::path(folder), if *explored { "an exploration" } else { "a sweep" })]
    OtherKind {
        /// The folder.
        folder: PathBuf,
        /// The name of its sweep.
        name: String,
        /// Whether the folder holds an exploration.
        explored: bool,
    },
    /// A folder with an exploration of another space.
    #[error("{} holds the exploration `{name}` of another space", diagnostic::path(folder))]
    OtherSpace {
        /// The folder.
        folder: PathBuf,
        /// The name of its exploration.
        name: String,
    },
    /// The caller asked to stop. All results so far are in the journal.
    #[error("stopped")]
    Stopped,
    /// A record that cannot be read.
    #[error("invalid record: {reason}")]
    Record {
        /// The error.
        reason: String,
    },
    /// Another process writes the same journal.
    #[error("{}: locked by another process that runs this sweep", diagnostic::path(path))]
    Locked {
        /// The journal.
        path: PathBuf,
    },
}

/// The sweep in a folder in contrast to the one that should be written there, in words.
fn occupant(name: &str, wanted: &str) -> String {
    if name == wanted {
        format!("another sweep `{name}`, without a point of this one")
    } else {
        format!("the sweep `{name}`, not `{wanted}`")
    }
}

/// The difference of two sweeps, in words.
fn other_sweep(name: &str, expected: &str) -> String {
    if name == expected {
        format!("another definition of the sweep `{name}` than the first folder")
    } else {
        format!("the sweep `{name}`, the first folder to `{expected}`")
    }
}

pub(super) fn io_error(path: &Path) -> impl FnOnce(io::Error) -> JournalError {
    move |source| JournalError::Io { path: path.into(), source }
}

/// A journal that is open for appending. No other process can open it at the same time.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    /// Its bytes.
    length: u64,
    known: HashMap<PointKey, Status>,
    /// The costs of successful points in an exploration, which decides by them.
    costs: Option<HashMap<PointKey, Costs>>,
    /// Whether to stop after the next record.
    stop: Arc<AtomicBool>,
}

impl Journal {
    /// Opens the journal of a shard in `folder`, which is created if necessary, and writes the
    /// manifest. The known points are those with a record in any journal of the folder.
    ///
    /// # Errors
    /// Returns an error if files cannot be read or written, or another process holds the journal
    /// open.
    pub fn open(folder: &Path, shard: Shard, manifest: &Manifest) -> Result<Self, JournalError> {
        fs::create_dir_all(folder).map_err(io_error(folder))?;
        let path = folder.join(shard.journal());
        match input::open_stored(&path) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(io_error(&path)(error)),
        }
        let options = OpenOptions::new().create(true).read(true).append(true).clone();
        let file = options.open(&path).map_err(io_error(&path))?;
        lock(&file, &path)?;
        let mut content = input::open_stored(&path).map_err(io_error(&path))?;
        let length = read::whole_length(&mut content).map_err(io_error(&path))?;
        file.set_len(length).map_err(io_error(&path))?;
        let is_new = check_folder(folder, manifest)?;

        let (mut known, mut costs) = (HashMap::new(), manifest.explored.map(|_| HashMap::new()));
        for_each_record(&journal_paths(folder)?, &mut |entry| {
            // The points of an exploration are those with a record.
            let other = entry.model.filter(|&model| manifest.explored.is_some() && model != MODEL_VERSION);
            if let Some(model) = other {
                let (folder, name) = (folder.to_owned(), manifest.name.clone());
                return Err(JournalError::OtherModel { folder, name, model });
            }
            let Outcome { status, costs: found } = entry.outcome;
            let known = known.entry(entry.key).or_insert(status);
            *known = status.min(*known);
            if let (Some(costs), Some(found)) = (&mut costs, found) {
                costs.entry(entry.key).or_insert(found);
            }
            Ok(())
        })?;
        if is_new {
            write_manifest(folder, manifest)?;
        }
        Ok(Self { path, file, length, known, costs, stop: Arc::default() })
    }

    /// Stops the work after the points in progress once `stop` is true: the next record that is appended
    /// returns [`JournalError::Stopped`].
    #[must_use]
    pub fn stopped_by(self, stop: Arc<AtomicBool>) -> Self {
        Self { stop, ..self }
    }

    /// The points of a shard without a record, and with `retry_failed` also those that failed, in ascending
    /// order.
    pub fn pending(&self, plan: &Plan, shard: Shard, retry_failed: bool) -> Vec<usize> {
        let runs = |key: PointKey| match self.known.get(&key) {
            None => true,
            Some(status) => retry_failed && *status == Status::Failed,
        };
        let points = &plan.manifest.points;
        (0..points.len()).filter(|&index| shard.has(index) && runs(points.key(index))).collect()
    }

    /// The outcome of a point with a record; its costs only in an exploration, which decides by them.
    pub(super) fn outcome(&self, key: &PointKey) -> Option<Outcome> {
        let status = *self.known.get(key)?;
        Some(Outcome { status, costs: self.costs.as_ref().and_then(|costs| costs.get(key).copied()) })
    }

    /// Appends a record in the form of [`line`].
    ///
    /// # Errors
    /// Returns an error if it cannot be written, or if the work is to stop; then it has been written.
    pub(super) fn append(&mut self, record: &Record, line: &str) -> Result<(), JournalError> {
        if let Err(error) = self.file.write_all(line.as_bytes()) {
            // A full disk may have taken a part. Readers skip it if it cannot be removed.
            let _ = self.file.set_len(self.length);
            return Err(io_error(&self.path)(error));
        }
        self.length += line.len() as u64;
        let Outcome { status, costs } = record.outcome();
        self.known.insert(record.key, status);
        if let (Some(known), Some(costs)) = (&mut self.costs, costs) {
            known.insert(record.key, costs);
        }
        if self.stop.load(Ordering::Relaxed) { Err(JournalError::Stopped) } else { Ok(()) }
    }
}

/// The line of a record, with its checksum and its end.
///
/// # Errors
/// Returns an error if the record has no JSON form.
pub fn line(record: &Record) -> Result<String, JournalError> {
    let json = record.to_json().map_err(|error| JournalError::Record { reason: error.to_string() })?;
    let content = json.strip_suffix('}').unwrap_or(&json);
    Ok(format!("{content}{CHECKSUM}{}\"}}\n", checksum(content)))
}

/// What follows the content of a record, up to its checksum.
const CHECKSUM: &str = ",\"checksum\":\"";

/// The first 64 bits of a BLAKE3 hash, in hexadecimal.
fn checksum(content: &str) -> String {
    blake3::hash(content.as_bytes()).to_hex()[..16].to_owned()
}

/// Locks a journal until its file is closed.
fn lock(file: &File, path: &Path) -> Result<(), JournalError> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(JournalError::Locked { path: path.into() }),
        // Some cluster file systems have no locks; there, this is up to the user.
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => Ok(()),
        Err(TryLockError::Error(error)) => Err(io_error(path)(error)),
    }
}

/// Writes a manifest and these lines to a folder. The lines replace the journal of the whole sweep; journals
/// of shards stay.
pub(super) fn save(
    folder: &Path,
    manifest: &Manifest,
    lines: impl Iterator<Item = Result<String, JournalError>>,
) -> Result<(), JournalError> {
    fs::create_dir_all(folder).map_err(io_error(folder))?;
    if check_folder(folder, manifest)? {
        write_manifest(folder, manifest)?;
    }
    let path = folder.join(Shard::WHOLE.journal());
    // A process that appends to the present one would lose its records.
    let present = OpenOptions::new().append(true).open(&path).ok();
    present.as_ref().map_or(Ok(()), |present| lock(present, &path))?;
    let mut file = NewFile::create(&path).map_err(io_error(&path))?;
    for line in lines {
        let line = line? + "\n";
        file.write_all(line.as_bytes()).map_err(io_error(&path))?;
    }
    file.finish().map_err(io_error(&path))
}

/// Whether a manifest is to be written to a folder: not if its file has this content already, as all shards
/// of a sweep write the same one. The folder of another sweep is an error.
fn check_folder(folder: &Path, manifest: &Manifest) -> Result<bool, JournalError> {
    let path = folder.join(MANIFEST);
    match input::open_stored(&path) {
        Ok(file) => {
            let mut present = BufWriter::new(Present(BufReader::new(file)));
            let is_same = json::to_writer(&mut present, manifest).is_ok() && present.flush().is_ok();
            if is_same && present.get_mut().is_at_end() {
                return Ok(false);
            }
            let name = read_head(&path)?;
            let present: Manifest = read_json(&path)?;
            let folder = folder.to_owned();
            let explored = present.explored.is_some();
            if name == manifest.name && explored != manifest.explored.is_some() {
                return Err(JournalError::OtherKind { folder, name, explored });
            }
            let is_other = name != manifest.name;
            if is_other || !has_points_of(&present, manifest) {
                // Keys depend on the version.
                let model = model_of(&folder).filter(|&model| !is_other && model != MODEL_VERSION);
                if let Some(model) = model {
                    return Err(JournalError::OtherModel { folder, name, model });
                }
                if explored && !is_other {
                    return Err(JournalError::OtherSpace { folder, name });
                }
                return Err(JournalError::Occupied { folder, name, wanted: manifest.name.clone() });
            }
            Ok(true)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(io_error(&path)(error)),
    }
}

fn write_manifest(folder: &Path, manifest: &Manifest) -> Result<(), JournalError> {
    let path = folder.join(MANIFEST);
    let mut file = NewFile::create(&path).map_err(io_error(&path))?;
    json::to_writer(&mut file, manifest).map_err(|error| io_error(&path)(error.into()))?;
    file.finish().map_err(io_error(&path))
}

/// Whether the sweep of a folder has a point of another: a definition that changed keeps the results of the
/// points that it keeps. The results of a sweep without any would be lost. An exploration shows every record
/// of its folder, so its space stays the same.
fn has_points_of(present: &Manifest, manifest: &Manifest) -> bool {
    if manifest.explored.is_some() {
        return present.explored == manifest.explored;
    }
    let known: HashSet<&PointKey> = present.points.keys().iter().collect();
    known.is_empty() || manifest.points.keys().iter().any(|key| known.contains(key))
}

/// The latest version of the models that gave a result in a folder. Failed points have none.
pub(super) fn model_of(folder: &Path) -> Option<u32> {
    let mut latest = None;
    let read = for_each_record(&journal_paths(folder).ok()?, &mut |entry| {
        latest = latest.max(entry.model);
        Ok(())
    });
    read.ok().and(latest)
}

/// The part of a manifest that is the same in all formats of a folder.
#[derive(Deserialize)]
struct Head {
    schema: u32,
    name: String,
}

/// Checks the format of a manifest, and returns the name of its sweep.
fn read_head(path: &Path) -> Result<String, JournalError> {
    let Head { schema, name } = read_json(path)?;
    let readers = match schema {
        FORMAT => return Ok(name),
        1 | 2 => ", which rpu reads up to version 14 of its models",
        _ => "",
    };
    let reason =
        format!("the folder has format {schema}{readers}; this version of rpu reads format {FORMAT}");
    Err(JournalError::Manifest { path: path.to_owned(), reason })
}

/// A file that accepts its own content only.
struct Present(BufReader<File>);

impl Present {
    fn is_at_end(&mut self) -> bool {
        self.0.read(&mut [0]).is_ok_and(|read| read == 0)
    }
}

impl Write for Present {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut present = vec![0; bytes.len()];
        self.0.read_exact(&mut present)?;
        if present == bytes { Ok(bytes.len()) } else { Err(io::ErrorKind::InvalidData.into()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Whether a folder holds a sweep.
pub fn is_sweep(folder: &Path) -> bool {
    folder.join(MANIFEST).is_file()
}

/// The journals of a folder, in the order of their names.
pub(super) fn journal_paths(folder: &Path) -> Result<Vec<PathBuf>, JournalError> {
    let mut journals = Vec::new();
    for entry in fs::read_dir(folder).map_err(io_error(folder))? {
        let name = entry.map_err(io_error(folder))?.file_name();
        let name = name.to_string_lossy();
        if name.starts_with("journal") && name.ends_with(".jsonl") {
            journals.push(folder.join(&*name));
        }
    }
    journals.sort();
    Ok(journals)
}

/// The manifest of a sweep's folder.
pub(super) fn read_manifest(folder: &Path) -> Result<Manifest, JournalError> {
    let path = folder.join(MANIFEST);
    if !path.exists() {
        return Err(JournalError::NoSweep { folder: folder.into() });
    }
    read_head(&path)?;
    let manifest: Manifest = read_json(&path)?;
    manifest.check_texts().map_err(|reason| JournalError::Manifest { path, reason })?;
    Ok(manifest)
}

fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, JournalError> {
    let file = input::open_stored(path).map_err(io_error(path))?;
    let read = serde_json::from_reader(BufReader::with_capacity(1 << 20, file));
    read.map_err(|error: serde_json::Error| match error.io_error_kind() {
        Some(kind) => io_error(path)(kind.into()),
        None => {
            JournalError::Manifest { path: path.to_owned(), reason: diagnostic::reason(&error.to_string()) }
        }
    })
}

#[cfg(test)]
mod tests;
