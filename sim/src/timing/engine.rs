//! The event-driven model: time jumps from one dispatch or issue to the next.

use super::accounting::{Bounds, Cause, Stalls};
use super::vrf::Reservations;
use super::work::{SRAMS, Work};
use super::{Cycle, Decoder};
use crate::machine::{Arbitration, Busyboard, Machine, SourceRelease, VbarPaths};
use b512_asm::reg::{REGISTERS, VECTOR_LENGTH};
use b512_asm::{Pipe, Program, VReg};
use std::collections::VecDeque;

/// The cycles of one instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Schedule {
    /// When it left the front end.
    pub dispatch: Cycle,
    /// When its pipe took it from the queue.
    pub issue: Cycle,
    /// When its destinations were written and, by default, its registers released.
    pub complete: Cycle,
}

/// The outcome of a run.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Timing {
    /// Cycles from the start command until the last instruction has completed.
    pub cycles: Cycle,
    /// Cycles by cause; they add up to `cycles`.
    pub stalls: Stalls,
    /// Instructions of each pipe, by [`Pipe::index`].
    pub instructions: [u64; 4],
    /// Cycles for which each pipe was occupied, by [`Pipe::index`].
    pub busy: [u64; 4],
    /// Cycles for which each SRAM of the register file was in use; zeros where ports are ideal.
    pub sram_busy: [u64; SRAMS],
    /// Cycles for which the head of each queue was held back only by SRAMs of the register file
    /// that other instructions used, by [`Pipe::index`].
    pub port_wait: [u64; 3],
    /// Cycles for which loads and stores held the VBAR because banks of the VDM conflicted.
    pub bank_conflicts: u64,
    /// Cycles below which no order of the instructions can go.
    pub bounds: Bounds,
    /// The cycles of each instruction.
    pub schedule: Vec<Schedule>,
}

/// Shares of the time for which units were in use, from 0 to 1; 0 for a run of no cycles.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Utilisation {
    /// Of each pipe, by [`Pipe::index`]. With a split VBAR the mean of its two paths.
    pub pipes: [f64; 3],
    /// Of each SRAM of the register file; zeros where ports are ideal.
    pub srams: [f64; SRAMS],
}

impl Timing {
    /// How well the pipes and the register file were used by a run on `machine`.
    pub fn utilisation(&self, machine: &Machine) -> Utilisation {
        let share = |busy: u64, units: u64| busy as f64 / (units * self.cycles.0).max(1) as f64;
        let paths = if machine.vbar.paths == VbarPaths::Split { 2 } else { 1 };
        let [load_store, compute, shuffle, _] = self.busy;
        Utilisation {
            pipes: [share(load_store, paths), share(compute, 1), share(shuffle, 1)],
            srams: self.sram_busy.map(|busy| share(busy, 1)),
        }
    }

    /// How well each bank of the VDM was used by a run of `program` on `machine`, from 0 to 1.
    ///
    /// Counted afresh with each call. `None` with `ideal.bank_conflicts`, where banks have no limit.
    pub fn bank_utilisation(&self, machine: &Machine, program: &Program) -> Option<Vec<f64>> {
        if machine.ideal.bank_conflicts {
            return None;
        }
        let mut accesses = vec![0; machine.vdm.banks as usize];
        let mut decoder = Decoder::at_start_of(machine, program);
        for instr in &program.instructions {
            decoder.add_bank_accesses(instr, &mut accesses);
            decoder.follow(instr, program);
        }
        let most = (self.cycles.0 * u64::from(machine.vdm.ports)).max(1) as f64;
        Some(accesses.into_iter().map(|accesses| accesses as f64 / most).collect())
    }
}

/// Runs a program through the cycle model.
pub fn simulate(machine: &Machine, program: &Program) -> Timing {
    let works = Decoder::program(machine, program);
    let mut engine = Engine::new(machine);
    for work in &works {
        engine.dispatch(work);
    }
    let mut timing = engine.finish();
    timing.bounds = Bounds::of(machine, &works);
    timing
}

/// Why an instruction cannot dispatch in the current cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stall {
    /// Not before this cycle, as far as is known now.
    Until(Cycle),
    /// Not before an instruction that waits in a queue has issued.
    UntilIssue,
}

/// The machine's state while a program runs through it.
///
/// [`Engine::dispatch`] takes the instructions in program order. A scheduler that looks for the
/// best next instruction asks [`Engine::try_dispatch`] about each candidate, dispatches one, or
/// lets time pass with [`Engine::advance`].
#[derive(Clone)]
pub struct Engine {
    params: Params,
    /// The cycle in which the front end stands.
    now: Cycle,
    /// Instructions dispatched in `now`.
    dispatched_now: u32,
    /// Cycles before this one are accounted for.
    accounted: Cycle,
    /// The front end is held until then by a scalar load.
    held_until: Cycle,
    registers: [Register; REGISTERS],
    queues: [VecDeque<Waiting>; 3],
    /// When each path of each pipe is free.
    free_at: [[Cycle; 2]; 3],
    /// What is known of when the head of each queue issues; nothing of an empty queue's.
    heads: [Head; 3],
    reservations: Reservations,
    end: Cycle,
    timing: Timing,
}

