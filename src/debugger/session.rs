//! Execution of a program, forwards and backwards.

use crate::debugger::checkpoint::{Checkpoint, Checkpoints, LaneRing};
use crate::debugger::pipeline::Pipeline;
use crate::debugger::source::Listing;
use crate::debugger::target::Target;
use crate::debugger::wrong::Wrong;
use b512_asm::reg::REGISTERS;
use b512_asm::{Class, Instr, MReg, Operand, Space, VReg};
use sim::Machine;
use sim::functional::{AccessError, ExecuteError, Executor, LoadError};
use sim::timing::{Cycle, simulate};
use std::collections::{BTreeMap, BTreeSet};
use thiserror::Error;

/// A program under the debugger.
///
/// Its position is the number of executed instructions: the instruction with this index is the next one.
#[derive(Debug)]
pub struct Session {
    source: Listing,
    executor: Executor,
    checkpoints: Checkpoints,
    pipeline: Pipeline,
    position: usize,
    end: usize,
    cycle: Cycle,
    origins: [Option<LaneRing>; REGISTERS],
    breakpoints: BTreeSet<usize>,
    watches: Vec<Target>,
    /// The first wrong coefficient, if there is one, once outputs have been compared.
    wrong: Option<Option<Wrong>>,
}

/// The reason why a session ends a movement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stop {
    /// It has done what was asked.
    Done,
    /// The beginning of the program.
    Start,
    /// The end of the program.
    End,
    /// A breakpoint at the position.
    Breakpoint,
    /// The instruction before the position has changed a watched value.
    Changed(Target),
    /// The instruction before the position has stored the first wrong coefficient.
    Wrong(Wrong),
    /// The instruction at the position has a fault.
    Fault(ExecuteError),
}

/// The reason why there is no session of a program.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum SessionError {
    /// The program cannot be loaded into the machine.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The inputs do not fit the program.
    #[error(transparent)]
    Access(#[from] AccessError),
}

impl Session {
    /// A session at the beginning of a program, with the words of its inputs by name.
    ///
    /// # Errors
    /// Returns an error if the program does not fit the machine, or an input does not fit the program.
    pub fn new(
        source: Listing,
        machine: &Machine,
        inputs: BTreeMap<String, Vec<u128>>,
    ) -> Result<Self, SessionError> {
        let program = &source.program;
        let mut executor = Executor::for_machine(machine);
        executor.load(program)?;
        for (name, words) in &inputs {
            executor.write(name, words)?;
        }
        executor.start();
        let pipeline = Pipeline::new(machine, program, &simulate(machine, program));
        let halt = program.instructions.iter().position(|instr| instr.class() == Class::Halt);
        let end = halt.map_or(program.instructions.len(), |halt| halt + 1);
        let cycle = pipeline.dispatch(0);
        let origins = [None; REGISTERS];
        let start = Checkpoint { state: executor.state(), origins };
        Ok(Self {
            source,
            executor,
            checkpoints: Checkpoints::new(start, end),
            pipeline,
            position: 0,
            end,
            cycle,
            origins,
            breakpoints: BTreeSet::new(),
            watches: Vec::new(),
            wrong: None,
        })
    }

    /// The program.
    pub fn source(&self) -> &Listing {
        &self.source
    }

    /// The run in time.
    pub fn pipeline(&self) -> &Pipeline {
        &self.pipeline
    }

    /// The number of executed instructions.
    pub fn position(&self) -> usize {
        self.position
    }

    /// The position at the end of the program.
    pub fn end(&self) -> usize {
        self.end
    }

    /// The cycle that the pipes show: that in which the instruction at the position dispatches, unless it was
    /// chosen by [`go_to_cycle`](Self::go_to_cycle).
    pub fn cycle(&self) -> Cycle {
        self.cycle
    }

    /// Executes the next instruction.
    pub fn step(&mut self) -> Stop {
        if self.position == self.end {
            self.cycle = self.pipeline.cycles();
            return Stop::End;
        }
        match self.execute(self.position) {
            Ok(changed) => {
                self.position += 1;
                self.cycle = self.pipeline.dispatch(self.position);
                changed.map_or(Stop::Done, Stop::Changed)
            }
            Err(error) => Stop::Fault(error),
        }
    }

