//! Reservations of the VRF's SRAMs: for each cycle of the near future, which of them are taken.

use super::Cycle;
use super::work::{SRAMS, Work};

/// A set of SRAMs, one bit each.
pub(super) type SramSet = u16;

const _: () = assert!(SramSet::BITS as usize == SRAMS);

/// Which SRAMs are taken in each cycle.
#[derive(Clone, Debug)]
pub(super) struct Reservations {
    /// A ring: cycle `c` is at `c % len`, and the length is a power of two.
    taken: Vec<SramSet>,
    /// Everything before this cycle has been forgotten.
    start: u64,
    /// Nothing is taken from this cycle on. At most the ring's length after `start`.
    end: u64,
}

impl Reservations {
    /// A table for instructions that make their last access less than `horizon` cycles after
    /// they issue.
    pub(super) fn new(horizon: u32) -> Self {
        Self { taken: vec![0; (horizon as usize).next_power_of_two()], start: 0, end: 0 }
    }

    /// The first cycle from `from` on in which `work` can issue without meeting a reservation.
    /// What has been forgotten is past.
    pub(super) fn first_free(&self, work: &Work, from: Cycle) -> Cycle {
        let mut at = from.max(Cycle(self.start));
        while let Some(clash) = self.clash(work, at) {
            at += clash;
        }
        at
    }

    /// The SRAMs that are taken in some of the `count` cycles from `from` on.
    pub(super) fn taken(&self, from: Cycle, count: u32) -> SramSet {
        let upto = (from + count).0.min(self.end);
        (from.0.max(self.start)..upto).fold(0, |taken, cycle| taken | self.taken[self.index(cycle)])
    }

    /// Cycles by which an issue of `work` at `at` has to be put off at least; none where it meets
    /// no reservation.
    fn clash(&self, work: &Work, at: Cycle) -> Option<u32> {
        let read = self.clash_of(&work.beat_reads, work, at.0);
        read.or_else(|| self.clash_of(&work.beat_writes, work, at.0 + u64::from(work.latency)))
    }

    fn clash_of(&self, beat: &[SramSet], work: &Work, at: u64) -> Option<u32> {
        if beat[0] == 0 || at >= self.end {
            return None;
        }
        if work.interval == 1 {
            // Every cycle takes the same SRAMs, so nothing up to the last clash will do.
            let upto = (at + u64::from(work.occupancy)).min(self.end);
            let last = (at..upto).rev().find(|&cycle| self.taken[self.index(cycle)] & beat[0] != 0)?;
            return Some((last - at) as u32 + 1);
        }
        for start in (at..(at + u64::from(work.occupancy)).min(self.end)).step_by(work.interval as usize) {
            for (cycle, &srams) in (start..self.end).zip(beat) {
                if self.taken[self.index(cycle)] & srams != 0 {
                    return Some(1);
                }
            }
        }
        None
    }

    /// Takes the SRAMs of `work`, issued at `at`, and forgets what lies before.
    pub(super) fn reserve(&mut self, work: &Work, at: Cycle) {
        let (from, to) = (self.start, at.0.min(self.end));
        if from < to {
            let (from, to) = (self.index(from), self.index(to - 1) + 1);
            if from < to {
                self.taken[from..to].fill(0);
            } else {
                self.taken[from..].fill(0);
                self.taken[..to].fill(0);
            }
        }
        self.start = at.0;
        self.end = self.end.max(at.0);
        self.take(&work.beat_reads, work, at.0);
        self.take(&work.beat_writes, work, at.0 + u64::from(work.latency));
    }

    fn take(&mut self, beat: &[SramSet], work: &Work, at: u64) {
        if beat[0] == 0 {
            return;
        }
        self.end = self.end.max(at + u64::from(work.occupancy));
        debug_assert!(self.end - self.start <= self.taken.len() as u64, "the ring is too short");
        for start in (at..at + u64::from(work.occupancy)).step_by(work.interval as usize) {
            for (cycle, &srams) in (start..).zip(beat) {
                let index = self.index(cycle);
                debug_assert_eq!(self.taken[index] & srams, 0, "an SRAM is taken twice");
                self.taken[index] |= srams;
            }
        }
    }

    fn index(&self, cycle: u64) -> usize {
        cycle as usize & (self.taken.len() - 1)
    }
}
