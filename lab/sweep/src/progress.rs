//! How far a sweep is.

use crate::{Record, Status};
use std::time::Duration;

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

    /// Whether no point is left.
    pub fn is_complete(&self) -> bool {
        self.done == self.points
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
        assert!(!counts.is_complete());
        assert!(Counts { points: 10, done: 10, failed: 0 }.is_complete());
    }
}
