//! How far a sweep is.

use crate::{Record, Status};
use std::time::Duration;

/// The minimum time between two objects of progress.
const INTERVAL: Duration = Duration::from_secs(1);

/// The numbers of points.
#[derive(Default, Debug)]
pub struct Counts {
    points: usize,
    done: usize,
    failed: usize,
}

impl Counts {
    /// Counts one more record, of so many points.
    pub fn add(&mut self, points: usize, record: &Record) {
        self.points = points;
        self.done += 1;
        self.failed += usize::from(record.status == Status::Failed);
    }

    /// Whether to tell them, so long after the last time: at most once a second, and not with the last
    /// record, since the end tells them.
    pub fn is_due(&self, since: Duration) -> bool {
        since >= INTERVAL && self.done < self.points
    }

    /// The object that tells the progress after some time.
    pub fn line(&self, elapsed: Duration) -> serde_json::Value {
        let rate = self.done as f64 / elapsed.as_secs_f64().max(1e-9);
        serde_json::json!({
            "points": self.points,
            "done": self.done,
            "failed": self.failed,
            "points_per_s": rate,
            "remaining_s": (self.points - self.done) as f64 / rate.max(1e-9),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_takes_as_long_as_the_points_before() {
        let counts = Counts { points: 10, done: 4, failed: 1 };
        let expected = serde_json::json!({ "points": 10, "done": 4, "failed": 1, "points_per_s": 2.0, "remaining_s": 3.0 });
        assert_eq!(counts.line(Duration::from_secs(2)), expected);
        let almost = INTERVAL - Duration::from_nanos(1);
        assert_eq!([almost, INTERVAL, 2 * INTERVAL].map(|since| counts.is_due(since)), [false, true, true]);
        assert!(!Counts { points: 10, done: 10, failed: 0 }.is_due(INTERVAL));
    }
}
