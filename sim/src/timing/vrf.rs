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
    /// Nothing is taken from this cycle on. At most the ring's length, less a word, after `start`.
    end: u64,
}

impl Reservations {
    /// A table for instructions that make their last access less than `horizon` cycles after
    /// they issue.
    pub(super) fn new(horizon: u32) -> Self {
        // One more for a first cycle in the middle of a word, and one beyond the last cycle.
        let words = horizon.div_ceil(CYCLES) + 2;
        Self { taken: vec![0; words.next_power_of_two() as usize], start: 0, end: 0 }
    }

    /// The first cycle from `from` on in which `work` can issue without meeting a reservation.
    /// What has been forgotten is past.
    pub(super) fn first_free(&self, work: &Work, from: Cycle) -> Cycle {
        let mut at = from.0.max(self.start);
        while let Some(delay) = self.delay(work, at) {
            at += delay;
        }
        Cycle(at)
    }

    /// Whether `sram` is not taken in any of the `count` cycles from `from` on.
    pub(super) fn free(&self, number: u8, from: Cycle, count: u32) -> bool {
        let upto = (from + count).0.min(self.end);
        (from.0.max(self.start)..upto).all(|cycle| self.four_cycles(cycle) & sram(number) == 0)
    }

    /// Cycles by which an issue of `work` at `at` has to be put off at least; none where it meets
    /// no reservation.
    fn delay(&self, work: &Work, at: u64) -> Option<u64> {
        let reads = self.clash(work.sram_reads, work, at);
        reads.or_else(|| self.clash(work.sram_writes, work, at + u64::from(work.latency)))
    }

    fn clash(&self, accesses: FourCycles, work: &Work, at: u64) -> Option<u64> {
        if accesses == 0 {
            return None;
        }
        let upto = u64::from(work.occupancy).min(self.end.saturating_sub(at));
        let mut cycle = 0;
        while cycle < upto {
            let clash = self.four_cycles(at + cycle) & accesses & first(work.occupancy - cycle as u32);
            if clash != 0 {
                // Where every cycle takes the same SRAMs, nothing up to the last clash will do.
                let last = u64::from(clash.ilog2() / SRAMS as u32);
                return Some(if work.interval == 1 { cycle + last + 1 } else { 1 });
            }
            cycle += u64::from(work.sram_step());
        }
        None
    }

    /// Takes the SRAMs of `work`, issued at `at`, and forgets what lies before.
    pub(super) fn reserve(&mut self, work: &Work, at: Cycle) {
        let four = u64::from(CYCLES);
        for word in self.start / four..(at.0 / four).min(self.end.div_ceil(four)) {
            let index = self.index(word);
            self.taken[index] = 0;
        }
        self.start = at.0;
        self.take(work.sram_reads, work, at.0);
        self.take(work.sram_writes, work, at.0 + u64::from(work.latency));
    }

    fn take(&mut self, accesses: FourCycles, work: &Work, at: u64) {
        if accesses == 0 {
            return;
        }
        self.end = self.end.max(at + u64::from(work.occupancy));
        debug_assert!(self.end - self.start <= (self.taken.len() as u64 - 1) * 4, "the ring is too short");
        let mut cycle = 0;
        while cycle < work.occupancy {
            let accesses = accesses & first(work.occupancy - cycle);
            let from = at + u64::from(cycle);
            debug_assert_eq!(self.four_cycles(from) & accesses, 0, "an SRAM is taken twice");
            let (word, bit) = Self::place(from);
            let (low, high) = (self.index(word), self.index(word + 1));
            let both = u128::from(accesses) << bit;
            self.taken[low] |= both as FourCycles;
            self.taken[high] |= (both >> FourCycles::BITS) as FourCycles;
            cycle += work.sram_step();
        }
    }

    /// What is taken in four cycles from `cycle` on, where that lies before the end.
    fn four_cycles(&self, cycle: u64) -> FourCycles {
        let (word, bit) = Self::place(cycle);
        let (low, high) = (self.taken[self.index(word)], self.taken[self.index(word + 1)]);
        ((u128::from(high) << FourCycles::BITS | u128::from(low)) >> bit) as FourCycles
    }

    /// The word of a cycle, and the first of its bits there.
    fn place(cycle: u64) -> (u64, u32) {
        (cycle / u64::from(CYCLES), (cycle % u64::from(CYCLES)) as u32 * SRAMS as u32)
    }

    fn index(&self, word: u64) -> usize {
        word as usize & (self.taken.len() - 1)
    }
}
