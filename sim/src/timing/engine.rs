//! The event-driven model: time advances from one dispatch or issue to the next.

use super::Cycle;
use super::busyboard::{Busyboard, FreeRegisters};
use super::expectations::Expectations;
use super::micro_op::MicroOp;
use super::reservations::Reservations;
use crate::machine::{Arbitration, Machine, SourceRelease};
use b512_asm::{PerPipe, Pipe};
use std::collections::VecDeque;
use std::hint::select_unpredictable;

/// The timestamps of one instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Timestamps {
    /// The cycle in which it left the front end.
    pub dispatch: Cycle,
    /// The cycle in which its pipe took it from the queue.
    pub issue: Cycle,
    /// The cycle in which its destinations were written and, by default, its registers released.
    pub complete: Cycle,
}

/// The reason why an instruction cannot dispatch in the current cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stall {
    /// It can dispatch in this cycle at the earliest, as far as is known.
    Until(Cycle),
    /// A queued instruction must issue first.
    UntilIssue,
}

/// The state of the machine during a run.
///
/// [`Engine::dispatch`] is called in program order. A scheduler that looks for the best next instruction
/// calls [`Engine::try_dispatch`] for each candidate, dispatches one, or advances time with
/// [`Engine::advance`].
///
/// The engine computes the timestamps of each instruction, and the cycles for which SRAMs delayed
/// the heads of queues. All other parts of a [`Timing`](super::Timing) follow from them.
#[derive(Clone)]
pub struct Engine {
    params: Params,
    /// The current cycle of the front end. Every issue before it has happened.
    now: Cycle,
    /// A scalar load holds the front end until this cycle.
    held_until: Cycle,
    queues: PerPipe<VecDeque<Waiting>>,
    heads: PerPipe<Head>,
    /// The smallest head, and its pipe.
    next: (Head, Pipe),
    issued: Issued,
    /// Cycles for which SRAMs delayed the heads.
    port_wait: PerPipe<u64>,
    timestamps: Vec<Timestamps>,
}

/// The resources that issued instructions hold.
#[derive(Clone)]
struct Issued {
    release_at_read: bool,
    busyboard: Busyboard,
    reservations: Reservations,
    /// The cycle from which each path of each pipe is free.
    free_at: PerPipe<[Cycle; 2]>,
    /// The completion of the last of them.
    end: Cycle,
}

impl Issued {
    /// Adds `micro_op`, issued at `at`, and returns its completion.
    #[inline]
    fn add(&mut self, micro_op: &MicroOp, at: Cycle) -> Cycle {
        self.reservations.reserve(micro_op, at);
        let free_at = &mut self.free_at[micro_op.pipe];
        // A queue issues one instruction per cycle, even if the other path is free.
        *free_at = free_at.map(|free| free.max(at + 1));
        free_at[usize::from(micro_op.path & 1)] = at + micro_op.occupancy;
        let complete = at + micro_op.total_cycles();
        let read = if self.release_at_read { at + micro_op.read_cycles() } else { complete };
        self.busyboard.issue(micro_op, read, complete);
        self.end = self.end.max(complete);
        complete
    }

    /// The cycle from which the pipe and path of `micro_op` are free.
    #[inline]
    fn pipe_free(&self, micro_op: &MicroOp) -> Cycle {
        self.free_at[micro_op.pipe][usize::from(micro_op.path & 1)]
    }
}

/// The machine parameters of the engine.
#[derive(Clone)]
struct Params {
    /// Instructions that dispatch within `dispatch_interval` cycles at most.
    width: usize,
    dispatch_interval: u32,
    queue_depth: usize,
    dispatch_to_issue: u32,
    scalar_latency: u32,
    oldest_first: bool,
}

/// An instruction in a queue.
#[derive(Clone)]
struct Waiting {
    index: usize,
    dispatch: Cycle,
    micro_op: MicroOp,
}

/// The state of a queue's head: the earliest cycle in which it may issue and, in the lower half,
/// its rank. If two heads can issue in one cycle, the lower rank goes first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Head(u128);

