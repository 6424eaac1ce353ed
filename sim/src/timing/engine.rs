//! The event-driven model: time jumps from one dispatch or issue to the next.

use super::Cycle;
use super::busyboard::Busyboard;
use super::vrf::Reservations;
use super::work::Work;
use crate::machine::{Arbitration, Machine, SourceRelease};
use b512_asm::reg::VECTOR_LENGTH;
use b512_asm::{Pipe, VReg};
use std::collections::VecDeque;
use std::hint::select_unpredictable;

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
/// The engine finds the cycles of each instruction, and how long SRAMs held the heads of queues back:
/// everything that a [`Timing`](super::Timing) says beyond them follows from them.
#[derive(Clone)]
pub struct Engine {
    params: Params,
    /// The cycle in which the front end stands. Every issue before it has happened.
    now: Cycle,
    /// Instructions dispatched in `now`.
    dispatched_now: u32,
    /// The front end is held until then by a scalar load.
    held_until: Cycle,
    queues: [VecDeque<Waiting>; 3],
    heads: [Head; 3],
    /// The smallest head, and its pipe.
    next: (Head, usize),
    issued: Issued,
    /// Cycles for which heads have been put off because of SRAMs, by [`Pipe::index`].
    port_wait: [u64; 3],
    schedule: Vec<Schedule>,
}

/// What the instructions that have issued hold of the machine.
#[derive(Clone)]
struct Issued {
    release_at_read: bool,
    busyboard: Busyboard,
    reservations: Reservations,
    /// When each path of each pipe is free, by [`Pipe::index`].
    free_at: [[Cycle; 2]; 4],
    /// When the last of them completes.
    end: Cycle,
}

impl Issued {
    /// Adds `work` at `at`, and says when it completes.
    #[inline]
    fn add(&mut self, work: &Work, at: Cycle) -> Cycle {
        self.reservations.reserve(work, at);
        let free_at = &mut self.free_at[work.pipe.index()];
        // A queue issues one instruction a cycle, even where the other path is free.
        *free_at = free_at.map(|free| free.max(at + 1));
        free_at[usize::from(work.path & 1)] = at + work.occupancy;
        let complete = at + work.total_cycles();
        let read = if self.release_at_read { at + work.read_cycles() } else { complete };
        self.busyboard.issue(work, read, complete);
        self.end = self.end.max(complete);
        complete
    }

    /// When the pipe and path of `work` are free.
    #[inline]
    fn pipe_free(&self, work: &Work) -> Cycle {
        self.free_at[work.pipe.index()][usize::from(work.path & 1)]
    }
}

