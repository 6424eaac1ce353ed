//! The movement search finds what was once written by hand.

use super::*;
use crate::compile::compile;
use crate::recipe::{Order, Recipe};
use crate::request::Request;
use crate::schedule::Tuning;
use rayon::prelude::*;
use ring::Degree;
use sim::machine::BankMapping;
use sim::timing::simulate;

fn machine(hples: u32, banks: u32, mapping: BankMapping) -> Machine {
    let mut machine = Machine::rpu_128x128();
    machine
        .edit(|values| (values.hple.count, values.vdm.banks, values.vdm.mapping) = (hples, banks, mapping))
        .unwrap();
    machine
}

/// The cost of a plan that the search did not make.
fn cost(plan: &Plan, machine: &Machine) -> u64 {
    let search = Search::new(plan.shape(), machine, 0, false);
    let log = |mode| match mode {
        AddressMode::Strided(log) => log.value() as usize,
        _ => 0,
    };
    let mut state = State::nothing();
    for pass in plan.trace().unwrap() {
        state.load = log(pass.load_mode);
        state.lanes = pass.start.lanes.iter().copied().collect();
        state.registers = pass.start.registers.iter().copied().collect();
        for &step in &pass.steps {
            state = match step {
                Step::Unpack(bit) => unpack(&state, state.registers.iter().position(|&b| b == bit).unwrap()),
                _ => search.staged(&state).unwrap(),
            };
        }
        state.spent += search.pass_cost(&state, log(pass.store_mode));
        state = State { spent: state.spent, done: state.done, ..State::nothing() };
    }
    state.spent
}

/// The fewest cycles of the programs of a plan in three orders.
fn cycles(plan: &Plan, machine: &Machine) -> u64 {
    let degree = Degree::try_from(1u32 << plan.log_n).unwrap();
    let request = Request::with_primes(golden::NTT, degree, 60, 1).unwrap();
    let of_order = |order| {
        let tuning = Tuning { constants_ahead: 8, reserve: 8, ..Tuning::default() };
        let recipe = Recipe {
            tuning,
            order,
            stagger: None,
            forwarding: None,
            method: None,
            plans: vec![plan.clone()],
        };
        simulate(machine, &compile(&request, &recipe, machine).unwrap().program).cycles.0
    };
    [Order::ByLevel, Order::ByDemand, Order::ByStep].map(of_order).into_iter().min().unwrap()
}

/// Families of plans written by hand, and the machines for which each was made, with the library's most
/// frequent parameters.
fn families() -> Vec<(&'static str, Machine)> {
    use BankMapping::{Interleaved, Xor};
    let (plain, folded) = (machine(128, 128, Interleaved), machine(128, 128, Xor));
    vec![
        // Korn-Lambiotte in one pass.
        (
            "forward 2^10 kl
          [9 | 8..0] S9 U9 S8 U8 S7 U7 S6 U6 S5 U5 S4 U4 S3 U3 S2 U2 S1 U1 S0 -> 9..0",
            plain.clone(),
        ),
        // One vector, twice.
        (
            "forward 2^9 copied
          [9 | 8..0] U9 S8 U8 S7 U7 S6 U6 S5 U5 S4 U4 S3 U3 S2 U2 S1 U1 S0 U0 -> 9..0",
            plain.clone(),
        ),
        // A first pass with the topmost stages, and a second pass with the rest.
        (
            "forward 2^16 windowed-4-1
          [15..12 | 8..0] S15 U15 S14 S13 S12 -> 14..0 15
          [11..8 | 7..0 15] S11 S10 S9 S8 U8 S7 U7 S6 U6 S5 U5 S4 U4 S3 U3 S2 U2 S1 U1 S0 U0 -> 15..0",
            plain.clone(),
        ),
        (
            "forward 2^14 windowed-3-2
          [13..11 | 8..0] S13 U13 S12 U12 S11 -> 11..0 13 12
          [10..7 | 6..0 13 12] S10 S9 S8 U8 S7 U7 S6 U6 S5 U5 S4 U4 S3 U3 S2 U2 S1 U1 S0 U0 -> 13..0",
            plain.clone(),
        ),
        // All lane bits through one register position.
        (
            "forward 2^12 through-9-0
          [11..9 | 8..0] S11 S10 S9 U9 S8 U8 S7 U7 S6 U6 S5 U5 S4 U4 S3 U3 S2 U2 S1 U1 S0 U0 -> 11..0",
            plain,
        ),
        // Strides instead of shuffles, in two passes.
        (
            "forward 2^16 folded-1
          [15..11 | 10..2] S15 S14 S13 U13 S12 S11 S10 -> 15 14 1 0 9..2 13..10
          [9..7 1 0 | 6..2 13..10] S9 U9 S8 U8 S7 U7 S6 U6 S5 U5 S4 S3 S2 S1 S0 -> 15..0",
            machine(8, 256, Interleaved),
        ),
        // Strides instead of shuffles, in three passes.
        (
            "forward 2^16 transposing
          [15..11 | 10..2] S15 U15 S14 S13 S12 S11 S10 -> 9..2 15 14 1 0 13..10
          [9..5 | 4..2 15 14 1 0 13 12] S9 S8 S7 S6 S5 -> 4..2 15 14 1 0 13..5
          [4..0 | 13..5] S4 S3 S2 S1 S0 -> 15..0",
            folded.clone(),
        ),
        (
            "forward 2^14 transposing
          [13..9 | 8..0] S13 S12 S11 S10 S9 -> 8..0 13..9
          [8..4 | 3..0 13..9] S8 S7 S6 S5 S4 -> 3..0 13..4
          [3..0 | 12..4] S3 S2 S1 S0 -> 13..0",
            folded,
        ),
    ]
}

#[test]
fn derived_plans_are_as_good_as_those_written_by_hand() {
    let of_family = |(text, machine): &(&str, Machine)| {
        let plan: Plan = text.parse().unwrap();
        let mut derived = derive(plan.shape(), machine, 64);
        derived.sort_by_cached_key(|plan| cost(plan, machine));
        let least = cost(&derived[0], machine);
        // A search schedules those of the least costs too.
        let fewest = derived.par_iter().take(16).map(|plan| cycles(plan, machine)).min().unwrap();
        (plan.name.clone(), cost(&plan, machine), least, cycles(&plan, machine), fewest)
    };
    let found: Vec<_> = families().par_iter().map(of_family).collect();
    for (name, cost, least, cycles, fewest) in found {
        assert!(least <= cost, "{name}: cost {cost}, derived {least}");
        // Half a percent is the scheduler's noise: it breaks ties of plans with equal counts differently.
        assert!(fewest * 200 <= cycles * 201, "{name}: {cycles} cycles, derived {fewest}");
    }
}

#[test]
fn derived_plans_are_plans_of_every_shape() {
    let machine = Machine::rpu_128x128();
    for lanes in 6..=12 {
        for log_n in lanes..=17 {
            let shape = Shape { log_n, lanes };
            let plans = derive(shape, &machine, 8);
            assert!(!plans.is_empty(), "{shape:?}");
            for plan in plans {
                assert_eq!(plan.shape(), shape);
                plan.trace().unwrap_or_else(|error| panic!("{error}\n{plan}"));
                plan.reversed("back", Algorithm::InverseTwisted).unwrap().trace().unwrap();
            }
        }
    }
}
