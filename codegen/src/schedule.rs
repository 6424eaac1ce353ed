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

mod registers;

use self::registers::{Content, RegSet, Registers};
use crate::code::{Code, ConstantId, Inst, InstId, MemRef, ValueId};
use arrayvec::ArrayVec;
use b512_asm::reg::REGISTERS;
use b512_asm::{AReg, Instr, MReg, Offset, Op, Operand, OperandKind, Pipe, SReg, VReg};
use b512_asm::{AddressMode, Direction};
use serde::{Deserialize, Serialize};
use sim::Machine;
use sim::machine::{Busyboard, VrfPorts};
use sim::timing::{Cycle, Decoder, Engine, SRAMS, Work};
use std::collections::BTreeSet;
use thiserror::Error;

/// How the scheduler works.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tuning {
    /// Whether instructions may leave the textbook order.
    pub reorder: bool,
    /// How the choice of registers looks at the SRAMs that hold them.
    pub srams: SramCare,
    /// The number of instructions whose constants are loaded ahead of them.
    pub constants_ahead: u32,
    /// The number of candidates that are compared for a pipe.
    pub candidates: u32,
    /// The cycles that a pipe may be left waiting for a better candidate.
    pub patience: u32,
    /// How many cycles before a pipe runs dry it is given its next instruction.
    pub early: u32,
    /// Registers that loads of data leave to constants and results.
    pub reserve: u32,
    /// Registers that hold one constant, at most.
    pub copies: u32,
    /// The order of the constants in their table.
    #[serde(default, skip_serializing_if = "TableOrder::is_default")]
    pub table: TableOrder,
    /// Cycles that are added to the machine's latencies while scheduling, so that the program
    /// also runs well on a slower one.
    #[serde(default)]
    pub margin: Margin,
}

/// The order of the constants in their table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TableOrder {
    /// The largest first: so each is aligned to its size, and its load finds as few conflicts of
    /// XOR-folded banks as any.
    #[default]
    BySize,
    /// As the program uses them.
    ByUse,
}

impl TableOrder {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Cycles added to latencies and intervals.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Margin {
    /// To loads and stores.
    pub load_store: u32,
    /// To shuffles.
    pub shuffle: u32,
    /// To multiplications and butterflies.
    pub compute: u32,
    /// To the initiation interval of the multipliers.
    pub initiation_interval: u32,
}

/// How the choice of registers looks at the SRAMs that hold them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SramCare {
    /// Not at all.
    None,
    /// The operands of one instruction are put into different SRAMs.
    Operands,
    /// That, and results go to SRAMs that are free when they are written.
    Schedule,
}

impl Tuning {
    /// The paper's scheduler, as far as its numbers tell: it reorders greedily, places the
    /// operands of an instruction so that they can be accessed together, feeds the queues well
    /// ahead, and leaves room for longer latencies and a slower multiplier, to which the paper
    /// finds its program insensitive.
    pub fn spiral() -> Self {
        Self {
            srams: SramCare::Operands,
            patience: 3,
            early: 6,
            copies: 1,
            margin: Margin { load_store: 6, shuffle: 3, compute: 0, initiation_interval: 1 },
            ..Self::default()
        }
    }

    /// The scheduler of the paper's program on the machine `rpu-128x128-paper`. It looks at few
    /// candidates and loads constants late, from a table in the order of use; and it leaves room
    /// for longer latencies, to which the paper finds its program insensitive. One of the settings in
    /// `configs/paper-setting.toml`, chosen together with that machine by some of the paper's numbers.
    pub fn paper() -> Self {
        Self {
            srams: SramCare::Operands,
            constants_ahead: 4,
            candidates: 6,
            early: 12,
            reserve: 16,
            copies: 1,
            margin: Margin { load_store: 6, shuffle: 6, compute: 1, initiation_interval: 0 },
            table: TableOrder::ByUse,
            ..Self::default()
        }
    }

    /// No scheduler: textbook order, registers in rotation.
    pub fn textbook() -> Self {
        Self { reorder: false, srams: SramCare::None, ..Self::default() }
    }
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            reorder: true,
            srams: SramCare::Schedule,
            constants_ahead: 16,
            candidates: 48,
            patience: 0,
            early: 0,
            reserve: 10,
            copies: 4,
            table: TableOrder::default(),
            margin: Margin::default(),
        }
    }
}

/// Cycles without an instruction of the code after which the next one in textbook order is
/// dispatched, whatever it takes. The slowest instruction of the slowest machine takes a few
/// thousand.
const STUCK_AFTER: u64 = 10_000;

