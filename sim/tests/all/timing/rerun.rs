//! Changed runs are those of the changed programs.

use b512_asm::{Pipe, Program};
use rayon::prelude::*;
use sim::Machine;
use sim::testing as random;
use sim::timing::scheduling::Rerun;
use sim::timing::simulate;

/// Changes a random program everywhere, keeps every third change, and compares each with a run of the changed
/// program.
fn compare(program: &Program, machine: &Machine) -> Result<(), String> {
    let mut program = Program { isa: machine.instruction_set(), ..program.clone() };
    let mut rerun = Rerun::new(machine, &program);
    for from in 0..program.instructions.len() {
        assert_eq!(rerun.position(), from);
        for count in [1, 2, 5, 9] {
            let Some(moved) = program.instructions.get(from..=from + count) else { break };
            if moved.iter().any(|instr| instr.pipe() == Pipe::Scalar) {
                break;
            }
            let mut changed = program.clone();
            changed.instructions[from..=from + count].rotate_left(1);
            let (cycles, expected) = (rerun.cycles_behind(count), simulate(machine, &changed).cycles);
            if cycles != expected {
                return Err(format!("{from} behind {count}: {cycles} cycles instead of {expected}"));
            }
            if (from + count) % 3 == 0 {
                rerun.put_behind(count);
                program = changed;
            }
            if rerun.cycles() != simulate(machine, &program).cycles {
                return Err(format!("{from} behind {count}, kept: {} cycles", rerun.cycles()));
            }
        }
        rerun.advance();
    }
    Ok(())
}

#[test]
fn a_changed_run_is_that_of_the_changed_program() {
    (0..8).into_par_iter().for_each(|seed| {
        random::check(seed, 250, (random::programs(40), random::machines()), compare);
    });
    (0..4).into_par_iter().for_each(|seed| {
        random::check(seed, 6, (random::programs(300), random::machines()), compare);
    });
}
