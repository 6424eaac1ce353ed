//! Results of a sweep, from one or more journals.
//!
//! Records stay in their journals: the results know the place of each, and the costs that fronts need.

use super::journal::{self, Entry, JournalError};
use super::key::PointKey;
use super::manifest::Manifest;
use super::measure::{Costs, Measure};
use super::parameter::Settings;
use super::record::{Record, Status};
use diagnostic::input;
use lab_run::model::MODEL_VERSION;
use rayon::prelude::*;
use serde::Deserialize;
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// The results of a sweep so far.
#[derive(Debug)]
pub struct Results {
    /// The sweep.
    pub manifest: Manifest,
    journals: Journals,
    /// The record of each point, in the order of the sweep.
    found: Vec<Option<Found>>,
    /// The costs of each point.
    costs: Table,
    /// Records that belong to no point of the sweep, such as those of an earlier definition, ordered by key.
    others: Vec<Found>,
    /// Whether every run was compared with the golden model.
    all_checked: bool,
}

/// The place of a record in the journals.
#[derive(Clone, Copy, Debug)]
struct Found {
    status: Status,
    journal: u32,
    length: u32,
    offset: u64,
}

/// The journals of a sweep, open for reading.
#[derive(Debug, Default)]
struct Journals {
    paths: Vec<PathBuf>,
    files: Vec<File>,
}

impl Journals {
    /// The text of a record.
    fn line(&self, found: &Found) -> Result<String, JournalError> {
        let (path, file) = (&self.paths[found.journal as usize], &self.files[found.journal as usize]);
        let mut line = vec![0; found.length as usize];
        read_at(file, &mut line, found.offset).map_err(journal::io_error(path))?;
        String::from_utf8(line).map_err(|error| JournalError::Record { reason: error.to_string() })
    }
}

#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, offset)
}

#[cfg(not(unix))]
fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    use std::io::{Read, Seek, SeekFrom};
    // A position of its own for each thread.
    let mut file = file.try_clone()?;
    file.seek(SeekFrom::Start(offset))?;
    file.read_exact(bytes)
}

/// The costs of points: of all measures, only the keys on which fronts depend.
#[derive(Debug)]
struct Table {
    keys: Vec<Measure>,
    /// The values of each point's keys, not numbers where it has none.
    values: Vec<f64>,
}

impl Table {
    fn push(&mut self) {
        self.values.resize(self.values.len() + self.keys.len(), f64::NAN);
    }

    fn set(&mut self, point: usize, costs: &Costs) {
        let values = &mut self.values[point * self.keys.len()..];
        values.iter_mut().zip(&self.keys).for_each(|(value, key)| *value = key.of(costs));
    }

    fn get(&self, point: usize) -> Costs {
        let mut costs = Costs::UNKNOWN;
        let values = &self.values[point * self.keys.len()..];
        values.iter().zip(&self.keys).for_each(|(value, key)| costs.set(*key, *value));
        costs
    }

    /// The costs of some points, in their order.
    fn of(&self, points: &[usize]) -> Self {
        let (keys, size) = (self.keys.clone(), self.keys.len());
        let values = points.iter().flat_map(|&point| &self.values[point * size..][..size]);
        Self { keys, values: values.copied().collect() }
    }
}

/// The numbers of keys: those of points are their places, others follow.
struct Numbers<'p> {
    points: &'p [PointKey],
    /// Point numbers sorted by key; a tenth of the memory of a `HashMap`.
    order: Vec<u32>,
    others: HashMap<PointKey, u32>,
}

impl<'p> Numbers<'p> {
    fn of(points: &'p [PointKey]) -> Self {
        let mut order: Vec<u32> = (0..points.len() as u32).collect();
        order.par_sort_unstable_by_key(|&place| points[place as usize]);
        Self { points, order, others: HashMap::new() }
    }

    fn get(&self, key: &PointKey) -> Option<usize> {
        let place = self.order.binary_search_by_key(key, |&place| self.points[place as usize]);
        let number = place.map_or_else(|_| self.others.get(key), |place| self.order.get(place));
        number.map(|&number| number as usize)
    }
}

/// The best record of each key so far.
struct Best<'p> {
    numbers: Numbers<'p>,
    found: Vec<Option<Found>>,
    costs: Table,
}

impl<'p> Best<'p> {
    fn new(points: &'p [PointKey], keys: Vec<Measure>) -> Self {
        let costs = Table { values: vec![f64::NAN; points.len() * keys.len()], keys };
        Self { numbers: Numbers::of(points), found: vec![None; points.len()], costs }
    }

    /// The number of a key.
    fn number(&mut self, key: PointKey) -> usize {
        if let Some(known) = self.numbers.get(&key) {
            return known;
        }
        let next = self.found.len();
        self.numbers.others.insert(key, next as u32);
        self.found.push(None);
        self.costs.push();
        next
    }

