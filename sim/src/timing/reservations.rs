//! Reservations of the VRF's SRAMs in each cycle of the near future.

use super::Cycle;
use super::micro_op::MicroOp;
use super::srams::{CYCLES, FourCycles, first};
use crate::machine::SRAMS;

/// The SRAMs that are reserved in each cycle.
#[derive(Clone, Debug)]
pub(super) struct Reservations {
    /// A set of SRAMs for each cycle from `base` on, [`BYTES`] bytes each, so that any four
    /// consecutive cycles are eight consecutive bytes. If writes have a port of their own, the same for
    /// them follows.
    taken: Vec<u8>,
    /// The bytes from the set of a cycle to that of its writes; 0 if all accesses share a port.
    writes_at: usize,
    base: u64,
    /// Everything before this cycle has been discarded. At least `base`, and at most `horizon`
    /// after it.
    start: u64,
    /// Nothing is reserved from this cycle on. At most `horizon` after `start`, so that the
    /// accesses of an instruction that issues before it are at most three times `horizon` after
    /// `base`.
    end: u64,
    /// The largest distance from an issue to its last access, in cycles.
    horizon: u64,
}

/// The bytes of a set of SRAMs.
const BYTES: usize = SRAMS.div_ceil(u8::BITS as usize);

impl Reservations {
    /// A table for instructions whose last access is less than `horizon` cycles after their issue.
    pub(super) fn new(horizon: u32, writes_have_a_port: bool) -> Self {
        let bytes = (3 * horizon as usize + CYCLES as usize) * BYTES;
        let (ports, writes_at) = if writes_have_a_port { (2, bytes) } else { (1, 0) };
        Self { taken: vec![0; ports * bytes], writes_at, base: 0, start: 0, end: 0, horizon: horizon.into() }
    }

    /// The first cycle from `from` on in which `micro_op` can issue without a conflict. Discarded
    /// cycles are in the past.
    #[inline]
    pub(super) fn first_free(&self, micro_op: &MicroOp, from: Cycle) -> Cycle {
        let mut at = from.0.max(self.start);
        while at < self.end {
            let (taken, writes) = (self.since(at), self.place_of_writes(micro_op));
            let delay = match clash(taken, writes, micro_op) {
                0 if !micro_op.has_step_after(0) => 0,
                0 => delay_of_later_steps(taken, writes, micro_op),
                clash => delay(micro_op, 0, clash),
            };
            if delay == 0 {
                break;
            }
            at += delay;
        }
        Cycle(at)
    }

    /// The SRAMs whose port for writes is reserved in any of the `count` cycles from `from` on, as a bit set.
    pub(super) fn taken(&self, from: Cycle, count: u32) -> u16 {
        let upto = (from + count).0.min(self.end);
        let mut taken = 0;
        for cycle in (from.0.max(self.start)..upto).step_by(CYCLES as usize) {
            taken |= four_cycles(self.since(cycle), self.writes_at) & first((upto - cycle) as u32);
        }
        let two = taken | taken >> (2 * SRAMS);
        (two | two >> SRAMS) as u16
    }

    /// Reserves the SRAMs of `micro_op`, issued at `at`, and discards earlier cycles.
    #[inline]
    pub(super) fn reserve(&mut self, micro_op: &MicroOp, at: Cycle) {
        self.start = at.0;
        if micro_op.sram_reads | micro_op.sram_writes == 0 {
            return;
        }
        if at.0 - self.base > self.horizon {
            self.rebase();
        }
        self.end = self.end.max((at + micro_op.total_cycles()).0);
        debug_assert!(self.end - self.start <= self.horizon, "the table is too short");
        let writes = self.place_of_writes(micro_op);
        let place = (at.0 - self.base) as usize * BYTES;
        let taken = &mut self.taken[place..];
        take(taken, 0, micro_op.sram_reads);
        take(taken, writes, micro_op.sram_writes);
        if micro_op.has_step_after(0) {
            take_later_steps(taken, writes, micro_op);
        }
    }

