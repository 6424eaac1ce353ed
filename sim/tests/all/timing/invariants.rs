//! Invariants of every run. `SIM_INVARIANTS` sets the number of random pairs of program and machine.

use super::{PAIRS_PER_SEED, number};
use b512_asm::{Pipe, Program};
use rayon::prelude::*;
use sim::Machine;
use sim::testing as random;
use sim::timing::scheduling::{Decoder, Engine};
use sim::timing::{Cause, Timing, Wait, simulate};

fn check(program: &Program, machine: &Machine, timing: &Timing) -> Result<(), String> {
    let ensure = |holds: bool, what: &str| if holds { Ok(()) } else { Err(format!("{what}: {timing:?}")) };
    ensure(timing.stalls.total() == timing.cycles.0, "every cycle has one cause")?;
    let bounds = timing.bounds;
    ensure(bounds.resource <= timing.cycles && bounds.dependence <= timing.cycles, "bounds are bounds")?;
    ensure(timing.timestamps.len() == program.instructions.len(), "each instruction runs once")?;
    ensure(timing.instructions.values().sum::<u64>() == timing.timestamps.len() as u64, "each has a pipe")?;
    for s in &timing.timestamps {
        let in_order = s.dispatch <= s.issue && s.issue <= s.complete && s.complete <= timing.cycles;
        ensure(in_order, "dispatch, issue, completion, end")?;
    }
    ensure(timing.timestamps.is_sorted_by_key(|s| s.dispatch), "dispatch is in program order")?;
    for pipe in Pipe::VECTOR {
        let mut of_pipe =
            program.instructions.iter().zip(&timing.timestamps).filter(|(i, _)| i.pipe() == pipe);
        let in_order = of_pipe.clone().is_sorted_by_key(|(_, s)| s.issue);
        ensure(in_order, "a pipe issues in program order")?;
        ensure(of_pipe.all(|(_, s)| s.dispatch < s.complete), "micro_op takes time")?;
    }
    let utilisation = timing.utilisation(machine);
    let banks = timing.bank_utilisation(machine, program).unwrap_or_default();
    let mut shares = utilisation.pipes.values().chain(&utilisation.srams).chain(&banks);
    ensure(shares.all(|share| (0.0..=1.0).contains(share)), "a share is between 0 and 1")?;
    let waits = Wait::of(machine, program, &timing.timestamps);
    for cause in Cause::all().filter(|&cause| !matches!(cause, Cause::Issue | Cause::Drain)) {
        let waited = waits.iter().filter(|wait| wait.cause == cause).map(|wait| wait.to - wait.from);
        ensure(waited.sum::<u64>() == timing.stalls.get(cause), "the waits are the stalls")?;
    }
    ensure(timing.stalls.get(Cause::Issue) <= program.instructions.len() as u64, "dispatch takes a cycle")
}

#[test]
fn hold_over_random_programs_and_machines() {
    let seeds = number("SIM_INVARIANTS", 2000).div_ceil(PAIRS_PER_SEED.into());
    (0..seeds).into_par_iter().for_each(|seed| {
        random::check(
            seed,
            PAIRS_PER_SEED,
            (random::programs(24), random::machines()),
            |program, machine| check(program, machine, &simulate(machine, program)),
        );
    });
}

#[test]
fn hold_for_a_program_of_nothing() {
    let (program, machine) = (Program::default(), Machine::rpu_128x128());
    let timing = simulate(&machine, &program);
    assert_eq!(timing.cycles.0, 0);
    check(&program, &machine, &timing).unwrap();
}

#[test]
fn a_copy_of_the_engine_goes_its_own_way() {
    random::check(2, 500, (random::programs(24), random::machines()), |program, machine| {
        let micro_ops = Decoder::program(machine, program);
        let mut engine = Engine::new(machine);
        let expected = simulate(machine, program).timestamps;
        for at in 0..micro_ops.len() {
            let mut copy = engine.clone();
            for micro_op in &micro_ops[at..] {
                copy.dispatch(micro_op);
            }
            if copy.finish() != expected {
                return Err(format!("a copy before instruction {at} runs differently"));
            }
            engine.dispatch(&micro_ops[at]);
        }
        Ok(())
    });
}
