//! One run of a sweep in its folder.

use super::execute::{execute, generate};
use super::journal::{Journal, JournalError};
use super::plan::Plan;
use super::record::Record;
use super::shard::Shard;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What to run of a sweep.
#[derive(Clone, Debug)]
pub struct Selection {
    /// The share of this process.
    pub shard: Shard,
    /// Whether points that failed before run again.
    pub retry_failed: bool,
    /// Whether to stop after the points in progress: [`run`] then returns [`JournalError::Stopped`].
    pub stop: Arc<AtomicBool>,
}

/// Simulates the points of a part that the folder lacks, in the current rayon pool, and appends their records
/// to its journal. Returns their number. `progress` receives it, too, with each record.
///
/// # Errors
/// Returns an error if the journal cannot be read or written, or if the run was stopped; all results so far
/// are in the journal.
pub fn run(
    plan: &Plan,
    folder: &Path,
    part: &Selection,
    progress: &(dyn Fn(usize, &Record) + Sync),
) -> Result<usize, JournalError> {
    let journal = Journal::open(folder, part.shard, &plan.manifest)?;
    let mut journal = journal.stopped_by(Arc::clone(&part.stop));
    let points = journal.pending(plan, part.shard, part.retry_failed);
    execute(plan, &points, &mut journal, &generate, &|record| progress(points.len(), record))?;
    Ok(points.len())
}
