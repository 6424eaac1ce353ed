//! Replay of many points of a sweep.

use super::execute::{Generate, each};
use super::journal::{self, JournalError};
use super::record::Record;
use super::replay::{Difference, Place, ReplayError, differences, manifest, places, planned, recorded};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The comparison of recorded points with new simulations.
#[derive(Clone, PartialEq, Debug)]
pub struct Verification {
    /// The number of points that were simulated again.
    pub verified: usize,
    /// The number of points with a record.
    pub recorded: usize,
    /// The key of each point that differs from its record, with the differences; ordered by key.
    pub differing: BTreeMap<String, Vec<Difference>>,
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
    let manifest = manifest(folder)?;
    let recorded = recorded(folder, |_| true)?;
    let mut chosen: Vec<(&str, Place)> =
        places(&manifest, "").into_iter().filter(|(key, _)| recorded.contains_key(*key)).collect();
    let count = chosen.len();
    if let Some(sample) = sample {
        // The smallest hashes are a random sample, whatever the order of the points.
        let hash = |key: &str| *blake3::hash(format!("{seed} {key}").as_bytes()).as_bytes();
        chosen.sort_by_cached_key(|(key, _)| hash(key));
        chosen.truncate(sample);
    }
    let plan = planned(&manifest, &chosen)?;
    // A change of the model changes keys; the record of a point is under its old one.
    let known: BTreeMap<&str, &str> =
        plan.points.iter().zip(&chosen).map(|(point, (key, _))| (point.key.as_str(), *key)).collect();
    let differing = Mutex::new(BTreeMap::new());
    let done = |record: Record| -> Result<(), JournalError> {
        let key = known[record.key.as_str()];
        let line = journal::line(&record)?;
        let (old, line) = (&recorded[key], line.trim_end());
        if old != line {
            let differences = differences(old, line)?;
            differing.lock().unwrap_or_else(PoisonError::into_inner).insert(key.to_owned(), differences);
        }
        progress(chosen.len(), &record);
        Ok(())
    };
    let points: Vec<_> = plan.points.iter().collect();
    each(&plan.data, &points, generate, &done)?;
    let differing = differing.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(Verification { verified: chosen.len(), recorded: count, differing })
}
