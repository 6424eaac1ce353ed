//! Attribution of every cycle to one cause, and lower bounds on the cycles of any schedule.

use super::decode::{DecodedProgram, Decoder};
use super::micro_op::MicroOp;
use super::registers::{Accesses, Table};
use super::{Cycle, Timestamps};
use crate::machine::{Busyboard, Machine, SRAMS, SourceRelease};
use b512_asm::{PerPipe, Pipe, Program, VReg, for_each_pipe};

/// The cause of a cycle.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Cause {
    /// The front end dispatched.
    Issue,
    /// A register was in use by an instruction of the pipe.
    Busy(Pipe),
    /// The queue of the pipe was full.
    Queue(Pipe),
    /// A scalar load held the front end.
    Scalar,
    /// The front end was fetching and decoding.
    Fetch,
    /// All instructions had dispatched, and some were still in flight.
    Drain,
}

macro_rules! names {
    ($($(#[$doc:meta])* $pipe:ident = $name:ident, $queued:literal;)*) => {
        impl Cause {
            /// The name in results: `issue`, `busy_load_store`, `queue_compute`, ..
            pub const fn name(self) -> &'static str {
                match self {
                    Self::Issue => "issue",
                    $(Self::Busy(Pipe::$pipe) => concat!("busy_", stringify!($name)),)*
                    $(Self::Queue(Pipe::$pipe) => concat!("queue_", stringify!($name)),)*
                    Self::Scalar => "scalar",
                    Self::Fetch => "fetch",
                    Self::Drain => "drain",
                }
            }
        }
    };
}

for_each_pipe!(names);

impl Cause {
    /// Every cause, in the order of reports.
    pub fn all() -> impl Iterator<Item = Self> {
        let busy = Pipe::VECTOR.into_iter().map(Self::Busy);
        let queue = Pipe::VECTOR.into_iter().map(Self::Queue);
        let rest = [Self::Scalar, Self::Fetch, Self::Drain];
        [Self::Issue].into_iter().chain(busy).chain(queue).chain(rest)
    }
}

/// Cycles by cause.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stalls([u64; 4 + 2 * Pipe::ALL.len()]);

impl Stalls {
    /// The entry of `cause`. It is a sum, so that the engine's loop has no branch on causes.
    #[inline(always)]
    const fn slot(cause: Cause) -> usize {
        match cause {
            Cause::Issue => 0,
            Cause::Scalar => 1,
            Cause::Fetch => 2,
            Cause::Drain => 3,
            Cause::Busy(pipe) => 4 + pipe.index(),
            Cause::Queue(pipe) => 4 + Pipe::ALL.len() + pipe.index(),
        }
    }

    /// The cycles charged to `cause`.
    pub const fn get(&self, cause: Cause) -> u64 {
        self.0[Self::slot(cause)]
    }

    /// Charges `cycles` to `cause`.
    #[inline(always)]
    pub(super) const fn charge(&mut self, cause: Cause, cycles: u64) {
        self.0[Self::slot(cause)] += cycles;
    }

    /// The cycles of all causes.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }
}

/// Cycles in which one cause held an instruction at the front end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wait {
    /// The instruction's index in the program.
    pub instruction: usize,
    /// Neither [`Cause::Issue`] nor [`Cause::Drain`].
    pub cause: Cause,
    /// The first of these cycles.
    pub from: Cycle,
    /// One past the last of these cycles.
    pub to: Cycle,
}

impl Wait {
    /// All waits of a run of `program` with these `timestamps`, in chronological order. Their sums by
    /// cause are its [`Stalls`].
    pub fn of(machine: &Machine, program: &Program, timestamps: &[Timestamps]) -> Vec<Self> {
        Self::of_micro_ops(machine, &Decoder::program(machine, program), timestamps)
    }

