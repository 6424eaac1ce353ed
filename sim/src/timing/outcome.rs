//! The outcome of a run.

use super::accounting::{Bounds, Cause, Demand, Dispatches, SharedUsers, Stalls, User, Users};
use super::decode::{DecodedProgram, Decoder};
use super::engine::Engine;
use super::micro_op::MicroOp;
use super::{Cycle, Timestamps};
use crate::machine::{Busyboard, Machine, SRAMS, VbarPaths};
use b512_asm::{PerPipe, Pipe, Program};

/// The outcome of a run.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Timing {
    /// Cycles from the start command to the completion of the last instruction.
    pub cycles: Cycle,
    /// Cycles by cause; they add up to `cycles`.
    pub stalls: Stalls,
    /// Instruction counts by pipe.
    pub instructions: PerPipe<u64>,
    /// Busy cycles of each pipe.
    pub busy: PerPipe<u64>,
    /// Busy cycles of the ports of each SRAM of the register file, summed; zeros if ports are ideal.
    pub sram_busy: [u64; SRAMS],
    /// Cycles for which only SRAMs in use by other instructions delayed the head of each queue.
    pub port_wait: PerPipe<u64>,
    /// Cycles for which VDM bank conflicts held the VBAR.
    pub bank_conflicts: u64,
    /// Lower bounds on the cycles, for any order of the instructions.
    pub bounds: Bounds,
    /// The timestamps of each instruction.
    pub timestamps: Vec<Timestamps>,
}

/// Utilisation of the units, from 0 to 1; 0 for a run of no cycles.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Utilisation {
    /// Of each pipe. With a split VBAR, the mean of its two paths; zero for the scalar unit.
    pub pipes: PerPipe<f64>,
    /// Of the ports of each SRAM of the register file; zeros if ports are ideal.
    pub srams: [f64; SRAMS],
}

impl Timing {
    /// Derives the outcome from the timestamps of each instruction of a run.
    fn of<U: Users>(
        machine: &Machine,
        program: &DecodedProgram,
        micro_ops: &[MicroOp],
        timestamps: Vec<Timestamps>,
        port_wait: PerPipe<u64>,
    ) -> Self {
        let mut stalls = Stalls::default();
        let (mut dispatches, mut demand) = (Dispatches::<U>::new(machine), Demand::new(machine, program));
        let mut completed = Cycle::ZERO;
        for (micro_op, timestamps) in micro_ops.iter().zip(&timestamps) {
            dispatches.add(micro_op, timestamps, |cause, from, to| stalls.charge(cause, to - from));
            demand.add(micro_op);
            completed = completed.max(timestamps.complete);
        }
        let dispatched = timestamps.last().map_or(Cycle::ZERO, |last| last.dispatch + 1);
        let cycles = completed.max(dispatched);
        stalls.charge(Cause::Issue, dispatches.cycles);
        stalls.charge(Cause::Drain, cycles - dispatched);
        assert_eq!(stalls.total(), cycles.0, "every cycle has one cause");
        Self {
            cycles,
            stalls,
            instructions: program.instructions(),
            busy: demand.paths.map(|paths| paths.iter().sum()),
            sram_busy: demand.srams(),
            port_wait,
            bank_conflicts: demand.bank_conflicts,
            bounds: demand.bounds(program),
            timestamps,
        }
    }

    /// Utilisation of the pipes and the register file by a run on `machine`.
    pub fn utilisation(&self, machine: &Machine) -> Utilisation {
        let share = |busy: u64, units: u64| busy as f64 / (units * self.cycles.0).max(1) as f64;
        let split = machine.vbar.paths == VbarPaths::Split;
        let paths = |pipe| 1 + u64::from(split && pipe == Pipe::LoadStore);
        Utilisation {
            pipes: PerPipe::from_fn(|pipe| share(self.busy[pipe], paths(pipe))),
            srams: self.sram_busy.map(|busy| share(busy, 1 + u64::from(machine.sram_writes_have_a_port()))),
        }
    }

    /// Utilisation of each VDM bank by a run of `program` on `machine`, from 0 to 1.
    ///
    /// Computed again at each call. `None` with `ideal.bank_conflicts`, because the banks then have
    /// no limit.
    pub fn bank_utilisation(&self, machine: &Machine, program: &Program) -> Option<Vec<f64>> {
        if machine.ideal.bank_conflicts {
            return None;
        }
        let mut accesses = vec![0; machine.vdm.banks as usize];
        let mut decoder = Decoder::at_start_of(machine, program);
        for instr in &program.instructions {
            decoder.add_bank_accesses(instr, &mut accesses);
            decoder.follow(instr, program);
        }
        let most = (self.cycles.0 * u64::from(machine.vdm.ports)).max(1) as f64;
        Some(accesses.into_iter().map(|accesses| accesses as f64 / most).collect())
    }
}

/// Simulates the timing of a program.
pub fn simulate(machine: &Machine, program: &Program) -> Timing {
    simulate_decoded(machine, &DecodedProgram::of(program))
}

/// Simulates the timing of a program that was decoded for several machines.
pub fn simulate_decoded(machine: &Machine, program: &DecodedProgram) -> Timing {
    let micro_ops = program.micro_ops(machine);
    let (timestamps, port_wait) = Engine::run(machine, &micro_ops);
    let of = match machine.frontend.busyboard {
        Busyboard::Strict => Timing::of::<User>,
        Busyboard::SharedReads => Timing::of::<SharedUsers>,
    };
    of(machine, program, &micro_ops, timestamps, port_wait)
}