impl Head {
    #[inline]
    fn new(at: Cycle, rank: usize) -> Self {
        Self(u128::from(at.0) << u64::BITS | rank as u128)
    }

    #[inline]
    fn at(self) -> Cycle {
        Cycle((self.0 >> u64::BITS) as u64)
    }

    #[inline]
    fn put_off(self, to: Cycle) -> Self {
        Self::new(to, self.0 as u64 as usize)
    }
}

impl Default for Head {
    /// The state of an empty queue.
    fn default() -> Self {
        Self::new(Cycle::NEVER, 0)
    }
}

impl Engine {
    /// An idle machine at the start command.
    pub fn new(machine: &Machine) -> Self {
        let frontend = &machine.frontend;
        Self {
            params: Params {
                width: machine.dispatch_width() as usize,
                dispatch_interval: frontend.cycles_per_instruction,
                queue_depth: if machine.ideal.queues { usize::MAX } else { frontend.queue_depth as usize },
                dispatch_to_issue: frontend.dispatch_to_issue_cycles,
                scalar_latency: machine.scalar.load_latency_cycles,
                oldest_first: machine.vrf.arbitration == Arbitration::OldestFirst,
            },
            now: Cycle::ZERO + frontend.fetch_to_dispatch_cycles,
            held_until: Cycle::ZERO,
            queues: Default::default(),
            heads: Default::default(),
            next: (Head::default(), Pipe::VECTOR[0]),
            issued: Issued {
                release_at_read: frontend.source_release == SourceRelease::Read,
                busyboard: Busyboard::new(frontend.busyboard),
                reservations: Reservations::new(horizon(machine), machine.sram_writes_have_a_port()),
                free_at: Default::default(),
                end: Cycle::ZERO,
            },
            port_wait: PerPipe::default(),
            timestamps: Vec::new(),
        }
    }

    /// The timestamps of a whole program's instructions, and for each queue the cycles for which
    /// only SRAMs in use by other instructions delayed its head.
    pub(super) fn run(machine: &Machine, micro_ops: &[MicroOp]) -> (Vec<Timestamps>, PerPipe<u64>) {
        let mut engine = Self::new(machine);
        engine.timestamps.reserve_exact(micro_ops.len());
        for micro_op in micro_ops {
            engine.dispatch(micro_op);
        }
        engine.issue_before(Cycle::NEVER);
        (engine.timestamps, engine.port_wait)
    }

    /// The current cycle of the front end.
    #[inline]
    pub fn now(&self) -> Cycle {
        self.now
    }

    /// Whether `micro_op` can dispatch in the current cycle.
    ///
    /// # Errors
    /// Returns the reason if it cannot.
    pub fn try_dispatch(&self, micro_op: &MicroOp) -> Result<(), Stall> {
        let decoded = self.decoded(self.params.width);
        if decoded > self.now {
            return Err(Stall::Until(decoded));
        }
        if self.held_until > self.now {
            return Err(Stall::Until(self.held_until));
        }
        if micro_op.pipe == Pipe::Scalar {
            return Ok(());
        }
        let free = self.issued.busyboard.free(micro_op);
        if free == Cycle::NEVER || self.is_full(micro_op.pipe) {
            return Err(Stall::UntilIssue);
        }
        if free > self.now { Err(Stall::Until(free)) } else { Ok(()) }
    }

    /// Whether the front end can dispatch in the current cycle, as far as it does not depend on the
    /// instruction.
    pub fn accepts(&self) -> bool {
        self.decoded(self.params.width).max(self.held_until) <= self.now
    }

    /// Whether the queue of a pipe has room.
    pub fn has_room(&self, pipe: Pipe) -> bool {
        !self.is_full(pipe)
    }

    /// The registers that are free in the current cycle.
    pub fn free_registers(&mut self) -> FreeRegisters {
        self.issued.busyboard.free_registers(self.now)
    }

    /// The first cycle from `free` on in which `micro_op` could issue, if it dispatched in the current cycle.
    /// `free` is its [`pipe_free`](Self::pipe_free). It is an estimate: instructions that dispatch later may
    /// still reserve its SRAMs.
    #[inline]
    pub fn earliest_issue(&self, micro_op: &MicroOp, free: Cycle) -> Cycle {
        self.issued.reservations.first_free(micro_op, free)
    }

