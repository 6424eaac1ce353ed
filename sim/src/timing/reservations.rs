//! Reservations of the VRF's SRAMs in each cycle of the near future.

use super::Cycle;
use super::micro_op::MicroOp;
use super::srams::{CYCLES, FourCycles, first};
use crate::machine::SRAMS;

/// The SRAMs that are reserved in each cycle.
#[derive(Clone, Debug)]
pub(super) struct Reservations {
    /// A set of SRAMs for each cycle from `base` on, [`BYTES`] bytes each, so that any four consecutive
    /// cycles are eight consecutive bytes. If writes have a port of their own, a second table for writes
    /// follows.
    taken: Vec<u8>,
    /// The bytes from the set of a cycle's reads to the set of its writes; 0 if all accesses share a port.
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
            let last_conflict = |shift: u32| {
                let at = at + u64::from(shift);
                let left = self.end.checked_sub(at)?;
                last_conflict(self.since(at), self.offset_of_writes(micro_op), left, micro_op)
            };
            match micro_op.least_delay(last_conflict) {
                0 => break,
                delay => at += delay,
            }
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
        let writes = self.offset_of_writes(micro_op);
        let index = (at.0 - self.base) as usize * BYTES;
        let taken = &mut self.taken[index..];
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
    fn offset_of_writes(&self, micro_op: &MicroOp) -> usize {
        self.writes_at + micro_op.latency as usize * BYTES
    }

    /// The table from a cycle on.
    #[inline]
    fn since(&self, cycle: u64) -> &[u8] {
        &self.taken[(cycle - self.base) as usize * BYTES..]
    }
}

/// The last conflict of `micro_op` if it issued in the first cycle of a table in which its writes begin at
/// `writes`: in cycles from its issue, or from its first write. Nothing is reserved from the cycle `end` of
/// the table on.
#[inline]
fn last_conflict(taken: &[u8], writes: usize, end: u64, micro_op: &MicroOp) -> Option<u32> {
    // Most instructions have one step on the machines we care about.
    if micro_op.has_step_after(0) {
        let of_reads = last_in_later_steps(taken, end, micro_op, micro_op.sram_reads);
        let end = end.saturating_sub(micro_op.latency.into());
        let of_writes = last_in_later_steps(&taken[writes..], end, micro_op, micro_op.sram_writes);
        if let Some(last) = of_reads.max(of_writes) {
            return Some(last);
        }
    }
    let reads = four_cycles(taken, 0) & micro_op.sram_reads;
    last_cycle(reads | four_cycles(taken, writes) & micro_op.sram_writes)
}

/// The last conflict of `accesses` in all steps after the first, which begins with a table.
#[inline(never)]
fn last_in_later_steps(taken: &[u8], end: u64, micro_op: &MicroOp, accesses: FourCycles) -> Option<u32> {
    if accesses == 0 {
        return None;
    }
    let (step, (count, last)) = (micro_op.sram_step(), micro_op.later_steps());
    let mut of_steps = [accesses; STEPS];
    for number in 1..STEPS {
        of_steps[number] = micro_op.after_step(of_steps[number - 1]);
    }
    for number in (1..=count.min(end as usize / step as usize)).rev() {
        let begin = number as u32 * step;
        let conflicts = four_cycles(taken, begin as usize * BYTES) & of_steps[number % STEPS];
        let conflicts = if number == count { conflicts & last } else { conflicts };
        if conflicts != 0 {
            return last_cycle(conflicts).map(|cycle| begin + cycle);
        }
    }
    None
}

/// The steps after which the accesses of an instruction repeat.
const STEPS: usize = 3;

/// The last of four cycles in which there is an access.
#[inline]
fn last_cycle(accesses: FourCycles) -> Option<u32> {
    if accesses == 0 { None } else { Some(accesses.ilog2() / SRAMS as u32) }
}

/// Reserves the accesses of `micro_op`, issued in the first cycle of a table, after its first step.
#[inline(never)]
fn take_later_steps(taken: &mut [u8], first_write: usize, micro_op: &MicroOp) {
    let (step, (count, last)) = (micro_op.sram_step() as usize * BYTES, micro_op.later_steps());
    // One after the other: a load of bytes that several narrower stores have just written stalls the
    // processor.
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

/// The reservations in the four cycles from an index of a table on.
#[inline]
fn four_cycles(taken: &[u8], index: usize) -> FourCycles {
    let four = taken[index..].first_chunk().expect("cycles of the table");
    FourCycles::from_le_bytes(*four)
}

/// Reserves `accesses` in the four cycles from an index of a table on.
#[inline]
fn take(taken: &mut [u8], index: usize, accesses: FourCycles) {
    let four = taken[index..].first_chunk_mut().expect("cycles of the table");
    let before = FourCycles::from_le_bytes(*four);
    debug_assert_eq!(before & accesses, 0, "an SRAM is taken twice");
    *four = (before | accesses).to_le_bytes();
}
