//! The intervals of each instruction, for viewers outside this crate.

use super::Trace;
use crate::timing::{Cause, Cycle, Wait};
use b512_asm::Pipe;

/// An instruction with the cycles of its stages. Ends are exclusive.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Interval<'t> {
    /// The index of the instruction.
    pub index: usize,
    /// Its pipe.
    pub pipe: Pipe,
    /// The first cycle in which the front end was free for it.
    pub arrival: Cycle,
    /// The cycle of its dispatch.
    pub dispatch: Cycle,
    /// The first cycle in its pipe.
    pub issue: Cycle,
    /// One past its last cycle in the pipe.
    pub pipe_free: Cycle,
    /// The cycle from which its result can be used.
    pub complete: Cycle,
    /// Its waits at the front end, in the order of time.
    pub waits: &'t [Wait],
}

impl Interval<'_> {
    /// The cause of its longest wait at the front end.
    pub fn longest_wait(&self) -> Option<Cause> {
        self.waits.iter().max_by_key(|wait| wait.to - wait.from).map(|wait| wait.cause)
    }
}

impl Trace<'_> {
    /// The intervals of each instruction, in program order.
    pub fn intervals(&self) -> impl Iterator<Item = Interval<'_>> {
        self.rows().map(|row| Interval {
            index: row.index,
            pipe: row.micro_op.pipe,
            arrival: row.arrival,
            dispatch: row.timestamps.dispatch,
            issue: row.timestamps.issue,
            pipe_free: row.pipe_free(),
            complete: row.end(),
            waits: row.waits,
        })
    }
}
