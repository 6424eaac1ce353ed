//! Replay of many points of a sweep.

use super::execute::Generate;
use super::journal::{self, JournalError};
use super::key::PointKey;
use super::outputs::{Differing, Outputs};
use super::record::Record;
use super::replay::{Difference, Planned, ReplayError, differences};
use super::results::Results;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The comparison of recorded points with new simulations.
#[derive(Clone, PartialEq, Debug)]
pub struct Verification {
    /// The number of points that were simulated again.
    pub verified: usize,
    /// The number of points with a record.
    pub recorded: usize,
    /// The number of points of the sweep.
    pub points: usize,
    /// The files of the folder that are not what the definition and the journals give.
    pub files: Differing,
    /// The key of each point that differs from its record, with the differences; ordered by key.
    pub differing: BTreeMap<PointKey, Vec<Difference>>,
}

/// Simulates recorded points of a sweep's folder again in the current rayon pool, and compares each with
/// its record. Nothing is written.
///
/// With a `sample`, these are so many points that `seed` selects, or all if there are fewer.
/// `progress` receives the number of points and each new record.
///
/// # Errors
/// Returns an error if the folder holds no sweep, a journal is damaged, or the definition no longer
/// contains a point.
pub fn verify(
    folder: &Path,
    sample: Option<usize>,
    seed: u64,
    generate: &Generate<'_>,
    progress: &(dyn Fn(usize, &Record) + Sync),
) -> Result<Verification, ReplayError> {
    let results = Results::merge(&[folder])?;
    let mut files = Outputs::new(&results).differing(folder)?;
    let mut chosen: Vec<usize> = results.recorded().collect();
    let count = chosen.len();
    let key = |index: usize| results.manifest.points.key(index);
    if let Some(sample) = sample {
        // The smallest hashes are a random sample, whatever the order of the points.
        let hash = |&index: &usize| *blake3::hash(format!("{seed} {}", key(index)).as_bytes()).as_bytes();
        chosen.sort_by_cached_key(hash);
        chosen.truncate(sample);
    }
    let sweep = Planned::new(&results, &chosen)?;
    if !sweep.manifest().is_presented_as(&results.manifest) {
        files.altered.insert(0, "sweep.json".into());
    }
    // A change of the model changes keys; the record of a point is under its old one.
    let known: HashMap<PointKey, usize> = chosen.iter().map(|&index| (sweep.key(index), index)).collect();
    let differing = Mutex::new(BTreeMap::new());
    let done = |record: Record| -> Result<(), JournalError> {
        let index = known[&record.key];
        let line = journal::line(&record)?;
        let (old, line) = (results.line(index)?.unwrap_or_default(), line.trim_end());
        if old != line {
            let differences = differences(&old, line)?;
            differing.lock().unwrap_or_else(PoisonError::into_inner).insert(key(index), differences);
        }
        progress(chosen.len(), &record);
        Ok(())
    };
    sweep.each(&chosen, generate, &done)?;
    let differing = differing.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(Verification { verified: chosen.len(), recorded: count, points: results.points(), files, differing })
}