    /// Adds a record, unless the present one takes precedence.
    fn add(&mut self, entry: &Entry<'_>, journals: &Journals) -> Result<(), JournalError> {
        let number = self.number(entry.key);
        let status = entry.outcome.status;
        let place = |journal: usize| u32::try_from(journal).ok();
        let too_many = || JournalError::Record { reason: "too many journals, or a longer line".into() };
        let new = Found {
            status,
            journal: place(entry.journal).ok_or_else(too_many)?,
            length: place(entry.line.len()).ok_or_else(too_many)?,
            offset: entry.offset,
        };
        let Some(present) = self.found[number] else {
            self.put(number, new, entry);
            return Ok(());
        };
        let line = journals.line(&present)?;
        let both_ran = (status, present.status) == (Status::Ok, Status::Ok);
        if both_ran && line != entry.line && !have_one_result(&line, entry.line)? {
            let path = journals.paths[entry.journal].clone();
            return Err(JournalError::Disagree { path, line: entry.number, key: entry.key });
        }
        if (status, entry.line) < (present.status, line.as_str()) {
            self.put(number, new, entry);
        }
        Ok(())
    }

    fn put(&mut self, number: usize, found: Found, entry: &Entry<'_>) {
        self.found[number] = Some(found);
        self.costs.set(number, &entry.outcome.costs.unwrap_or(Costs::UNKNOWN));
    }
}

impl Results {
    /// Collects the journals of `folders`, which belong to one sweep.
    ///
    /// If a point has several records, a successful one takes precedence. Otherwise the choice does not
    /// depend on the order of folders and journals.
    ///
    /// # Errors
    /// Returns an error if a folder has no sweep, or another one, if a journal cannot be read, or if two
    /// results of one point differ.
    pub fn merge(folders: &[&Path]) -> Result<Self, JournalError> {
        let (mut manifest, journals) = open(folders)?;
        let mut best = Best::new(manifest.points.keys(), manifest.keys());
        let (mut all_checked, mut explored) = (true, Vec::new());
        let mut first: Option<(usize, u32)> = None;
        journal::for_each_record(&journals.paths, &mut |entry| {
            if let Some(model) = entry.model.filter(|_| manifest.explored.is_some()) {
                let (journal, expected) = *first.get_or_insert((entry.journal, model));
                if model != expected {
                    let [path, first] =
                        [entry.journal, journal].map(|journal| journals.paths[journal].clone());
                    return Err(JournalError::Models { path, model, first, expected });
                }
            }
            all_checked &= entry.checked.unwrap_or(true);
            if manifest.explored.is_some() && best.numbers.get(&entry.key).is_none() {
                explored.push((entry.key, settings(entry.line)?));
            }
            best.add(&entry, &journals)
        })?;
        let Best { numbers: Numbers { others, .. }, mut found, mut costs, .. } = best;
        if manifest.explored.is_some() {
            manifest.points = manifest.explored_points(explored.into_iter());
            // Records came in any order.
            let order: Vec<usize> = manifest.points.keys().iter().map(|key| others[key] as usize).collect();
            found = order.iter().map(|&number| found[number]).collect();
            costs = costs.of(&order);
        }
        let mut others: Vec<(PointKey, u32)> = others.into_iter().collect();
        others.sort_unstable();
        let of_no_point = others.into_iter().filter(|_| manifest.explored.is_none());
        let others = of_no_point.filter_map(|(_, number)| found[number as usize]).collect();
        found.truncate(manifest.points.len());
        Ok(Self { manifest, journals, found, costs, others, all_checked })
    }

    /// Writes the manifest and one journal of all records to `folder`, which can then be used as if the
    /// sweep had run there.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read or written.
    pub fn save(&self, folder: &Path) -> Result<(), JournalError> {
        let mut manifest = self.manifest.clone();
        if manifest.explored.is_some() {
            manifest.points = super::points::Points::default();
        }
        let records = self.found.iter().flatten().chain(&self.others);
        let lines = records.map(|found| self.journals.line(found));
        journal::save(folder, &manifest, lines)
    }

    /// The number of points.
    pub fn points(&self) -> usize {
        self.found.len()
    }

    /// The status of a point, if it has a result.
    pub fn status(&self, point: usize) -> Option<Status> {
        self.found[point].map(|found| found.status)
    }

    /// The points with a result, in the order of the sweep.
    pub fn recorded(&self) -> impl Iterator<Item = usize> {
        (0..self.points()).filter(|&point| self.status(point).is_some())
    }

    /// The costs of a point that ran, as far as fronts depend on them.
    pub(super) fn costs(&self, point: usize) -> Option<Costs> {
        (self.status(point) == Some(Status::Ok)).then(|| self.costs.get(point))
    }

    /// Whether every run was compared with the golden model.
    pub(super) const fn all_checked(&self) -> bool {
        self.all_checked
    }

