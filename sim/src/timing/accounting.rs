//! Every cycle has one cause; and the bounds below which no schedule of the program can go.

use super::work::{Decoded, SRAMS, Table, Work, takes_turns_at_srams};
use super::{Cycle, Schedule};
use crate::machine::{Busyboard, Machine, SourceRelease};
use b512_asm::{Pipe, VReg};

/// Why a cycle passed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Cause {
    /// The front end dispatched.
    Issue,
    /// A register was in use by an instruction of the load/store pipe.
    BusyLoadStore,
    /// A register was in use by an instruction of the compute pipe.
    BusyCompute,
    /// A register was in use by an instruction of the shuffle pipe.
    BusyShuffle,
    /// The load/store queue was full.
    QueueLoadStore,
    /// The compute queue was full.
    QueueCompute,
    /// The shuffle queue was full.
    QueueShuffle,
    /// A scalar load held the front end.
    Scalar,
    /// The first instruction had not been fetched and decoded.
    Fetch,
    /// All instructions had dispatched, some were still under way.
    Drain,
}

impl Cause {
    /// Every cause, in the order of reports.
    pub const ALL: [Self; 10] = [
        Self::Issue,
        Self::BusyLoadStore,
        Self::BusyCompute,
        Self::BusyShuffle,
        Self::QueueLoadStore,
        Self::QueueCompute,
        Self::QueueShuffle,
        Self::Scalar,
        Self::Fetch,
        Self::Drain,
    ];

    /// A register in use by `pipe`.
    ///
    /// # Panics
    /// For the scalar unit, which has no in-flight instructions.
    pub const fn busy(pipe: Pipe) -> Self {
        match pipe {
            Pipe::LoadStore => Self::BusyLoadStore,
            Pipe::Compute => Self::BusyCompute,
            Pipe::Shuffle => Self::BusyShuffle,
            Pipe::Scalar => panic!("the scalar unit holds no vector register"),
        }
    }

    /// The queue of `pipe` was full.
    ///
    /// # Panics
    /// For the scalar unit, which has no queue.
    pub const fn queue(pipe: Pipe) -> Self {
        match pipe {
            Pipe::LoadStore => Self::QueueLoadStore,
            Pipe::Compute => Self::QueueCompute,
            Pipe::Shuffle => Self::QueueShuffle,
            Pipe::Scalar => panic!("the scalar unit has no queue"),
        }
    }

    /// The name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Issue => "issue",
            Self::BusyLoadStore => "busy_load_store",
            Self::BusyCompute => "busy_compute",
            Self::BusyShuffle => "busy_shuffle",
            Self::QueueLoadStore => "queue_load_store",
            Self::QueueCompute => "queue_compute",
            Self::QueueShuffle => "queue_shuffle",
            Self::Scalar => "scalar",
            Self::Fetch => "fetch",
            Self::Drain => "drain",
        }
    }
}

/// Cycles by cause.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stalls([u64; Cause::ALL.len()]);

impl Stalls {
    /// The cycles charged to `cause`.
    pub const fn get(&self, cause: Cause) -> u64 {
        self.0[cause as usize]
    }

    /// Charges `cycles` to `cause`.
    pub(super) const fn charge(&mut self, cause: Cause, cycles: u64) {
        self.0[cause as usize] += cycles;
    }

    /// The cycles of all causes.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }
}

/// Cycles in which one cause held an instruction back at the front end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wait {
    /// The instruction's index in the program.
    pub instruction: usize,
    /// Neither [`Cause::Issue`] nor [`Cause::Drain`].
    pub cause: Cause,
    /// The first of the cycles.
    pub from: Cycle,
    /// One past the last of them.
    pub to: Cycle,
}

impl Wait {
    /// All waits of a run in order of time, from what is known once it is over. Summed by cause
    /// they are its [`Stalls`].
    pub fn of(machine: &Machine, works: &[Work], schedule: &[Schedule]) -> Vec<Self> {
        match machine.frontend.busyboard {
            Busyboard::Strict => Self::with::<User>(machine, works, schedule),
            Busyboard::SharedReads => Self::with::<SharedUsers>(machine, works, schedule),
        }
    }

    fn with<U: Users>(machine: &Machine, works: &[Work], schedule: &[Schedule]) -> Vec<Self> {
        let mut waits = Vec::new();
        let mut dispatches = Dispatches::<U>::new(machine);
        for (instruction, (work, schedule)) in works.iter().zip(schedule).enumerate() {
            dispatches.add(work, schedule, |cause, from, to| {
                if from < to {
                    waits.push(Self { instruction, cause, from, to });
                }
            });
        }
        waits
    }
}