/// Where the parts of memory have been put.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Addresses {
    /// The address register of each buffer, by its number.
    pub buffers: Vec<AReg>,
    /// The address register of the table of constants.
    pub table: AReg,
    /// The table's word of each constant, by its number.
    pub constants: Vec<u32>,
    /// The address register of the memory for spilled registers.
    pub spills: AReg,
    /// The modulus register of each tower, by its number.
    pub moduli: Vec<MReg>,
    /// The scalar register that holds 1/n of each tower, by its number.
    pub scales: Vec<SReg>,
}

impl Addresses {
    /// An instruction of the code with the registers of its vector operands, in operand order.
    ///
    /// # Errors
    /// Where a buffer is too large for the address field.
    ///
    /// # Panics
    /// Where there are too few registers.
    pub(crate) fn instr(
        &self,
        inst: &Inst,
        sources: &[VReg],
        results: &[VReg],
    ) -> Result<Instr, ScheduleError> {
        let (mut sources, mut results) = (sources.iter(), results.iter());
        let mut operands: ArrayVec<Operand, 6> = ArrayVec::new();
        for spec in inst.op.info().operands {
            operands.push(match (spec.kind, spec.direction) {
                (OperandKind::VReg, Direction::Write) => {
                    Operand::VReg(*results.next().expect("one per result"))
                }
                (OperandKind::VReg, _) => Operand::VReg(*sources.next().expect("one per source")),
                (OperandKind::SReg, _) => Operand::SReg(self.scales[inst.tower.index()]),
                (OperandKind::MReg, _) => Operand::MReg(self.moduli[inst.tower.index()]),
                (OperandKind::AReg, _) => Operand::AReg(self.buffers[memory(inst).buffer.index()]),
                (OperandKind::Offset, _) => Operand::Offset(offset(memory(inst).word)?),
                (OperandKind::Mode, _) => Operand::Mode(memory(inst).mode),
            });
        }
        Ok(inst.op.with_operands(&operands).expect("the operands follow the table"))
    }

