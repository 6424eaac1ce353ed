//! The busy state of the vector registers, and the cycles of their release.

use super::Cycle;
use super::micro_op::MicroOp;
use super::registers::{RegisterIndex, Table};
use crate::machine;

/// The busyboard, with the cycle in which each bit is cleared.
#[derive(Clone)]
pub(super) struct Busyboard {
    /// Whether a register with readers only is free for another reader.
    shared_reads: bool,
    /// Bit set of the registers that queued instructions write. With the strict board, also the registers
    /// that they read.
    waiting: u64,
    /// For each register, the cycle from which it is free of issued writers. With the strict board,
    /// also of issued readers.
    free: Table<Cycle>,
    /// A superset of the registers that issued instructions hold.
    held: u64,
    /// With shared reads, the registers that queued instructions read.
    waiting_reads: u64,
    /// With shared reads, the number of those readers.
    readers: Table<u32>,
    /// With shared reads, the cycle in which the last issued reader of each register has read it.
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
    /// The state of a machine with nothing in flight.
    pub(super) fn new(kind: machine::Busyboard) -> Self {
        Self {
            shared_reads: kind == machine::Busyboard::SharedReads,
            waiting: 0,
            free: Table::new(Cycle::ZERO),
            held: 0,
            waiting_reads: 0,
            readers: Table::new(0),
            read: Table::new(Cycle::ZERO),
        }
    }

    /// The cycle from which all registers of `micro_op` are free; [`Cycle::NEVER`] if a queued
    /// instruction must issue first.
    #[inline]
    pub(super) fn free(&self, micro_op: &MicroOp) -> Cycle {
        if self.waiting & micro_op.registers != 0 {
            return Cycle::NEVER;
        }
        let [a, b, c] = micro_op.reads.indices().map(|reg| self.free[reg]);
        let [d, e] = micro_op.writes.indices().map(|reg| self.free[reg]);
        let free = a.max(b).max(c).max(d).max(e);
        if !self.shared_reads {
            return free;
        }
        if self.waiting_reads & micro_op.writes.mask() != 0 {
            return Cycle::NEVER;
        }
        let [d, e] = micro_op.writes.indices().map(|reg| self.read[reg]);
        free.max(d).max(e)
    }

    /// The registers that are free at `now` for a reader, and for a writer.
    ///
    /// `now` must not be less than in earlier calls.
    pub(super) fn free_registers(&mut self, now: Cycle) -> FreeRegisters {
        let (mut held, mut held_by_reads) = (0, 0);
        let mut rest = self.held;
        while rest != 0 {
            let index = RegisterIndex::lowest(rest);
            rest &= rest - 1;
            held |= if self.free[index] > now { index.bit() } else { 0 };
            held_by_reads |= if self.read[index] > now { index.bit() } else { 0 };
        }
        self.held = held | held_by_reads;
        let readable = !(held | self.waiting);
        // Without shared reads, reads count as writes.
        FreeRegisters { readable, writable: readable & !(held_by_reads | self.waiting_reads) }
    }

    /// Records that `micro_op` enters its queue.
    #[inline]
    pub(super) fn enter(&mut self, micro_op: &MicroOp) {
        if !self.shared_reads {
            self.waiting |= micro_op.registers;
            return;
        }
        self.waiting |= micro_op.writes.mask();
        self.waiting_reads |= micro_op.reads.mask();
        for reg in micro_op.reads.indices() {
            self.readers[reg] += 1;
        }
    }

    /// Records that `micro_op` leaves its queue.
    #[inline]
    pub(super) fn leave(&mut self, micro_op: &MicroOp) {
        // No other queued instruction writes any of these registers, even with shared reads.
        self.waiting &= !micro_op.registers;
        if self.shared_reads {
            for reg in micro_op.reads.indices() {
                self.readers[reg] -= 1;
                if self.readers[reg] == 0 {
                    self.waiting_reads &= !reg.bit();
                }
            }
        }
    }

    /// Records that `micro_op` issues, and releases its sources at `read` and its destinations at
    /// `complete`.
    #[inline]
    pub(super) fn issue(&mut self, micro_op: &MicroOp, read: Cycle, complete: Cycle) {
        self.held |= micro_op.registers;
        if self.shared_reads {
            for reg in micro_op.reads.indices() {
                self.read[reg] = self.read[reg].max(read);
            }
            self.read.set_none(Cycle::ZERO);
        } else {
            for reg in micro_op.reads.indices() {
                self.free[reg] = read;
            }
        }
        for reg in micro_op.writes.indices() {
            self.free[reg] = complete;
        }
        self.free.set_none(Cycle::ZERO);
    }
}
