//! The two timing models agree on every cycle of every instruction.
//!
//! `SIM_PAIRS` sets the number of random pairs of program and machine, and `SIM_SEED` the first seed.
//! `SIM_REPLAY` compares a single pair instead, in the format that a failure prints.

use super::{PAIRS_PER_SEED, number};
use b512_asm::{Pipe, Program};
use rayon::prelude::*;
use sim::Machine;
use sim::machine::Busyboard;
use sim::testing as random;

#[test]
fn event_driven_and_stepped_model_agree() {
    if let Ok(pair) = std::env::var("SIM_REPLAY") {
        let (machine, program) = random::parse(&pair).unwrap_or_else(|error| panic!("{error}"));
        let timing = random::compare(&machine, &program).unwrap_or_else(|difference| panic!("{difference}"));
        println!("the models agree: {timing:#?}");
        return;
    }
    let seeds = number("SIM_PAIRS", 4_000).div_ceil(PAIRS_PER_SEED.into());
    let first = number("SIM_SEED", 0);
    (first..first + seeds).into_par_iter().for_each(check_seed);
}

fn check_seed(seed: u64) {
    random::check(seed, PAIRS_PER_SEED, (random::programs(24), random::machines()), |program, machine| {
        random::compare(machine, program).map(|_| ())
    });
}

/// Programs longer than the engine's lookahead window, so that the window moves with time.
#[test]
fn the_models_agree_on_long_programs() {
    (0..4).into_par_iter().for_each(|seed| {
        random::check(seed, 25, (random::programs(600), random::machines()), |program, machine| {
            random::compare(machine, program).map(|_| ())
        });
    });
}

/// A failure prints the failing pair, shrunk to a minimal one.
#[test]
fn a_failure_is_shrunk_and_can_be_replayed() {
    let multiplies = |program: &Program| program.instructions.iter().any(|i| i.pipe() == Pipe::Compute);
    let fault = |program: &Program, machine: &Machine| {
        let strict = machine.frontend.busyboard == Busyboard::Strict;
        if strict && multiplies(program) { Err("injected".to_owned()) } else { Ok(()) }
    };
    let failure = std::panic::catch_unwind(|| {
        random::check(0, 1000, (random::programs(24), random::machines()), fault);
    });
    let message = *failure.expect_err("a fault").downcast::<String>().expect("a text");
    assert!(message.starts_with("seed 0: injected"), "{message}");
    let (_, command) = message.split_once("SIM_REPLAY='").expect("a command");
    let (pair, _) = command.split_once('\'').expect("a whole pair");
    let (machine, program) = random::parse(pair).unwrap();
    assert!(fault(&program, &machine).is_err());
    assert_eq!(program.instructions.len(), 1, "shrunk to what fails: {message}");
    assert_eq!(random::pair(&machine, &program), pair);
    random::compare(&machine, &program).expect("the models agree on it");
}
