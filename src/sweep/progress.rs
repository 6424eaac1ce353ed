//! Progress of a sweep, on standard error.

use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressStyle};
use lab_sweep::{Record, Status};
use std::sync::{Mutex, PoisonError};
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
    bar: ProgressBar,
    json: Option<Mutex<Counts>>,
    points: usize,
    begin: Instant,
}

struct Counts {
    done: usize,
    failed: usize,
    /// The time of the last line.
    told: Instant,
}

impl Progress {
    /// The progress of so many points.
    pub(crate) fn new(kind: ProgressKind, points: usize) -> Self {
        let bar = if kind == ProgressKind::Auto {
            let template = "{bar:40} {pos}/{len} points, {per_sec}, {eta} left";
            let style =
                ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
            ProgressBar::new(points as u64).with_style(style)
        } else {
            ProgressBar::hidden()
        };
        let begin = Instant::now();
        let counts = || Mutex::new(Counts { done: 0, failed: 0, told: begin });
        Self { bar, json: (kind == ProgressKind::Json).then(counts), points, begin }
    }

    /// Counts one more record.
    pub(crate) fn done(&self, record: &Record) {
        if let Some(error) = &record.error {
            self.bar.suspend(|| note!("point {} failed: {error}", record.key));
        }
        self.bar.inc(1);
        let Some(counts) = &self.json else { return };
        let mut counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.done += 1;
        counts.failed += usize::from(record.status == Status::Failed);
        if counts.told.elapsed() >= INTERVAL && counts.done < self.points {
            counts.told = Instant::now();
            self.tell(&counts);
        }
    }

    /// The batch is complete.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
        if let Some(counts) = &self.json {
            self.tell(&counts.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }

    fn tell(&self, counts: &Counts) {
        let rate = counts.done as f64 / self.begin.elapsed().as_secs_f64().max(1e-9);
        let left = self.points - counts.done;
        let line = serde_json::json!({
            "points": self.points,
            "done": counts.done,
            "failed": counts.failed,
            "points_per_s": rate,
            "remaining_s": left as f64 / rate.max(1e-9),
        });
        note!("{line}");
    }
}
