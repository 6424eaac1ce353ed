//! Every cycle has one cause; and the bounds below which no schedule of the program can go.

use super::work::{SRAMS, Table, Work, takes_turns_at_srams};
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

    /// Of a run of that many `cycles` with this `schedule`.
    pub(super) fn of(machine: &Machine, works: &[Work], schedule: &[Schedule], cycles: Cycle) -> Self {
        let mut stalls = Self::default();
        for_each_wait(machine, works, schedule, |wait| stalls.charge(wait.cause, wait.to - wait.from));
        let same_cycle = schedule.windows(2).filter(|pair| pair[0].dispatch == pair[1].dispatch).count();
        stalls.charge(Cause::Issue, (schedule.len() - same_cycle) as u64);
        let dispatched = schedule.last().map_or(Cycle::ZERO, |last| last.dispatch + 1);
        stalls.charge(Cause::Drain, cycles - dispatched);
        assert_eq!(stalls.total(), cycles.0, "every cycle has one cause");
        stalls
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
        let mut waits = Vec::new();
        for_each_wait(machine, works, schedule, |wait| waits.push(wait));
        waits
    }
}

/// When the instructions of each pipe that read or wrote a register have all released it.
#[derive(Clone, Copy, Default)]
struct Released {
    readers: [Cycle; 3],
    writers: [Cycle; 3],
}

/// Calls `visit` with the waits of a run in order of time.
fn for_each_wait(machine: &Machine, works: &[Work], schedule: &[Schedule], mut visit: impl FnMut(Wait)) {
    let shared_reads = machine.frontend.busyboard == Busyboard::SharedReads;
    let fetched = Cycle::ZERO + machine.frontend.fetch_to_dispatch_cycles;
    let release_at_read = machine.frontend.source_release == SourceRelease::Read;
    let mut released = Table::new(Released::default());
    let mut held_until = Cycle::ZERO;
    let mut at = Cycle::ZERO;
    for (instruction, (work, schedule)) in works.iter().zip(schedule).enumerate() {
        let waited = at < schedule.dispatch;
        let mut wait = |cause, to: Cycle| {
            if to > at {
                visit(Wait { instruction, cause, from: at, to });
                at = to;
            }
        };
        wait(Cause::Fetch, fetched);
        wait(Cause::Scalar, held_until);
        if work.pipe == Pipe::Scalar {
            if work.scalar_load {
                held_until = schedule.dispatch + machine.scalar.load_latency_cycles;
            }
        } else {
            if waited {
                let reads = work.reads.places().map(|reg| (reg, !shared_reads));
                let writes = work.writes.places().map(|reg| (reg, true));
                for (reg, readers_block) in reads.into_iter().chain(writes) {
                    let Released { readers, writers } = &released[reg];
                    for pipe in Pipe::VECTOR {
                        let p = pipe.index();
                        let readers = if readers_block { readers[p] } else { Cycle::ZERO };
                        wait(Cause::busy(pipe), writers[p].max(readers));
                    }
                }
                wait(Cause::queue(work.pipe), schedule.dispatch);
            }
            let read = if release_at_read { schedule.issue + work.read_cycles() } else { schedule.complete };
            let p = work.pipe.index();
            for reg in work.reads.places() {
                let readers = &mut released[reg].readers[p];
                *readers = read.max(*readers);
            }
            for reg in work.writes.places() {
                let writers = &mut released[reg].writers[p];
                *writers = schedule.complete.max(*writers);
            }
            released.set_none(Released::default());
        }
        at = at.max(schedule.dispatch + 1);
    }
}

/// Cycles for which the head of each queue was held back only by SRAMs of the register file that
/// other instructions used, by [`Pipe::index`].
pub(super) fn port_wait(machine: &Machine, works: &[Work], schedule: &[Schedule]) -> [u64; 3] {
    let mut free_at = [[Cycle::ZERO; 2]; 3];
    let mut port_wait = [0; 3];
    for (work, schedule) in works.iter().zip(schedule).filter(|(work, _)| work.pipe != Pipe::Scalar) {
        let (p, path) = (work.pipe.index(), usize::from(work.path));
        let arrival = schedule.dispatch + machine.frontend.dispatch_to_issue_cycles;
        port_wait[p] += schedule.issue - arrival.max(free_at[p][path]);
        // A queue issues one instruction a cycle, even where the other path is free.
        free_at[p] = free_at[p].map(|free| free.max(schedule.issue + 1));
        free_at[p][path] = schedule.issue + work.occupancy;
    }
    port_wait
}

/// What the instructions of a program ask of the machine, whatever their order.
#[derive(Default)]
pub(super) struct Demand {
    /// Instructions of each pipe, by [`Pipe::index`].
    pub(super) instructions: [u64; 4],
    /// Cycles for which they hold each path of each pipe.
    pub(super) paths: [[u64; 2]; 4],
    /// Cycles for which they use each SRAM of the register file.
    pub(super) srams: [u64; SRAMS],
    /// Cycles for which they hold the VBAR because banks of the VDM conflict.
    pub(super) bank_conflicts: u64,
    /// Scalar loads.
    scalar_loads: u64,
}

impl Demand {
    pub(super) fn of(machine: &Machine, works: &[Work]) -> Self {
        let mut demand = Self::default();
        // Cycles for which each register is accessed.
        let mut registers = Table::new(0);
        for work in works {
            demand.instructions[work.pipe.index()] += 1;
            demand.paths[work.pipe.index()][usize::from(work.path)] += u64::from(work.occupancy);
            demand.bank_conflicts += u64::from(work.bank_conflicts);
            demand.scalar_loads += u64::from(work.scalar_load);
            work.add_register_cycles(&mut registers);
        }
        if takes_turns_at_srams(machine) {
            for reg in VReg::all() {
                demand.srams[usize::from(machine.vrf.placement.sram(reg))] += registers[reg.into()];
            }
        }
        demand
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

impl Bounds {
    /// The bounds of a program with this `demand`.
    pub(super) fn of(machine: &Machine, works: &[Work], demand: &Demand) -> Self {
        let width = if machine.ideal.front_end { u64::MAX } else { machine.frontend.width.into() };
        // Cycles that pass after a scalar load before the next instruction. One may come last and
        // hold nothing up.
        let hold = u64::from(machine.scalar.load_latency_cycles - 1);
        let dispatch = (works.len() as u64).div_ceil(width) + hold * demand.scalar_loads.saturating_sub(1);
        let units = demand.paths.as_flattened().iter().chain(&demand.srams);
        let resource = units.copied().max().unwrap_or(0).max(dispatch);
        Self { resource: Cycle(resource), dependence: longest_chain(machine, works) }
    }
}

/// The cycle in which the longest chain of instructions ends of which each reads what the one
/// before it wrote.
fn longest_chain(machine: &Machine, works: &[Work]) -> Cycle {
    let fetched = Cycle::ZERO + machine.frontend.fetch_to_dispatch_cycles;
    let mut written = Table::new(fetched);
    let mut longest = Cycle::ZERO;
    for work in works.iter().filter(|work| work.pipe != Pipe::Scalar) {
        let [a, b, c] = work.reads.places().map(|reg| written[reg]);
        let start = a.max(b).max(c);
        let end = start + machine.frontend.dispatch_to_issue_cycles + work.total_cycles();
        for reg in work.writes.places() {
            written[reg] = end;
        }
        written.set_none(fetched);
        longest = longest.max(end);
    }
    longest
}
