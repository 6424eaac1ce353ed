//! The two timing models agree on every cycle of every instruction.
//!
//! `SIM_PAIRS` sets the number of random pairs of program and machine, `SIM_SEED` the first seed.
//! `SIM_REPLAY` holds one pair to compare instead, as a failure prints it.

mod random;

use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};
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
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let config = Config { cases: PAIRS_PER_SEED, failure_persistence: None, ..Config::default() };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let outcome = TestRunner::new_with_rng(config, rng).run(
        &(random::programs(24), random::machines()),
        |(program, machine)| {
            random::compare(&machine, &program).map_err(proptest::test_runner::TestCaseError::fail)?;
            Ok(())
        },
    );
    if let Err(TestError::Fail(reason, (program, machine))) = outcome {
        panic!("seed {seed}: {reason}\n{}", random::describe(&machine, &program));
    }
    outcome.expect("the generators give up on nothing");
}
