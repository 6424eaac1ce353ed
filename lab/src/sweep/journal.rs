//! The append-only journal of a sweep.
//!
//! A record is one line, written by one call, and ends with a checksum of its text. A process that is
//! killed, or a disk that is full, leaves an incomplete record: readers skip it, and its point runs again.
//! A complete record with another checksum is an error, and so are two results of one point that differ.

use super::halving::{self, Costs, Standing};
use super::manifest::Manifest;
use super::plan::{Plan, PlannedPoint};
use super::record::{Outcome, Record, Status};
use super::shard::Shard;
use crate::files;
use rayon::prelude::*;
use serde::Deserialize;
use std::collections::{HashMap, HashSet};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use thiserror::Error;

const MANIFEST: &str = "sweep.json";

/// Errors of a sweep's folder.
#[derive(Debug, Error)]
pub enum JournalError {
    /// No folder was named.
    #[error("missing folder")]
    NoFolder,
    /// A file or folder cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A folder without a sweep.
    #[error("{} is not the folder of a sweep: {MANIFEST} is missing", folder.display())]
    NoSweep {
        /// The folder.
        folder: PathBuf,
    },
    /// A sweep that cannot be read.
    #[error("{}: {reason}", path.display())]
    Manifest {
        /// The file.
        path: PathBuf,
        /// The error.
        reason: String,
    },
    /// A folder with another sweep.
    #[error("{} belongs to the sweep `{name}`, the first folder to `{expected}`", folder.display())]
    OtherSweep {
        /// The folder.
        folder: PathBuf,
        /// The name of its sweep.
        name: String,
        /// The name of the first folder's sweep.
        expected: String,
    },
    /// A line that is not a record.
    #[error("{}:{line}: invalid record: {reason}", path.display())]
    Line {
        /// The journal.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The error.
        reason: String,
    },
    /// Two results of one point.
    #[error("{}:{line}: point {key} has two results that differ", path.display())]
    Disagree {
        /// The journal with the second one.
        path: PathBuf,
        /// Its line, from 1.
        line: usize,
        /// The point's key.
        key: String,
    },
    /// A folder that holds another sweep.
    #[error("{} holds the sweep `{name}`, not `{wanted}`", folder.display())]
    Occupied {
        /// The folder.
        folder: PathBuf,
        /// The name of its sweep.
        name: String,
        /// The name of the sweep that should be written there.
        wanted: String,
    },
    /// The caller asked to stop. All results so far are in the journal.
    #[error("stopped")]
    Stopped,
    /// A record with unknown content.
    #[error("record of another version: {reason}")]
    Record {
        /// The error.
        reason: String,
    },
    /// Another process writes the same journal.
    #[error("{}: locked by another process that runs this sweep", path.display())]
    Locked {
        /// The journal.
        path: PathBuf,
    },
}

fn io_error(path: &Path) -> impl FnOnce(io::Error) -> JournalError {
    move |source| JournalError::Io { path: path.into(), source }
}

/// A journal that is open for appending. No other process can open it at the same time.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    known: HashMap<String, Outcome>,
    /// The keys of the records appended since it was opened.
    appended: HashSet<String>,
    /// Whether to stop after the next record.
    stop: Arc<AtomicBool>,
}

/// Points that can be simulated now.
#[derive(Clone, Debug)]
pub struct Batch<'p> {
    /// The degree of their rung; `None` for their own degree.
    pub rung: Option<u32>,
    /// The points, in the order of the sweep.
    pub points: Vec<&'p PlannedPoint>,
}

/// The part of a record that later decisions need.
#[derive(Deserialize)]
struct Head {
    key: String,
    status: Status,
    cycles: Option<u64>,
    time_us: Option<f64>,
    area_mm2: Option<f64>,
    energy_uj: Option<f64>,
}

