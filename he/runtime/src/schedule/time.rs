//! Times of the schedule, in whole picoseconds.

use std::ops::{Add, AddAssign, Sub};

/// A time or a duration, in ps. Sums saturate, after 213 days.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub(crate) struct Time(pub(crate) u64);

impl Time {
    pub(crate) const ZERO: Self = Self(0);
    pub(crate) const MAX: Self = Self(u64::MAX);

    /// A duration, rounded up to a whole picosecond.
    pub(crate) fn from_ns(ns: f64) -> Self {
        // `ceil` is a call on processors without the instruction.
        let ps = ns * 1e3;
        let whole = ps as u64;
        Self(whole.saturating_add(u64::from((whole as f64) < ps)))
    }

    /// The longest multiple of a part in this duration.
    pub(crate) fn whole(self, part: Self) -> Self {
        Self(self.0 - self.0 % part.0)
    }

    pub(crate) fn ns(self) -> f64 {
        self.0 as f64 / 1e3
    }
}

impl Add for Time {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Time {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Time {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

/// An interval, relative to the beginning of the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Interval {
    pub(crate) begin: Time,
    pub(crate) end: Time,
}

/// A time interval, relative to the beginning of the program.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Span {
    /// The beginning, in ns.
    pub begin_ns: f64,
    /// The end, in ns.
    pub end_ns: f64,
}

impl From<Interval> for Span {
    fn from(Interval { begin, end }: Interval) -> Self {
        Self { begin_ns: begin.ns(), end_ns: end.ns() }
    }
}
