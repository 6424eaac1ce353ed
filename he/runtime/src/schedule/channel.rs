//! The channel to the off-chip memory, one transfer at a time.

use crate::schedule::time::{Interval, Time};
use sim::machine::Hbm;
use std::ops::Range;

/// The bytes of a burst: a transfer has whole bursts, and is cut between them.
pub(crate) const BURST_BYTES: u64 = 32;

/// The direction of a transfer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Direction {
    /// From the off-chip memory. The channel reads unless it writes.
    Read,
    /// To the off-chip memory: the channel turns before it, and back after it.
    Write,
}

/// The channel, or the generator of seeded keys. Transfers are planned one after the other, the most urgent
/// first. Each takes the earliest times that those before it have left: others may cut it.
#[derive(Debug)]
pub(crate) struct Channel {
    gb_per_s: f64,
    /// The bytes of a burst, and its time.
    burst: (u64, Time),
    latency: Time,
    /// The time of both turns of a write.
    turns: Time,
    /// The idle intervals before `free` that a burst fits, in order. Most transfers are ready late, and take
    /// one of the last.
    idle: Vec<Interval>,
    /// The channel is idle from here on.
    free: Time,
    busy: Time,
}

impl Channel {
    /// The channel to the off-chip memory.
    pub(crate) fn new(hbm: &Hbm) -> Self {
        let (latency, turns) = (Time::from_ns(hbm.latency_ns), Time::from_ns(2.0 * hbm.turn_ns));
        let burst = (BURST_BYTES, Time::from_ns(hbm.occupancy_ns(BURST_BYTES)));
        Self { latency, turns, burst, ..Self::at(hbm.sustained_gb_per_s()) }
    }

    /// A channel of this bandwidth, without bursts, latency and turns.
    pub(crate) fn at(gb_per_s: f64) -> Self {
        let (idle, burst) = (Vec::new(), (1, Time(1)));
        let [latency, turns, free, busy] = [Time::ZERO; 4];
        Self { gb_per_s, burst, latency, turns, idle, free, busy }
    }

    /// The time in which the channel was busy.
    pub(crate) fn busy(&self) -> Time {
        self.busy
    }

    /// Transfers bytes that are ready at `ready`. Returns the time from the first word on the channel to the
    /// arrival of the last.
    pub(crate) fn transfer(&mut self, bytes: u64, ready: Time, direction: Direction) -> Interval {
        if bytes == 0 {
            return Interval { begin: ready, end: ready };
        }
        let turns = if direction == Direction::Write { self.turns } else { Time::ZERO };
        let (burst_bytes, burst) = self.burst;
        let bytes = bytes.next_multiple_of(burst_bytes);
        let mut left = Time::from_ns(bytes as f64 / self.gb_per_s) + turns;
        self.busy += left;
        let (mut first, mut end) = (None, ready);
        // The intervals that are used, and what is left of them.
        let mut used = self.first_idle(ready);
        let mut rest = [None; 2];
        while left > Time::ZERO && used.end < self.idle.len() {
            let idle = self.idle[used.end];
            used.end += 1;
            let from = idle.begin.max(ready);
            let room = idle.end - from;
            let part = if left <= room && room >= burst { left } else { room.whole(burst) };
            if part == Time::ZERO {
                // No burst fits behind `ready` into the first one.
                used.start = used.end;
                continue;
            }
            end = from + part;
            first = first.or(Some(from));
            left = left - part;
            rest[0] = rest[0].or(self.fitting(idle.begin, from));
            if left == Time::ZERO {
                rest[1] = self.fitting(end, idle.end);
            } else {
                // No burst fits the rest of the interval.
                self.busy += idle.end - end;
            }
        }
        for rest in rest.into_iter().flatten() {
            match used.next() {
                Some(place) => self.idle[place] = rest,
                None => self.idle.insert(used.start, rest),
            }
        }
        self.idle.drain(used);
        if left > Time::ZERO {
            let from = self.free.max(ready);
            self.idle.extend(self.fitting(self.free, from));
            (first, end) = (first.or(Some(from)), from + left);
            self.free = end;
        }
        Interval { begin: first.unwrap_or(ready), end: end + self.latency }
    }

