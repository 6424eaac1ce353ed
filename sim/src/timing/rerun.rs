//! Runs of programs that differ from one in the place of one instruction.
//!
//! A change has effects for a while. As soon as all that is in flight is as in the known run, some cycles
//! earlier or later, the rest of the run is the same too.

use super::Cycle;
use super::decode::DecodedProgram;
use super::engine::{Engine, Timestamps};
use super::micro_op::MicroOp;
use crate::machine::Machine;
use b512_asm::{Pipe, Program};

/// The run of a program in which instructions may change places, one after the other, from the first to the
/// last.
///
/// The caller ensures that the results of the program stay the same, and that no instruction passes a scalar
/// load.
pub struct Rerun {
    /// The instructions in their present order, and their timestamps.
    micro_ops: Vec<MicroOp>,
    times: Vec<Timestamps>,
    cycles: Cycle,
    /// The machine before it dispatches the instruction at `position`.
    engine: Engine,
    position: usize,
    /// The first instruction whose timestamps the engine still has. Those in front of it have no effect any
    /// more.
    first: usize,
    rules: Rules,
}

/// The instructions that dispatch within an interval of so many cycles, at most.
#[derive(Clone, Copy)]
struct Rules {
    width: usize,
    interval: u32,
}

/// A rotation: the instruction at `from` dispatches behind those up to `to`.
#[derive(Clone, Copy)]
struct Rotation {
    from: usize,
    to: usize,
}

impl Rotation {
    /// The former index of the instruction that is now at `index`.
    fn former(self, index: usize) -> usize {
        if index == self.to {
            self.from
        } else if self.contains(index) {
            index + 1
        } else {
            index
        }
    }

    fn contains(self, index: usize) -> bool {
        (self.from..=self.to).contains(&index)
    }
}

/// The run of a changed program, as far as it differs from the known one.
struct Changed {
    engine: Engine,
    /// The last instruction that dispatched.
    last: usize,
    /// The cycles by which all that follows is later than in the known run. `None` at the end of the program.
    delay: Option<i64>,
}

/// The cycles from `earlier` to `later`, perhaps negative.
const fn between(earlier: Cycle, later: Cycle) -> i64 {
    later.0.wrapping_sub(earlier.0) as i64
}

const fn later(cycle: Cycle, delay: i64) -> Cycle {
    Cycle(cycle.0.wrapping_add_signed(delay))
}

/// The cycles of a run.
fn cycles(times: &[Timestamps]) -> Cycle {
    let completed = times.iter().map(|times| times.complete).max();
    let dispatched = times.last().map(|last| last.dispatch + 1);
    completed.max(dispatched).unwrap_or(Cycle::ZERO)
}

impl Rerun {
    /// Runs `program`.
    pub fn new(machine: &Machine, program: &Program) -> Self {
        let micro_ops = DecodedProgram::of(program).micro_ops(machine);
        let (times, _) = Engine::run(machine, &micro_ops);
        Self {
            cycles: cycles(&times),
            micro_ops,
            times,
            engine: Engine::new(machine),
            position: 0,
            first: 0,
            rules: Rules {
                width: machine.dispatch_width() as usize,
                interval: machine.frontend.cycles_per_instruction,
            },
        }
    }

    /// The cycles of the program in its present order.
    pub fn cycles(&self) -> Cycle {
        self.cycles
    }

    /// The index of the instruction whose place can change.
    pub fn position(&self) -> usize {
        self.position
    }

    /// Goes on to the next instruction.
    ///
    /// # Panics
    /// At the end of the program.
    pub fn advance(&mut self) {
        self.engine.dispatch(&self.micro_ops[self.position]);
        self.position += 1;
        self.first += self.engine.forget();
    }

    /// The cycles of the program if the instruction at the present position dispatched behind `count` others.
    ///
    /// # Panics
    /// If fewer instructions follow.
    pub fn cycles_behind(&self, count: usize) -> Cycle {
        let changed = self.behind(count);
        match changed.delay {
            Some(delay) => later(self.cycles, delay),
            None => cycles(&changed.engine.finish()),
        }
    }

    /// Lets the instruction at the present position dispatch behind `count` others. The one that follows it
    /// is then at this position.
    ///
    /// # Panics
    /// If fewer instructions follow.
    pub fn put_behind(&mut self, count: usize) {
        let Changed { engine, last, delay } = self.behind(count);
        let moved = self.position..=self.position + count;
        self.micro_ops[moved.clone()].rotate_left(1);
        self.times[moved].rotate_left(1);
        let delay = delay.unwrap_or(0);
        if delay != 0 {
            for Timestamps { dispatch, issue, complete } in &mut self.times[last + 1..] {
                for cycle in [dispatch, issue, complete] {
                    *cycle = later(*cycle, delay);
                }
            }
        }
        let known = &mut self.times[self.first..=last];
        let waits = |times: &Timestamps| times.complete == Cycle::NEVER;
        for (times, changed) in known.iter_mut().zip(engine.timestamps()) {
            *times = if waits(changed) {
                let [issue, complete] = [times.issue, times.complete].map(|cycle| later(cycle, delay));
                Timestamps { dispatch: changed.dispatch, issue, complete }
            } else {
                *changed
            };
        }
        self.cycles = cycles(&self.times);
    }

    /// Runs the changed program until the rest is known.
    fn behind(&self, count: usize) -> Changed {
        let rotation = Rotation { from: self.position, to: self.position + count };
        let mut engine = self.engine.clone();
        for index in rotation.from..=rotation.to {
            engine.dispatch(&self.micro_ops[rotation.former(index)]);
        }
        for last in rotation.to + 1..self.micro_ops.len() {
            engine.dispatch(&self.micro_ops[last]);
            let delay = between(self.times[last].dispatch, engine.now());
            if self.is_as_before(&engine, rotation, last) {
                return Changed { engine, last, delay: Some(delay) };
            }
        }
        engine.issue_all();
        Changed { engine, last: self.micro_ops.len() - 1, delay: None }
    }

    /// Whether the machine has the state of the known run, apart from the time. Both have just dispatched the
    /// instruction at `last`.
    fn is_as_before(&self, engine: &Engine, rotation: Rotation, last: usize) -> bool {
        let Rules { width, interval } = self.rules;
        let nows = (engine.now(), self.times[last].dispatch);
        let alike = |cycle: Cycle, known: Cycle| between(nows.0, cycle) == between(nows.1, known);
        // An event at least as early as the last dispatch, in both runs, has no effect any more.
        let is_past = |cycle: Cycle, known: Cycle| cycle <= nows.0 && known <= nows.1;
        let matches = |cycle: Cycle, known: Cycle| alike(cycle, known) || is_past(cycle, known);
        (self.first..last + 1).zip(engine.timestamps()).rev().all(|(index, changed)| {
            let former = rotation.former(index);
            let (known, scalar) = (&self.times[former], self.micro_ops[former].pipe == Pipe::Scalar);
            let waits = changed.complete == Cycle::NEVER;
            let events = if scalar {
                // It is past: nothing dispatches while a scalar load holds the front end.
                true
            } else if waits != (known.issue >= nows.1) {
                false
            } else if waits {
                alike(changed.dispatch, known.dispatch) && !rotation.contains(index)
            } else {
                alike(changed.issue, known.issue) || is_past(changed.complete, known.complete)
            };
            let dispatched = self.times[index].dispatch + interval;
            events && (last - index >= width || matches(changed.dispatch + interval, dispatched))
        })
    }
}
