//! What the schedule knows of a kernel.

use b512_asm::{PerPipe, Pipe};
use sim::timing::Timing;

/// The facts of a kernel that decide when its launches take place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts {
    /// The name in messages.
    pub(crate) name: &'static str,
    pub(crate) instructions: u64,
    /// The cycles of one run.
    pub(crate) cycles: u64,
    /// What limits a run.
    pub(crate) resource: Resource,
    /// The words of each operand that a run works on, and the runs of one launch. None if a run works on all.
    pub(crate) slices: Option<(u32, u32)>,
    /// The words of the VDM beside operands and results.
    pub(crate) scratch_words: u64,
    pub(crate) overwrites_operand: bool,
    pub(crate) may_work_in_place: bool,
}

/// The resource that limits a part of the time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Resource {
    /// A pipe that is busy for more than half of a kernel's cycles, and longer than the others.
    Pipe(Pipe),
    /// The latencies of instructions: no pipe is busy for half of a kernel's cycles.
    Latency,
    /// The launch of a kernel: all is there, but its first instruction is not yet fetched.
    Launch,
    /// The channel: no kernel runs.
    Hbm,
}

impl Resource {
    /// The resource that limits a kernel with this timing.
    pub(crate) fn of(timing: &Timing) -> Self {
        let busy: PerPipe<u64> = timing.busy;
        let most = Pipe::ALL.into_iter().max_by_key(|&pipe| busy[pipe]);
        let busiest = most.filter(|&pipe| 2 * busy[pipe] > timing.cycles.0);
        busiest.map_or(Self::Latency, Self::Pipe)
    }

    /// The name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pipe(pipe) => pipe.name(),
            Self::Latency => "latency",
            Self::Launch => "launch",
            Self::Hbm => "hbm",
        }
    }
}