    /// The place of the first idle interval that ends after a time, as an empty range.
    fn first_idle(&self, time: Time) -> Range<usize> {
        let mut late = 1;
        while late < self.idle.len() && self.idle[self.idle.len() - late].end > time {
            late *= 2;
        }
        let from = self.idle.len().saturating_sub(late);
        let place = from + self.idle[from..].partition_point(|idle| idle.end <= time);
        place..place
    }

    /// An interval if a burst fits it. None fits that between two ends of time, where sums saturate.
    fn fitting(&self, begin: Time, end: Time) -> Option<Interval> {
        (end > begin && end - begin >= self.burst.1).then_some(Interval { begin, end })
    }
}

/// The time of a save from its first word on the channel to the arrival of the last, if nothing cuts it.
pub(crate) fn least(hbm: &Hbm, bytes: u64) -> Time {
    let whole = bytes.next_multiple_of(BURST_BYTES);
    let length = || Time::from_ns(hbm.occupancy_ns(whole)) + Time::from_ns(2.0 * hbm.turn_ns);
    if bytes == 0 { Time::ZERO } else { length() + Time::from_ns(hbm.latency_ns) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A channel that carries one byte in a nanosecond.
    fn hbm(latency_ns: f64) -> Hbm {
        let hbm = sim::Machine::rpu_128x128().hbm.clone();
        Hbm { gb_per_s: 1.0, efficiency: 1.0, shared_by: 1, latency_ns, turn_ns: 1.5, ..hbm }
    }

    #[test]
    fn a_transfer_is_cut_by_those_before_it() {
        let hbm = hbm(5.0);
        let mut channel = Channel::new(&hbm);
        let mut transfer = |bytes, ready: u64| {
            let Interval { begin, end } = channel.transfer(bytes, Time(1000 * ready), Direction::Read);
            (begin.0 / 1000, end.0 / 1000)
        };
        assert_eq!(transfer(20, 100), (100, 137), "a whole burst");
        assert_eq!(transfer(64, 0), (0, 69), "before the first");
        assert_eq!(transfer(64, 20), (64, 169), "the first cuts it after a burst");
        assert_eq!(transfer(64, 60), (164, 233), "no burst fits before");
        assert_eq!(transfer(7, 300), (300, 337));
        assert_eq!(transfer(0, 300), (300, 300), "nothing takes no time");
        assert_eq!(transfer(100, 240), (240, 433), "the one at 300 cuts it");
        // With 4 between bursts of the third, and 28 of the last.
        assert_eq!(channel.busy(), Time(416_000));
        // A write takes two turns more.
        let write = channel.transfer(10, Time(1_000_000), Direction::Write);
        assert_eq!((write.begin, write.end), (Time(1_000_000), Time(1_040_000)));
    }

    proptest! {
        /// Nanosecond for nanosecond: each takes the first idle times, in whole bursts before others.
        #[test]
        fn transfers_take_the_first_idle_times(transfers in prop::collection::vec((1u64..200, 0usize..2000), 1..40)) {
            let hbm = hbm(0.0);
            let (mut channel, mut taken) = (Channel::new(&hbm), vec![false; 20_000]);
            for (bytes, ready) in transfers {
                let mut left = bytes.div_ceil(32) as usize * 32;
                let (mut at, mut used) = (ready, Vec::new());
                while left > 0 {
                    let idle = (at..).take_while(|&ns| !taken[ns] && ns - at < left).count();
                    let part = if idle == left { left } else { idle / 32 * 32 };
                    used.extend(at..at + part);
                    left -= part;
                    at += idle.max(1);
                }
                used.iter().for_each(|&ns| taken[ns] = true);
                let expected = Interval {
                    begin: Time(1000 * used[0] as u64),
                    end: Time(1000 * (used[used.len() - 1] as u64 + 1)),
                };
                prop_assert_eq!(channel.transfer(bytes, Time(1000 * ready as u64), Direction::Read), expected);
            }
        }
    }
}
