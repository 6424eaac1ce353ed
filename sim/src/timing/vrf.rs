//! Reservations of the VRF's SRAMs: one bit per SRAM and cycle, in a ring.

use super::Cycle;
use super::work::{SRAMS, SramUse, Work};

/// Which cycles of the near future are taken, for each SRAM.
#[derive(Clone, Debug)]
pub(super) struct Reservations {
    /// `SRAMS` rings of `words` words each. Bit `c % 64` of word `c / 64 % words` is cycle `c`.
    bits: Vec<u64>,
    words: usize,
    /// Everything before this cycle has been forgotten; a multiple of 64.
    base: u64,
}

impl Reservations {
    /// A table that holds reservations up to `horizon` cycles ahead.
    pub(super) fn new(horizon: u32) -> Self {
        let words = (horizon as usize / 64 + 2).next_power_of_two();
        Self { bits: vec![0; words * SRAMS], words, base: 0 }
    }

    /// Forgets what lies before `now`, which makes room for as many cycles at the far end.
    pub(super) fn forget_before(&mut self, now: Cycle) {
        let target = now.0 & !63;
        let stale = ((target.saturating_sub(self.base)) / 64).min(self.words as u64);
        for word in 0..stale {
            let at = (self.base / 64 + word) as usize & (self.words - 1);
            for sram in 0..SRAMS {
                self.bits[sram * self.words + at] = 0;
            }
        }
        self.base = self.base.max(target);
    }

    /// The first cycle from `from` on in which `work` can issue without meeting a reservation.
    pub(super) fn first_free(&self, work: &Work, from: Cycle) -> Cycle {
        let mut at = from;
        'search: loop {
            for sram in work.srams.iter() {
                if let Some(clash) = self.clash(work, sram, at) {
                    at += clash;
                    continue 'search;
                }
            }
            return at;
        }
    }

    /// Whether none of the `count` cycles from `from` on is taken.
    pub(super) fn free(&self, sram: u8, from: Cycle, count: u32) -> bool {
        !self.any_taken(sram, from.0, count)
    }

    /// Cycles by which an issue at `at` has to be put off at least, where `sram` is taken.
    fn clash(&self, work: &Work, sram: &SramUse, at: Cycle) -> Option<u32> {
        for (start, count) in [(at.0, sram.reads), (at.0 + u64::from(work.latency), sram.writes)] {
            let count = u32::from(count);
            if count == 0 {
                continue;
            }
            if count == work.interval {
                // The whole window is needed: nothing before its last taken cycle will do.
                if let Some(last) = self.last_taken(sram.sram, start, work.occupancy) {
                    return Some((last - start) as u32 + 1);
                }
            } else {
                let mut beats = (0..work.occupancy).step_by(work.interval as usize);
                if beats.any(|beat| self.any_taken(sram.sram, start + u64::from(beat), count)) {
                    return Some(1);
                }
            }
        }
        None
    }

    /// Takes the SRAM cycles of `work`, issued at `at`.
    pub(super) fn reserve(&mut self, work: &Work, at: Cycle) {
        for sram in work.srams.iter() {
            for (start, count) in [(at.0, sram.reads), (at.0 + u64::from(work.latency), sram.writes)] {
                let count = u32::from(count);
                if count == work.interval {
                    self.take(sram.sram, start, work.occupancy);
                } else if count > 0 {
                    for beat in (0..work.occupancy).step_by(work.interval as usize) {
                        self.take(sram.sram, start + u64::from(beat), count);
                    }
                }
            }
        }
    }

    fn any_taken(&self, sram: u8, start: u64, count: u32) -> bool {
        self.last_taken(sram, start, count).is_some()
    }

    /// The last taken cycle among the `count` from `start` on.
    fn last_taken(&self, sram: u8, start: u64, count: u32) -> Option<u64> {
        let mut last = None;
        for_each_word(start, count, |word, mask| {
            let taken = self.bits[self.index(sram, word)] & mask;
            if taken != 0 {
                last = Some(word * 64 + 63 - u64::from(taken.leading_zeros()));
            }
        });
        last
    }

    fn take(&mut self, sram: u8, start: u64, count: u32) {
        debug_assert!(start >= self.base && start + u64::from(count) <= self.base + 64 * self.words as u64);
        for_each_word(start, count, |word, mask| {
            let at = self.index(sram, word);
            debug_assert_eq!(self.bits[at] & mask, 0, "an SRAM is reserved twice");
            self.bits[at] |= mask;
        });
    }

    fn index(&self, sram: u8, word: u64) -> usize {
        usize::from(sram) * self.words + (word as usize & (self.words - 1))
    }
}

/// Calls `visit` with each word that the cycles `start .. start + count` touch, and their mask.
#[inline]
fn for_each_word(start: u64, count: u32, mut visit: impl FnMut(u64, u64)) {
    let end = start + u64::from(count);
    let mut at = start;
    while at < end {
        let word = at / 64;
        let upto = end.min(word * 64 + 64);
        let len = upto - at;
        visit(word, (u64::MAX >> (64 - len)) << (at % 64));
        at = upto;
    }
}
