//! The SRAM accesses of queued instructions, as a scheduler expects them.
//!
//! An instruction reserves its SRAMs when it issues. With a delay between dispatch and issue, a scheduler
//! chooses the next instructions before that, and must remember what it has in store.

use super::Cycle;
use super::micro_op::MicroOp;
use super::srams::{CYCLES, FourCycles};
use crate::machine::SRAMS;

/// The SRAMs that dispatched instructions are expected to access in each cycle of the near future.
#[derive(Clone, Debug)]
pub struct Expectations {
    /// A set of ports for each cycle, in a ring: an SRAM's only port or its port for reads in the lower half, a
    /// port for writes in the upper one.
    taken: Vec<u32>,
    /// The place of the ports for writes in a set.
    writes_at: u32,
    /// Everything before this cycle has been forgotten.
    start: Cycle,
}

impl Expectations {
    /// A table for instructions whose last access is less than `horizon` cycles after their issue.
    pub(super) fn new(horizon: u32, writes_have_a_port: bool) -> Self {
        let cycles = (4 * horizon as usize).next_power_of_two();
        let writes_at = if writes_have_a_port { SRAMS as u32 } else { 0 };
        Self { taken: vec![0; cycles], writes_at, start: Cycle::ZERO }
    }

    /// Expects `micro_op` to issue at `at`.
    pub(super) fn add(&mut self, micro_op: &MicroOp, at: Cycle) {
        if self.covers(at + micro_op.total_cycles()) {
            for_each_access(micro_op, self.writes_at, |cycle, ports| {
                let place = self.place(at + cycle);
                self.taken[place] |= ports;
            });
        }
    }

    /// Forgets all cycles before `now`.
    pub(super) fn forget_before(&mut self, now: Cycle) {
        if (now.0 - self.start.0.min(now.0)) as usize >= self.taken.len() {
            self.taken.fill(0);
            self.start = now;
        }
        while self.start < now {
            let place = self.place(self.start);
            self.taken[place] = 0;
            self.start += 1;
        }
    }

    /// Whether `micro_op` would conflict with an expected access if it issued at `at`.
    pub(super) fn conflict(&self, micro_op: &MicroOp, at: Cycle) -> bool {
        // Nothing is known of the further future.
        if !self.covers(at + micro_op.total_cycles()) {
            return false;
        }
        let mut conflict = false;
        for_each_access(micro_op, self.writes_at, |cycle, ports| {
            conflict |= self.taken[self.place(at + cycle)] & ports != 0;
        });
        conflict
    }

    /// The SRAMs with an expected access in any of the `count` cycles from `from` on that a write would meet, as a
    /// bit set.
    pub(super) fn taken(&self, from: Cycle, count: u32) -> u16 {
        let count = if self.covers(from + count) { count } else { 0 };
        let ports = (0..count).fold(0, |all, cycle| all | self.taken[self.place(from + cycle)]);
        (ports >> self.writes_at) as u16
    }

    /// Whether the table has an entry for each cycle up to `end`.
    fn covers(&self, end: Cycle) -> bool {
        (end + CYCLES).0 < self.start.0 + self.taken.len() as u64
    }

    fn place(&self, cycle: Cycle) -> usize {
        cycle.0 as usize & (self.taken.len() - 1)
    }
}

/// Calls `access` for each cycle in which an instruction accesses SRAMs, counted from its issue, with the ports.
#[inline]
fn for_each_access(micro_op: &MicroOp, writes_at: u32, mut access: impl FnMut(u32, u32)) {
    let mut four = |begin: u32, accesses: FourCycles, at: u32| {
        for cycle in 0..CYCLES {
            let srams = (accesses >> (cycle as usize * SRAMS)) as u16;
            if srams != 0 {
                access(begin + cycle, u32::from(srams) << at);
            }
        }
    };
    let (mut step, mut reads, mut writes) = (0, micro_op.sram_reads, micro_op.sram_writes);
    loop {
        let mask = micro_op.step_mask(step);
        four(step, reads & mask, 0);
        four(step + micro_op.latency, writes & mask, writes_at);
        if !micro_op.has_step_after(step) {
            return;
        }
        step += micro_op.sram_step();
        (reads, writes) = (micro_op.after_step(reads), micro_op.after_step(writes));
    }
}
