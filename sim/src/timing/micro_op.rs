//! The demand of one instruction on a machine: pipe, registers, occupancy, latency, SRAM accesses.

use super::registers::RegSlots;
use super::srams::{CYCLES, FourCycles, first};
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
    /// The SRAMs that it reads in each [step](Self::sram_step), counted from issue; empty if ports
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

    /// The period of its SRAM accesses in cycles: as many beats as fit four cycles, at least one.
    #[inline]
    pub(super) fn sram_step(&self) -> u32 {
        if self.interval <= CYCLES / 2 { CYCLES } else { self.interval }
    }

    /// Whether its accesses repeat after the step that begins `step` cycles after its issue.
    #[inline]
    pub(super) fn has_step_after(&self, step: u32) -> bool {
        self.occupancy - step > self.sram_step()
    }

    /// The cycles within the occupancy of the step that begins `step` cycles after issue.
    #[inline]
    pub(super) fn step_mask(&self, step: u32) -> FourCycles {
        first(self.occupancy - step)
    }
}
