//! Scheduling and register allocation, in one: the machine's own cycle model says when each
//! candidate could run.
//!
//! The front end is in order and the busyboard unforgiving, so the order of the program is the
//! schedule. The scheduler runs the cycle model along with the program that it writes. In each
//! cycle it looks for an instruction that can dispatch at once, into the pipe that runs dry
//! first; registers are chosen when an instruction dispatches, among those that are free at that
//! moment, so that accesses to the VRF's SRAMs do not meet. Where nothing fits, the cycle passes.
//!
//! Constants are cached in the registers that data leaves free. They are loaded when one of the
//! next instructions needs them, and dropped, furthest next use first, when a register is needed.
//! Under the strict busyboard two instructions cannot read one register at a time, so that a
//! constant in demand is held in several registers.

mod addresses;
mod greedy;
mod registers;
mod textbook;
mod tuning;

pub use self::addresses::Addresses;
pub use self::tuning::{Margin, SramCare, TableOrder, Tuning};

use self::registers::{Content, RegSet, Registers};
use crate::code::{Code, ConstantId, Inst, InstId, ValueId};
use arrayvec::ArrayVec;
use b512_asm::reg::REGISTERS;
use b512_asm::{AReg, Instr, Op, Pipe, VReg};
use sim::Machine;
use sim::timing::{Cycle, Decoder, Engine, SRAMS, Work};
use std::collections::BTreeSet;
use thiserror::Error;

/// The instructions, in order, and the memory that they need besides the code's buffers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Scheduled {
    /// The instructions.
    pub instructions: Vec<Instr>,
    /// For each instruction, the one of the code that it carries out; `None` for loads of
    /// constants and for spills.
    pub origin: Vec<Option<InstId>>,
    /// Words of spill memory.
    pub spill_words: u32,
}

/// Why code cannot be scheduled.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum ScheduleError {
    /// A word offset that the instruction word cannot hold.
    #[error("a load or store at word {0} of its buffer does not fit the 20 bits of the address field")]
    Offset(u32),
}

/// Orders the instructions of `code` and gives them registers.
///
/// `prologue` are instructions that come before all others.
///
/// # Errors
/// Where a buffer is too large for the address field.
pub fn schedule(
    code: &Code,
    addresses: &Addresses,
    launch: &[(AReg, u32)],
    prologue: &[Instr],
    machine: &Machine,
    tuning: &Tuning,
) -> Result<Scheduled, ScheduleError> {
    let mut machine = machine.clone();
    machine.vbar.latency_cycles += tuning.margin.load_store;
    machine.sbar.latency_cycles += tuning.margin.shuffle;
    machine.hple.multiplier_latency_cycles += tuning.margin.compute;
    machine.hple.initiation_interval += tuning.margin.initiation_interval;
    let mut scheduler = Scheduler::new(code, addresses, &machine, tuning);
    for &(reg, address) in launch {
        scheduler.decoder.set_address(reg, address);
    }
    for instr in prologue {
        scheduler.emit(*instr, None);
    }
    if tuning.reorder {
        scheduler.greedy()?;
    } else {
        scheduler.textbook()?;
    }
    Ok(scheduler.out)
}

/// Where a value is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    /// Not computed yet, or no longer needed.
    Nowhere,
    Register(VReg),
    /// In a slot of the spill memory.
    Spilled(u32),
}

/// The registers that an instruction reads, in operand order.
type SourceRegs = ArrayVec<VReg, 3>;
/// The registers that an instruction writes, in operand order.
type ResultRegs = ArrayVec<VReg, 2>;

/// An instruction that could be dispatched now.
struct Candidate {
    instr: Instr,
    work: Work,
    action: Action,
    /// When it would issue.
    issue: Cycle,
}

/// What a candidate does to the scheduler's state.
enum Action {
    /// An instruction of the code, with the registers of its results.
    Inst(InstId, ResultRegs),
    Constant(ConstantId, VReg),
    Reload(ValueId, VReg),
}

/// The sets of instructions whose predecessors have been dispatched.
#[derive(Default)]
struct Ready {
    loads: BTreeSet<InstId>,
    stores: BTreeSet<InstId>,
    compute: BTreeSet<InstId>,
    shuffle: BTreeSet<InstId>,
}

impl Ready {
    fn set(&mut self, inst: &Inst) -> &mut BTreeSet<InstId> {
        match inst.op.pipe() {
            Pipe::LoadStore if inst.op == Op::Vload => &mut self.loads,
            Pipe::LoadStore => &mut self.stores,
            Pipe::Shuffle => &mut self.shuffle,
            Pipe::Compute | Pipe::Scalar => &mut self.compute,
        }
    }
}

struct Scheduler<'a> {
    code: &'a Code,
    addresses: &'a Addresses,
    machine: &'a Machine,
    tuning: &'a Tuning,
    engine: Engine,
    decoder: Decoder<'a>,
    out: Scheduled,
    /// Predecessors of each instruction that have not been dispatched.
    blocked: Vec<u32>,
    /// The instructions that wait for each instruction.
    successors: Vec<Vec<InstId>>,
    /// The instructions that read each value, in textbook order.
    readers: Vec<Vec<InstId>>,
    reads_left: Vec<u32>,
    place: Vec<Place>,
    registers: Registers,
    /// The registers that each SRAM holds.
    srams: [RegSet; SRAMS],
    /// Whether the instruction has been dispatched.
    done: Vec<bool>,
    /// The number of instructions that have not been.
    left: usize,
    /// All instructions before this one have been.
    first_left: usize,
    /// The instructions that use each constant, in textbook order.
    users: Vec<Vec<InstId>>,
    /// How many of `users` have been dispatched at the front of the list.
    used: Vec<usize>,
    /// Instructions with a constant that have not been dispatched.
    wants_constant: BTreeSet<InstId>,
    ready: Ready,
    free_slots: Vec<u32>,
    /// Values that a ready instruction needs and that are spilled.
    wanted: Vec<ValueId>,
    /// Rotates through the registers, for allocation that does not look at the SRAMs.
    next_register: usize,
}

