//! Traces of a run, cycle by cycle: for the viewers Konata and Perfetto, and as text.
//!
//! They follow from the program, the machine and the [`Timing`] of the run; the cycle model does
//! not depend on them.

mod ascii;
mod intervals;
mod kanata;
pub mod perfetto;

pub use intervals::Interval;

use crate::machine::Machine;
use crate::timing::scheduling::{Decoder, MicroOp};
use crate::timing::{Cycle, Timestamps, Timing, Wait};
use b512_asm::reg::REGISTERS;
use b512_asm::{Listing, Pipe, Program};

/// A run to trace.
pub struct Trace<'a> {
    program: &'a Program,
    listing: Listing<'a>,
    timing: &'a Timing,
    micro_ops: Vec<MicroOp>,
    waits: Vec<Wait>,
}

/// The trace of one instruction.
struct Row<'a> {
    index: usize,
    micro_op: &'a MicroOp,
    timestamps: Timestamps,
    /// The first cycle in which the front end was free for it.
    arrival: Cycle,
    /// Its waits at the front end.
    waits: &'a [Wait],
}

impl Row<'_> {
    /// One past the last cycle in which it occupies its pipe; scalar instructions take one cycle.
    fn pipe_free(&self) -> Cycle {
        if self.micro_op.pipe == Pipe::Scalar {
            self.timestamps.dispatch + 1
        } else {
            self.timestamps.issue + self.micro_op.occupancy
        }
    }

    /// One past its last cycle.
    fn end(&self) -> Cycle {
        self.timestamps.complete.max(self.pipe_free())
    }
}

impl<'a> Trace<'a> {
    /// The run of `program` on `machine` with the given `timing`.
    ///
    /// # Panics
    /// Panics if `timing` belongs to another program.
    pub fn new(machine: &'a Machine, program: &'a Program, timing: &'a Timing) -> Self {
        assert_eq!(program.instructions.len(), timing.timestamps.len(), "the timing is of another program");
        let micro_ops = Decoder::program(machine, program);
        let waits = Wait::of_micro_ops(machine, &micro_ops, &timing.timestamps);
        Self { program, listing: program.listing(), timing, micro_ops, waits }
    }

    /// The text of an instruction, with the program's symbols instead of addresses.
    ///
    /// # Panics
    /// Panics if the program has no such instruction.
    pub fn text(&self, index: usize) -> String {
        self.listing.text(&self.program.instructions[index])
    }

    /// The instructions in program order.
    fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        let mut arrival = Cycle::ZERO;
        let mut waits = self.waits.as_slice();
        self.micro_ops.iter().enumerate().map(move |(index, micro_op)| {
            let timestamps = self.timing.timestamps[index];
            let own = waits.partition_point(|wait| wait.instruction <= index);
            let (of_row, rest) = waits.split_at(own);
            waits = rest;
            let row =
                Row { index, micro_op, timestamps, arrival: arrival.min(timestamps.dispatch), waits: of_row };
            arrival = timestamps.dispatch + 1;
            row
        })
    }

    /// For each instruction, the earlier ones whose results it reads, in the order of its sources.
    fn producers(&self) -> Vec<Vec<usize>> {
        let mut writer = [None; REGISTERS];
        let mut producers = Vec::with_capacity(self.micro_ops.len());
        for (index, micro_op) in self.micro_ops.iter().enumerate() {
            let mut of_row: Vec<usize> =
                micro_op.reads.iter().filter_map(|reg| writer[reg.index()]).collect();
            of_row.dedup();
            producers.push(of_row);
            for reg in micro_op.writes.iter() {
                writer[reg.index()] = Some(index);
            }
        }
        producers
    }
}