    /// Moves the retained cycles to the beginning of the table.
    #[cold]
    fn rebase(&mut self) {
        let bytes = if self.writes_at == 0 { self.taken.len() } else { self.writes_at };
        let past = ((self.start - self.base) as usize * BYTES).min(bytes);
        for taken in self.taken.chunks_mut(bytes) {
            taken.copy_within(past.., 0);
            taken[bytes - past..].fill(0);
        }
        self.base = self.start;
    }

    /// The bytes from the issue of `micro_op` to its first write, in the table.
    #[inline]
    fn place_of_writes(&self, micro_op: &MicroOp) -> usize {
        self.writes_at + micro_op.latency as usize * BYTES
    }

    /// The table from a cycle on.
    #[inline]
    fn since(&self, cycle: u64) -> &[u8] {
        &self.taken[(cycle - self.base) as usize * BYTES..]
    }
}

/// The accesses of `micro_op` that conflict in its first step, if it issued in the first cycle of a table in which
/// its writes begin at `writes`.
#[inline]
fn clash(taken: &[u8], writes: usize, micro_op: &MicroOp) -> FourCycles {
    let (reads, writes) = (four_cycles(taken, 0), four_cycles(taken, writes));
    reads & micro_op.sram_reads | writes & micro_op.sram_writes
}

/// A lower bound on the delay of `micro_op` if the accesses `clash` conflict in the step that
/// begins `step` cycles after issue.
#[inline]
fn delay(micro_op: &MicroOp, step: u32, clash: FourCycles) -> u64 {
    // If every cycle accesses the same SRAMs, no delay up to the last conflict helps.
    let last = clash.ilog2() / SRAMS as u32;
    if micro_op.interval == 1 { u64::from(step + last + 1) } else { 1 }
}

/// As above, for all steps after the first; zero without a conflict. Most instructions have one
/// step on the machines we care about, so these loops are kept out of line.
#[inline(never)]
fn delay_of_later_steps(taken: &[u8], first_write: usize, micro_op: &MicroOp) -> u64 {
    let (step, (count, last)) = (micro_op.sram_step() as usize * BYTES, micro_op.later_steps());
    let (mut reads, mut writes) = (micro_op.sram_reads, micro_op.sram_writes);
    let of_writes = taken[step + first_write..].chunks(step);
    for (number, (of_reads, of_writes)) in (1..=count).zip(taken[step..].chunks(step).zip(of_writes)) {
        (reads, writes) = (micro_op.after_step(reads), micro_op.after_step(writes));
        let clash = four_cycles(of_reads, 0) & reads | four_cycles(of_writes, 0) & writes;
        let clash = if number == count { clash & last } else { clash };
        if clash != 0 {
            return delay(micro_op, number as u32 * micro_op.sram_step(), clash);
        }
    }
    0
}

/// Reserves the accesses of `micro_op`, issued in the first cycle of a table, after its first step.
#[inline(never)]
fn take_later_steps(taken: &mut [u8], first_write: usize, micro_op: &MicroOp) {
    let (step, (count, last)) = (micro_op.sram_step() as usize * BYTES, micro_op.later_steps());
    // One after the other: a processor waits long to read what it has just written in other parts.
    for (from, mut accesses) in [(0, micro_op.sram_reads), (first_write, micro_op.sram_writes)] {
        if accesses == 0 {
            continue;
        }
        for (number, taken) in (1..=count).zip(taken[step + from..].chunks_mut(step)) {
            accesses = micro_op.after_step(accesses);
            take(taken, 0, if number == count { accesses & last } else { accesses });
        }
    }
}

/// The reservations in the four cycles from a place of a table on.
#[inline]
fn four_cycles(taken: &[u8], place: usize) -> FourCycles {
    let four = taken[place..].first_chunk().expect("cycles of the table");
    FourCycles::from_le_bytes(*four)
}

/// Reserves `accesses` in the four cycles from a place of a table on.
#[inline]
fn take(taken: &mut [u8], place: usize, accesses: FourCycles) {
    let four = taken[place..].first_chunk_mut().expect("cycles of the table");
    let before = FourCycles::from_le_bytes(*four);
    debug_assert_eq!(before & accesses, 0, "an SRAM is taken twice");
    *four = (before | accesses).to_le_bytes();
}
