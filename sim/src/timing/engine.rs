//! The event-driven model: time jumps from one dispatch or issue to the next.

use super::Cycle;
use super::busyboard::Busyboard;
use super::vrf::Reservations;
use super::work::Work;
use crate::machine::{Arbitration, Machine, SourceRelease};
use b512_asm::reg::VECTOR_LENGTH;
use b512_asm::{Pipe, VReg};
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
///
/// The engine finds the cycles of each instruction and nothing else: everything that a [`Timing`](super::Timing)
/// says beyond them follows from them.
#[derive(Clone)]
pub struct Engine {
    params: Params,
    /// The cycle in which the front end stands. Every issue before it has happened.
    now: Cycle,
    /// Instructions dispatched in `now`.
    dispatched_now: u32,
    /// The front end is held until then by a scalar load.
    held_until: Cycle,
    busyboard: Busyboard,
    pipes: [PipeState; 3],
    heads: [Head; 3],
    reservations: Reservations,
    /// When the last of the instructions that have issued completes.
    end: Cycle,
    schedule: Vec<Schedule>,
}

/// What the engine needs of the machine.
#[derive(Clone)]
struct Params {
    width: u32,
    queue_depth: usize,
    dispatch_to_issue: u32,
    scalar_latency: u32,
    release_at_read: bool,
    oldest_first: bool,
}

/// A pipe and its queue.
#[derive(Clone, Default)]
struct PipeState {
    queue: VecDeque<Waiting>,
    /// When each path is free.
    free_at: [Cycle; 2],
}

#[derive(Clone)]
struct Waiting {
    index: usize,
    dispatch: Cycle,
    work: Work,
}