    /// As [`earliest_issue`](Self::earliest_issue), with the accesses that are expected of queued
    /// instructions.
    pub fn earliest_issue_beside(&self, micro_op: &MicroOp, free: Cycle, expected: &Expectations) -> Cycle {
        let mut at = self.earliest_issue(micro_op, free);
        loop {
            match expected.delay(micro_op, at) {
                0 => return at,
                delay => at = self.issued.reservations.first_free(micro_op, Cycle(at.0 + delay)),
            }
        }
    }

    /// No expectations, for a scheduler on `machine`.
    pub fn expectations(machine: &Machine) -> Expectations {
        let horizon = horizon(machine) + machine.frontend.dispatch_to_issue_cycles;
        Expectations::new(horizon, machine.sram_writes_have_a_port())
    }

    /// Expects `micro_op`, the last one dispatched, to issue at `at`.
    pub fn expect(&self, expected: &mut Expectations, micro_op: &MicroOp, at: Cycle) {
        expected.forget_before(self.now);
        expected.add(micro_op, at);
    }

    /// The cycle in which a pipe (and path) can accept an instruction dispatched in the current cycle, as far
    /// as is known.
    ///
    /// # Panics
    /// The same for the scalar unit.
    pub fn pipe_free(&self, pipe: Pipe, path: u8) -> Cycle {
        let mut free = self.issued.free_at[pipe][usize::from(path)];
        for waiting in self.queues[pipe].iter().filter(|waiting| waiting.micro_op.path == path) {
            let ready = free.max(waiting.dispatch + self.params.dispatch_to_issue);
            free = self.issued.reservations.first_free(&waiting.micro_op, ready) + waiting.micro_op.occupancy;
        }
        free.max(self.now + self.params.dispatch_to_issue)
    }

    /// Whether the machine is idle: nothing in flight, and the front end free.
    pub fn idle(&self) -> bool {
        let free = self.decoded(1) <= self.now && self.held_until <= self.now;
        free && self.issued.end <= self.now && self.queues.values().all(VecDeque::is_empty)
    }

    /// The SRAMs with a known access in any of the `count` cycles from `from` on that a write would meet, as
    /// a bit set; the least significant bit is SRAM 0.
    pub fn srams_taken(&self, from: Cycle, count: u32) -> u16 {
        self.issued.reservations.taken(from, count)
    }

    /// The same with expected accesses.
    pub fn srams_taken_beside(&self, from: Cycle, count: u32, expected: &Expectations) -> u16 {
        self.srams_taken(from, count) | expected.taken(from, count)
    }

    /// Ends the current cycle: its issues happen, and the front end moves to the next cycle.
    pub fn advance(&mut self) {
        self.advance_to(self.now + 1);
    }

    /// Ends all cycles before `cycle`.
    #[inline]
    pub fn advance_to(&mut self, cycle: Cycle) {
        if cycle > self.now {
            if self.next.0.at() < cycle {
                self.issue_before(cycle);
            }
            self.now = cycle;
        }
    }

    /// The cycle from which the front end can dispatch the next instruction, if it dispatches `width` at a
    /// time.
    #[inline]
    fn decoded(&self, width: usize) -> Cycle {
        match self.timestamps.len().checked_sub(width) {
            Some(earlier) => self.timestamps[earlier].dispatch + self.params.dispatch_interval,
            None => Cycle::ZERO,
        }
    }

