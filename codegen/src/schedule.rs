//! Combined scheduling and register allocation, driven by the machine's cycle model.
//!
//! The front end is in order and a busy register stalls it, so the order of the instructions is the schedule.
//! The scheduler runs the cycle model along with the program that it emits. In each cycle it looks for an
//! instruction that can dispatch immediately, starting with the pipe that becomes idle first. Registers are
//! chosen at dispatch, among the free ones of that cycle, so that accesses to the SRAMs of the VRF do not
//! conflict. If no instruction can dispatch, time advances.
//!
//! Constants are cached in registers that hold no data. A constant is loaded shortly before its use. If a
//! register is needed, the constant with the furthest next use is evicted. Under the strict busyboard, two
//! instructions cannot read the same register concurrently, so a constant in demand is kept in several
//! registers. If a constant is evicted before its first use, its load is dropped from the finished schedule.
//! Scalars have registers of their own. A scalar is loaded in a cycle in which nothing else can dispatch. If
//! all registers hold scalars, it replaces the one with the furthest next use.
//!
//! *Program order* is the order of the instructions in the [`Code`]. Every dependence points
//! backwards in it, so the first undispatched instruction never waits for another undispatched one.

mod addresses;
mod graph;
mod greedy;
mod id_set;
mod partial;
mod program_order;
mod registers;
mod scalars;
mod tuning;

pub use self::addresses::{Addresses, ScheduleError};
pub use self::graph::Graph;
pub(crate) use self::partial::{Outlook, Partial};
pub(crate) use self::tuning::under_one_placement;
pub use self::tuning::{Margin, PartSettings, SramCare, TableOrder, Tuning};

use self::id_set::IdSet;
use self::registers::{Content, RegSet, Registers};
use self::scalars::ScalarRegisters;
use crate::code::{Code, ConstantId, Inst, InstId, ScalarId, ValueId};
use arrayvec::ArrayVec;
use b512_asm::reg::REGISTERS;
use b512_asm::{AReg, Class, Instr, PerPipe, Pipe, SReg, VReg};
use sim::Machine;
use sim::machine::SRAMS;
use sim::timing::Cycle;
use sim::timing::scheduling::{Decoder, Engine, Expectations, MicroOp, Template};

/// The scheduled instructions, and the memory that they need in addition to the code's buffers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Scheduled {
    /// The instructions, in dispatch order.
    pub instructions: Vec<Instr>,
    /// For each instruction, its instruction in the code; `None` for loads of constants and scalars, spills
    /// and reloads.
    pub origin: Vec<Option<InstId>>,
    /// The size of the spill memory, in words.
    pub spill_words: u32,
    /// Work units of the scheduler: one per emitted instruction and per candidate considered, more for
    /// candidates that occupy their pipe for long.
    pub steps: u64,
}

/// Orders the instructions of `code` and allocates their registers.
///
/// `graph` is the [`Graph`] of the code; schedules of one code share it. `launch` holds the initial values of
/// the address registers.
///
/// # Errors
/// Returns an error if a buffer is too large for the address field.
pub fn schedule(
    code: &Code,
    graph: &Graph,
    addresses: &Addresses,
    launch: &[(AReg, u32)],
    machine: &Machine,
    tuning: &Tuning,
) -> Result<Scheduled, ScheduleError> {
    let placement = machine.vrf.placement;
    let machine = tuning.scheduled_for(machine);
    let mut partial = Partial::start(code, graph, addresses, launch, &machine, tuning);
    let mut scheduled = if tuning.reorder {
        in_parts(&mut partial, tuning)?;
        partial.finish()
    } else {
        partial.in_program_order()?
    };
    if placement != machine.vrf.placement {
        let rename = |reg| placement.rename(reg, machine.vrf.placement);
        for instr in &mut scheduled.instructions {
            *instr = instr.with_vector_registers(rename);
        }
    }
    Ok(scheduled)
}

/// Reorders greedily, with the settings of each part.
fn in_parts(partial: &mut Partial<'_>, tuning: &Tuning) -> Result<(), ScheduleError> {
    let parts = if tuning.parts.is_empty() { &[tuning.whole()] } else { tuning.parts.as_slice() };
    for (number, &part) in parts.iter().enumerate() {
        partial.advance(part, number + 1, parts.len())?;
    }
    Ok(())
}

/// The location of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Location {
    /// Not computed yet, or without remaining readers.
    Nowhere,
    Register(VReg),
    /// In the spill memory, at this word offset.
    Spilled(u32),
}

/// The source registers of an instruction, in operand order.
type SourceRegs = ArrayVec<VReg, 3>;
/// The result registers of an instruction, in operand order.
type ResultRegs = ArrayVec<VReg, 2>;

