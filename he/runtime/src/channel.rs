//! The channel to the off-chip memory, one transfer at a time.

use crate::time::{Interval, Time};
use sim::machine::Hbm;
use std::collections::BTreeMap;

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
    latency: Time,
    /// The time of both turns of a write.
    turns: Time,
    /// The ends of idle intervals before `free`, by their beginnings.
    idle: BTreeMap<Time, Time>,
    /// The channel is idle from here on.
    free: Time,
    busy: Time,
}

impl Channel {
    /// The channel to the off-chip memory.
    pub(crate) fn new(hbm: &Hbm) -> Self {
        let (latency, turns) = (Time::from_ns(hbm.latency_ns), Time::from_ns(2.0 * hbm.turn_ns));
        Self { latency, turns, ..Self::at(hbm.sustained_gb_per_s()) }
    }

    /// A channel of this bandwidth, without latency and turns.
    pub(crate) fn at(gb_per_s: f64) -> Self {
        let idle = BTreeMap::new();
        Self { gb_per_s, latency: Time::ZERO, turns: Time::ZERO, idle, free: Time::ZERO, busy: Time::ZERO }
    }

    /// The time in which the channel was busy.
    pub(crate) fn busy(&self) -> Time {
        self.busy
    }

    /// Transfers bytes that are ready at `ready`. Returns the time from the first word on the channel to the arrival of
    /// the last.
    pub(crate) fn transfer(&mut self, bytes: u64, ready: Time, direction: Direction) -> Interval {
        if bytes == 0 {
            return Interval { begin: ready, end: ready };
        }
        let turns = if direction == Direction::Write { self.turns } else { Time::ZERO };
        let mut left = Time::from_ns(bytes as f64 / self.gb_per_s) + turns;
        self.busy += left;
        let mut first = None;
        // The interval around `ready`, or the first one after it.
        let around = self.idle.range(..=ready).next_back().filter(|&(_, &end)| end > ready);
        let mut next = around.map_or(ready, |(&begin, _)| begin);
        while let Some((&begin, &end)) = self.idle.range(next..).next() {
            let from = begin.max(ready);
            let to = end.min(from + left);
            self.idle.remove(&begin);
            self.keep(begin, from);
            self.keep(to, end);
            first = first.or(Some(from));
            (left, next) = (left - (to - from), to);
            if left == Time::ZERO {
                break;
            }
        }
        let mut end = next;
        if left > Time::ZERO {
            let from = self.free.max(ready);
            self.keep(self.free, from);
            (first, end) = (first.or(Some(from)), from + left);
            self.free = end;
        }
        Interval { begin: first.unwrap_or(ready), end: end + self.latency }
    }

    /// Keeps an idle interval.
    fn keep(&mut self, begin: Time, end: Time) {
        if end > begin {
            self.idle.insert(begin, end);
        }
    }
}

/// The time of a save from its first word on the channel to the arrival of the last, if nothing cuts it.
pub(crate) fn least(hbm: &Hbm, bytes: u64) -> Time {
    let length = || Time::from_ns(hbm.occupancy_ns(bytes)) + Time::from_ns(2.0 * hbm.turn_ns);
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
        assert_eq!(transfer(10, 100), (100, 115));
        assert_eq!(transfer(60, 0), (0, 65), "before the first");
        assert_eq!(transfer(60, 20), (60, 135), "the first cuts it");
        assert_eq!(transfer(7, 200), (200, 212));
        assert_eq!(transfer(0, 300), (300, 300), "nothing takes no time");
        assert_eq!(transfer(100, 140), (140, 252));
        assert_eq!(channel.busy(), Time(237_000));
        // A write takes two turns more.
        let write = channel.transfer(10, Time(1_000_000), Direction::Write);
        assert_eq!((write.begin, write.end), (Time(1_000_000), Time(1_018_000)));
    }

    proptest! {
        /// Byte for byte: each takes the first free nanosecond.
        #[test]
        fn transfers_are_those_of_single_bytes(transfers in prop::collection::vec((1u64..20, 0usize..200), 1..40)) {
            let hbm = hbm(0.0);
            let (mut channel, mut taken) = (Channel::new(&hbm), vec![false; 2000]);
            for (bytes, ready) in transfers {
                let free: Vec<usize> = (ready..2000).filter(|&ns| !taken[ns]).take(bytes as usize).collect();
                free.iter().for_each(|&ns| taken[ns] = true);
                let expected = Interval {
                    begin: Time(1000 * free[0] as u64),
                    end: Time(1000 * (free[free.len() - 1] as u64 + 1)),
                };
                prop_assert_eq!(channel.transfer(bytes, Time(1000 * ready as u64), Direction::Read), expected);
            }
        }
    }
}