/// What the engine needs of the machine.
#[derive(Clone)]
struct Params {
    width: u32,
    queue_depth: usize,
    dispatch_to_issue: u32,
    scalar_latency: u32,
    fetch: Cycle,
    shared_reads: bool,
    release_at_read: bool,
    oldest_first: bool,
}

/// Who uses a register.
#[derive(Clone, Copy, Default)]
struct Register {
    readers: Users,
    writers: Users,
}

/// The instructions that read a register, or those that write it.
#[derive(Clone, Copy, Default)]
struct Users {
    /// Those that have dispatched but not issued.
    waiting: u32,
    /// When those that have issued have all released the register.
    free: Cycle,
    /// The same for those of each pipe.
    released: [Cycle; 3],
}

impl Users {
    /// When the register is free of them; `None` while one has not issued.
    #[inline]
    fn free(&self) -> Option<Cycle> {
        (self.waiting == 0).then_some(self.free)
    }

    /// One that waited has issued to `pipe` and releases the register at `cycle`.
    fn issued(&mut self, pipe: usize, cycle: Cycle) {
        self.waiting -= 1;
        self.free = self.free.max(cycle);
        self.released[pipe] = self.released[pipe].max(cycle);
    }
}

/// When the head of a queue issues.
#[derive(Clone, Copy, Default)]
struct Head {
    /// The first cycle in which it has arrived and its pipe is free.
    ready: Cycle,
    /// Not before this cycle.
    at: Cycle,
    /// In that very cycle, unless another instruction issues first and takes one of its SRAMs.
    exact: bool,
}

#[derive(Clone)]
struct Waiting {
    index: usize,
    dispatch: Cycle,
    work: Work,
}

impl Engine {
    /// An idle machine at the start command.
    pub fn new(machine: &Machine) -> Self {
        let frontend = &machine.frontend;
        let fetch = Cycle::ZERO + frontend.fetch_to_dispatch_cycles;
        Self {
            params: Params {
                width: if machine.ideal.front_end { u32::MAX } else { frontend.width },
                queue_depth: if machine.ideal.queues { usize::MAX } else { frontend.queue_depth as usize },
                dispatch_to_issue: frontend.dispatch_to_issue_cycles,
                scalar_latency: machine.scalar.load_latency_cycles,
                fetch,
                shared_reads: frontend.busyboard == Busyboard::SharedReads,
                release_at_read: frontend.source_release == SourceRelease::Read,
                oldest_first: machine.vrf.arbitration == Arbitration::OldestFirst,
            },
            now: fetch,
            dispatched_now: 0,
            accounted: Cycle::ZERO,
            held_until: Cycle::ZERO,
            registers: [Register::default(); REGISTERS],
            queues: Default::default(),
            free_at: Default::default(),
            heads: Default::default(),
            reservations: Reservations::new(horizon(machine)),
            end: Cycle::ZERO,
            timing: Timing::default(),
        }
    }

    /// The cycle in which the front end stands.
    pub fn now(&self) -> Cycle {
        self.now
    }

    /// Whether `work` can dispatch in the current cycle.
    ///
    /// # Errors
    /// Why it cannot.
    pub fn try_dispatch(&self, work: &Work) -> Result<(), Stall> {
        if self.dispatched_now >= self.params.width {
            return Err(Stall::Until(self.now + 1));
        }
        if self.held_until > self.now {
            return Err(Stall::Until(self.held_until));
        }
        if work.pipe == Pipe::Scalar {
            return Ok(());
        }
        let mut free = self.now;
        for &reg in work.reads.iter() {
            free = free.max(self.register_free(reg, false).ok_or(Stall::UntilIssue)?);
        }
        for &reg in work.writes.iter() {
            free = free.max(self.register_free(reg, true).ok_or(Stall::UntilIssue)?);
        }
        if self.queues[work.pipe.index()].len() >= self.params.queue_depth {
            return Err(Stall::UntilIssue);
        }
        if free > self.now { Err(Stall::Until(free)) } else { Ok(()) }
    }

    /// When a register stops being busy for a reader or writer; `None` where one of its users has
    /// not issued.
    pub fn register_free(&self, reg: VReg, writes: bool) -> Option<Cycle> {
        let Register { readers, writers } = &self.registers[reg.index()];
        let written = writers.free()?;
        if writes || !self.params.shared_reads { Some(written.max(readers.free()?)) } else { Some(written) }
    }

