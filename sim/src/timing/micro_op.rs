//! The demand of one instruction on a machine: pipe, registers, occupancy, latency, SRAM accesses.

use super::registers::RegSlots;
use super::srams::{CYCLES, FourCycles, after_four_of_three, first};
use b512_asm::Pipe;

/// The demand of one instruction on the machine, for the cycle model.
// The bytes come first: loading them right after a copy is then fast.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct MicroOp {
    /// Its vector sources.
    pub reads: RegSlots<3>,
    /// Its vector destinations.
    pub writes: RegSlots<2>,
    /// The pipe that executes it.
    pub pipe: Pipe,
    /// The half of a split VBAR: 0 for loads, 1 for stores; 0 everywhere else.
    pub path: u8,
    /// Whether it is a scalar load, which holds the front end.
    pub scalar_load: bool,
    /// Bit set of all its registers.
    pub(super) registers: u64,
    /// The SRAMs that it reads in its first [step](Self::sram_step), counted from issue; empty if ports
    /// are ideal.
    pub(super) sram_reads: FourCycles,
    /// As above, for writes, counted from its first write.
    pub(super) sram_writes: FourCycles,
    /// Cycles for which it holds its pipe.
    pub occupancy: u32,
    /// Cycles from issue to its first write.
    pub latency: u32,
    /// Cycles of the occupancy that VDM bank conflicts add.
    pub bank_conflicts: u32,
    /// Cycles between its beats.
    pub(super) interval: u32,
}

impl MicroOp {
    /// Cycles from issue until its last source element has been read.
    #[inline]
    pub fn read_cycles(&self) -> u32 {
        self.occupancy
    }

    /// Cycles from issue to completion.
    #[inline]
    pub fn total_cycles(&self) -> u32 {
        self.latency + self.occupancy
    }

    /// The micro-operation without its writes to SRAMs.
    #[inline]
    pub fn without_writes(self) -> Self {
        Self { sram_writes: 0, ..self }
    }

    /// The cycles of a step of its SRAM accesses: the cycles of a beat, at least four. So steps do not
    /// overlap in the table of reservations.
    #[inline]
    pub(super) fn sram_step(&self) -> u32 {
        self.interval.max(CYCLES)
    }

    /// The number of steps after the first, and the cycles of the last one within the occupancy.
    #[inline]
    pub(super) fn later_steps(&self) -> (usize, FourCycles) {
        let (step, last) = (self.sram_step(), self.occupancy.saturating_sub(1));
        ((last / step) as usize, first(last % step + 1))
    }

    /// The accesses of the step after one with these `accesses`.
    #[inline]
    pub(super) fn after_step(&self, accesses: FourCycles) -> FourCycles {
        // The period of all other intervals divides their step.
        if self.interval == 3 { after_four_of_three(accesses) } else { accesses }
    }

    /// Whether its accesses repeat after the step that begins `step` cycles after its issue.
    #[inline]
    pub(super) fn has_step_after(&self, step: u32) -> bool {
        self.occupancy - step > self.sram_step()
    }

    /// The least delay of its issue that can resolve conflicts at SRAMs; 0 if there are none. For a delay by
    /// each number of cycles below the interval, `last_conflict` says in which cycle the last conflict is,
    /// counted from the issue, or from the first write.
    #[inline]
    pub(super) fn least_delay(&self, last_conflict: impl Fn(u32) -> Option<u32>) -> u64 {
        let mut least = u32::MAX;
        for delay in 0..self.interval {
            match last_conflict(delay) {
                None => return delay.into(),
                // All beats access the same SRAMs. If a beat is delayed by intervals, an earlier one stands
                // for it.
                Some(cycle) => least = least.min(delay + (cycle / self.interval + 1) * self.interval),
            }
        }
        least.into()
    }
}
