//! Progress of a sweep, on standard error.

use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressStyle};
use lab_sweep::{Batch, Record, Status};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The format of progress.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum ProgressKind {
    /// A bar if standard error is a terminal, else nothing
    Auto,
    /// JSON objects, one per line, at most one per second and one at the end: phase (points, rung or again), points, done,
    /// failed, points_per_s, remaining_s, and with successive halving rung, the degree of the small ring
    Json,
    /// Failed points only
    None,
}

/// The minimum time between two lines of JSON.
const INTERVAL: Duration = Duration::from_secs(1);

/// What points run for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    /// For their results.
    Points,
    /// On the rung of this degree.
    Rung(u32),
    /// Once more, after a further search for their programs.
    Again,
}

impl Phase {
    /// The phase of a batch of the sweep itself.
    pub(crate) fn of(batch: &Batch) -> Self {
        batch.rung.map_or(Self::Points, Self::Rung)
    }

    /// Its name in JSON.
    const fn name(self) -> &'static str {
        match self {
            Self::Points => "points",
            Self::Rung(_) => "rung",
            Self::Again => "again",
        }
    }

    /// The degree of its rung.
    const fn rung(self) -> Option<u32> {
        match self {
            Self::Rung(degree) => Some(degree),
            Self::Points | Self::Again => None,
        }
    }
}

/// The progress of some points.
pub(crate) struct Progress {
    bar: ProgressBar,
    json: Option<Mutex<Counts>>,
    phase: Phase,
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
    pub(crate) fn new(kind: ProgressKind, phase: Phase, points: usize) -> Self {
        let bar = if kind == ProgressKind::Auto {
            let phase = match phase {
                Phase::Points => String::new(),
                Phase::Rung(n) => format!("n = {n}: "),
                Phase::Again => "searching again: ".to_owned(),
            };
            let template = format!("{phase}{{bar:40}} {{pos}}/{{len}} points, {{per_sec}}, {{eta}} left");
            let style =
                ProgressStyle::with_template(&template).unwrap_or_else(|_| ProgressStyle::default_bar());
            ProgressBar::new(points as u64).with_style(style)
        } else {
            ProgressBar::hidden()
        };
        let begin = Instant::now();
        let counts = || Mutex::new(Counts { done: 0, failed: 0, told: begin });
        Self { bar, json: (kind == ProgressKind::Json).then(counts), phase, points, begin }
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
            "phase": self.phase.name(),
            "rung": self.phase.rung(),
            "points": self.points,
            "done": counts.done,
            "failed": counts.failed,
            "points_per_s": rate,
            "remaining_s": left as f64 / rate.max(1e-9),
        });
        note!("{line}");
    }
}