    /// Goes back by one instruction.
    pub fn back(&mut self) -> Stop {
        match self.position.checked_sub(1) {
            Some(position) => self.go_to(position),
            None => Stop::Start,
        }
    }

    /// Goes forward to the next breakpoint, change of a watched value, wrong coefficient, fault, or the end.
    pub fn resume(&mut self) -> Stop {
        loop {
            let stop = self.step();
            if stop != Stop::Done {
                return stop;
            }
            if let Some(stop) = self.stop_at(self.position) {
                return stop;
            }
        }
    }

    /// The reason to stop at a position, whatever has led there.
    fn stop_at(&self, position: usize) -> Option<Stop> {
        let wrong = || self.wrong().filter(|wrong| wrong.position == position).cloned().map(Stop::Wrong);
        if self.breakpoints.contains(&position) { Some(Stop::Breakpoint) } else { wrong() }
    }

    /// Goes back to the last position before this one at which [`resume`](Self::resume) would stop, or to the
    /// beginning.
    pub fn reverse(&mut self) -> Stop {
        // The last position that comes into question. All instructions before it have been executed without a
        // fault.
        let mut limit = self.position.saturating_sub(1);
        if self.watches.is_empty() {
            let wrong = self.wrong().map(|wrong| wrong.position);
            let positions = self.breakpoints.range(..=limit).next_back().copied().into_iter().chain(wrong);
            let last = positions.filter(|position| (1..=limit).contains(position)).max().unwrap_or(0);
            self.go_to(last);
            return self.stop_at(last).filter(|_| last > 0).unwrap_or(Stop::Start);
        }
        while limit > 0 {
            let start = self.restore(limit - 1);
            let mut last = None;
            while self.position < limit {
                let changed = self.execute(self.position);
                self.position += 1;
                if let Ok(Some(target)) = changed {
                    last = Some((self.position, Stop::Changed(target)));
                } else if let Some(stop) = self.stop_at(self.position) {
                    last = Some((self.position, stop));
                }
            }
            if let Some((position, stop)) = last {
                self.go_to(position);
                return stop;
            }
            limit = start;
        }
        self.go_to(0);
        Stop::Start
    }

    /// Goes to a position; beyond the end, to the end.
    pub fn go_to(&mut self, position: usize) -> Stop {
        let position = position.min(self.end);
        let (saved, _) = self.checkpoints.last(position);
        if position < self.position || self.position < saved {
            self.restore(position);
        }
        let mut stop = Stop::Done;
        while self.position < position {
            if let Err(error) = self.execute_one(self.position) {
                stop = Stop::Fault(error);
                break;
            }
            self.position += 1;
        }
        self.cycle = self.pipeline.dispatch(self.position);
        stop
    }

    /// Shows a cycle: goes to the first instruction that does not dispatch before it. Beyond the run, to its
    /// end.
    pub fn go_to_cycle(&mut self, cycle: Cycle) -> Stop {
        let cycle = cycle.min(self.pipeline.cycles());
        let stop = self.go_to(self.pipeline.dispatched_before(cycle));
        if stop == Stop::Done {
            self.cycle = cycle;
        }
        stop
    }

    /// The breakpoints: indices of instructions before which [`resume`](Self::resume) stops.
    pub fn breakpoints(&mut self) -> &mut BTreeSet<usize> {
        &mut self.breakpoints
    }

    /// Whether there is a breakpoint before an instruction.
    pub fn has_breakpoint(&self, index: usize) -> bool {
        self.breakpoints.contains(&index)
    }

    /// The watched values: [`resume`](Self::resume) and [`step`](Self::step) report their changes.
    pub fn watches(&mut self) -> &mut Vec<Target> {
        &mut self.watches
    }

    /// The first wrong coefficient that [`expect`](Self::expect) has found.
    pub fn wrong(&self) -> Option<&Wrong> {
        self.wrong.as_ref()?.as_ref()
    }

    /// Whether outputs have been compared with what they should be.
    pub fn has_compared(&self) -> bool {
        self.wrong.is_some()
    }