    /// When `work` would issue if it dispatched in the current cycle, as far as is known now:
    /// what dispatches later may still take its SRAMs.
    pub fn earliest_issue(&self, work: &Work) -> Cycle {
        self.reservations.first_free(work, self.pipe_free(work.pipe, work.path))
    }

    /// When a pipe (and path) could take an instruction that dispatched in the current cycle, as
    /// far as is known now.
    ///
    /// # Panics
    /// For the scalar unit.
    pub fn pipe_free(&self, pipe: Pipe, path: u8) -> Cycle {
        let mut free = self.free_at[pipe.index()][usize::from(path)];
        for waiting in self.queues[pipe.index()].iter().filter(|waiting| waiting.work.path == path) {
            let ready = free.max(waiting.dispatch + self.params.dispatch_to_issue);
            free = self.reservations.first_free(&waiting.work, ready) + waiting.work.occupancy;
        }
        free.max(self.now + self.params.dispatch_to_issue)
    }

    /// The number of instructions in a pipe's queue.
    ///
    /// # Panics
    /// For the scalar unit.
    pub fn waiting(&self, pipe: Pipe) -> usize {
        self.queues[pipe.index()].len()
    }

    /// Whether nothing is in flight and nothing holds the front end.
    pub fn idle(&self) -> bool {
        let free = self.dispatched_now == 0 && self.held_until <= self.now;
        free && self.end <= self.now && self.queues.iter().all(VecDeque::is_empty)
    }

    /// The SRAMs to which an access is known in some of the `count` cycles from `from` on: a bit
    /// for each, the least significant one for SRAM 0.
    pub fn srams_taken(&self, from: Cycle, count: u32) -> u16 {
        self.reservations.taken(from, count)
    }

    /// Lets the current cycle end: its issues happen, and the front end moves to the next one.
    pub fn advance(&mut self) {
        self.move_to(self.now + 1);
    }

    /// Lets the cycles before `cycle`, which lies ahead, end.
    pub fn advance_to(&mut self, cycle: Cycle) {
        self.move_to(cycle);
    }

    /// Dispatches `work` as the next instruction, in the first cycle in which it can.
    pub fn dispatch(&mut self, work: &Work) -> Cycle {
        loop {
            match self.try_dispatch(work) {
                Ok(()) => break,
                Err(Stall::Until(cycle)) => self.move_to(cycle),
                Err(Stall::UntilIssue) => {
                    let (pipe, at) =
                        self.next_issue().expect("a full queue or waiting user has a head to issue");
                    self.issue(pipe, at);
                    // What issues in a cycle has left its queue in the next.
                    self.move_to(at.max(self.now) + 1);
                }
            }
        }
        self.account(work);
        self.dispatched_now += 1;
        let index = self.timing.schedule.len();
        self.timing.instructions[work.pipe.index()] += 1;
        self.timing.schedule.push(Schedule { dispatch: self.now, issue: self.now, complete: self.now });
        if work.pipe == Pipe::Scalar {
            if work.scalar_load {
                self.held_until = self.now + self.params.scalar_latency;
            }
            return self.now;
        }
        let pipe = work.pipe.index();
        for reg in work.reads.iter() {
            self.registers[reg.index()].readers.waiting += 1;
        }
        for reg in work.writes.iter() {
            self.registers[reg.index()].writers.waiting += 1;
        }
        self.queues[pipe].push_back(Waiting { index, dispatch: self.now, work: *work });
        if self.queues[pipe].len() == 1 {
            self.look_at_head(pipe);
        }
        self.now
    }

    /// Lets everything complete.
    pub fn finish(mut self) -> Timing {
        let last = if self.timing.schedule.is_empty() { Cycle::ZERO } else { self.accounted };
        while let Some((pipe, at)) = self.next_issue() {
            self.issue(pipe, at);
        }
        let end = self.end.max(last);
        self.timing.stalls.charge(Cause::Drain, end - last);
        self.timing.cycles = end;
        assert_eq!(self.timing.stalls.total(), end.0, "every cycle has one cause");
        self.timing
    }

    /// Lets all issues before `cycle` happen and puts the front end there.
    fn move_to(&mut self, cycle: Cycle) {
        debug_assert!(cycle > self.now);
        while let Some((pipe, at)) = self.next_issue() {
            if at >= cycle {
                break;
            }
            self.issue(pipe, at);
        }
        self.now = cycle;
        self.dispatched_now = 0;
    }

