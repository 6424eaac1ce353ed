//! Times of several samples.

/// Time in microseconds over several samples.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Timing {
    /// The median.
    pub median: f64,
    /// The shortest sample.
    pub low: f64,
    /// The longest sample.
    pub high: f64,
}

impl Timing {
    /// The median, the minimum and the maximum. `None` without samples.
    pub fn of(mut samples: Vec<f64>) -> Option<Self> {
        samples.sort_by(f64::total_cmp);
        let median = *samples.get(samples.len() / 2)?;
        Some(Self { median, low: *samples.first()?, high: *samples.last()? })
    }

    /// Time of one of `count` equal parts.
    #[must_use]
    pub fn divided_by(self, count: usize) -> Self {
        let part = |us: f64| us / count as f64;
        Self { median: part(self.median), low: part(self.low), high: part(self.high) }
    }
}