    /// Finds the first coefficient that is wrong at the end of the program, if outputs in the VDM should hold
    /// these words, and goes to the beginning. [`resume`](Self::resume) and [`reverse`](Self::reverse) stop
    /// behind the instruction that stores it.
    pub fn expect(&mut self, outputs: &BTreeMap<String, Vec<u128>>) {
        if !matches!(self.go_to(self.end), Stop::Fault(_)) {
            let words = |words| self.executor.words(Space::Vdm, words);
            self.wrong = Some(Wrong::first(&self.source, self.end, words, outputs));
        }
        self.go_to(0);
    }

    /// The words of a register or of memory at the position. A modulus register that was never set has none.
    pub fn value(&mut self, target: &Target) -> Vec<u128> {
        match target {
            Target::Vector(register) => self.executor.vector(*register),
            Target::Scalar(register) => vec![self.executor.scalar(*register)],
            Target::Address(register) => vec![self.executor.address(*register).into()],
            Target::Modulus(register) => self.executor.modulus(*register).into_iter().collect(),
            Target::Words { space, words, .. } => self.executor.words(*space, words.clone()),
        }
    }

    /// The modulus of a value. A vector register has the modulus of the instruction that wrote it; a shuffle
    /// passes on the modulus of its sources. Any other value has the program's modulus if there is only one.
    pub fn modulus(&self, target: &Target) -> Option<u128> {
        let only = || self.source.program.only_modulus();
        match target {
            Target::Vector(register) => self.ring(*register).map(|(_, modulus)| modulus).or_else(only),
            Target::Scalar(_) | Target::Words { .. } => only(),
            Target::Address(_) | Target::Modulus(_) => None,
        }
    }

    /// The modulus register and the modulus of the instruction that wrote a vector register, or of the
    /// registers that a shuffle moved there.
    pub fn ring(&self, register: VReg) -> Option<(MReg, u128)> {
        self.origins[register.index()]?.ring
    }

    /// Goes to the last saved state that is not after a position, and returns the position of that state.
    fn restore(&mut self, position: usize) -> usize {
        let (saved, Checkpoint { state, origins }) = self.checkpoints.last(position);
        self.executor.restore(state);
        self.origins = *origins;
        self.position = saved;
        saved
    }

    /// Executes an instruction, and returns the first watched value that it has changed.
    fn execute(&mut self, index: usize) -> Result<Option<Target>, ExecuteError> {
        let instr = self.source.program.instructions[index];
        let watched: Vec<Target> =
            self.watches.iter().filter(|target| target.may_be_written(&instr)).cloned().collect();
        let before: Vec<Vec<u128>> = watched.iter().map(|target| self.value(target)).collect();
        self.execute_one(index)?;
        let mut changes = watched.into_iter().zip(before);
        Ok(changes.find_map(|(target, before)| (self.value(&target) != before).then_some(target)))
    }

    fn execute_one(&mut self, index: usize) -> Result<(), ExecuteError> {
        self.executor.execute(index)?;
        let instr = self.source.program.instructions[index];
        let ring = self.ring_of_result(&instr);
        for register in instr.vector_writes().iter() {
            self.origins[register.index()] = Some(LaneRing { ring });
        }
        if self.checkpoints.lacks(index + 1) {
            let checkpoint = Checkpoint { state: self.executor.state(), origins: self.origins };
            self.checkpoints.save(index + 1, checkpoint);
        }
        Ok(())
    }

    /// The ring of an instruction's results, from its modulus register or its sources.
    fn ring_of_result(&self, instr: &Instr) -> Option<(MReg, u128)> {
        let mut named = None;
        instr.for_each_operand(|_, operand| {
            if let Operand::MReg(register) = operand {
                named = Some(register);
            }
        });
        if let Some(register) = named {
            return self.executor.modulus(register).map(|modulus| (register, modulus));
        }
        let mut sources: Vec<_> = instr.vector_reads().iter().map(|register| self.ring(*register)).collect();
        sources.dedup();
        if let [ring] = sources[..] { ring } else { None }
    }
}
