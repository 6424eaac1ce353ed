//! The pipes, queues and busy registers of a run, cycle by cycle.

use b512_asm::reg::REGISTERS;
use b512_asm::{PerPipe, Pipe, Program, VReg};
use sim::machine::SourceRelease;
use sim::timing::{Cause, Cycle, Timing, Wait};
use sim::{Machine, Trace};

/// The run of a program on a machine, in time.
#[derive(Clone, Debug)]
pub struct Pipeline {
    rows: Vec<Row>,
    cycles: Cycle,
}

/// The cycles of one instruction. Ends are exclusive.
#[derive(Clone, Debug)]
struct Row {
    pipe: Pipe,
    dispatch: Cycle,
    issue: Cycle,
    pipe_free: Cycle,
    complete: Cycle,
    waits: Vec<Wait>,
    reads: Vec<VReg>,
    writes: Vec<VReg>,
    /// The cycle from which its sources are free.
    read: Cycle,
}

/// The instruction that makes a register busy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Holder {
    /// The index of the instruction.
    pub index: usize,
    /// Whether it writes the register.
    pub writes: bool,
    /// The cycle from which the register is free again.
    pub until: Cycle,
}

/// The instructions of a pipe in one cycle, by index, the oldest first.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct InFlight {
    /// In the queue.
    pub queued: Vec<usize>,
    /// In the pipe.
    pub executing: Vec<usize>,
    /// Out of the pipe, before their results are written.
    pub completing: Vec<usize>,
}

impl Pipeline {
    /// The run of `program` on `machine` with the given `timing`.
    pub fn new(machine: &Machine, program: &Program, timing: &Timing) -> Self {
        let at_read = machine.frontend.source_release == SourceRelease::Read;
        let trace = Trace::new(machine, program, timing);
        let rows = trace.intervals().map(|interval| {
            let instr = &program.instructions[interval.index];
            let complete = timing.timestamps[interval.index].complete;
            Row {
                pipe: interval.pipe,
                dispatch: interval.dispatch,
                issue: interval.issue,
                pipe_free: interval.pipe_free,
                complete,
                waits: interval.waits.to_vec(),
                reads: instr.vector_reads().to_vec(),
                writes: instr.vector_writes().to_vec(),
                read: if at_read { interval.pipe_free } else { complete },
            }
        });
        Self { rows: rows.collect(), cycles: timing.cycles }
    }

    /// The cycles of the run.
    pub fn cycles(&self) -> Cycle {
        self.cycles
    }

    /// The cycle in which an instruction dispatches; the last cycle of the run for the end of the program.
    pub fn dispatch(&self, index: usize) -> Cycle {
        self.rows.get(index).map_or(self.cycles, |row| row.dispatch)
    }

    /// The issue and the completion of an instruction.
    pub fn issue_and_completion(&self, index: usize) -> (Cycle, Cycle) {
        (self.rows[index].issue, self.rows[index].complete)
    }

    /// The number of instructions that dispatch before a cycle.
    pub fn dispatched_before(&self, cycle: Cycle) -> usize {
        self.rows.partition_point(|row| row.dispatch < cycle)
    }

    /// The instructions that dispatched before `cycle` and are not complete.
    fn in_flight(&self, cycle: Cycle) -> impl Iterator<Item = (usize, &Row)> {
        let dispatched = self.dispatched_before(cycle);
        self.rows[..dispatched].iter().enumerate().filter(move |(_, row)| row.complete > cycle)
    }

    /// The instructions in each pipe at the beginning of a cycle.
    pub fn pipes(&self, cycle: Cycle) -> PerPipe<InFlight> {
        let mut pipes: PerPipe<InFlight> = PerPipe::default();
        for (index, row) in self.in_flight(cycle) {
            let pipe = &mut pipes[row.pipe];
            if row.issue >= cycle {
                pipe.queued.push(index);
            } else if row.pipe_free > cycle {
                pipe.executing.push(index);
            } else {
                pipe.completing.push(index);
            }
        }
        pipes
    }

    /// The busy registers at the beginning of a cycle, each with the last instruction that holds it.
    pub fn busy(&self, cycle: Cycle) -> [Option<Holder>; REGISTERS] {
        let mut busy = [None; REGISTERS];
        for (index, row) in self.in_flight(cycle) {
            for register in row.reads.iter().filter(|_| row.read > cycle) {
                busy[register.index()] = Some(Holder { index, writes: false, until: row.read });
            }
            for register in &row.writes {
                busy[register.index()] = Some(Holder { index, writes: true, until: row.complete });
            }
        }
        busy
    }

    /// What holds the next instruction at the front end in a cycle, if anything does.
    pub fn wait(&self, cycle: Cycle) -> Option<Cause> {
        let row = self.rows.get(self.dispatched_before(cycle))?;
        let wait = row.waits.iter().find(|wait| wait.from <= cycle && cycle < wait.to)?;
        Some(wait.cause)
    }
}