    /// The result of a point as a line of a journal, without its end.
    ///
    /// # Errors
    /// Returns an error if its journal cannot be read, or its record is invalid.
    pub fn line(&self, point: usize) -> Result<Option<String>, JournalError> {
        Ok(self.labelled(point)?.map(|(line, _)| line))
    }

    /// The line and the record of a point, with the settings of the sweep. Two definitions of a point may say
    /// the same by others: one names a default, or calls the file of a program by another name.
    fn labelled(&self, point: usize) -> Result<Option<(String, Record)>, JournalError> {
        let Some(found) = &self.found[point] else { return Ok(None) };
        let mut line = self.journals.line(found)?;
        let mut record = record(&line)?;
        let settings = self.manifest.points.settings(point);
        if record.point != settings {
            record.point = settings;
            line = journal::line(&record)?.trim_end().to_owned();
        }
        Ok(Some((line, record)))
    }

    /// The lines of the points with a result, in the order of the sweep.
    pub fn lines(&self) -> impl Iterator<Item = Result<String, JournalError>> {
        (0..self.points()).filter_map(|point| self.line(point).transpose())
    }

    /// The result of a point.
    ///
    /// # Errors
    /// Returns an error if its journal cannot be read, or its record is invalid.
    pub fn record(&self, point: usize) -> Result<Option<Record>, JournalError> {
        Ok(self.labelled(point)?.map(|(_, record)| record))
    }

    /// The lines and records of those `points` that have a result, in their order.
    pub(super) fn read(&self, points: &[usize]) -> Result<Vec<(usize, String, Record)>, JournalError> {
        let read = |&point: &usize| {
            let found = self.labelled(point).transpose()?;
            Some(found.map(|(line, record)| (point, line, record)))
        };
        points.par_iter().filter_map(read).collect()
    }

    /// The record of each point that has one, in the order of the sweep.
    ///
    /// # Errors
    /// Returns an error if a record is invalid.
    pub fn records(&self) -> Result<Vec<Record>, JournalError> {
        (0..self.points()).into_par_iter().filter_map(|point| self.record(point).transpose()).collect()
    }

    /// The number of points without a record.
    pub fn missing(&self) -> usize {
        self.count(None)
    }

    /// The number of points that failed.
    pub fn failed(&self) -> usize {
        self.count(Some(Status::Failed))
    }

    fn count(&self, status: Option<Status>) -> usize {
        (0..self.points()).filter(|&point| self.status(point) == status).count()
    }
}

/// The common manifest of some folders, and their journals.
fn open(folders: &[&Path]) -> Result<(Manifest, Journals), JournalError> {
    let mut manifest: Option<Manifest> = None;
    let mut journals = Journals::default();
    for &folder in folders {
        let found = journal::read_manifest(folder)?;
        match &manifest {
            Some(manifest) if !manifest.is_same_sweep(&found) => {
                let first = folders[0];
                if let (Some(expected), Some(model)) = (journal::model_of(first), journal::model_of(folder))
                    && model != expected
                {
                    let (path, first) = (folder.into(), first.into());
                    return Err(JournalError::Models { path, model, first, expected });
                }
                return Err(JournalError::OtherSweep {
                    folder: folder.into(),
                    name: found.name,
                    expected: manifest.name.clone(),
                });
            }
            Some(_) => {}
            None => manifest = Some(found),
        }
        journals.paths.extend(journal::journal_paths(folder)?);
    }
    for path in &journals.paths {
        journals.files.push(input::open_stored(path).map_err(journal::io_error(path))?);
    }
    Ok((manifest.ok_or(JournalError::NoFolder)?, journals))
}

fn record(line: &str) -> Result<Record, JournalError> {
    Record::parse(line).map_err(|error| invalid_record(line, &error))
}

fn invalid_record(line: &str, error: &serde_json::Error) -> JournalError {
    let writer = journal::model_of_line(line).filter(|&model| model != MODEL_VERSION);
    let versions = writer.map_or_else(String::new, |model| {
        format!("; version {model} of the models wrote it, and this rpu has version {MODEL_VERSION}")
    });
    JournalError::Record { reason: diagnostic::reason(&error.to_string()) + &versions }
}

/// Whether two records are the same but for their settings, of which two definitions may name others.
fn have_one_result(one: &str, other: &str) -> Result<bool, JournalError> {
    let (one, other) = (record(one)?, record(other)?);
    Ok(Record { point: other.point.clone(), ..one } == other)
}

/// The settings of a record.
fn settings(line: &str) -> Result<Settings, JournalError> {
    #[derive(Deserialize)]
    struct Head {
        point: Settings,
    }
    let head: Result<Head, _> = serde_json::from_str(line);
    head.map(|head| head.point).map_err(|error| invalid_record(line, &error))
}