/// The result registers of an instruction, and its micro-operation with them.
struct Chosen {
    results: ResultRegs,
    micro_op: MicroOp,
}

/// An instruction that can dispatch in the current cycle.
struct Candidate {
    micro_op: MicroOp,
    action: Action,
    /// The cycle in which it would issue.
    issue: Cycle,
}

/// A constant that some of the next instructions use.
#[derive(Clone)]
struct Upcoming {
    constant: ConstantId,
    /// The first of them in program order.
    first: InstId,
    /// Their number.
    users: usize,
}

/// The effect of a candidate on the scheduler's state.
enum Action {
    /// Dispatches an instruction of the code, with these vector sources and results.
    Inst(InstId, SourceRegs, ResultRegs),
    /// Loads a constant into a register.
    Constant(ConstantId, VReg),
    /// Loads a spilled value back into a register.
    Reload(ValueId, VReg),
}

/// The SRAMs of the registers.
#[derive(Clone)]
struct Srams {
    /// The registers in each SRAM.
    registers: [RegSet; SRAMS],
    /// The SRAM of each register.
    of: [u8; REGISTERS],
}

impl Srams {
    fn of(machine: &Machine) -> Self {
        let (mut registers, mut of) = ([RegSet::default(); SRAMS], [0; REGISTERS]);
        for reg in VReg::all() {
            of[reg.index()] = machine.vrf.placement.sram(reg);
            registers[usize::from(of[reg.index()])].insert(reg);
        }
        Self { registers, of }
    }

    fn sram(&self, reg: VReg) -> usize {
        usize::from(self.of[reg.index()])
    }

    /// The registers in the SRAM of one.
    fn beside(&self, reg: VReg) -> RegSet {
        self.registers[self.sram(reg)]
    }

    /// The registers in some SRAMs, given as a bit set.
    fn registers(&self, srams: u16) -> RegSet {
        let (mut all, mut rest) = (RegSet::default(), srams);
        while rest != 0 {
            all = all.or(self.registers[rest.trailing_zeros() as usize]);
            rest &= rest - 1;
        }
        all
    }
}

/// The ready instructions by kind, each set in program order: undispatched instructions whose
/// predecessors have all been dispatched.
#[derive(Clone)]
struct Ready {
    stores: IdSet,
    /// All other instructions, by pipe.
    others: PerPipe<IdSet>,
}

impl Ready {
    fn new(count: usize) -> Self {
        Self { stores: IdSet::new(count), others: PerPipe::from_fn(|_| IdSet::new(count)) }
    }

    fn set(&mut self, inst: &Inst) -> &mut IdSet {
        if inst.op.class() == Class::Store { &mut self.stores } else { &mut self.others[inst.op.pipe()] }
    }

    fn loads(&self) -> &IdSet {
        &self.others[Pipe::LoadStore]
    }
}

/// The state of the scheduler. Between two dispatches, these invariants hold:
///
/// * An instruction is in `ready` if and only if its `blocked` is 0 and its `done` is false.
/// * `location[v]` is `Register(r)` if and only if `registers` records value v in register r.
/// * A value leaves its register at the dispatch of its last reader (`reads_left` becomes 0).
/// * `left` is the number of instructions whose `done` is false.
#[derive(Clone)]
struct Scheduler<'a> {
    code: &'a Code,
    graph: &'a Graph,
    addresses: &'a Addresses,
    machine: &'a Machine,
    tuning: &'a Tuning,
    /// The settings of the current part of the code.
    settings: PartSettings,
    engine: Engine,
    decoder: Decoder<'a>,
    /// The accesses to SRAMs of queued instructions, if the tuning asks for them, and on a machine with a
    /// delay between dispatch and issue. Without one, most instructions issue as they dispatch.
    expected: Option<Expectations>,
    /// The instructions that have been candidates.
    templates: Vec<Option<Template>>,
    out: Scheduled,
    /// The number of undispatched predecessors of each instruction.
    blocked: Vec<u32>,
    /// The number of undispatched readers of each value.
    reads_left: Vec<u32>,
    /// The location of each value.
    location: Vec<Location>,
    registers: Registers,
    srams: Srams,
    /// True for each instruction that has been dispatched.
    done: Vec<bool>,
    /// The number of undispatched instructions.
    left: usize,
    /// The index of an instruction before which, in program order, every instruction has been
    /// dispatched: a lower bound of the first undispatched index. Only `next_in_program_order`
    /// advances it, so it may lag, and `done[first_left]` may be true.
    first_left: usize,
    /// The length of the dispatched prefix of each constant's list of users: all of
    /// `users(c)[..used[c]]` have been dispatched, and `users(c)[used[c]]`, if it exists, has not.
    /// Later users may have been dispatched out of order. So `users(c)[used[c]]` is the next use of
    /// c in program order, and once `used[c]` reaches the length of the list, no register holds c.
    used: Vec<usize>,
    /// Undispatched instructions with a constant operand, in program order.
    wants_constant: IdSet,
    /// The constants of the next instructions, as many as the tuning looks ahead, in the order of their first
    /// users. Stale after the dispatch of such an instruction.
    ahead: Vec<Upcoming>,
    ahead_is_stale: bool,
    ready: Ready,
    scalars: ScalarRegisters<'a>,
    /// The registers that are free in the current cycle, and the cycles in which the pipes become idle, by
    /// path. The greedy scheduler updates them before it compares candidates; a dispatch and the passage of
    /// time make them stale.
    readable: RegSet,
    writable: RegSet,
    pipe_free: PerPipe<[Cycle; 2]>,
    /// The number of values in the spill memory.
    spilled: usize,
    /// Word offsets of spill slots that were in use and are free again.
    free_slots: Vec<u32>,
    /// Spilled values that kept a ready instruction from being a candidate since the load/store pipe
    /// last looked for work. The list is a hint: values may repeat or be in registers again, so each
    /// entry is checked before its reload. Entries that are not reloaded are dropped; the next
    /// attempt to dispatch their reader records them again.
    wanted: Vec<ValueId>,
    /// The start of the rotation for allocation without regard to SRAMs: one past the register
    /// written last.
    next_register: usize,
}