/// What the engine needs of the machine.
#[derive(Clone)]
struct Params {
    width: u32,
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
                oldest_first: machine.vrf.arbitration == Arbitration::OldestFirst,
            },
            now: Cycle::ZERO + frontend.fetch_to_dispatch_cycles,
            dispatched_now: 0,
            held_until: Cycle::ZERO,
            queues: Default::default(),
            heads: Default::default(),
            next: Default::default(),
            issued: Issued {
                release_at_read: frontend.source_release == SourceRelease::Read,
                busyboard: Busyboard::new(frontend.busyboard),
                reservations: Reservations::new(horizon(machine)),
                free_at: Default::default(),
                end: Cycle::ZERO,
            },
            port_wait: [0; 3],
            schedule: Vec::new(),
        }
    }

    /// The cycles of each instruction of a whole program, and for each queue, by [`Pipe::index`], the
    /// cycles for which its head was held back only by SRAMs of the register file that other
    /// instructions used.
    pub(super) fn run(machine: &Machine, works: &[Work]) -> (Vec<Schedule>, [u64; 3]) {
        let mut engine = Self::new(machine);
        engine.schedule.reserve_exact(works.len());
        for work in works {
            engine.dispatch(work);
        }
        engine.issue_before(Cycle::NEVER);
        (engine.schedule, engine.port_wait)
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
        let free = self.issued.busyboard.free(work);
        if free == Cycle::NEVER || self.is_full(work.pipe) {
            return Err(Stall::UntilIssue);
        }
        if free > self.now { Err(Stall::Until(free)) } else { Ok(()) }
    }

    /// When a register stops being busy for a reader or writer; `None` where one of its users has
    /// not issued.
    pub fn register_free(&self, reg: VReg, writes: bool) -> Option<Cycle> {
        Some(self.issued.busyboard.register_free(reg, writes)).filter(|&free| free < Cycle::NEVER)
    }

    /// When `work` would issue if it dispatched in the current cycle, as far as is known now:
    /// what dispatches later may still take its SRAMs.
    pub fn earliest_issue(&self, work: &Work) -> Cycle {
        self.issued.reservations.first_free(work, self.pipe_free(work.pipe, work.path))
    }

    /// When a pipe (and path) could take an instruction that dispatched in the current cycle, as
    /// far as is known now.
    ///
    /// # Panics
    /// For the scalar unit.
    pub fn pipe_free(&self, pipe: Pipe, path: u8) -> Cycle {
        let mut free = self.issued.free_at[pipe.index()][usize::from(path)];
        for waiting in self.queues[pipe.index()].iter().filter(|waiting| waiting.work.path == path) {
            let ready = free.max(waiting.dispatch + self.params.dispatch_to_issue);
            free = self.issued.reservations.first_free(&waiting.work, ready) + waiting.work.occupancy;
        }
        free.max(self.now + self.params.dispatch_to_issue)
    }

    /// Whether nothing is in flight and nothing holds the front end.
    pub fn idle(&self) -> bool {
        let free = self.dispatched_now == 0 && self.held_until <= self.now;
        free && self.issued.end <= self.now && self.queues.iter().all(VecDeque::is_empty)
    }

    /// The SRAMs to which an access is known in some of the `count` cycles from `from` on: a bit
    /// for each, the least significant one for SRAM 0.
    pub fn srams_taken(&self, from: Cycle, count: u32) -> u16 {
        self.issued.reservations.taken(from, count)
    }

    /// Lets the current cycle end: its issues happen, and the front end moves to the next one.
    pub fn advance(&mut self) {
        self.advance_to(self.now + 1);
    }

    /// Lets the cycles before `cycle` end.
    #[inline]
    pub fn advance_to(&mut self, cycle: Cycle) {
        if cycle > self.now {
            if self.next.0.at() < cycle {
                self.issue_before(cycle);
            }
            self.now = cycle;
            self.dispatched_now = 0;
        }
    }

    /// Dispatches `work` as the next instruction, in the first cycle in which it can.
    #[inline]
    pub fn dispatch(&mut self, work: &Work) -> Cycle {
        let full = self.dispatched_now >= self.params.width;
        let mut at = self.held_until.max(self.now + u32::from(full));
        if work.pipe != Pipe::Scalar {
            let mut free = self.issued.busyboard.free(work);
            while free == Cycle::NEVER {
                self.try_issue();
                free = self.issued.busyboard.free(work);
            }
            at = at.max(free);
        }
        self.advance_to(at);
        if work.pipe == Pipe::Scalar {
            if work.scalar_load {
                self.held_until = self.now + self.params.scalar_latency;
            }
        } else {
            while self.is_full(work.pipe) {
                if let Some(at) = self.try_issue() {
                    // What issues in a cycle has left its queue in the next.
                    self.advance_to(at + 1);
                }
            }
            self.issued.busyboard.enter(work);
            let pipe = work.pipe.index();
            let queue = &mut self.queues[pipe];
            queue.push_back(Waiting { index: self.schedule.len(), dispatch: self.now, work: *work });
            if queue.len() == 1 {
                self.heads[pipe] = self.head(pipe);
                self.next = self.next.min((self.heads[pipe], pipe));
            }
        }
        self.dispatched_now += 1;
        self.schedule.push(Schedule { dispatch: self.now, issue: self.now, complete: self.now });
        self.now
    }

    /// Lets everything issue, and returns the cycles of each instruction.
    pub fn finish(mut self) -> Vec<Schedule> {
        self.issue_before(Cycle::NEVER);
        self.schedule
    }

    fn is_full(&self, pipe: Pipe) -> bool {
        self.queues[pipe.index()].len() >= self.params.queue_depth
    }

    /// Lets every issue before `cycle` happen.
    fn issue_before(&mut self, cycle: Cycle) {
        while self.next.0.at() < cycle {
            self.try_issue();
        }
    }

    /// Lets the next head issue, and says when that was, or puts it off.
    #[inline]
    fn try_issue(&mut self) -> Option<Cycle> {
        let (head, pipe) = self.next;
        let ready = head.at();
        let queue = &mut self.queues[pipe];
        let Waiting { index, work, .. } = queue.front().expect("what others wait for is in a queue");
        let at = self.issued.reservations.first_free(work, ready);
        if at > ready {
            self.port_wait[pipe] += at - ready;
            self.set_head(pipe, head.put_off(at));
            return None;
        }
        self.issued.busyboard.leave(work);
        let complete = self.issued.add(work, at);
        let schedule = &mut self.schedule[*index];
        schedule.issue = at;
        schedule.complete = complete;
        queue.pop_front();
        self.set_head(pipe, self.head(pipe));
        Some(at)
    }

    /// What is known of a queue's head.
    #[inline]
    fn head(&self, pipe: usize) -> Head {
        self.queues[pipe].front().map_or(Head::default(), |Waiting { index, dispatch, work }| {
            let arrival = *dispatch + self.params.dispatch_to_issue;
            let rank = if self.params.oldest_first { *index } else { pipe };
            Head::new(arrival.max(self.issued.pipe_free(work)), rank)
        })
    }

    #[inline]
    fn set_head(&mut self, pipe: usize, head: Head) {
        self.heads[pipe] = head;
        let [load_store, compute, shuffle] = self.heads;
        // No jumps: what comes next cannot be predicted.
        let earlier = compute < load_store;
        let first = select_unpredictable(earlier, compute.0, load_store.0);
        let last = shuffle.0 < first;
        let pipe = select_unpredictable(last, 2, usize::from(earlier));
        self.next = (Head(select_unpredictable(last, shuffle.0, first)), pipe);
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
