//! Schedules in progress.

use super::{Addresses, Graph, PartSettings, ScheduleError, Scheduled, Scheduler, Tuning};
use crate::code::{Code, ConstantId};
use b512_asm::{AReg, PerPipe, Pipe};
use sim::Machine;
use sim::timing::Cycle;

/// A schedule in progress. Its clones can continue with different settings.
#[derive(Clone)]
pub(crate) struct Partial<'a> {
    scheduler: Scheduler<'a>,
}

/// An estimate of the cycles of a schedule in progress, comparable at the same point of the same code.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Outlook {
    /// The cycle in which the busiest pipe can have done its work.
    busiest: Cycle,
    /// The sum of these cycles over the pipes.
    sum: Cycle,
}

impl<'a> Partial<'a> {
    /// The beginning of a schedule. `machine` is the one that the tuning assumes; see
    /// [`schedule`](super::schedule) for the others.
    pub(crate) fn start(
        code: &'a Code,
        graph: &'a Graph,
        addresses: &'a Addresses,
        launch: &[(AReg, u32)],
        machine: &'a Machine,
        tuning: &'a Tuning,
    ) -> Self {
        let mut scheduler = Scheduler::new(code, graph, addresses, machine, tuning);
        for &(reg, address) in launch {
            scheduler.decoder.set_address(reg, address);
        }
        Self { scheduler }
    }

    /// Continues to the end of part `number` of `parts` equal parts of the code.
    pub(crate) fn advance(
        &mut self,
        settings: PartSettings,
        number: usize,
        parts: usize,
    ) -> Result<(), ScheduleError> {
        let scheduler = &mut self.scheduler;
        scheduler.settings = settings;
        scheduler.ahead_is_stale = true;
        let count = scheduler.code.insts.len();
        scheduler.greedy(count - count * number / parts)
    }

    /// The rest in program order.
    pub(super) fn in_program_order(mut self) -> Result<Scheduled, ScheduleError> {
        self.scheduler.in_program_order()?;
        Ok(self.finish())
    }

    /// The schedule. All parts must be done.
    pub(crate) fn finish(self) -> Scheduled {
        self.scheduler.finish()
    }

    /// Estimates the cycles of the whole schedule.
    pub(crate) fn outlook(&self) -> Outlook {
        let Scheduler { code, done, decoder, engine, registers, .. } = &self.scheduler;
        let mut ends: PerPipe<u64> = PerPipe::from_fn(|pipe| match pipe {
            Pipe::Scalar => 0,
            Pipe::LoadStore | Pipe::Compute | Pipe::Shuffle => engine.pipe_free(pipe, 0).0,
        });
        for (inst, _) in code.insts.iter().zip(done).filter(|&(_, done)| !done) {
            ends[inst.op.pipe()] += u64::from(decoder.least_occupancy(inst.op));
        }
        let missing = (0..code.constants.len() as u32).map(ConstantId).filter(|&constant| {
            registers.copies(constant).is_empty() && self.scheduler.next_user(constant).is_some()
        });
        ends[Pipe::LoadStore] +=
            missing.count() as u64 * u64::from(decoder.least_occupancy(b512_asm::Op::Vload));
        let ends = Pipe::VECTOR.map(|pipe| ends[pipe]);
        Outlook { busiest: Cycle(ends.into_iter().fold(0, u64::max)), sum: Cycle(ends.iter().sum()) }
    }
}