/// What is known of the head of a queue: a cycle before which it does not issue, and in the lower
/// half its rank. Of two heads that could issue in one cycle the one of the lower rank does.
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
    /// Of an empty queue.
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
                width: if machine.ideal.front_end { u32::MAX } else { frontend.width },
                queue_depth: if machine.ideal.queues { usize::MAX } else { frontend.queue_depth as usize },
                dispatch_to_issue: frontend.dispatch_to_issue_cycles,
                scalar_latency: machine.scalar.load_latency_cycles,
                release_at_read: frontend.source_release == SourceRelease::Read,
                oldest_first: machine.vrf.arbitration == Arbitration::OldestFirst,
            },
            now: Cycle::ZERO + frontend.fetch_to_dispatch_cycles,
            dispatched_now: 0,
            held_until: Cycle::ZERO,
            busyboard: Busyboard::new(frontend.busyboard),
            pipes: Default::default(),
            heads: Default::default(),
            reservations: Reservations::new(horizon(machine)),
            end: Cycle::ZERO,
            schedule: Vec::new(),
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
        let free = self.busyboard.free(work);
        if free == Cycle::NEVER || self.is_full(work.pipe) {
            return Err(Stall::UntilIssue);
        }
        if free > self.now { Err(Stall::Until(free)) } else { Ok(()) }
    }

    /// When a register stops being busy for a reader or writer; `None` where one of its users has
    /// not issued.
    pub fn register_free(&self, reg: VReg, writes: bool) -> Option<Cycle> {
        Some(self.busyboard.register_free(reg, writes)).filter(|&free| free < Cycle::NEVER)
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
        let pipe = &self.pipes[pipe.index()];
        let mut free = pipe.free_at[usize::from(path)];
        for waiting in pipe.queue.iter().filter(|waiting| waiting.work.path == path) {
            let ready = free.max(waiting.dispatch + self.params.dispatch_to_issue);
            free = self.reservations.first_free(&waiting.work, ready) + waiting.work.occupancy;
        }
        free.max(self.now + self.params.dispatch_to_issue)
    }

    /// Whether nothing is in flight and nothing holds the front end.
    pub fn idle(&self) -> bool {
        let free = self.dispatched_now == 0 && self.held_until <= self.now;
        free && self.end <= self.now && self.pipes.iter().all(|pipe| pipe.queue.is_empty())
    }

    /// The SRAMs to which an access is known in some of the `count` cycles from `from` on: a bit
    /// for each, the least significant one for SRAM 0.
    pub fn srams_taken(&self, from: Cycle, count: u32) -> u16 {
        self.reservations.taken(from, count)
    }

    /// Lets the current cycle end: its issues happen, and the front end moves to the next one.
    pub fn advance(&mut self) {
        self.advance_to(self.now + 1);
    }

    /// Lets the cycles before `cycle` end.
    pub fn advance_to(&mut self, cycle: Cycle) {
        if cycle > self.now {
            while self.next_head().0 < cycle && self.issue_next(cycle).is_some() {}
            self.now = cycle;
            self.dispatched_now = 0;
        }
    }

    /// Dispatches `work` as the next instruction, in the first cycle in which it can.
    pub fn dispatch(&mut self, work: &Work) -> Cycle {
        if self.dispatched_now >= self.params.width {
            self.advance();
        }
        self.advance_to(self.held_until);
        let index = self.schedule.len();
        if work.pipe == Pipe::Scalar {
            if work.scalar_load {
                self.held_until = self.now + self.params.scalar_latency;
            }
        } else {
            let mut free = self.busyboard.free(work);
            while free == Cycle::NEVER {
                self.issue_next(Cycle::NEVER).expect("a user that waits has a head to issue");
                free = self.busyboard.free(work);
            }
            self.advance_to(free);
            while self.is_full(work.pipe) {
                let at = self.issue_next(Cycle::NEVER).expect("a full queue has a head to issue");
                // What issues in a cycle has left its queue in the next.
                self.advance_to(at + 1);
            }
            self.busyboard.dispatch(work);
            let pipe = work.pipe.index();
            self.pipes[pipe].queue.push_back(Waiting { index, dispatch: self.now, work: *work });
            if self.pipes[pipe].queue.len() == 1 {
                self.look_at_head(pipe);
            }
        }
        self.dispatched_now += 1;
        self.schedule.push(Schedule { dispatch: self.now, issue: self.now, complete: self.now });
        self.now
    }

    /// Lets everything issue, and returns the cycles of each instruction.
    pub fn finish(mut self) -> Vec<Schedule> {
        while self.issue_next(Cycle::NEVER).is_some() {}
        self.schedule
    }

    fn is_full(&self, pipe: Pipe) -> bool {
        self.pipes[pipe.index()].queue.len() >= self.params.queue_depth
    }

    /// The pipe whose head comes next, and a cycle before which it does not issue.
    #[inline]
    fn next_head(&self) -> (Cycle, usize) {
        let [load_store, compute, shuffle] = self.heads;
        let (first, pipe) = if compute < load_store { (compute, 1) } else { (load_store, 0) };
        if shuffle < first { (shuffle.at(), 2) } else { (first.at(), pipe) }
    }

    /// Lets the next issue happen if that is before `limit`, and says when it was.
    fn issue_next(&mut self, limit: Cycle) -> Option<Cycle> {
        loop {
            let (ready, pipe) = self.next_head();
            if ready >= limit {
                return None;
            }
            let at = self.reservations.first_free(&self.pipes[pipe].queue[0].work, ready);
            if at == ready {
                self.issue(pipe, at);
                return Some(at);
            }
            self.heads[pipe] = self.heads[pipe].put_off(at);
        }
    }

    /// The head of a queue issues.
    #[inline]
    fn issue(&mut self, p: usize, at: Cycle) {
        let PipeState { queue, free_at } = &mut self.pipes[p];
        let Waiting { index, work, .. } = &queue[0];
        self.reservations.reserve(work, at);
        // A queue issues one instruction a cycle, even where the other path is free.
        *free_at = free_at.map(|free| free.max(at + 1));
        free_at[usize::from(work.path)] = at + work.occupancy;
        let complete = at + work.total_cycles();
        let read = if self.params.release_at_read { at + work.read_cycles() } else { complete };
        self.busyboard.issue(work, read, complete);
        self.end = self.end.max(complete);
        let schedule = &mut self.schedule[*index];
        schedule.issue = at;
        schedule.complete = complete;
        queue.pop_front();
        self.look_at_head(p);
    }

    /// Takes note of a new head of a queue.
    fn look_at_head(&mut self, pipe: usize) {
        let PipeState { queue, free_at } = &self.pipes[pipe];
        self.heads[pipe] = queue.front().map_or(Head::default(), |Waiting { index, dispatch, work }| {
            let arrival = *dispatch + self.params.dispatch_to_issue;
            let rank = if self.params.oldest_first { *index } else { pipe };
            Head::new(arrival.max(free_at[usize::from(work.path)]), rank)
        });
    }
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
