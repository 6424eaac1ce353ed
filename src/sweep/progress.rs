//! Progress of a sweep, on standard error.

use crate::bar::bar;
use clap::ValueEnum;
use indicatif::ProgressBar;
use lab_sweep::{Record, Status};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// The format of progress.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum ProgressKind {
    /// A bar if standard error is a terminal, else nothing
    Auto,
    /// JSON objects, one per line, at most one per second and one at the end: points, done, failed, points_per_s,
    /// remaining_s
    Json,
    /// Failed points only
    None,
}

/// The minimum time between two lines of JSON.
const INTERVAL: Duration = Duration::from_secs(1);

/// The progress of some points.
pub(crate) struct Progress {
    kind: ProgressKind,
    /// Known with the first record.
    begun: OnceLock<Begun>,
    begin: Instant,
}

struct Begun {
    bar: ProgressBar,
    points: usize,
    counts: Mutex<Counts>,
}

struct Counts {
    done: usize,
    failed: usize,
    /// The time of the last line.
    told: Instant,
}

impl Progress {
    pub(crate) fn new(kind: ProgressKind) -> Self {
        Self { kind, begun: OnceLock::new(), begin: Instant::now() }
    }

    fn begun(&self, points: usize) -> &Begun {
        self.begun.get_or_init(|| {
            let bar = match self.kind {
                ProgressKind::Auto => bar(points, "points", ""),
                ProgressKind::Json | ProgressKind::None => ProgressBar::hidden(),
            };
            Begun { bar, points, counts: Mutex::new(Counts { done: 0, failed: 0, told: self.begin }) }
        })
    }

    /// Counts one more record, of so many points.
    pub(crate) fn done(&self, points: usize, record: &Record) {
        let Begun { bar, counts, .. } = self.begun(points);
        if let Some(error) = &record.error {
            bar.suspend(|| note!("point {} failed: {error}", record.key));
        }
        bar.inc(1);
        let mut counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.done += 1;
        counts.failed += usize::from(record.status == Status::Failed);
        if counts.told.elapsed() >= INTERVAL && counts.done < points {
            counts.told = Instant::now();
            self.tell(points, &counts);
        }
    }

    /// All points are done.
    pub(crate) fn finish(&self) {
        if let Some(Begun { bar, points, counts }) = self.begun.get() {
            bar.finish_and_clear();
            self.tell(*points, &counts.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }

    fn tell(&self, points: usize, counts: &Counts) {
        if self.kind == ProgressKind::Json {
            note!("{}", line(points, counts, self.begin.elapsed()));
        }
    }
}

/// A line of JSON.
fn line(points: usize, counts: &Counts, elapsed: Duration) -> serde_json::Value {
    let rate = counts.done as f64 / elapsed.as_secs_f64().max(1e-9);
    serde_json::json!({
        "points": points,
        "done": counts.done,
        "failed": counts.failed,
        "points_per_s": rate,
        "remaining_s": (points - counts.done) as f64 / rate.max(1e-9),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_takes_as_long_as_the_points_before() {
        let counts = Counts { done: 4, failed: 1, told: Instant::now() };
        let line = line(10, &counts, Duration::from_secs(2));
        let expected = serde_json::json!({ "points": 10, "done": 4, "failed": 1, "points_per_s": 2.0, "remaining_s": 3.0 });
        assert_eq!(line, expected);
    }
}