impl<'a> Scheduler<'a> {
    fn new(
        code: &'a Code,
        graph: &'a Graph,
        addresses: &'a Addresses,
        machine: &'a Machine,
        tuning: &'a Tuning,
    ) -> Self {
        let count = code.insts.len();
        let (mut wants_constant, mut ready) = (IdSet::new(count), Ready::new(count));
        for (id, inst) in (0..).map(InstId).zip(&code.insts) {
            if inst.constant.is_some() {
                wants_constant.insert(id);
            }
            if graph.predecessors[id.index()] == 0 {
                ready.set(inst).insert(id);
            }
        }
        Self {
            code,
            graph,
            addresses,
            machine,
            tuning,
            settings: tuning.whole(),
            engine: Engine::new(machine),
            decoder: Decoder::new(machine),
            expected: (machine.frontend.dispatch_to_issue_cycles > 0 || tuning.srams == SramCare::Queues)
                .then(|| Engine::expectations(machine)),
            templates: vec![None; count],
            out: Scheduled { instructions: Vec::new(), origin: Vec::new(), spill_words: 0, steps: 0 },
            blocked: graph.predecessors.clone(),
            reads_left: (0..code.values).map(|value| graph.readers(ValueId(value)).len() as u32).collect(),
            location: vec![Location::Nowhere; code.values as usize],
            registers: Registers::new(code.constants.len()),
            srams: Srams::of(machine),
            done: vec![false; count],
            left: count,
            first_left: 0,
            used: vec![0; code.constants.len()],
            wants_constant,
            ahead: Vec::new(),
            ahead_is_stale: true,
            ready,
            scalars: ScalarRegisters::of(code, graph),
            readable: RegSet::default(),
            writable: RegSet::default(),
            pipe_free: PerPipe::default(),
            spilled: 0,
            free_slots: Vec::new(),
            wanted: Vec::new(),
            next_register: 0,
        }
    }

    /// The next user of a constant in program order.
    fn next_user(&self, constant: ConstantId) -> Option<InstId> {
        self.graph.users(constant).get(self.used[constant.index()]).copied()
    }

