//! Which vector registers are busy, and until when.

use super::Cycle;
use super::micro_op::MicroOp;
use super::registers::Table;
use crate::machine;
use b512_asm::VReg;

/// The busyboard, and when each of its bits is cleared.
#[derive(Clone)]
pub(super) struct Busyboard {
    /// Whether a register that is only being read is free for a reader.
    shared_reads: bool,
    /// Registers that an instruction which waits in a queue writes, a bit for each. With the strict
    /// board also those that one reads.
    waiting: u64,
    /// When each register is free of instructions that have issued and write it. With the strict
    /// board also of those that read it.
    free: Table<Cycle>,
    /// With shared reads, registers that an instruction which waits in a queue reads.
    waiting_reads: u64,
    /// With shared reads, how many do.
    readers: Table<u32>,
    /// With shared reads, when the instructions that have issued have all read each register.
    read: Table<Cycle>,
}

/// The registers that are free in one cycle, a bit for each.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FreeRegisters {
    /// Free for a reader.
    pub readable: u64,
    /// Free for a writer.
    pub writable: u64,
}

impl Busyboard {
    /// Of a machine in which nothing is in flight.
    pub(super) fn new(kind: machine::Busyboard) -> Self {
        Self {
            shared_reads: kind == machine::Busyboard::SharedReads,
            waiting: 0,
            free: Table::new(Cycle::ZERO),
            waiting_reads: 0,
            readers: Table::new(0),
            read: Table::new(Cycle::ZERO),
        }
    }

    /// When all registers of `micro_op` are free; [`Cycle::NEVER`] where an instruction that waits in a
    /// queue must issue first.
    #[inline]
    pub(super) fn free(&self, micro_op: &MicroOp) -> Cycle {
        if self.waiting & micro_op.registers != 0 {
            return Cycle::NEVER;
        }
        let [a, b, c] = micro_op.reads.places().map(|reg| self.free[reg]);
        let [d, e] = micro_op.writes.places().map(|reg| self.free[reg]);
        let free = a.max(b).max(c).max(d).max(e);
        if !self.shared_reads {
            return free;
        }
        if self.waiting_reads & micro_op.writes.mask() != 0 {
            return Cycle::NEVER;
        }
        let [d, e] = micro_op.writes.places().map(|reg| self.read[reg]);
        free.max(d).max(e)
    }

    /// The registers that are free at `now` for a reader, and those that are free for a writer.
    pub(super) fn free_registers(&self, now: Cycle) -> FreeRegisters {
        let free_by = |cycles: &Table<Cycle>| {
            VReg::all().fold(0, |set, reg| set | u64::from(cycles[reg.into()] <= now) << reg.index())
        };
        let readable = free_by(&self.free) & !self.waiting;
        let writable =
            if self.shared_reads { readable & free_by(&self.read) & !self.waiting_reads } else { readable };
        FreeRegisters { readable, writable }
    }

    /// `micro_op` enters its queue.
    #[inline]
    pub(super) fn enter(&mut self, micro_op: &MicroOp) {
        if !self.shared_reads {
            self.waiting |= micro_op.registers;
            return;
        }
        self.waiting |= micro_op.writes.mask();
        self.waiting_reads |= micro_op.reads.mask();
        for reg in micro_op.reads.places() {
            self.readers[reg] += 1;
        }
    }

    /// `micro_op` leaves its queue.
    #[inline]
    pub(super) fn leave(&mut self, micro_op: &MicroOp) {
        // With shared reads, too, no other instruction that waits writes any of them.
        self.waiting &= !micro_op.registers;
        if self.shared_reads {
            for reg in micro_op.reads.places() {
                self.readers[reg] -= 1;
                if self.readers[reg] == 0 {
                    self.waiting_reads &= !reg.bit();
                }
            }
        }
    }

    /// `micro_op` issues, and will leave its sources at `read` and its destinations at `complete`.
    #[inline]
    pub(super) fn issue(&mut self, micro_op: &MicroOp, read: Cycle, complete: Cycle) {
        if self.shared_reads {
            for reg in micro_op.reads.places() {
                self.read[reg] = self.read[reg].max(read);
            }
            self.read.set_none(Cycle::ZERO);
        } else {
            for reg in micro_op.reads.places() {
                self.free[reg] = read;
            }
        }
        for reg in micro_op.writes.places() {
            self.free[reg] = complete;
        }
        self.free.set_none(Cycle::ZERO);
    }
}
