//! The greedy scheduler: in each cycle, it dispatches the best instruction that can dispatch.

use super::id_set::IdSet;
use super::registers::{Content, RegSet};
use super::{
    Action, Candidate, Chosen, Location, ResultRegs, ScheduleError, Scheduler, SourceRegs, SramCare, Upcoming,
};
use crate::code::{ConstantId, Inst, InstId, ValueId};
use arrayvec::ArrayVec;
use b512_asm::reg::REGISTERS;
use b512_asm::{Pipe, VReg};
use sim::machine::{Busyboard, VbarPaths};
use sim::timing::Cycle;
use sim::timing::scheduling::MicroOp;

/// The number of cycles without progress after which the scheduler falls back to program order. The slowest
/// instruction of the slowest machine needs a few thousand cycles.
const STUCK_AFTER: u64 = 10_000;

/// The occupancy of an instruction that is weighed in one step.
const CYCLES_PER_STEP: u32 = 256;

impl Scheduler<'_> {
    /// Dispatches instructions until `rest` are left, reordering them greedily.
    pub(super) fn greedy(&mut self, rest: usize) -> Result<(), ScheduleError> {
        // Spills, reloads and loads of constants do not count as progress.
        let mut last_progress = self.engine.now();
        while self.left > rest {
            let left = self.left;
            if self.engine.now() - last_progress > STUCK_AFTER {
                self.next_in_program_order()?;
            } else if let Some(candidate) = self.choose()? {
                self.commit(candidate)?;
            } else if let Some((scalar, reg)) = self.scalars.next().filter(|_| self.engine.accepts()) {
                self.load_scalar(scalar, reg)?;
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

    /// Advances time to the earliest cycle in which a pipe is due for an instruction, and by at least
    /// a quarter of the beats of a vector.
    fn pass_time(&mut self) {
        let now = self.engine.now();
        let lead = u64::from(self.lead());
        let due = Pipe::VECTOR.map(|pipe| self.pipe_free[pipe][0].0.saturating_sub(lead));
        let due = due.into_iter().min().unwrap_or(now.0);
        self.engine.advance_to(Cycle(due).max(now + (self.beats() / 4).max(1)));
    }

    /// The cycles in which the HPLEs accept the elements of a vector.
    fn beats(&self) -> u32 {
        self.code.isa.vector_length() / self.machine.hple.count
    }

    /// The cycles by which a dispatch comes before the cycle in which its pipe becomes idle, at most.
    /// An instruction that dispatches now reaches its pipe after the issue delay.
    fn lead(&self) -> u32 {
        self.machine.frontend.dispatch_to_issue_cycles + self.settings.early
    }

    /// Chooses the instruction to dispatch in this cycle, if any.
    fn choose(&mut self) -> Result<Option<Candidate>, ScheduleError> {
        self.note_free_pipes();
        // A reload of a spilled value needs no free front end.
        let may_reload = self.spilled > 0;
        if !(may_reload || self.engine.accepts()) {
            return Ok(None);
        }
        let mut pipes = Pipe::VECTOR.map(|pipe| (self.pipe_free[pipe][0], pipe));
        pipes.sort_unstable();
        let latest = self.engine.now() + self.lead();
        if pipes[0].0 <= latest {
            self.note_free_registers();
        }
        for (free, pipe) in pipes {
            if free > latest {
                break;
            }
            if !(may_reload || self.engine.has_room(pipe)) {
                continue;
            }
            let candidate =
                if pipe == Pipe::LoadStore { self.load_or_store()? } else { self.best(free, Set::Of(pipe))? };
            if candidate.is_some() {
                return Ok(candidate);
            }
        }
        Ok(None)
    }

    /// Updates the cycles in which the pipes become idle.
    fn note_free_pipes(&mut self) {
        for pipe in Pipe::VECTOR {
            self.pipe_free[pipe][0] = self.engine.pipe_free(pipe, 0);
        }
        if self.machine.vbar.paths == VbarPaths::Split {
            self.pipe_free[Pipe::LoadStore][1] = self.engine.pipe_free(Pipe::LoadStore, 1);
        }
    }

    /// Updates the sets of registers that are free in this cycle.
    fn note_free_registers(&mut self) {
        let free = self.engine.free_registers();
        (self.readable, self.writable) = (RegSet::of_bits(free.readable), RegSet::of_bits(free.writable));
    }

    /// The best candidate of a set: the first one in program order that issues as soon as the pipe is
    /// free, or else the one that issues first, within the tuning's patience.
    fn best(&mut self, free: Cycle, set: Set) -> Result<Option<Candidate>, ScheduleError> {
        let mut best: Option<Candidate> = None;
        let mut next = InstId(0);
        for _ in 0..self.settings.candidates {
            let ids = match set {
                Set::Stores => &self.ready.stores,
                Set::Of(pipe) => &self.ready.others[pipe],
            };
            let Some(id) = ids.next_from(next) else { break };
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
        Ok(best.filter(|best| best.issue <= free + self.settings.patience))
    }

    /// Chooses the next instruction for the load/store pipe: reloads of spilled values come first,
    /// then loads of constants, stores and loads in program order of the instructions that need them.
    fn load_or_store(&mut self) -> Result<Option<Candidate>, ScheduleError> {
        let free = self.pipe_free[Pipe::LoadStore][0];
        for value in std::mem::take(&mut self.wanted) {
            if let Location::Spilled(_) = self.location[value.index()]
                && let Some(reg) = self.allocate(None, &[])
            {
                return self.reload(value, reg).map(Some);
            }
        }
        // Work for the earliest instruction in program order goes first.
        let ahead = self.look_ahead();
        let candidate = self.turn(free, &ahead);
        self.ahead = ahead;
        candidate
    }

    /// The constants of the next instructions that have one. The caller gives the list back.
    fn look_ahead(&mut self) -> Vec<Upcoming> {
        let mut ahead = std::mem::take(&mut self.ahead);
        if std::mem::take(&mut self.ahead_is_stale) {
            ahead.clear();
            for user in self.wants_constant.iter().take(self.settings.constants_ahead as usize) {
                let Some(constant) = self.inst(user).constant else { continue };
                match ahead.iter_mut().find(|known| known.constant == constant) {
                    Some(known) => known.users += 1,
                    None => ahead.push(Upcoming { constant, first: user, users: 1 }),
                }
            }
        }
        ahead
    }

    /// The candidate for the load/store pipe with the earliest use, given the next uses of constants.
    fn turn(&mut self, free: Cycle, ahead: &[Upcoming]) -> Result<Option<Candidate>, ScheduleError> {
        let missing = ahead.iter().find(|next| self.registers.copies(next.constant).is_empty());
        let room = self.registers_without_values() > self.settings.reserve as usize;
        let due = |id: InstId| {
            let results = self.inst(id).results.iter();
            results.map(|value| self.graph.readers(value)[0]).min().unwrap_or(id)
        };
        let mut turns = [
            (missing.map(|next| next.first), Turn::Constant),
            (self.ready.stores.first(), Turn::Store),
            (self.ready.loads().first().filter(|_| room).map(due), Turn::Load),
        ];
        turns.sort_unstable();
        for (due, turn) in turns {
            let candidate = match turn {
                _ if due.is_none() => None,
                Turn::Constant => self.constant_load(ahead, false)?,
                Turn::Store => self.best(free, Set::Stores)?,
                Turn::Load => self.best(free, Set::Of(Pipe::LoadStore))?,
            };
            if candidate.is_some() {
                return Ok(candidate);
            }
        }
        self.constant_load(ahead, true)
    }

    /// A load of a constant that is in no register and that one of the instructions `ahead` uses.
    /// With `more`, a load of another copy of a constant in demand.
    fn constant_load(&mut self, ahead: &[Upcoming], more: bool) -> Result<Option<Candidate>, ScheduleError> {
        let strict = self.machine.frontend.busyboard == Busyboard::Strict;
        if more && (!strict || self.settings.copies < 2) {
            return Ok(None);
        }
        for (i, &Upcoming { constant, users, .. }) in ahead.iter().enumerate() {
            let copies = self.registers.copies(constant).len();
            let enough = if more { users.div_ceil(2).min(self.settings.copies as usize) } else { 1 };
            if copies >= enough {
                continue;
            }
            // Evict a constant with a later use rather than delay this one.
            let reg = match self.allocate(Some(constant), ahead) {
                None if !more => self.evict(&ahead[..i], RegSet::default()),
                found => found,
            };
            let Some(reg) = reg else { return Ok(None) };
            let instr = self.addresses.load_constant(self.code, constant, reg)?;
            let micro_op = self.decoder.decode(&instr);
            return Ok(self.checked(micro_op, Action::Constant(constant, reg)));
        }
        Ok(None)
    }

    /// The instruction with its registers, if it can dispatch in this cycle. Records spilled sources
    /// in `wanted`.
    fn candidate(&mut self, id: InstId) -> Result<Option<Candidate>, ScheduleError> {
        let inst = self.inst(id);
        if inst.scalar.is_some_and(|scalar| self.scalars.register(scalar).is_none()) {
            return Ok(None);
        }
        let (mut sources, mut readable) = (SourceRegs::new(), true);
        for &value in inst.sources.as_slice() {
            match self.location[value.index()] {
                Location::Register(reg) if self.readable.contains(reg) => sources.push(reg),
                Location::Register(_) => readable = false,
                Location::Spilled(_) => {
                    self.wanted.push(value);
                    return Ok(None);
                }
                Location::Nowhere => unreachable!("the producer of {value:?} has been dispatched"),
            }
        }
        if !readable {
            return Ok(None);
        }
        if let Some(constant) = inst.constant {
            let mut copies = self.registers.copies(constant).and(self.readable);
            if self.tuning.srams > SramCare::None {
                copies = copies.preferably_without(self.beside(&sources));
            }
            let Some(copy) = copies.first() else { return Ok(None) };
            sources.push(copy);
        }
        let Some(Chosen { results, micro_op }) = self.results(id, inst, &sources)? else { return Ok(None) };
        Ok(self.checked(micro_op, Action::Inst(id, sources, results)))
    }

    /// The candidate for an instruction, if the engine can dispatch it in this cycle.
    fn checked(&mut self, micro_op: MicroOp, action: Action) -> Option<Candidate> {
        self.out.steps += u64::from(micro_op.occupancy.div_ceil(CYCLES_PER_STEP));
        self.engine.try_dispatch(&micro_op).ok()?;
        let issue = self.earliest_issue(&micro_op);
        Some(Candidate { micro_op, action, issue })
    }

    /// The registers in the SRAMs of some registers.
    fn beside(&self, regs: &[VReg]) -> RegSet {
        regs.iter().fold(RegSet::default(), |all, &reg| all.or(self.srams.beside(reg)))
    }

    /// Chooses registers for the results of an instruction; `None` if too few are free.
    fn results(
        &mut self,
        id: InstId,
        inst: &Inst,
        sources: &SourceRegs,
    ) -> Result<Option<Chosen>, ScheduleError> {
        let count = inst.results.len();
        let mut chosen = ResultRegs::new();
        if count == 0 {
            let micro_op = self.micro_op(id, sources, &chosen)?;
            return Ok(Some(Chosen { results: chosen, micro_op }));
        }
        let free = self.registers.free().and(self.writable);
        let mut options = free;
        // A source without other readers can be overwritten.
        let mut dying = SourceRegs::new();
        for (value, &reg) in inst.sources.as_slice().iter().zip(sources) {
            if self.reads_left[value.index()] == 1 {
                dying.push(reg);
                options.insert(reg);
            }
        }
        let mut evicted = ResultRegs::new();
        while options.len() < count {
            let used = sources.iter().copied().collect();
            let Some(reg) = self.evict(&[], used) else { return Ok(None) };
            if options.contains(reg) {
                return Ok(None);
            }
            options.insert(reg);
            evicted.push(reg);
        }
        if self.tuning.srams == SramCare::None || !self.machine.sram_ports_are_limited() {
            let mut rotation: ArrayVec<VReg, REGISTERS> = options.into_iter().collect();
            let start = self.next_register;
            rotation.sort_unstable_by_key(|reg| (reg.index() + REGISTERS - start) % REGISTERS);
            chosen.extend(rotation[..count].iter().copied());
            let micro_op = self.micro_op(id, sources, &chosen)?;
            return Ok(Some(Chosen { results: chosen, micro_op }));
        }
        // Of equally good registers, one that dies comes first, and one that evicts a constant last.
        let first = |pool: RegSet| {
            let of = |list: &[VReg]| list.iter().copied().find(|&reg| pool.contains(reg));
            of(&dying).or_else(|| pool.and(free).first()).or_else(|| of(&evicted))
        };
        let mut pool = options;
        let mut any = ResultRegs::new();
        while any.len() < count {
            let reg = first(pool).expect("there are enough options");
            pool.remove(reg);
            any.push(reg);
        }
        // The cycles of the result writes, assuming that only the sources delay the issue.
        let micro_op = self.micro_op(id, sources, &any)?;
        let issue = self.earliest_issue(&micro_op.without_writes());
        let write = issue + micro_op.latency;
        let shared_port = !self.machine.sram_writes_have_a_port();
        let overlap = shared_port && micro_op.latency < micro_op.occupancy;
        let taken = if self.tuning.srams >= SramCare::Schedule {
            self.taken(write, micro_op.occupancy)
        } else {
            RegSet::default()
        };
        // If reads and writes overlap in time, the SRAMs of sources conflict as well.
        let mut rivals = if overlap { self.beside(sources) } else { RegSet::default() };
        for &value in inst.results.as_slice() {
            // Each wish counts only among the registers that meet those before it.
            let mut pool = options.preferably_without(rivals).preferably_without(taken);
            if !pool.is_single() {
                pool = pool.preferably_without(self.beside_partners(id, value));
            }
            let best = first(pool).expect("there are enough options");
            chosen.push(best);
            options.remove(best);
            rivals = rivals.or(self.srams.beside(best));
        }
        let micro_op = if chosen == any { micro_op } else { self.micro_op(id, sources, &chosen)? };
        Ok(Some(Chosen { results: chosen, micro_op }))
    }

    /// The registers in SRAMs that are accessed during the `count` cycles from `from` on.
    fn taken(&self, from: Cycle, count: u32) -> RegSet {
        let taken = match &self.expected {
            Some(expected) => self.engine.srams_taken_beside(from, count, expected),
            None => self.engine.srams_taken(from, count),
        };
        self.srams.registers(taken)
    }

    /// The registers whose SRAMs hold a register that an instruction other than `by` will read together with
    /// `value`.
    fn beside_partners(&self, by: InstId, value: ValueId) -> RegSet {
        let mut beside = RegSet::default();
        for &reader in self.graph.readers(value) {
            if reader == by {
                continue;
            }
            for &other in self.inst(reader).sources.as_slice() {
                if other != value
                    && let Some(reg) = self.register_of(other)
                {
                    beside = beside.or(self.srams.beside(reg));
                }
            }
        }
        beside
    }

    fn registers_without_values(&self) -> usize {
        REGISTERS - self.registers.values().len()
    }

    /// Chooses a register for a load in this cycle. A load of a constant leaves the last free
    /// registers to results. Constants in `keep` are not evicted.
    fn allocate(&mut self, constant: Option<ConstantId>, keep: &[Upcoming]) -> Option<VReg> {
        let free = self.registers.free().and(self.writable);
        if free.is_empty() || constant.is_some() && free.len() < 3 {
            return self.evict(keep, RegSet::default());
        }
        if self.tuning.srams == SramCare::None {
            let start = self.next_register;
            return free.into_iter().min_by_key(|reg| (reg.index() + REGISTERS - start) % REGISTERS);
        }
        let taken = if self.tuning.srams >= SramCare::Schedule {
            let write = self.pipe_free[Pipe::LoadStore][0] + self.machine.load_latency();
            self.taken(write, self.beats())
        } else {
            RegSet::default()
        };
        let values = self.registers.values();
        let crowds = self.srams.registers.map(|registers| registers.and(values).len());
        free.preferably_without(taken).into_iter().min_by_key(|&reg| crowds[self.srams.sram(reg)])
    }

    /// The register of the constant with the furthest next use, except for constants in `keep` and
    /// registers in `used`. The caller overwrites the register, which evicts the constant.
    fn evict(&mut self, keep: &[Upcoming], used: RegSet) -> Option<VReg> {
        let keep = keep.iter().fold(used, |all, next| all.or(self.registers.copies(next.constant)));
        let victims = self.registers.constants().without(keep).and(self.writable).into_iter();
        victims
            .filter_map(|reg| match self.registers.content(reg) {
                Content::Constant(c) => Some((reg, c)),
                Content::Free | Content::Value(_) => None,
            })
            .max_by_key(|&(_, c)| self.next_user(c).map_or(u32::MAX, |id| id.0))
            .map(|(reg, _)| reg)
    }

    /// Breaks a deadlock of an idle machine. If only loads are ready, it loads data despite the
    /// reserve; otherwise it falls back to program order, which spills values if necessary.
    fn relieve(&mut self) -> Result<(), ScheduleError> {
        self.note_free_registers();
        self.note_free_pipes();
        let free = self.pipe_free[Pipe::LoadStore][0];
        let only_loads = |(pipe, ready): (Pipe, &IdSet)| pipe == Pipe::LoadStore || ready.is_empty();
        if self.ready.others.iter().all(only_loads)
            && self.registers_without_values() > 3
            && let Some(candidate) = self.best(free + 1_000_000, Set::Of(Pipe::LoadStore))?
        {
            self.commit(candidate)?;
            return Ok(());
        }
        self.next_in_program_order()
    }
}

/// The kinds of work for the load/store pipe.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Turn {
    Constant,
    Store,
    Load,
}

/// Selects one of the sets in [`Ready`](super::Ready).
#[derive(Clone, Copy)]
enum Set {
    Stores,
    /// Everything but stores.
    Of(Pipe),
}
