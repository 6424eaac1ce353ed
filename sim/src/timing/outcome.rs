//! The outcome of a run.

use super::accounting::{Bounds, Demand, Stalls, port_wait};
use super::work::{Decoder, SRAMS, Work};
use super::{Cycle, Engine, Schedule};
use crate::machine::{Machine, VbarPaths};
use b512_asm::Program;

/// The outcome of a run.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Timing {
    /// Cycles from the start command until the last instruction has completed.
    pub cycles: Cycle,
    /// Cycles by cause; they add up to `cycles`.
    pub stalls: Stalls,
    /// Instructions of each pipe, by [`Pipe::index`](b512_asm::Pipe::index).
    pub instructions: [u64; 4],
    /// Cycles for which each pipe was occupied, by [`Pipe::index`](b512_asm::Pipe::index).
    pub busy: [u64; 4],
    /// Cycles for which each SRAM of the register file was in use; zeros where ports are ideal.
    pub sram_busy: [u64; SRAMS],
    /// Cycles for which the head of each queue was held back only by SRAMs of the register file
    /// that other instructions used, by [`Pipe::index`](b512_asm::Pipe::index).
    pub port_wait: [u64; 3],
    /// Cycles for which loads and stores held the VBAR because banks of the VDM conflicted.
    pub bank_conflicts: u64,
    /// Cycles below which no order of the instructions can go.
    pub bounds: Bounds,
    /// The cycles of each instruction.
    pub schedule: Vec<Schedule>,
}

/// Shares of the time for which units were in use, from 0 to 1; 0 for a run of no cycles.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Utilisation {
    /// Of each pipe, by [`Pipe::index`](b512_asm::Pipe::index). With a split VBAR the mean of its two paths.
    pub pipes: [f64; 3],
    /// Of each SRAM of the register file; zeros where ports are ideal.
    pub srams: [f64; SRAMS],
}

impl Timing {
    /// What follows from the cycles of each instruction of a run.
    fn of(machine: &Machine, works: &[Work], schedule: Vec<Schedule>) -> Self {
        let completed = schedule.iter().map(|s| s.complete).fold(Cycle::ZERO, Cycle::max);
        let cycles = schedule.last().map_or(Cycle::ZERO, |last| completed.max(last.dispatch + 1));
        let demand = Demand::of(machine, works);
        Self {
            cycles,
            stalls: Stalls::of(machine, works, &schedule, cycles),
            instructions: demand.instructions,
            busy: demand.paths.map(|paths| paths.iter().sum()),
            sram_busy: demand.srams,
            port_wait: port_wait(machine, works, &schedule),
            bank_conflicts: demand.bank_conflicts,
            bounds: Bounds::of(machine, works, &demand),
            schedule,
        }
    }

    /// How well the pipes and the register file were used by a run on `machine`.
    pub fn utilisation(&self, machine: &Machine) -> Utilisation {
        let share = |busy: u64, units: u64| busy as f64 / (units * self.cycles.0).max(1) as f64;
        let paths = if machine.vbar.paths == VbarPaths::Split { 2 } else { 1 };
        let [load_store, compute, shuffle, _] = self.busy;
        Utilisation {
            pipes: [share(load_store, paths), share(compute, 1), share(shuffle, 1)],
            srams: self.sram_busy.map(|busy| share(busy, 1)),
        }
    }

    /// How well each bank of the VDM was used by a run of `program` on `machine`, from 0 to 1.
    ///
    /// Counted afresh with each call. `None` with `ideal.bank_conflicts`, where banks have no limit.
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

/// Runs a program through the cycle model.
pub fn simulate(machine: &Machine, program: &Program) -> Timing {
    let works = Decoder::program(machine, program);
    let mut engine = Engine::new(machine);
    for work in &works {
        engine.dispatch(work);
    }
    Timing::of(machine, &works, engine.finish())
}