    /// Like [`Wait::of`], for a decoded program.
    pub(crate) fn of_micro_ops(
        machine: &Machine,
        micro_ops: &[MicroOp],
        timestamps: &[Timestamps],
    ) -> Vec<Self> {
        match machine.frontend.busyboard {
            Busyboard::Strict => Self::with::<User>(machine, micro_ops, timestamps),
            Busyboard::SharedReads => Self::with::<SharedUsers>(machine, micro_ops, timestamps),
        }
    }

    fn with<U: Users>(machine: &Machine, micro_ops: &[MicroOp], timestamps: &[Timestamps]) -> Vec<Self> {
        let mut waits = Vec::new();
        let mut dispatches = Dispatches::<U>::new(machine);
        for (instruction, (micro_op, timestamps)) in micro_ops.iter().zip(timestamps).enumerate() {
            dispatches.add(micro_op, timestamps, |cause, from, to| {
                if from < to {
                    waits.push(Self { instruction, cause, from, to });
                }
            });
        }
        waits
    }
}

/// The instructions that use a register and that later ones may have to wait for.
pub(super) trait Users: Copy + Default {
    /// An instruction of `pipe` reads it and releases it at `until`.
    fn add_reader(&mut self, pipe: Pipe, until: Cycle);

    /// An instruction of `pipe` writes it and releases it at `until`.
    fn add_writer(&mut self, pipe: Pipe, until: Cycle);

    /// Calls `wait` for each pipe whose instructions may block a reader, or a writer, of the
    /// register, with the cause to charge and the cycle of the last release.
    fn for_each(&self, writer: bool, wait: impl FnMut(Cause, Cycle));
}

/// With the strict busyboard, there is one user at a time: the last one.
#[derive(Clone, Copy)]
pub(super) struct User {
    pipe: Pipe,
    until: Cycle,
}

impl Default for User {
    /// No user.
    fn default() -> Self {
        Self { pipe: Pipe::LoadStore, until: Cycle::ZERO }
    }
}

impl Users for User {
    #[inline]
    fn add_reader(&mut self, pipe: Pipe, until: Cycle) {
        *self = Self { pipe, until };
    }

    #[inline]
    fn add_writer(&mut self, pipe: Pipe, until: Cycle) {
        *self = Self { pipe, until };
    }

    #[inline]
    fn for_each(&self, _: bool, mut wait: impl FnMut(Cause, Cycle)) {
        wait(Cause::Busy(self.pipe), self.until);
    }
}

/// With shared reads: the cycles in which the last reader and the last writer of each pipe release
/// the register.
#[derive(Clone, Copy, Default)]
pub(super) struct SharedUsers {
    readers: PerPipe<Cycle>,
    writers: PerPipe<Cycle>,
}

impl Users for SharedUsers {
    fn add_reader(&mut self, pipe: Pipe, until: Cycle) {
        let readers = &mut self.readers[pipe];
        *readers = until.max(*readers);
    }

    fn add_writer(&mut self, pipe: Pipe, until: Cycle) {
        let writers = &mut self.writers[pipe];
        *writers = until.max(*writers);
    }

    fn for_each(&self, writer: bool, mut wait: impl FnMut(Cause, Cycle)) {
        for pipe in Pipe::VECTOR {
            let readers = if writer { self.readers[pipe] } else { Cycle::ZERO };
            wait(Cause::Busy(pipe), self.writers[pipe].max(readers));
        }
    }
}

/// Follows the dispatches of a run, and attributes the cycles between them.
pub(super) struct Dispatches<U> {
    release_at_read: bool,
    scalar_latency: u32,
    dispatch_interval: u32,
    /// The front end cannot dispatch the next instruction before this cycle.
    fetched: Cycle,
    /// The same for the next instructions, as many as the front end is wide, in a ring.
    next_fetched: Box<[Cycle]>,
    /// The index of the next instruction in the ring.
    index: usize,
    users: Table<U>,
    held_until: Cycle,
    /// Every cycle before this one has a cause.
    at: Cycle,
    /// Cycles with a dispatch.
    pub(super) cycles: u64,
}