impl<'a> Scheduler<'a> {
    fn new(code: &'a Code, addresses: &'a Addresses, machine: &'a Machine, tuning: &'a Tuning) -> Self {
        let count = code.insts.len();
        let mut producer = vec![None; code.values as usize];
        let mut readers = vec![Vec::new(); code.values as usize];
        let mut users = vec![Vec::new(); code.constants.len()];
        let mut wants_constant = BTreeSet::new();
        let mut before = code.memory_order();
        for (number, inst) in code.insts.iter().enumerate() {
            let id = InstId(number as u32);
            for value in inst.sources.iter() {
                before[number].extend(producer[value.index()]);
                readers[value.index()].push(id);
            }
            for value in inst.results.iter() {
                producer[value.index()] = Some(id);
            }
            if let Some(constant) = inst.constant {
                users[constant.index()].push(id);
                wants_constant.insert(id);
            }
        }
        let mut successors = vec![Vec::new(); count];
        let mut ready = Ready::default();
        for (number, before) in before.iter_mut().enumerate() {
            before.sort_unstable();
            before.dedup();
            let id = InstId(number as u32);
            if before.is_empty() {
                ready.set(&code.insts[number]).insert(id);
            }
            for earlier in before.iter() {
                successors[earlier.index()].push(id);
            }
        }
        Self {
            code,
            addresses,
            machine,
            tuning,
            engine: Engine::new(machine),
            decoder: Decoder::new(machine),
            out: Scheduled { instructions: Vec::new(), origin: Vec::new(), spill_words: 0 },
            blocked: before.iter().map(|before| before.len() as u32).collect(),
            successors,
            reads_left: readers.iter().map(|readers| readers.len() as u32).collect(),
            readers,
            place: vec![Place::Nowhere; code.values as usize],
            registers: Registers::new(users.len()),
            srams: std::array::from_fn(|sram| {
                VReg::all().filter(|&reg| usize::from(machine.vrf.placement.sram(reg)) == sram).collect()
            }),
            done: vec![false; count],
            left: count,
            first_left: 0,
            used: vec![0; users.len()],
            users,
            wants_constant,
            ready,
            free_slots: Vec::new(),
            wanted: Vec::new(),
            next_register: 0,
        }
    }

    fn inst(&self, id: InstId) -> &'a Inst {
        &self.code.insts[id.index()]
    }

    fn register_of(&self, value: ValueId) -> Option<VReg> {
        match self.place[value.index()] {
            Place::Register(reg) => Some(reg),
            _ => None,
        }
    }

    fn commit(&mut self, candidate: Candidate) {
        let origin = match candidate.action {
            Action::Inst(id, _) => Some(id),
            _ => None,
        };
        self.engine.dispatch(&candidate.work);
        self.out.instructions.push(candidate.instr);
        self.out.origin.push(origin);
        match candidate.action {
            Action::Constant(constant, reg) => self.set(reg, Content::Constant(constant)),
            Action::Reload(value, reg) => {
                if let Place::Spilled(slot) = self.place[value.index()] {
                    self.free_slots.push(slot);
                }
                self.place[value.index()] = Place::Register(reg);
                self.set(reg, Content::Value(value));
            }
            Action::Inst(id, results) => self.retire(id, &results),
        }
    }

    fn set(&mut self, reg: VReg, content: Content) {
        self.registers.set(reg, content);
        self.next_register = (reg.index() + 1) % REGISTERS;
    }

    fn retire(&mut self, id: InstId, results: &[VReg]) {
        let inst = self.inst(id);
        self.done[id.index()] = true;
        self.left -= 1;
        self.ready.set(inst).remove(&id);
        for value in inst.sources.iter() {
            let left = &mut self.reads_left[value.index()];
            *left -= 1;
            if *left == 0
                && let Some(reg) = self.register_of(value)
            {
                self.place[value.index()] = Place::Nowhere;
                self.registers.set(reg, Content::Free);
            }
        }
        if let Some(constant) = inst.constant {
            self.wants_constant.remove(&id);
            let c = constant.index();
            while self.users[c].get(self.used[c]).is_some_and(|user| self.done[user.index()]) {
                self.used[c] += 1;
            }
            if self.used[c] == self.users[c].len() {
                for reg in self.registers.copies(constant) {
                    self.registers.set(reg, Content::Free);
                }
            }
        }
        for (value, &reg) in inst.results.iter().zip(results) {
            self.place[value.index()] = Place::Register(reg);
            self.set(reg, Content::Value(value));
        }
        for successor in std::mem::take(&mut self.successors[id.index()]) {
            self.blocked[successor.index()] -= 1;
            if self.blocked[successor.index()] == 0 {
                self.ready.set(self.inst(successor)).insert(successor);
            }
        }
    }

    fn emit(&mut self, instr: Instr, origin: Option<InstId>) {
        let work = self.decoder.decode(&instr);
        self.engine.dispatch(&work);
        self.out.instructions.push(instr);
        self.out.origin.push(origin);
    }
}