/// The instructions that use a register, as far as later ones may wait for them.
pub(super) trait Users: Copy + Default {
    /// An instruction of `pipe` reads it and releases it at `until`.
    fn add_reader(&mut self, pipe: Pipe, until: Cycle);

    /// An instruction of `pipe` writes it and releases it at `until`.
    fn add_writer(&mut self, pipe: Pipe, until: Cycle);

    /// Calls `wait` for each pipe whose instructions may make it busy for a reader, or a writer, with
    /// what cycles are charged to then, and when the last of them releases it.
    fn for_each(&self, writer: bool, wait: impl FnMut(Cause, Cycle));
}

/// With the strict busyboard there is one user at a time: the last one.
#[derive(Clone, Copy)]
pub(super) struct User {
    /// What waiting for it is called.
    cause: Cause,
    until: Cycle,
}

impl Default for User {
    /// None.
    fn default() -> Self {
        Self { cause: Cause::BusyLoadStore, until: Cycle::ZERO }
    }
}

impl Users for User {
    #[inline]
    fn add_reader(&mut self, pipe: Pipe, until: Cycle) {
        *self = Self { cause: Cause::busy(pipe), until };
    }

    #[inline]
    fn add_writer(&mut self, pipe: Pipe, until: Cycle) {
        *self = Self { cause: Cause::busy(pipe), until };
    }

    #[inline]
    fn for_each(&self, _: bool, mut wait: impl FnMut(Cause, Cycle)) {
        wait(self.cause, self.until);
    }
}

/// With shared reads: when the readers and the writers of each pipe have all released the register,
/// by [`Pipe::index`].
#[derive(Clone, Copy, Default)]
pub(super) struct SharedUsers {
    readers: [Cycle; 3],
    writers: [Cycle; 3],
}

impl Users for SharedUsers {
    fn add_reader(&mut self, pipe: Pipe, until: Cycle) {
        let readers = &mut self.readers[pipe.index()];
        *readers = until.max(*readers);
    }

    fn add_writer(&mut self, pipe: Pipe, until: Cycle) {
        let writers = &mut self.writers[pipe.index()];
        *writers = until.max(*writers);
    }

    fn for_each(&self, writer: bool, mut wait: impl FnMut(Cause, Cycle)) {
        for pipe in Pipe::VECTOR {
            let p = pipe.index();
            let readers = if writer { self.readers[p] } else { Cycle::ZERO };
            wait(Cause::busy(pipe), self.writers[p].max(readers));
        }
    }
}

/// Follows the dispatches of a run, and says what each waited for.
pub(super) struct Dispatches<U> {
    release_at_read: bool,
    scalar_latency: u32,
    fetched: Cycle,
    users: Table<U>,
    held_until: Cycle,
    /// Every cycle before this one has its cause.
    at: Cycle,
    /// Cycles in which instructions have dispatched.
    pub(super) cycles: u64,
}

impl<U: Users> Dispatches<U> {
    pub(super) fn new(machine: &Machine) -> Self {
        Self {
            release_at_read: machine.frontend.source_release == SourceRelease::Read,
            scalar_latency: machine.scalar.load_latency_cycles,
            fetched: Cycle::ZERO + machine.frontend.fetch_to_dispatch_cycles,
            users: Table::new(U::default()),
            held_until: Cycle::ZERO,
            at: Cycle::ZERO,
            cycles: 0,
        }
    }

    /// The next instruction. Calls `visit` with the causes of the cycles since the one before it, in
    /// order of time: the cause, the first cycle and the one after the last, which may be the same.
    #[inline]
    pub(super) fn add(&mut self, work: &Work, schedule: &Schedule, visit: impl FnMut(Cause, Cycle, Cycle)) {
        self.cycles += u64::from(self.at <= schedule.dispatch);
        if self.at < schedule.dispatch {
            self.explain(work, schedule.dispatch, visit);
        }
        self.at = schedule.dispatch + 1;
        if work.pipe == Pipe::Scalar {
            if work.scalar_load {
                self.held_until = schedule.dispatch + self.scalar_latency;
            }
            return;
        }
        let read = schedule.issue + work.read_cycles();
        let read = if self.release_at_read { read } else { schedule.complete };
        for reg in work.reads.places() {
            self.users[reg].add_reader(work.pipe, read);
        }
        for reg in work.writes.places() {
            self.users[reg].add_writer(work.pipe, schedule.complete);
        }
        self.users.set_none(U::default());
    }