impl<U: Users> Dispatches<U> {
    pub(super) fn new(machine: &Machine) -> Self {
        let frontend = &machine.frontend;
        let first = Cycle::ZERO + frontend.fetch_to_dispatch_cycles;
        // Without a limit, an instruction follows the previous one in the same cycle.
        let (width, dispatch_interval) = match machine.ideal.front_end {
            true => (1, 0),
            false => (frontend.width as usize, frontend.cycles_per_instruction),
        };
        Self {
            release_at_read: machine.frontend.source_release == SourceRelease::Read,
            scalar_latency: machine.scalar.load_latency_cycles,
            fetched: first,
            dispatch_interval,
            next_fetched: vec![first; width].into(),
            index: 0,
            users: Table::new(U::default()),
            held_until: Cycle::ZERO,
            at: Cycle::ZERO,
            cycles: 0,
        }
    }

    /// Adds the next instruction. Calls `visit` with the causes of the cycles since the previous
    /// one, in chronological order: the cause, the first cycle and one past the last, which may be
    /// equal.
    #[inline]
    pub(super) fn add(
        &mut self,
        micro_op: &MicroOp,
        timestamps: &Timestamps,
        visit: impl FnMut(Cause, Cycle, Cycle),
    ) {
        self.cycles += u64::from(self.at <= timestamps.dispatch);
        if self.at < timestamps.dispatch {
            self.explain(micro_op, timestamps.dispatch, visit);
        }
        self.at = timestamps.dispatch + 1;
        self.next_fetched[self.index] = timestamps.dispatch + self.dispatch_interval;
        self.index = if self.index + 1 == self.next_fetched.len() { 0 } else { self.index + 1 };
        self.fetched = self.next_fetched[self.index];
        if micro_op.pipe == Pipe::Scalar {
            if micro_op.scalar_load {
                self.held_until = timestamps.dispatch + self.scalar_latency;
            }
            return;
        }
        let read = timestamps.issue + micro_op.read_cycles();
        let read = if self.release_at_read { read } else { timestamps.complete };
        for reg in micro_op.reads.indices() {
            self.users[reg].add_reader(micro_op.pipe, read);
        }
        for reg in micro_op.writes.indices() {
            self.users[reg].add_writer(micro_op.pipe, timestamps.complete);
        }
        self.users.set_none(U::default());
    }

    /// The reason why `micro_op` did not dispatch earlier.
    #[inline]
    fn explain(&self, micro_op: &MicroOp, dispatch: Cycle, mut visit: impl FnMut(Cause, Cycle, Cycle)) {
        let mut at = self.at;
        // Branch-free: the busy register cannot be predicted.
        let mut wait = |cause, to: Cycle| {
            let from = at;
            at = to.max(at);
            visit(cause, from, at);
        };
        if self.at < self.fetched.max(self.held_until) {
            wait(Cause::Fetch, self.fetched);
            wait(Cause::Scalar, self.held_until);
        }
        if micro_op.pipe == Pipe::Scalar {
            return;
        }
        for reg in micro_op.reads.indices() {
            self.users[reg].for_each(false, &mut wait);
        }
        for reg in micro_op.writes.indices() {
            self.users[reg].for_each(true, &mut wait);
        }
        wait(Cause::Queue(micro_op.pipe), dispatch);
    }
}

/// Order-independent resource demand of a program.
pub(super) struct Demand<'m> {
    machine: &'m Machine,
    /// Occupancy of each path of each pipe, in cycles.
    pub(super) paths: PerPipe<[u64; 2]>,
    /// Accesses to each register, in cycles; bank conflicts are added as they occur.
    registers: Accesses,
    /// Cycles for which VDM bank conflicts hold the VBAR.
    pub(super) bank_conflicts: u64,
    fetched: Cycle,
    /// For each register, the length of the longest dependence chain that ends in a write to it, in
    /// cycles.
    written: Table<Cycle>,
    /// The length of the longest of all chains.
    longest: Cycle,
}

