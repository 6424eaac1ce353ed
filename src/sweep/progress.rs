//! Progress of a sweep, on standard error.

use crate::bar::bar;
use clap::ValueEnum;
use indicatif::ProgressBar;
use lab_sweep::{Counts, Record};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// The format of progress.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum ProgressKind {
    /// A bar if standard error is a terminal, else nothing
    Auto,
    /// JSON objects, one per line
    Json,
    /// Failures only
    None,
}

/// The progress of some points.
pub(crate) struct Progress {
    kind: ProgressKind,
    bar: ProgressBar,
    begin: Instant,
    state: Mutex<State>,
}

struct State {
    counts: Counts,
    /// The time of the last line.
    told: Instant,
}

impl Progress {
    pub(crate) fn new(kind: ProgressKind) -> Self {
        // The number of points is known with the first record. The rate counts from now on.
        let bar = match kind {
            ProgressKind::Auto => bar(0, "points", ""),
            ProgressKind::Json | ProgressKind::None => ProgressBar::hidden(),
        };
        let begin = Instant::now();
        Self { kind, bar, begin, state: Mutex::new(State { counts: Counts::default(), told: begin }) }
    }

    /// Counts one more record, of so many points. Failures name the settings that vary.
    pub(crate) fn done(&self, points: usize, record: &Record, varying: &[String]) {
        if let Some(error) = &record.error {
            self.bar.suspend(|| note!("point {} failed: {error}", record.name(varying)));
        }
        self.bar.set_length(points as u64);
        self.bar.inc(1);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.counts.add(points, record);
        if state.counts.is_due(state.told.elapsed()) {
            state.told = Instant::now();
            self.tell(&state.counts);
        }
    }

    /// All points are done.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
        self.tell(&self.state.lock().unwrap_or_else(PoisonError::into_inner).counts);
    }

    fn tell(&self, counts: &Counts) {
        if self.kind == ProgressKind::Json {
            note!("{}", counts.line(self.begin.elapsed()));
        }
    }
}