    /// The pipe whose head issues next, and when.
    fn next_issue(&mut self) -> Option<(Pipe, Cycle)> {
        let mut best: Option<(Pipe, Cycle, usize)> = None;
        for pipe in Pipe::VECTOR {
            let Some(waiting) = self.queues[pipe.index()].front() else { continue };
            let head = &mut self.heads[pipe.index()];
            if !head.exact {
                head.at = self.reservations.first_free(&waiting.work, head.at);
                head.exact = true;
            }
            let at = head.at;
            let rank = if self.params.oldest_first { waiting.index } else { pipe.index() };
            if best.is_none_or(|(_, cycle, other)| (at, rank) < (cycle, other)) {
                best = Some((pipe, at, rank));
            }
        }
        best.map(|(pipe, at, _)| (pipe, at))
    }

    fn issue(&mut self, pipe: Pipe, at: Cycle) {
        let p = pipe.index();
        let Waiting { index, work, .. } = self.queues[p].pop_front().expect("the head issues");
        self.reservations.reserve(&work, at);
        self.timing.port_wait[p] += at - self.heads[p].ready;
        self.timing.bank_conflicts += u64::from(work.bank_conflicts);
        // A queue issues one instruction a cycle, even where the other path is free.
        self.free_at[p] = self.free_at[p].map(|free| free.max(at + 1));
        self.free_at[p][usize::from(work.path)] = at + work.occupancy;
        self.look_at_head(p);
        for (queue, head) in self.queues.iter().zip(&mut self.heads) {
            // The heads of the other queues may have lost their cycle.
            head.exact &= queue.front().is_some_and(|waiting| waiting.work.srams() & work.srams() == 0);
        }
        let complete = at + work.total_cycles();
        let read = if self.params.release_at_read { at + work.read_cycles() } else { complete };
        for reg in work.reads.iter() {
            self.registers[reg.index()].readers.issued(p, read);
        }
        for reg in work.writes.iter() {
            self.registers[reg.index()].writers.issued(p, complete);
        }
        self.end = self.end.max(complete);
        self.timing.busy[p] += u64::from(work.occupancy);
        work.add_sram_cycles(&mut self.timing.sram_busy);
        let schedule = &mut self.timing.schedule[index];
        schedule.issue = at;
        schedule.complete = complete;
    }

    /// Takes note of a new head of a queue.
    fn look_at_head(&mut self, pipe: usize) {
        if let Some(Waiting { dispatch, work, .. }) = self.queues[pipe].front() {
            let ready = *dispatch + self.params.dispatch_to_issue;
            let free = self.free_at[pipe][usize::from(work.path)];
            let ready = ready.max(free);
            self.heads[pipe] = Head { ready, at: ready, exact: false };
        }
    }

    /// Charges the cycles up to the dispatch of `work` in the current one.
    fn account(&mut self, work: &Work) {
        if self.accounted < self.now {
            self.account_wait(work);
        }
        if self.accounted == self.now {
            self.timing.stalls.charge(Cause::Issue, 1);
            self.accounted = self.now + 1;
        }
    }

    /// Charges the cycles before the current one in which `work` was held back.
    fn account_wait(&mut self, work: &Work) {
        let at = &mut self.accounted;
        let stalls = &mut self.timing.stalls;
        let mut charge = |cause, until: Cycle| {
            if until > *at {
                stalls.charge(cause, until - *at);
                *at = until;
            }
        };
        charge(Cause::Fetch, self.params.fetch);
        charge(Cause::Scalar, self.held_until);
        if work.pipe != Pipe::Scalar {
            // Every user of the registers has issued by now, so the past is known.
            for (reg, writes) in operands(work) {
                let register = &self.registers[reg.index()];
                let readers_block = writes || !self.params.shared_reads;
                for pipe in Pipe::VECTOR {
                    let readers =
                        if readers_block { register.readers.released[pipe.index()] } else { Cycle::ZERO };
                    let released = register.writers.released[pipe.index()].max(readers);
                    charge(Cause::busy(pipe), released);
                }
            }
            charge(Cause::queue(work.pipe), self.now);
        }
        debug_assert_eq!(self.accounted, self.now);
    }
}

/// The vector registers of an instruction, sources first, and whether it writes them.
fn operands(work: &Work) -> impl Iterator<Item = (VReg, bool)> + '_ {
    work.reads.iter().map(|&reg| (reg, false)).chain(work.writes.iter().map(|&reg| (reg, true)))
}

/// Cycles from an issue within which every access to the register file is made.
fn horizon(machine: &Machine) -> u32 {
    let length = VECTOR_LENGTH as u32;
    // Three reads and two writes of one SRAM in each beat.
    let interval = machine.hple.initiation_interval.max(machine.sbar.initiation_interval).max(5);
    let lanes = length / machine.hple.count * interval;
    let vbar = length * machine.vbar.initiation_interval;
    let latency = (machine.hple.multiplier_latency_cycles + machine.hple.adder_latency_cycles)
        .max(machine.sbar.latency_cycles)
        .max(machine.vbar.latency_cycles);
    latency + interval + lanes.max(vbar)
}