impl<'m> Demand<'m> {
    /// The demand before the first instruction of `program`.
    pub(super) fn new(machine: &'m Machine, program: &DecodedProgram) -> Self {
        let fetched = Cycle::ZERO + machine.frontend.fetch_to_dispatch_cycles;
        Self {
            machine,
            paths: PerPipe::default(),
            registers: program.register_cycles(machine),
            bank_conflicts: 0,
            fetched,
            written: Table::new(fetched),
            longest: Cycle::ZERO,
        }
    }

    /// Adds the next instruction.
    #[inline(always)]
    pub(super) fn add(&mut self, micro_op: &MicroOp) {
        if micro_op.pipe == Pipe::Scalar {
            return;
        }
        self.paths[micro_op.pipe][usize::from(micro_op.path)] += u64::from(micro_op.occupancy);
        if micro_op.bank_conflicts > 0 {
            let conflicts = u64::from(micro_op.bank_conflicts);
            self.bank_conflicts += conflicts;
            for reg in micro_op.reads.iter() {
                self.registers.reads[reg.into()] += conflicts;
            }
            for reg in micro_op.writes.iter() {
                self.registers.writes[reg.into()] += conflicts;
            }
        }
        let [a, b, c] = micro_op.reads.indices().map(|reg| self.written[reg]);
        let start = a.max(b).max(c);
        let end = start + (self.machine.frontend.dispatch_to_issue_cycles + micro_op.total_cycles());
        for reg in micro_op.writes.indices() {
            self.written[reg] = end;
        }
        self.written.set_none(self.fetched);
        self.longest = self.longest.max(end);
    }

    /// Cycles of reads from each SRAM of the register file, and of writes to it; zeros if ports are ideal.
    fn sram_accesses(&self) -> [[u64; SRAMS]; 2] {
        let mut accesses = [[0; SRAMS]; 2];
        if self.machine.sram_ports_are_limited() {
            for reg in VReg::all() {
                let sram = usize::from(self.machine.vrf.placement.sram(reg));
                accesses[0][sram] += self.registers.reads[reg.into()];
                accesses[1][sram] += self.registers.writes[reg.into()];
            }
        }
        accesses
    }

    /// Busy cycles of the ports of each SRAM of the register file; zeros if ports are ideal.
    pub(super) fn srams(&self) -> [u64; SRAMS] {
        let [reads, writes] = self.sram_accesses();
        std::array::from_fn(|sram| reads[sram] + writes[sram])
    }

    /// Busy cycles of the busiest port of the SRAMs.
    fn busiest_port(&self) -> u64 {
        let largest = |srams: [u64; SRAMS]| srams.into_iter().max().unwrap_or(0);
        if self.machine.sram_writes_have_a_port() {
            self.sram_accesses().map(largest).into_iter().max().unwrap_or(0)
        } else {
            largest(self.srams())
        }
    }

    /// The bounds of `program` after all of its instructions have been added.
    pub(super) fn bounds(&self, program: &DecodedProgram) -> Bounds {
        let (width, scalar) = (self.machine.dispatch_width().into(), &self.machine.scalar);
        let interval = self.machine.frontend.cycles_per_instruction;
        // Cycles that a scalar load adds before the next instruction. The last load may delay nothing.
        let hold = u64::from(scalar.load_latency_cycles.saturating_sub(interval))
            * program.scalar_loads().saturating_sub(1);
        let groups = program.instructions().values().sum::<u64>().div_ceil(width);
        let dispatch = groups.saturating_sub(1) * u64::from(interval) + u64::from(groups > 0) + hold;
        let paths = self.paths.values().flatten().copied().max().unwrap_or(0);
        let resource = paths.max(self.busiest_port()).max(dispatch);
        Bounds { resource: Cycle(resource), dependence: self.longest }
    }
}

/// Lower bounds on the cycles of any order of the program's instructions on this machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Bounds {
    /// The busy cycles of the most loaded unit: a pipe, an SRAM of the register file, or the front
    /// end.
    pub resource: Cycle,
    /// The latency of the longest chain of dependent instructions.
    pub dependence: Cycle,
}