    fn inst(&self, id: InstId) -> &'a Inst {
        &self.code.insts[id.index()]
    }

    fn register_of(&self, value: ValueId) -> Option<VReg> {
        match self.location[value.index()] {
            Location::Register(reg) => Some(reg),
            Location::Nowhere | Location::Spilled(_) => None,
        }
    }

    /// The cycle in which an instruction would issue if it dispatched now.
    fn earliest_issue(&self, micro_op: &MicroOp) -> Cycle {
        let free = self.pipe_free[micro_op.pipe][usize::from(micro_op.path)];
        match &self.expected {
            Some(expected) => self.engine.earliest_issue_beside(micro_op, free, expected),
            None => self.engine.earliest_issue(micro_op, free),
        }
    }

    /// An instruction of the code with these registers. One holds its scalar, if it has one.
    fn instr(&self, id: InstId, sources: &[VReg], results: &[VReg]) -> Result<Instr, ScheduleError> {
        let inst = self.inst(id);
        let scalar = inst.scalar.and_then(|scalar| self.scalars.register(scalar));
        self.addresses.instr(inst, sources, results, scalar)
    }

    /// The micro-operation of an instruction of the code with these registers.
    fn micro_op(&mut self, id: InstId, sources: &[VReg], results: &[VReg]) -> Result<MicroOp, ScheduleError> {
        let template = match self.templates[id.index()] {
            Some(template) => template,
            None => {
                let instr = self.instr(id, sources, results)?;
                *self.templates[id.index()].insert(self.decoder.template(&instr))
            }
        };
        Ok(self.decoder.with_registers(template, sources, results))
    }

    fn commit(&mut self, candidate: Candidate) -> Result<(), ScheduleError> {
        let (instr, origin) = match &candidate.action {
            Action::Inst(id, sources, results) => (self.instr(*id, sources, results)?, Some(*id)),
            Action::Constant(constant, reg) => {
                (self.addresses.load_constant(self.code, *constant, *reg)?, None)
            }
            Action::Reload(value, reg) => (self.reload_of(*value, *reg)?, None),
        };
        self.out.steps += 1;
        self.engine.dispatch(&candidate.micro_op);
        if let Some(expected) = &mut self.expected {
            self.engine.expect(expected, &candidate.micro_op, candidate.issue);
        }
        self.out.instructions.push(instr);
        self.out.origin.push(origin);
        match candidate.action {
            Action::Constant(constant, reg) => {
                self.set(reg, Content::Constant(constant));
                self.registers.note_load(reg, self.out.instructions.len() - 1);
            }
            Action::Reload(value, reg) => {
                if let Location::Spilled(slot) = self.location[value.index()] {
                    self.free_slots.push(slot);
                    self.spilled -= 1;
                    if self.spilled == 0 {
                        self.wanted.clear();
                    }
                }
                self.location[value.index()] = Location::Register(reg);
                self.set(reg, Content::Value(value));
            }
            Action::Inst(id, sources, results) => {
                self.registers.note_reads(&sources);
                self.retire(id, &results);
            }
        }
        Ok(())
    }

    fn set(&mut self, reg: VReg, content: Content) {
        self.registers.set(reg, content);
        self.next_register = (reg.index() + 1) % REGISTERS;
    }

    fn retire(&mut self, id: InstId, results: &[VReg]) {
        let inst = self.inst(id);
        self.done[id.index()] = true;
        self.left -= 1;
        self.ready.set(inst).remove(id);
        for &value in inst.sources.as_slice() {
            let left = &mut self.reads_left[value.index()];
            *left -= 1;
            if *left == 0
                && let Some(reg) = self.register_of(value)
            {
                self.location[value.index()] = Location::Nowhere;
                self.registers.set(reg, Content::Free);
            }
        }
        if let Some(scalar) = inst.scalar {
            self.scalars.retire(id, scalar);
        }
        if let Some(constant) = inst.constant {
            self.wants_constant.remove(id);
            self.ahead_is_stale = true;
            while self.next_user(constant).is_some_and(|user| self.done[user.index()]) {
                self.used[constant.index()] += 1;
            }
            if self.next_user(constant).is_none() {
                for reg in self.registers.copies(constant) {
                    self.registers.set(reg, Content::Free);
                }
            }
        }
        for (&value, &reg) in inst.results.as_slice().iter().zip(results) {
            // A result that nothing reads leaves its register at once.
            if self.reads_left[value.index()] == 0 {
                self.set(reg, Content::Free);
                continue;
            }
            self.location[value.index()] = Location::Register(reg);
            self.set(reg, Content::Value(value));
        }
        for &successor in self.graph.successors(id) {
            self.blocked[successor.index()] -= 1;
            if self.blocked[successor.index()] == 0 {
                self.ready.set(self.inst(successor)).insert(successor);
            }
        }
    }

    /// Dispatches the load of a scalar, which holds the front end.
    fn load_scalar(&mut self, scalar: ScalarId, reg: SReg) -> Result<(), ScheduleError> {
        self.scalars.hold(scalar, reg);
        self.emit(self.addresses.load_scalar(scalar, reg)?, None);
        Ok(())
    }

    fn emit(&mut self, instr: Instr, origin: Option<InstId>) {
        let micro_op = self.decoder.decode(&instr);
        self.engine.dispatch(&micro_op);
        self.out.instructions.push(instr);
        self.out.origin.push(origin);
    }

    /// The schedule without the loads of constants that were evicted before their first use. Everything must
    /// be done, so that no constant is left in a register.
    fn finish(self) -> Scheduled {
        assert_eq!(self.left, 0);
        let Scheduled { instructions, origin, spill_words, steps } = self.out;
        let mut live = vec![true; instructions.len()];
        self.registers.dead_loads().iter().for_each(|&position| live[position] = false);
        let mut kept = live.iter().copied();
        let origin = origin.into_iter().filter(|_| kept.next() == Some(true)).collect();
        let mut kept = live.iter().copied();
        let instructions = instructions.into_iter().filter(|_| kept.next() == Some(true)).collect();
        Scheduled { instructions, origin, spill_words, steps }
    }
}