impl Head {
    fn outcome(&self) -> Outcome {
        let costs = || {
            let (cycles, time_us) = (self.cycles?, self.time_us?);
            Some(Costs { cycles, time_us, area_mm2: self.area_mm2?, energy_uj: self.energy_uj? })
        };
        Outcome { status: self.status, costs: if self.status == Status::Ok { costs() } else { None } }
    }
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
        let options = OpenOptions::new().create(true).read(true).append(true).clone();
        let file = options.open(&path).map_err(io_error(&path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(JournalError::Locked { path }),
            // Some cluster file systems have no locks; there, this is up to the user.
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {}
            Err(TryLockError::Error(error)) => return Err(io_error(&path)(error)),
        }
        let content = fs::read(&path).map_err(io_error(&path))?;
        let whole = content.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
        file.set_len(whole as u64).map_err(io_error(&path))?;

        if is_sweep(folder) {
            let name = read_manifest(folder)?.name;
            if name != manifest.name {
                let (folder, wanted) = (folder.to_owned(), manifest.name.clone());
                return Err(JournalError::Occupied { folder, name, wanted });
            }
        }
        write_manifest(folder, manifest)?;

        let mut known: HashMap<String, Outcome> = HashMap::new();
        for_each_record(folder, |key, outcome, _, _| {
            let known = known.entry(key.to_owned()).or_insert(outcome);
            if outcome.status < known.status {
                *known = outcome;
            }
            Ok(())
        })?;
        Ok(Self { path, file, known, appended: HashSet::new(), stop: Arc::default() })
    }

    /// Stops the work after the points in progress once `stop` is true: the next record that is appended
    /// returns [`JournalError::Stopped`].
    #[must_use]
    pub fn stopped_by(self, stop: Arc<AtomicBool>) -> Self {
        Self { stop, ..self }
    }

    /// The points of a shard that can be simulated next: those without a record, and with
    /// `retry_failed` also those that failed before the journal was opened. With halving, these are
    /// points of the first rung that lacks results, of all shards, because each needs the whole
    /// rung for its decisions; after the last rung, the remaining points of the shard. If there are
    /// none, the work is complete.
    pub fn pending<'p>(&self, plan: &'p Plan, shard: Shard, retry_failed: bool) -> Batch<'p> {
        let wanted = |point: &&PlannedPoint| match self.known.get(&point.key) {
            None => true,
            Some(outcome) => {
                retry_failed && outcome.status == Status::Failed && !self.appended.contains(&point.key)
            }
        };
        // A failure that is retried may change the decisions.
        let outcome = |key: &str| {
            let outcome = self.known.get(key)?;
            let again = retry_failed && outcome.status == Status::Failed && !self.appended.contains(key);
            (!again).then_some(outcome.costs)
        };
        let Standing { dropped, open } = halving::standing(&plan.manifest, outcome);
        let (rung, points) = match open {
            Some(rung) => (Some(rung), &plan.rungs[rung]),
            None => (None, &plan.points),
        };
        let mut seen = HashSet::new();
        let here = points
            .iter()
            .enumerate()
            .filter(|&(i, _)| dropped[i].is_none() && (rung.is_some() || shard.has(i)));
        let points = here.map(|(_, point)| point).filter(wanted).filter(|point| seen.insert(&point.key));
        let degree = |rung: usize| plan.manifest.halving.as_ref().map(|halving| halving.rungs[rung]);
        Batch { points: points.collect(), rung: rung.and_then(degree) }
    }

    /// The outcome of a point with a record.
    pub(super) fn outcome(&self, key: &str) -> Option<Outcome> {
        self.known.get(key).copied()
    }

    /// Appends a record in the form of [`line`].
    ///
    /// # Errors
    /// Returns an error if it cannot be written, or if the work is to stop; then it has been written.
    pub(super) fn append(&mut self, record: &Record, line: &str) -> Result<(), JournalError> {
        let before = self.file.metadata().map_err(io_error(&self.path))?.len();
        if let Err(error) = self.file.write_all(line.as_bytes()) {
            // A full disk may have taken a part. Readers skip it if it cannot be removed.
            let _ = self.file.set_len(before);
            return Err(io_error(&self.path)(error));
        }
        self.known.insert(record.key.clone(), record.outcome());
        self.appended.insert(record.key.clone());
        if self.stop.load(Ordering::Relaxed) { Err(JournalError::Stopped) } else { Ok(()) }
    }
}

/// The line of a record, with its checksum and its end.
///
/// # Errors
/// Returns an error if the record has no JSON form.
pub fn line(record: &Record) -> Result<String, JournalError> {
    let json = serde_json::to_string(record);
    let json = json.map_err(|error| JournalError::Record { reason: error.to_string() })?;
    let content = json.strip_suffix('}').unwrap_or(&json);
    Ok(format!("{content}{CHECKSUM}{}\"}}\n", checksum(content)))
}

/// What follows the content of a record, up to its checksum.
const CHECKSUM: &str = ",\"checksum\":\"";

