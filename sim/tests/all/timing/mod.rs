//! The cycle model: each rule, random programs, and agreement with the stepped model.

mod agreement;
mod dominance;
mod ideal;
mod invariants;
mod overtaking;
mod queries;
mod rules;

/// The number of random pairs of program and machine per seed.
const PAIRS_PER_SEED: u32 = 250;

/// The number in an environment variable.
fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| text.parse().expect("a number"))
}