    /// Says why `work` did not dispatch before it did.
    #[inline]
    fn explain(&self, work: &Work, dispatch: Cycle, mut visit: impl FnMut(Cause, Cycle, Cycle)) {
        let mut at = self.at;
        // No jumps: which register is the busy one cannot be predicted.
        let mut wait = |cause, to: Cycle| {
            let from = at;
            at = to.max(at);
            visit(cause, from, at);
        };
        if self.at < self.fetched.max(self.held_until) {
            wait(Cause::Fetch, self.fetched);
            wait(Cause::Scalar, self.held_until);
        }
        if work.pipe == Pipe::Scalar {
            return;
        }
        for reg in work.reads.places() {
            self.users[reg].for_each(false, &mut wait);
        }
        for reg in work.writes.places() {
            self.users[reg].for_each(true, &mut wait);
        }
        wait(Cause::queue(work.pipe), dispatch);
    }
}

/// What the instructions of a program ask of the machine, whatever their order.
pub(super) struct Demand<'m> {
    machine: &'m Machine,
    /// Cycles for which they hold each path of each pipe.
    pub(super) paths: [[u64; 2]; 4],
    /// Cycles for which they access each register; of bank conflicts only those so far.
    registers: Table<u64>,
    /// Cycles for which they hold the VBAR because banks of the VDM conflict.
    pub(super) bank_conflicts: u64,
    fetched: Cycle,
    /// For each register the cycle in which the longest chain of instructions ends of which each
    /// reads what the one before it wrote, and the last writes that register.
    written: Table<Cycle>,
    /// The same for the longest of all chains.
    longest: Cycle,
}

impl<'m> Demand<'m> {
    /// Before the first instruction of the `program`.
    pub(super) fn new(machine: &'m Machine, program: &Decoded) -> Self {
        let fetched = Cycle::ZERO + machine.frontend.fetch_to_dispatch_cycles;
        Self {
            machine,
            paths: [[0; 2]; 4],
            registers: program.register_cycles(machine),
            bank_conflicts: 0,
            fetched,
            written: Table::new(fetched),
            longest: Cycle::ZERO,
        }
    }

    /// The next instruction.
    #[inline(always)]
    pub(super) fn add(&mut self, work: &Work) {
        if work.pipe == Pipe::Scalar {
            return;
        }
        self.paths[work.pipe.index()][usize::from(work.path)] += u64::from(work.occupancy);
        if work.bank_conflicts > 0 {
            let conflicts = u64::from(work.bank_conflicts);
            self.bank_conflicts += conflicts;
            for reg in work.reads.iter().chain(work.writes.iter()) {
                self.registers[reg.into()] += conflicts;
            }
        }
        let [a, b, c] = work.reads.places().map(|reg| self.written[reg]);
        let start = a.max(b).max(c);
        let end = start + (self.machine.frontend.dispatch_to_issue_cycles + work.total_cycles());
        for reg in work.writes.places() {
            self.written[reg] = end;
        }
        self.written.set_none(self.fetched);
        self.longest = self.longest.max(end);
    }

    /// Cycles for which each SRAM of the register file is used; zeros where ports are ideal.
    pub(super) fn srams(&self) -> [u64; SRAMS] {
        let mut srams = [0; SRAMS];
        if takes_turns_at_srams(self.machine) {
            for reg in VReg::all() {
                srams[usize::from(self.machine.vrf.placement.sram(reg))] += self.registers[reg.into()];
            }
        }
        srams
    }

    /// The bounds of the `program`, all of whose instructions have been added.
    pub(super) fn bounds(&self, program: &Decoded) -> Bounds {
        let (frontend, scalar) = (&self.machine.frontend, &self.machine.scalar);
        let width = if self.machine.ideal.front_end { u64::MAX } else { frontend.width.into() };
        // Cycles that pass after a scalar load before the next instruction. One may come last and
        // hold nothing up.
        let hold = u64::from(scalar.load_latency_cycles - 1) * program.scalar_loads().saturating_sub(1);
        let dispatch = program.instructions().iter().sum::<u64>().div_ceil(width) + hold;
        let srams = self.srams();
        let units = self.paths.as_flattened().iter().chain(&srams);
        let resource = units.copied().max().unwrap_or(0).max(dispatch);
        Bounds { resource: Cycle(resource), dependence: self.longest }
    }
}

/// Cycles below which no order of the program's instructions can go on this machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Bounds {
    /// The busy cycles of the most loaded unit: a pipe, an SRAM of the register file, or the front
    /// end.
    pub resource: Cycle,
    /// The longest chain of instructions in which each reads what the one before it wrote.
    pub dependence: Cycle,
}
