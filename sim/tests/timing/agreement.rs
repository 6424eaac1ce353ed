//! The two timing models agree on every cycle of every instruction.
//!
//! `SIM_PAIRS` sets the number of random pairs of program and machine, `SIM_SEED` the first seed.
//! `SIM_REPLAY` holds one pair to compare instead, as a failure prints it.

use crate::random;
use rayon::prelude::*;

/// Pairs that one seed gives.
const PAIRS_PER_SEED: u32 = 250;

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| text.parse().expect("a number"))
}

#[test]
fn event_driven_and_stepped_model_agree() {
    if let Ok(pair) = std::env::var("SIM_REPLAY") {
        let (machine, program) = random::parse(&pair);
        let timing = random::compare(&machine, &program).unwrap_or_else(|difference| panic!("{difference}"));
        println!("the models agree: {timing:#?}");
        return;
    }
    let seeds = number("SIM_PAIRS", 20_000).div_ceil(PAIRS_PER_SEED.into());
    let first = number("SIM_SEED", 0);
    (first..first + seeds).into_par_iter().for_each(check_seed);
}

fn check_seed(seed: u64) {
    random::check(seed, PAIRS_PER_SEED, (random::programs(24), random::machines()), |program, machine| {
        random::compare(machine, program).map(|_| ())
    });
}
