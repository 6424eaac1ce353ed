//! What the schedule knows of a kernel.

use b512_asm::{PerPipe, Pipe};
use sim::timing::Timing;
use sim::{Events, Machine};

/// The facts of a kernel that decide when its launches take place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts {
    /// The name in messages.
    pub(crate) name: &'static str,
    pub(crate) instructions: u64,
    /// The cycles of one run.
    pub(crate) cycles: u64,
    /// The cycles in which the banks of the VDM can make the accesses of one run.
    pub(crate) bank_cycles: u64,
    /// What limits a run.
    pub(crate) resource: Resource,
    /// The words of each operand that a run works on, and the runs of one launch. None if a run works on all.
    pub(crate) slices: Option<(u32, u32)>,
    /// The words of the VDM beside operands and results.
    pub(crate) scratch_words: u64,
    pub(crate) overwrites_operand: bool,
    pub(crate) may_work_in_place: bool,
}

/// The cycles in which the banks of the VDM can make the accesses of a kernel with this timing. Lanes that
/// share an access count as one at most where the pipe is not longer busy.
pub fn bank_cycles(machine: &Machine, timing: &Timing, events: &Events) -> u64 {
    events.vdm_accesses.div_ceil(accesses_per_cycle(machine)).min(timing.busy[Pipe::LoadStore])
}

/// The accesses that the banks of the VDM can make in a cycle.
pub(crate) fn accesses_per_cycle(machine: &Machine) -> u64 {
    u64::from(machine.vdm.banks * machine.vdm.ports)
}

/// The resource that limits a part of the time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Resource {
    /// A pipe that is busy for more than half of a kernel's cycles, and longer than the others.
    Pipe(Pipe),
    /// The front end: its instructions take it longer than any pipe, and more than half of a kernel's cycles.
    FrontEnd,
    /// The latencies of instructions: neither a pipe nor the front end is busy for half of a kernel's cycles.
    Latency,
    /// The launch of a kernel: all is there, but its first instruction is not yet fetched.
    Launch,
    /// The banks of the VDM, which serve transfers too: a run takes longer.
    Banks,
    /// The channel: no kernel runs.
    Hbm,
}

impl Resource {
    /// The resource that limits a kernel of so many instructions with this timing.
    pub(crate) fn of(timing: &Timing, instructions: u64, machine: &Machine) -> Self {
        let busy: PerPipe<u64> = timing.busy;
        let front_end = &machine.frontend;
        let dispatch =
            (instructions * u64::from(front_end.cycles_per_instruction)).div_ceil(front_end.width.into());
        let dispatch = if machine.ideal.front_end { 0 } else { dispatch };
        let pipes = Pipe::ALL.into_iter().map(|pipe| (busy[pipe], Self::Pipe(pipe)));
        // Of equals, a pipe.
        let most = std::iter::once((dispatch, Self::FrontEnd)).chain(pipes).max_by_key(|&(cycles, _)| cycles);
        most.filter(|&(cycles, _)| 2 * cycles > timing.cycles.0)
            .map_or(Self::Latency, |(_, resource)| resource)
    }

    /// The name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pipe(pipe) => pipe.name(),
            Self::FrontEnd => "front_end",
            Self::Latency => "latency",
            Self::Launch => "launch",
            Self::Banks => "banks",
            Self::Hbm => "hbm",
        }
    }
}
