//! Which vector registers are busy, and until when.

use super::Cycle;
use super::work::{Table, Work};
use crate::machine;
use b512_asm::VReg;

/// The busyboard, and when each of its bits is cleared.
#[derive(Clone)]
pub(super) struct Busyboard {
    /// Whether a register that is only being read is free for a reader.
    shared_reads: bool,
    /// When each register is free.
    free: Table<Free>,
    /// With shared reads, the readers of each register.
    readers: Table<Readers>,
}

/// When a register is free; [`Cycle::NEVER`] where an instruction that waits in a queue must issue
/// first.
#[derive(Clone, Copy)]
struct Free {
    /// For a reader; with the strict board nobody asks.
    reader: Cycle,
    /// For a writer. With the strict board a reader asks for as much.
    writer: Cycle,
}

impl Free {
    const NOW: Self = Self { reader: Cycle::ZERO, writer: Cycle::ZERO };
}

/// The instructions that read a register.
#[derive(Clone, Copy, Default)]
struct Readers {
    /// Those that wait in queues.
    waiting: u32,
    /// When those that have issued have all read it.
    done: Cycle,
}

impl Busyboard {
    /// Of a machine in which nothing is in flight.
    pub(super) fn new(kind: machine::Busyboard) -> Self {
        Self {
            shared_reads: kind == machine::Busyboard::SharedReads,
            free: Table::new(Free::NOW),
            readers: Table::new(Readers::default()),
        }
    }

    /// When all registers of `work` are free; [`Cycle::NEVER`] where an instruction that waits in a
    /// queue must issue first.
    #[inline]
    pub(super) fn free(&self, work: &Work) -> Cycle {
        let [a, b, c] = work.reads.places().map(|reg| self.for_reader(self.free[reg]));
        let [d, e] = work.writes.places().map(|reg| self.free[reg].writer);
        a.max(b).max(c).max(d).max(e)
    }

    /// When a register is free for a reader or a writer, as [`free`](Self::free) says it.
    pub(super) fn register_free(&self, reg: VReg, writes: bool) -> Cycle {
        let free = self.free[reg.into()];
        if writes { free.writer } else { self.for_reader(free) }
    }

    #[inline]
    fn for_reader(&self, free: Free) -> Cycle {
        if self.shared_reads { free.reader } else { free.writer }
    }

    /// `work` enters its queue.
    #[inline]
    pub(super) fn dispatch(&mut self, work: &Work) {
        for reg in work.reads.places() {
            self.free[reg].writer = Cycle::NEVER;
            if self.shared_reads {
                self.readers[reg].waiting += 1;
            }
        }
        self.set_written(work, Cycle::NEVER);
    }

    /// `work` issues, and will leave its sources at `read` and its destinations at `complete`.
    #[inline]
    pub(super) fn issue(&mut self, work: &Work, read: Cycle, complete: Cycle) {
        for reg in work.reads.places() {
            self.free[reg].writer = read;
            if self.shared_reads {
                let readers = &mut self.readers[reg];
                readers.waiting -= 1;
                readers.done = readers.done.max(read);
                self.free[reg].writer = if readers.waiting == 0 { readers.done } else { Cycle::NEVER };
            }
        }
        self.set_written(work, complete);
    }

    /// Says when the destinations of `work`, which no other instruction uses, will be free.
    #[inline]
    fn set_written(&mut self, work: &Work, cycle: Cycle) {
        for reg in work.writes.places() {
            self.free[reg] = Free { reader: cycle, writer: cycle };
        }
        self.free.set_none(Free::NOW);
    }
}