    /// The load of a constant.
    ///
    /// # Errors
    /// Where the table is too large for the address field.
    pub(crate) fn load_constant(
        &self,
        code: &Code,
        constant: ConstantId,
        vd: VReg,
    ) -> Result<Instr, ScheduleError> {
        let offset = offset(self.constants[constant.index()])?;
        let mode = code.constants[constant.index()].mode();
        Ok(Instr::Vload { vd, base: self.table, offset, mode })
    }
}

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

    // Greedy scheduling.

    fn greedy(&mut self) -> Result<(), ScheduleError> {
        // Spills and reloads alone are no progress.
        let mut last_progress = self.engine.now();
        while self.left > 0 {
            let left = self.left;
            if self.engine.now() - last_progress > STUCK_AFTER {
                self.next_in_textbook()?;
            } else if let Some(candidate) = self.choose()? {
                self.commit(candidate);
            } else if self.engine.idle() {
                self.relieve()?;
            } else {
                self.pass_time();
            }
            if self.left < left {
                last_progress = self.engine.now();
            }
        }
        Ok(())
    }

    /// Lets the cycles pass until a pipe wants an instruction; where one does, one beat of a
    /// quarter of a vector.
    fn pass_time(&mut self) {
        let now = self.engine.now();
        let due = Pipe::VECTOR
            .map(|pipe| self.engine.pipe_free(pipe, 0).0.saturating_sub(self.tuning.early.into()));
        let due = due.into_iter().min().unwrap_or(now.0);
        let step = (128 / self.machine.hple.count).max(1);
        self.engine.advance_to(Cycle(due).max(now + step));
    }

    /// The instruction to dispatch in this cycle.
    fn choose(&mut self) -> Result<Option<Candidate>, ScheduleError> {
        let mut pipes = Pipe::VECTOR.map(|pipe| (self.engine.pipe_free(pipe, 0), pipe));
        pipes.sort_unstable();
        for (free, pipe) in pipes {
            if free > self.engine.now() + self.tuning.early {
                break;
            }
            let candidate = match pipe {
                Pipe::LoadStore => self.load_or_store()?,
                Pipe::Compute | Pipe::Scalar => self.best(free, Set::Compute)?,
                Pipe::Shuffle => self.best(free, Set::Shuffle)?,
            };
            if candidate.is_some() {
                return Ok(candidate);
            }
        }
        Ok(None)
    }

    /// The candidate of a set that issues first; the earliest in the textbook among those that
    /// keep the pipe busy.
    fn best(&mut self, free: Cycle, set: Set) -> Result<Option<Candidate>, ScheduleError> {
        let mut best: Option<Candidate> = None;
        let mut next = InstId(0);
        for _ in 0..self.tuning.candidates {
            let ids = match set {
                Set::Compute => &self.ready.compute,
                Set::Shuffle => &self.ready.shuffle,
                Set::Stores => &self.ready.stores,
                Set::Loads => &self.ready.loads,
            };
            let Some(&id) = ids.range(next..).next() else { break };
            next = InstId(id.0 + 1);
            let Some(candidate) = self.candidate(id)? else { continue };
            let in_time = candidate.issue <= free;
            if best.as_ref().is_none_or(|best| candidate.issue < best.issue) {
                best = Some(candidate);
            }
            if in_time {
                break;
            }
        }
        Ok(best.filter(|best| best.issue <= free + self.tuning.patience))
    }

    fn load_or_store(&mut self) -> Result<Option<Candidate>, ScheduleError> {
        let free = self.engine.pipe_free(Pipe::LoadStore, 0);
        for value in std::mem::take(&mut self.wanted) {
            if let Place::Spilled(_) = self.place[value.index()]
                && let Some(reg) = self.allocate(None, &[])
            {
                return self.reload(value, reg).map(Some);
            }
        }
        // What the textbook needs first goes first.
        let ahead: Vec<(InstId, ConstantId)> = self
            .wants_constant
            .iter()
            .take(self.tuning.constants_ahead as usize)
            .map(|&id| (id, self.inst(id).constant.expect("it wants one")))
            .collect();
        let missing = ahead.iter().find(|(_, constant)| self.registers.copies(*constant).is_empty());
        let room = self.registers_without_values() > self.tuning.reserve as usize;
        let due = |id: &InstId| {
            let results = self.inst(*id).results.iter();
            results.map(|value| self.readers[value.index()][0]).min().unwrap_or(*id)
        };
        let mut turns = [
            (missing.map(|&(user, _)| user), Turn::Constant),
            (self.ready.stores.first().copied(), Turn::Store),
            (self.ready.loads.first().filter(|_| room).map(due), Turn::Load),
        ];
        turns.sort_unstable();
        for (due, turn) in turns {
            let candidate = match turn {
                _ if due.is_none() => None,
                Turn::Constant => self.constant_load(&ahead, false)?,
                Turn::Store => self.best(free, Set::Stores)?,
                Turn::Load => self.best(free, Set::Loads)?,
            };
            if candidate.is_some() {
                return Ok(candidate);
            }
        }
        self.constant_load(&ahead, true)
    }

    /// A load of a constant that one of the instructions `ahead` lacks; with `more`, another copy
    /// of one that is in demand.
    fn constant_load(
        &mut self,
        ahead: &[(InstId, ConstantId)],
        more: bool,
    ) -> Result<Option<Candidate>, ScheduleError> {
        let strict = self.machine.frontend.busyboard == Busyboard::Strict;
        if more && (!strict || self.tuning.copies < 2) {
            return Ok(None);
        }
        for (i, &(_, constant)) in ahead.iter().enumerate() {
            let copies = self.registers.copies(constant).len();
            if copies > 0 && !more || ahead[..i].iter().any(|&(_, other)| other == constant) {
                continue;
            }
            if more {
                let demand = ahead.iter().filter(|&&(_, other)| other == constant).count();
                if copies >= demand.div_ceil(2).min(self.tuning.copies as usize) {
                    continue;
                }
            }
            // Rather drop what is needed later than this one than go without it.
            let reg = match self.allocate(Some(constant), ahead) {
                None if !more => self.evict(&ahead[..i], RegSet::default()),
                found => found,
            };
            let Some(reg) = reg else { return Ok(None) };
            let instr = self.addresses.load_constant(self.code, constant, reg)?;
            return Ok(self.checked(instr, Action::Constant(constant, reg)));
        }
        Ok(None)
    }

    /// The instruction with registers, if it can dispatch now.
    fn candidate(&mut self, id: InstId) -> Result<Option<Candidate>, ScheduleError> {
        let inst = self.inst(id);
        let mut sources = SourceRegs::new();
        for value in inst.sources.iter() {
            match self.place[value.index()] {
                Place::Register(reg) => sources.push(reg),
                Place::Spilled(_) => {
                    self.wanted.push(value);
                    return Ok(None);
                }
                Place::Nowhere => unreachable!("the producer of {value:?} has been dispatched"),
            }
        }
        if !sources.iter().all(|&reg| self.free_now(reg, false)) {
            return Ok(None);
        }
        if let Some(constant) = inst.constant {
            let avoid = |reg: VReg| sources.iter().any(|&s| self.sram(s) == self.sram(reg));
            let copies = self.registers.copies(constant).into_iter().filter(|&reg| self.free_now(reg, false));
            let Some(copy) =
                copies.min_by_key(|&reg| (self.tuning.srams > SramCare::None && avoid(reg), reg))
            else {
                return Ok(None);
            };
            sources.push(copy);
        }
        let Some(results) = self.results(id, inst, &sources)? else { return Ok(None) };
        let instr = self.addresses.instr(inst, &sources, &results)?;
        Ok(self.checked(instr, Action::Inst(id, results)))
    }

    fn checked(&mut self, instr: Instr, action: Action) -> Option<Candidate> {
        let work = self.decoder.decode(&instr);
        self.engine.try_dispatch(&work).ok()?;
        let issue = self.engine.earliest_issue(&work);
        Some(Candidate { instr, work, action, issue })
    }

    fn free_now(&self, reg: VReg, writes: bool) -> bool {
        self.engine.register_free(reg, writes).is_some_and(|cycle| cycle <= self.engine.now())
    }

    fn sram(&self, reg: VReg) -> u8 {
        self.machine.vrf.placement.sram(reg)
    }

    /// Registers for the results of an instruction.
    fn results(
        &mut self,
        id: InstId,
        inst: &Inst,
        sources: &SourceRegs,
    ) -> Result<Option<ResultRegs>, ScheduleError> {
        let count = inst.results.len();
        if count == 0 {
            return Ok(Some(ResultRegs::new()));
        }
        let mut options: ArrayVec<VReg, REGISTERS> = ArrayVec::new();
        // A source that nobody else reads can be overwritten.
        let dying = inst.sources.iter().filter(|value| self.reads_left[value.index()] == 1);
        options.extend(dying.filter_map(|value| self.register_of(value)));
        options.extend(self.registers.free().into_iter().filter(|&reg| self.free_now(reg, true)));
        while options.len() < count {
            let used = sources.iter().copied().collect();
            let Some(reg) = self.evict(&[], used) else { return Ok(None) };
            if options.contains(&reg) {
                return Ok(None);
            }
            options.push(reg);
        }
        if self.tuning.srams == SramCare::None || self.machine.vrf.ports == VrfPorts::Ideal {
            let start = self.next_register;
            options.sort_by_key(|reg| (reg.index() + REGISTERS - start) % REGISTERS);
            return Ok(Some(options[..count].iter().copied().collect()));
        }
        // The cycles in which the results are written, were the sources the only matter.
        let work = self.decoder.decode(&self.addresses.instr(inst, sources, &options[..count])?);
        let issue = self.engine.earliest_issue(&work.without_writes());
        let write = issue + work.latency;
        let overlap = work.latency < work.occupancy;
        let taken = if self.tuning.srams == SramCare::Schedule {
            self.taken(write, work.occupancy)
        } else {
            RegSet::default()
        };
        let with = |regs: RegSet| {
            regs.into_iter()
                .fold(RegSet::default(), |all, reg| all.or(self.srams[usize::from(self.sram(reg))]))
        };
        // Where reads and writes overlap in time, a source's SRAM is no better.
        let mut rivals = with(if overlap { sources.iter().copied().collect() } else { RegSet::default() });
        let mut chosen = ResultRegs::new();
        for value in inst.results.iter() {
            let partners = with(self.partners(id, value));
            let best = options
                .iter()
                .copied()
                .filter(|reg| !chosen.contains(reg))
                .min_by_key(|&reg| (rivals.contains(reg), taken.contains(reg), partners.contains(reg)))
                .expect("there are enough options");
            chosen.push(best);
            rivals = rivals.or(self.srams[usize::from(self.sram(best))]);
        }
        Ok(Some(chosen))
    }

    /// The registers whose SRAMs are accessed in one of the `count` cycles from `from` on.
    fn taken(&self, from: Cycle, count: u32) -> RegSet {
        let taken = self.engine.srams_taken(from, count);
        let srams = self.srams.iter().enumerate().filter(|&(sram, _)| taken >> sram & 1 != 0);
        srams.fold(RegSet::default(), |all, (_, &regs)| all.or(regs))
    }

    /// The registers that will be read together with `value`.
    fn partners(&self, by: InstId, value: ValueId) -> RegSet {
        let readers = self.readers[value.index()].iter();
        readers
            .filter(|&&reader| reader != by)
            .flat_map(|&reader| self.inst(reader).sources.iter())
            .filter(|&other| other != value)
            .filter_map(|other| self.register_of(other))
            .collect()
    }

    fn registers_without_values(&self) -> usize {
        REGISTERS - self.registers.values().len()
    }

    /// A register for a load, free now. For a constant, the last free registers are left to
    /// results, and the constants in `keep` are not dropped.
    fn allocate(&mut self, constant: Option<ConstantId>, keep: &[(InstId, ConstantId)]) -> Option<VReg> {
        let free: RegSet =
            self.registers.free().into_iter().filter(|&reg| self.free_now(reg, true)).collect();
        if free.is_empty() || constant.is_some() && free.len() < 3 {
            return self.evict(keep, RegSet::default());
        }
        if self.tuning.srams == SramCare::None {
            let start = self.next_register;
            return free.into_iter().min_by_key(|reg| (reg.index() + REGISTERS - start) % REGISTERS);
        }
        let taken = if self.tuning.srams == SramCare::Schedule {
            let write = self.engine.pipe_free(Pipe::LoadStore, 0) + self.machine.vbar.latency_cycles;
            self.taken(write, 4)
        } else {
            RegSet::default()
        };
        let crowd = |reg| self.registers.values().and(self.srams[usize::from(self.sram(reg))]).len();
        free.into_iter().min_by_key(|&reg| (taken.contains(reg), crowd(reg)))
    }

    /// Drops the constant whose next use is the furthest and returns its register. Those in
    /// `keep` and the registers `used` stay.
    fn evict(&mut self, keep: &[(InstId, ConstantId)], used: RegSet) -> Option<VReg> {
        let keep = keep.iter().fold(used, |all, &(_, constant)| all.or(self.registers.copies(constant)));
        let victims = self.registers.constants().without(keep).into_iter();
        victims
            .filter(|&reg| self.free_now(reg, true))
            .filter_map(|reg| match self.registers.content(reg) {
                Content::Constant(c) => Some((reg, c)),
                _ => None,
            })
            .max_by_key(|&(_, c)| self.users[c.index()].get(self.used[c.index()]).map_or(u32::MAX, |id| id.0))
            .map(|(reg, _)| reg)
    }

    /// Gets an idle machine going: loads data despite the reserve where nothing else is ready, or
    /// goes on as the textbook would, which spills values where it has to.
    fn relieve(&mut self) -> Result<(), ScheduleError> {
        let free = self.engine.pipe_free(Pipe::LoadStore, 0);
        if self.ready.compute.is_empty()
            && self.ready.shuffle.is_empty()
            && self.registers_without_values() > 3
            && let Some(candidate) = self.best(free + 1_000_000, Set::Loads)?
        {
            self.commit(candidate);
            return Ok(());
        }
        self.next_in_textbook()
    }

    /// Dispatches the first instruction in textbook order that is left.
    fn next_in_textbook(&mut self) -> Result<(), ScheduleError> {
        while self.done.get(self.first_left).is_some_and(|&done| done) {
            self.first_left += 1;
        }
        self.in_order(InstId(self.first_left as u32))
    }

    /// The value in a register outside of `taken` whose next read is the furthest, and where it is.
    fn furthest_value(&self, taken: &[VReg]) -> Option<(ValueId, VReg)> {
        let next_read =
            |value: ValueId| self.readers[value.index()].iter().find(|id| !self.done[id.index()]).copied();
        let values = self.registers.values().into_iter().filter(|reg| !taken.contains(reg)).filter_map(
            |reg| match self.registers.content(reg) {
                Content::Value(value) => Some((next_read(value), value, reg)),
                _ => None,
            },
        );
        values.max().map(|(_, value, reg)| (value, reg))
    }

    fn spill(&mut self, value: ValueId, reg: VReg) -> Result<(), ScheduleError> {
        let slot = self.free_slots.pop().unwrap_or(self.out.spill_words);
        self.out.spill_words = self.out.spill_words.max(slot + 512);
        let instr = self.spill_access(Op::Vstore, slot, reg)?;
        self.place[value.index()] = Place::Spilled(slot);
        self.registers.set(reg, Content::Free);
        self.emit(instr, None);
        Ok(())
    }

    fn reload(&mut self, value: ValueId, reg: VReg) -> Result<Candidate, ScheduleError> {
        let Place::Spilled(slot) = self.place[value.index()] else {
            unreachable!("only spilled values are reloaded");
        };
        let instr = self.spill_access(Op::Vload, slot, reg)?;
        let work = self.decoder.decode(&instr);
        Ok(Candidate { instr, work, action: Action::Reload(value, reg), issue: self.engine.now() })
    }

    // Textbook order.

    fn textbook(&mut self) -> Result<(), ScheduleError> {
        (0..self.code.insts.len()).try_for_each(|number| self.in_order(InstId(number as u32)))
    }

    /// Dispatches an instruction all of whose predecessors have been dispatched, after the reloads
    /// and spills and the load of a constant that it needs.
    fn in_order(&mut self, id: InstId) -> Result<(), ScheduleError> {
        let inst = self.inst(id);
        // Registers that hold operands must not be taken for others.
        let mut sources = SourceRegs::new();
        let mut taken: Vec<VReg> = inst.sources.iter().filter_map(|value| self.register_of(value)).collect();
        for value in inst.sources.iter() {
            if let Place::Spilled(_) = self.place[value.index()] {
                let reg = self.first_register(&taken)?;
                taken.push(reg);
                let candidate = self.reload(value, reg)?;
                self.commit(candidate);
            }
            sources.push(self.register_of(value).expect("its producer has been dispatched"));
        }
        if let Some(constant) = inst.constant {
            if self.registers.copies(constant).is_empty() {
                let reg = self.first_register(&taken)?;
                let instr = self.addresses.load_constant(self.code, constant, reg)?;
                let work = self.decoder.decode(&instr);
                let action = Action::Constant(constant, reg);
                self.commit(Candidate { instr, work, action, issue: self.engine.now() });
            }
            sources.extend(self.registers.copies(constant).into_iter().next());
        }
        let mut results = ResultRegs::new();
        for _ in inst.results.iter() {
            let taken: Vec<VReg> = sources.iter().chain(&results).copied().collect();
            results.push(self.first_register(&taken)?);
        }
        let instr = self.addresses.instr(inst, &sources, &results)?;
        let work = self.decoder.decode(&instr);
        self.commit(Candidate { instr, work, action: Action::Inst(id, results), issue: self.engine.now() });
        Ok(())
    }

    fn register_of(&self, value: ValueId) -> Option<VReg> {
        match self.place[value.index()] {
            Place::Register(reg) => Some(reg),
            _ => None,
        }
    }

    /// The next free register in rotation, dropping a constant or spilling a value where there is
    /// none.
    fn first_register(&mut self, taken: &[VReg]) -> Result<VReg, ScheduleError> {
        let start = self.next_register;
        let rotation = (start..start + REGISTERS).map(|index| VReg::at(index % REGISTERS));
        let mut usable = rotation.filter(|reg| !taken.contains(reg));
        if let Some(free) = usable.clone().find(|&reg| self.registers.content(reg) == Content::Free) {
            return Ok(free);
        }
        let constant = usable.find(|&reg| matches!(self.registers.content(reg), Content::Constant(_)));
        if let Some(reg) = constant {
            self.registers.set(reg, Content::Free);
            return Ok(reg);
        }
        let (value, reg) = self.furthest_value(taken).expect("an instruction uses at most five registers");
        self.spill(value, reg)?;
        Ok(reg)
    }

    // Common to both.

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

    fn spill_access(&self, op: Op, slot: u32, reg: VReg) -> Result<Instr, ScheduleError> {
        let operands = [
            Operand::VReg(reg),
            Operand::AReg(self.addresses.spills),
            Operand::Offset(offset(slot)?),
            Operand::Mode(AddressMode::Linear),
        ];
        Ok(op.with_operands(&operands).expect("loads and stores have these operands"))
    }
}

/// What the load/store pipe could do next.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Turn {
    Constant,
    Store,
    Load,
}

#[derive(Clone, Copy)]
enum Set {
    Compute,
    Shuffle,
    Stores,
    Loads,
}

fn memory(inst: &Inst) -> MemRef {
    inst.memory.expect("loads and stores have a memory reference")
}

fn offset(words: u32) -> Result<Offset, ScheduleError> {
    Offset::new(words).ok_or(ScheduleError::Offset(words))
}
