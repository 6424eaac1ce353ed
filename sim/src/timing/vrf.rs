//! Reservations of the VRF's SRAMs: for each cycle of the near future, which of them are taken.

use super::Cycle;
use super::work::{SRAMS, Work};

/// A set of SRAMs for each of four consecutive cycles: 16 bits each, the first cycle's lowest.
///
/// The model asks of four cycles at a time what it would otherwise ask of one.
pub(super) type FourCycles = u64;

/// The cycles of [`FourCycles`].
pub(super) const CYCLES: u32 = 4;

const _: () = assert!(FourCycles::BITS == CYCLES * SRAMS as u32);

/// The SRAM, 0 to 15, in the first of four cycles.
pub(super) const fn sram(number: u8) -> FourCycles {
    1 << number
}

/// All SRAMs in the first `cycles` of four; in all four where `cycles` is larger.
pub(super) const fn first(cycles: u32) -> FourCycles {
    if cycles < CYCLES { (1 << (cycles * SRAMS as u32)) - 1 } else { FourCycles::MAX }
}

/// Which SRAMs are taken in each cycle.
#[derive(Clone, Debug)]
pub(super) struct Reservations {
    /// A ring: cycle `c` is in word `c / 4 % len`, and the length is a power of two.
    taken: Vec<FourCycles>,
    /// Everything before this cycle has been forgotten.
    start: u64,
    /// Nothing is taken from this cycle on. At most half of the ring's length after `start`, so that
    /// accesses of an instruction that issues before it are within the ring.
    end: u64,
}

impl Reservations {
    /// A table for instructions that make their last access less than `horizon` cycles after
    /// they issue.
    pub(super) fn new(horizon: u32) -> Self {
        // One more for a first cycle in the middle of a word, and one beyond the last cycle.
        let words = (2 * horizon).div_ceil(CYCLES) + 2;
        Self { taken: vec![0; words.next_power_of_two() as usize], start: 0, end: 0 }
    }

    /// The first cycle from `from` on in which `work` can issue without meeting a reservation.
    /// What has been forgotten is past.
    #[inline]
    pub(super) fn first_free(&self, work: &Work, from: Cycle) -> Cycle {
        let mut at = from.0.max(self.start);
        while at < self.end {
            let delay = self.delay(work, at);
            if delay == 0 {
                break;
            }
            at += delay;
        }
        Cycle(at)
    }

    /// The SRAMs that are taken in some of the `count` cycles from `from` on, a bit for each.
    pub(super) fn taken(&self, from: Cycle, count: u32) -> u16 {
        let upto = (from + count).0.min(self.end);
        let mut taken = 0;
        for cycle in (from.0.max(self.start)..upto).step_by(CYCLES as usize) {
            taken |= self.four_cycles(cycle) & first((upto - cycle) as u32);
        }
        let two = taken | taken >> (2 * SRAMS);
        (two | two >> SRAMS) as u16
    }

    /// Cycles by which an issue of `work` at `at` has to be put off at least; zero where it meets
    /// no reservation.
    #[inline]
    fn delay(&self, work: &Work, at: u64) -> u64 {
        let mut cycle = 0;
        loop {
            let reads = self.four_cycles(at + u64::from(cycle)) & work.sram_reads;
            let writes = self.four_cycles(at + u64::from(cycle + work.latency)) & work.sram_writes;
            let clash = (reads | writes) & first(work.occupancy - cycle);
            if clash != 0 {
                // Where every cycle takes the same SRAMs, nothing up to the last clash will do.
                let last = clash.ilog2() / SRAMS as u32;
                return if work.interval == 1 { u64::from(cycle + last + 1) } else { 1 };
            }
            cycle += work.sram_step();
            if cycle >= work.occupancy {
                return 0;
            }
        }
    }

    /// Takes the SRAMs of `work`, issued at `at`, and forgets what lies before.
    #[inline]
    pub(super) fn reserve(&mut self, work: &Work, at: Cycle) {
        let four = u64::from(CYCLES);
        for word in self.start / four..(at.0 / four).min(self.end.div_ceil(four)) {
            let index = self.index(word);
            self.taken[index] = 0;
        }
        self.start = at.0;
        if work.sram_reads | work.sram_writes == 0 {
            return;
        }
        self.end = self.end.max((at + work.total_cycles()).0);
        debug_assert!(2 * (self.end - self.start) <= self.taken.len() as u64 * four, "the ring is too short");
        let mut cycle = 0;
        while cycle < work.occupancy {
            let left = first(work.occupancy - cycle);
            self.take(at.0 + u64::from(cycle), work.sram_reads & left);
            self.take(at.0 + u64::from(cycle + work.latency), work.sram_writes & left);
            cycle += work.sram_step();
        }
    }

    /// Takes `accesses` in four cycles from `cycle` on.
    #[inline]
    fn take(&mut self, cycle: u64, accesses: FourCycles) {
        let (word, bit) = Self::place(cycle);
        let both = u128::from(accesses) << bit;
        for (word, half) in [(word, both), (word + 1, both >> FourCycles::BITS)] {
            let index = self.index(word);
            debug_assert_eq!(self.taken[index] & half as FourCycles, 0, "an SRAM is taken twice");
            self.taken[index] |= half as FourCycles;
        }
    }

    /// What is taken in four cycles from `cycle` on, which lie within the ring.
    #[inline]
    fn four_cycles(&self, cycle: u64) -> FourCycles {
        let (word, bit) = Self::place(cycle);
        let (low, high) = (self.taken[self.index(word)], self.taken[self.index(word + 1)]);
        ((u128::from(high) << FourCycles::BITS | u128::from(low)) >> bit) as FourCycles
    }

    /// The word of a cycle, and the first of its bits there.
    #[inline]
    fn place(cycle: u64) -> (u64, u32) {
        (cycle / u64::from(CYCLES), (cycle % u64::from(CYCLES)) as u32 * SRAMS as u32)
    }

    #[inline]
    fn index(&self, word: u64) -> usize {
        word as usize & (self.taken.len() - 1)
    }
}