    /// Dispatches `micro_op` as the next instruction, in the earliest possible cycle.
    #[inline]
    pub fn dispatch(&mut self, micro_op: &MicroOp) -> Cycle {
        let mut at = self.now.max(self.held_until).max(self.decoded(self.params.width));
        if micro_op.pipe != Pipe::Scalar {
            let mut free = self.issued.busyboard.free(micro_op);
            while free == Cycle::NEVER {
                self.try_issue();
                free = self.issued.busyboard.free(micro_op);
            }
            at = at.max(free);
        }
        self.advance_to(at);
        if micro_op.pipe == Pipe::Scalar {
            if micro_op.scalar_load {
                self.held_until = self.now + self.params.scalar_latency;
            }
        } else {
            while self.is_full(micro_op.pipe) {
                if let Some(at) = self.try_issue() {
                    // An instruction that issues in a cycle has left its queue in the next one.
                    self.advance_to(at + 1);
                }
            }
            self.issued.busyboard.enter(micro_op);
            let pipe = micro_op.pipe;
            let queue = &mut self.queues[pipe];
            queue.push_back(Waiting {
                index: self.timestamps.len(),
                dispatch: self.now,
                micro_op: *micro_op,
            });
            if queue.len() == 1 {
                self.heads[pipe] = self.head(pipe);
                self.next = self.next.min((self.heads[pipe], pipe));
            }
        }
        self.timestamps.push(Timestamps { dispatch: self.now, issue: self.now, complete: self.now });
        self.now
    }

    /// Issues everything, and returns the timestamps of each instruction.
    pub fn finish(mut self) -> Vec<Timestamps> {
        self.issue_before(Cycle::NEVER);
        self.timestamps
    }

    fn is_full(&self, pipe: Pipe) -> bool {
        self.queues[pipe].len() >= self.params.queue_depth
    }

    /// Issues every head that can issue before `cycle`.
    fn issue_before(&mut self, cycle: Cycle) {
        while self.next.0.at() < cycle {
            self.try_issue();
        }
    }

    /// Issues the next head and returns its cycle, or delays it.
    #[inline]
    fn try_issue(&mut self) -> Option<Cycle> {
        let (head, pipe) = self.next;
        let ready = head.at();
        let queue = &mut self.queues[pipe];
        let Waiting { index, micro_op, .. } = queue.front().expect("what others wait for is in a queue");
        let at = self.issued.reservations.first_free(micro_op, ready);
        if at > ready {
            self.port_wait[pipe] += at - ready;
            self.set_head(pipe, head.put_off(at));
            return None;
        }
        self.issued.busyboard.leave(micro_op);
        let complete = self.issued.add(micro_op, at);
        let timestamps = &mut self.timestamps[*index];
        timestamps.issue = at;
        timestamps.complete = complete;
        queue.pop_front();
        self.set_head(pipe, self.head(pipe));
        Some(at)
    }

    /// The state of a queue's head.
    #[inline]
    fn head(&self, pipe: Pipe) -> Head {
        self.queues[pipe].front().map_or(Head::default(), |Waiting { index, dispatch, micro_op }| {
            let arrival = *dispatch + self.params.dispatch_to_issue;
            let rank = if self.params.oldest_first { *index } else { pipe.index() };
            Head::new(arrival.max(self.issued.pipe_free(micro_op)), rank)
        })
    }

    #[inline]
    fn set_head(&mut self, pipe: Pipe, head: Head) {
        self.heads[pipe] = head;
        let [first, ref others @ ..] = Pipe::VECTOR;
        let mut next = (self.heads[first].0, first.index());
        for &other in others {
            // Branch-free: the next pipe to issue cannot be predicted.
            let head = self.heads[other].0;
            let earlier = head < next.0;
            next = (
                select_unpredictable(earlier, head, next.0),
                select_unpredictable(earlier, other.index(), next.1),
            );
        }
        self.next = (Head(next.0), Pipe::ALL[next.1]);
    }
}

/// Cycles from an issue to its last access to the register file.
fn horizon(machine: &Machine) -> u32 {
    let length = machine.vector_length();
    // Three reads and two writes of one SRAM in each beat.
    let interval = machine.hple.initiation_interval.max(machine.sbar.initiation_interval).max(5);
    let lanes = length / machine.hple.count * interval;
    let vbar = length * machine.vbar.initiation_interval;
    let latency = (machine.hple.multiplier_latency_cycles + machine.hple.adder_latency_cycles)
        .max(machine.sbar_stages())
        .max(machine.load_latency());
    latency + interval + lanes.max(vbar)
}