/// The first 64 bits of a BLAKE3 hash, in hexadecimal.
fn checksum(content: &str) -> String {
    blake3::hash(content.as_bytes()).to_hex()[..16].to_owned()
}

/// Writes the manifest of a sweep, and `journal` as its only journal.
pub(super) fn save(folder: &Path, manifest: &Manifest, journal: &str) -> Result<(), JournalError> {
    fs::create_dir_all(folder).map_err(io_error(folder))?;
    write_manifest(folder, manifest)?;
    let path = folder.join(Shard::WHOLE.journal());
    files::write(&path, journal.as_bytes()).map_err(io_error(&path))
}

fn write_manifest(folder: &Path, manifest: &Manifest) -> Result<(), JournalError> {
    let json =
        serde_json::to_vec(manifest).map_err(|error| JournalError::Record { reason: error.to_string() })?;
    let path = folder.join(MANIFEST);
    // All shards of a sweep write the same manifest.
    if !fs::read(&path).is_ok_and(|present| present == json) {
        files::write(&path, &json).map_err(io_error(&path))?;
    }
    Ok(())
}

/// Whether a folder holds a sweep.
pub fn is_sweep(folder: &Path) -> bool {
    folder.join(MANIFEST).is_file()
}

/// The bytes of all journals of a folder: a number that rises with every record.
pub fn journal_state(folder: &Path) -> u64 {
    let journals = journal_paths(folder).unwrap_or_default();
    journals.iter().filter_map(|path| Some(fs::metadata(path).ok()?.len())).sum()
}

/// The journals of a folder, in the order of their names.
fn journal_paths(folder: &Path) -> Result<Vec<PathBuf>, JournalError> {
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
    let text = match fs::read(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(JournalError::NoSweep { folder: folder.into() });
        }
        text => text.map_err(io_error(&path))?,
    };
    serde_json::from_slice(&text).map_err(|error| JournalError::Manifest { path, reason: error.to_string() })
}

/// The place of a record: the journal, and the line from 1.
pub(super) type Place<'p> = (&'p Path, usize);

/// Calls `visit` with key, outcome, line and place of every complete record in the journals of a folder.
pub(super) fn for_each_record(
    folder: &Path,
    mut visit: impl FnMut(&str, Outcome, &str, Place<'_>) -> Result<(), JournalError>,
) -> Result<(), JournalError> {
    for path in journal_paths(folder)? {
        let content = fs::read(&path).map_err(io_error(&path))?;
        let whole = content.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
        let lines: Vec<&[u8]> = content[..whole].split(|&byte| byte == b'\n').collect();
        let heads: Vec<_> =
            lines
                .par_iter()
                .enumerate()
                .filter_map(|(number, line)| {
                    let line = complete(line)?;
                    let place = (path.as_path(), number + 1);
                    Some(read_line(line).map(|(head, line)| (head, line, place)).map_err(|reason| {
                        JournalError::Line { path: path.clone(), line: number + 1, reason }
                    }))
                })
                .collect::<Result<_, JournalError>>()?;
        for (head, line, place) in heads {
            visit(&head.key, head.outcome(), line, place)?;
        }
    }
    Ok(())
}

/// The complete record of a line; `None` if it has none. After a full disk, a record may follow a part of
/// another on one line.
fn complete(line: &[u8]) -> Option<&[u8]> {
    const BEGIN: &[u8] = b"{\"key\":";
    if !line.ends_with(b"}") {
        let is_begun = line.starts_with(BEGIN) || BEGIN.starts_with(line);
        return if is_begun { None } else { Some(line) };
    }
    let starts = line.windows(BEGIN.len()).enumerate().skip(1).filter(|(_, bytes)| *bytes == BEGIN);
    let torn = starts.map(|(at, _)| at).find(|&at| read_line(&line[at..]).is_ok());
    Some(&line[torn.unwrap_or(0)..])
}

/// Key and outcome of a journal's line, and its text.
fn read_line(line: &[u8]) -> Result<(Head, &str), String> {
    let line = str::from_utf8(line).map_err(|error| error.to_string())?;
    let (content, sum) = line.rsplit_once(CHECKSUM).ok_or("it has no checksum")?;
    if sum.strip_suffix("\"}") != Some(&checksum(content)) {
        return Err("its checksum does not match its text".to_owned());
    }
    let head = serde_json::from_str(line).map_err(|error| error.to_string())?;
    Ok((head, line))
}
