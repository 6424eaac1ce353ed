//! The SRAM accesses of queued instructions, as a scheduler expects them.
//!
//! An instruction reserves its SRAMs when it issues. With a delay between dispatch and issue, a scheduler
//! chooses the next instructions earlier, and must remember the accesses to come.

use super::Cycle;
use super::micro_op::MicroOp;
use super::srams::{CYCLES, FourCycles};
use crate::machine::SRAMS;

/// The SRAMs that dispatched instructions are expected to access in each cycle of the near future.
#[derive(Clone, Debug)]
pub struct Expectations {
    /// A set of ports for each cycle, in a ring: an SRAM's only port or its port for reads in the lower half,
    /// a port for writes in the upper one.
    taken: Vec<u32>,
    /// The bit offset of the ports for writes in a set.
    writes_at: u32,
    /// Everything before this cycle has been forgotten.
    start: Cycle,
    /// Nothing is expected from this cycle on.
    upto: Cycle,
}

impl Expectations {
    /// A table for instructions whose last access is less than `horizon` cycles after their issue.
    pub(super) fn new(horizon: u32, writes_have_a_port: bool) -> Self {
        let cycles = (4 * horizon as usize).next_power_of_two();
        let writes_at = if writes_have_a_port { SRAMS as u32 } else { 0 };
        Self { taken: vec![0; cycles], writes_at, start: Cycle::ZERO, upto: Cycle::ZERO }
    }

    /// Expects `micro_op` to issue at `at`.
    pub(super) fn add(&mut self, micro_op: &MicroOp, at: Cycle) {
        let end = at + micro_op.total_cycles();
        if self.covers(end) {
            self.upto = self.upto.max(end);
            for Series { first, ports } in series(micro_op, self.writes_at) {
                for cycle in beats(micro_op, u64::MAX) {
                    let slot = self.slot(at + first + cycle);
                    self.taken[slot] |= ports;
                }
            }
        }
    }

    /// Forgets all cycles before `now`.
    pub(super) fn forget_before(&mut self, now: Cycle) {
        if (now.0 - self.start.0.min(now.0)) as usize >= self.taken.len() {
            self.taken.fill(0);
            self.start = now;
        }
        while self.start < now {
            let slot = self.slot(self.start);
            self.taken[slot] = 0;
            self.start += 1;
        }
    }

    /// A lower bound on the cycles from `at` to the first one in which `micro_op` could issue without a
    /// conflict with an expected access; 0 only if it could issue at `at`.
    pub(super) fn delay(&self, micro_op: &MicroOp, at: Cycle) -> u64 {
        let delay = micro_op.least_delay(|delay| self.last_conflict(micro_op, at + delay));
        // Nothing is known beyond the ring.
        let known = self.end().0.saturating_sub((at + micro_op.total_cycles()).0);
        delay.min(known)
    }

    /// The last conflict of `micro_op` with an expected access if it issued at `at`: the cycle in which its
    /// beat begins.
    fn last_conflict(&self, micro_op: &MicroOp, at: Cycle) -> Option<u32> {
        if !self.covers(at + micro_op.total_cycles()) {
            return None;
        }
        let last = |Series { first, ports }| {
            let conflicts = |&beat: &u32| self.taken[self.slot(at + first + beat)] & ports != 0;
            let left = self.upto.0.saturating_sub((at + first).0);
            beats(micro_op, left).rev().find(conflicts)
        };
        series(micro_op, self.writes_at).filter_map(last).max()
    }

    /// The SRAMs with an expected access in any of the `count` cycles from `from` on that a write would meet,
    /// as a bit set.
    pub(super) fn taken(&self, from: Cycle, count: u32) -> u16 {
        let count = if self.covers(from + count) { count } else { 0 };
        let ports = (0..count).fold(0, |all, cycle| all | self.taken[self.slot(from + cycle)]);
        (ports >> self.writes_at) as u16
    }

    /// Whether the table has an entry for each cycle up to `end`.
    fn covers(&self, end: Cycle) -> bool {
        end < self.end()
    }

    /// The end of what the table covers.
    fn end(&self) -> Cycle {
        Cycle(self.start.0 + self.taken.len() as u64 - u64::from(CYCLES))
    }

    fn slot(&self, cycle: Cycle) -> usize {
        cycle.0 as usize & (self.taken.len() - 1)
    }
}

/// Accesses to the same ports, one in each beat of an instruction.
struct Series {
    /// The cycle of the first, counted from issue.
    first: u32,
    ports: u32,
}

/// All accesses of an instruction to SRAMs.
fn series(micro_op: &MicroOp, writes_at: u32) -> impl Iterator<Item = Series> {
    let of = |accesses: FourCycles, from: u32, at: u32, cycle: u32| Series {
        first: from + cycle,
        ports: u32::from((accesses >> (cycle as usize * SRAMS)) as u16) << at,
    };
    let (reads, writes, latency) = (micro_op.sram_reads, micro_op.sram_writes, micro_op.latency);
    // A beat accesses SRAMs in its first cycles only.
    let cycles = 0..micro_op.interval.min(CYCLES);
    let both = cycles.flat_map(move |cycle| [of(reads, 0, 0, cycle), of(writes, latency, writes_at, cycle)]);
    both.filter(|series| series.ports != 0)
}

/// The cycles in which the beats of an instruction begin, as far as they are below `end`; counted from its
/// first.
fn beats(micro_op: &MicroOp, end: u64) -> impl DoubleEndedIterator<Item = u32> {
    let end = end.min(micro_op.occupancy.into()) as u32;
    (0..end.div_ceil(micro_op.interval)).map(|beat| beat * micro_op.interval)
}
