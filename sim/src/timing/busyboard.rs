//! Which vector registers are busy, and until when.

use super::Cycle;
use super::work::{RegSet, Work};
use crate::machine;
use b512_asm::VReg;
use b512_asm::reg::REGISTERS;

/// The busyboard, and when each of its bits is cleared.
#[derive(Clone)]
pub(super) struct Busyboard {
    /// Whether a register that is being read is busy for a reader.
    strict: bool,
    /// Registers that are busy for a reader because of an instruction that waits in a queue.
    waiting_for_reader: RegSet,
    /// The same for a writer.
    waiting_for_writer: RegSet,
    /// Instructions that wait in queues to read each register.
    readers: [u32; REGISTERS],
    /// When instructions that have issued leave each register to a reader.
    free_for_reader: [Cycle; REGISTERS],
    /// The same for a writer.
    free_for_writer: [Cycle; REGISTERS],
}

impl Busyboard {
    /// Of a machine in which nothing is in flight.
    pub(super) fn new(kind: machine::Busyboard) -> Self {
        Self {
            strict: kind == machine::Busyboard::Strict,
            waiting_for_reader: 0,
            waiting_for_writer: 0,
            readers: [0; REGISTERS],
            free_for_reader: [Cycle::ZERO; REGISTERS],
            free_for_writer: [Cycle::ZERO; REGISTERS],
        }
    }

    /// Whether a register of `work` is busy until an instruction issues that waits in a queue.
    pub(super) fn waits(&self, work: &Work) -> bool {
        work.read_set & self.waiting_for_reader | work.write_set & self.waiting_for_writer != 0
    }

    /// When the registers of `work` are free, as far as instructions that have issued are concerned.
    pub(super) fn free(&self, work: &Work) -> Cycle {
        let reads = work.reads.iter().map(|reg| self.free_for_reader[reg.index()]);
        let writes = work.writes.iter().map(|reg| self.free_for_writer[reg.index()]);
        reads.chain(writes).fold(Cycle::ZERO, Cycle::max)
    }

    /// When a register stops being busy for a reader or writer; `None` where one of its users waits
    /// in a queue.
    pub(super) fn register_free(&self, reg: VReg, writes: bool) -> Option<Cycle> {
        let (waiting, free) = if writes {
            (self.waiting_for_writer, &self.free_for_writer)
        } else {
            (self.waiting_for_reader, &self.free_for_reader)
        };
        (waiting >> reg.index() & 1 == 0).then_some(free[reg.index()])
    }

    /// `work` enters its queue.
    pub(super) fn dispatch(&mut self, work: &Work) {
        for reg in work.reads.iter() {
            self.readers[reg.index()] += 1;
        }
        self.waiting_for_reader |= work.write_set | if self.strict { work.read_set } else { 0 };
        self.waiting_for_writer |= work.write_set | work.read_set;
    }

    /// `work` issues, and will leave its sources at `read` and its destinations at `complete`.
    pub(super) fn issue(&mut self, work: &Work, read: Cycle, complete: Cycle) {
        // A writer shares its registers with nobody.
        let mut left = work.write_set;
        for reg in work.reads.iter() {
            let reg = reg.index();
            self.readers[reg] -= 1;
            left |= RegSet::from(self.readers[reg] == 0) << reg;
            self.free_for_writer[reg] = self.free_for_writer[reg].max(read);
            if self.strict {
                self.free_for_reader[reg] = self.free_for_reader[reg].max(read);
            }
        }
        for reg in work.writes.iter() {
            let reg = reg.index();
            self.free_for_reader[reg] = self.free_for_reader[reg].max(complete);
            self.free_for_writer[reg] = self.free_for_writer[reg].max(complete);
        }
        self.waiting_for_reader &= !left;
        self.waiting_for_writer &= !left;
    }
}
