//! Measured gains, and their comparison with the claimed ones.

use super::SpeedupClaim;
use gpu_ref::Timing;

/// Outcome of several runs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Verdict {
    /// At least half of the claimed difference, and more than the spread of the runs. Without a
    /// claimed number, any gain above the spread. For a claim of no difference, no loss above it.
    Reproduced,
    /// A difference in the claimed direction, above the spread, but less than half of the claim.
    Weaker,
    /// No difference above the spread, or the opposite.
    Refuted,
}

/// A measured gain, baseline time divided by optimised time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Gain {
    /// The ratio of the medians.
    pub median: f64,
    /// The ratio of the shortest baseline time of any run to the longest optimised one.
    pub low: f64,
    /// The reverse.
    pub high: f64,
}

impl Gain {
    /// The gain from the times of several runs.
    pub fn of(baseline: Timing, optimised: Timing) -> Self {
        Self {
            median: baseline.median / optimised.median,
            low: baseline.low / optimised.high,
            high: baseline.high / optimised.low,
        }
    }

    /// The gain of the baseline over the optimised variant.
    fn inverse(self) -> Self {
        Self { median: 1.0 / self.median, low: 1.0 / self.high, high: 1.0 / self.low }
    }
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Reproduced => "reproduced",
            Self::Weaker => "weaker",
            Self::Refuted => "refuted",
        })
    }
}

impl SpeedupClaim {
    /// Judges a measured gain.
    pub fn verdict(&self, measured: Gain) -> Verdict {
        // A claimed loss is judged by the inverse ratios.
        let (claimed, measured) = match self.gain {
            Some(claimed) if claimed < 1.0 => (Some(1.0 / claimed), measured.inverse()),
            claimed => (claimed, measured),
        };
        if claimed == Some(1.0) {
            if measured.high >= 1.0 { Verdict::Reproduced } else { Verdict::Refuted }
        } else if measured.low <= 1.0 {
            Verdict::Refuted
        } else if claimed.is_none_or(|claimed| measured.median - 1.0 >= (claimed - 1.0) / 2.0) {
            Verdict::Reproduced
        } else {
            Verdict::Weaker
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::claims;
    use super::*;

    #[test]
    fn verdicts_follow_the_claimed_direction() {
        let with = |gain| SpeedupClaim { gain, ..claims().unwrap().swap_remove(0) };
        let spread = |median| Gain { median, low: median - 0.01, high: median + 0.01 };
        let judged = |gain: Option<f64>, median| with(gain).verdict(spread(median));
        assert_eq!(judged(Some(2.0), 1.5), Verdict::Reproduced);
        assert_eq!(judged(Some(2.0), 1.4), Verdict::Weaker);
        assert_eq!(judged(Some(2.0), 1.005), Verdict::Refuted);
        assert_eq!(judged(Some(0.5), 0.6), Verdict::Reproduced);
        assert_eq!(judged(Some(0.5), 1.1), Verdict::Refuted);
        assert_eq!(judged(Some(1.0), 0.995), Verdict::Reproduced);
        assert_eq!(judged(Some(1.0), 0.9), Verdict::Refuted);
        assert_eq!(judged(None, 1.04), Verdict::Reproduced);
        assert_eq!(judged(None, 0.9), Verdict::Refuted);
        assert_eq!(judged(None, 1.005), Verdict::Refuted);
        let times = |low, median, high| Timing { median, low, high };
        let gain = Gain::of(times(9.0, 10.0, 11.0), times(4.0, 5.0, 6.0));
        assert_eq!(gain, Gain { median: 2.0, low: 1.5, high: 2.75 });
    }
}
