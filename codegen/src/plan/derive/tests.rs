//! Derived plans are valid, and cost no more than what was once written by hand.

use super::*;
use crate::testing::plans;

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

#[test]
fn derived_plans_cost_no_more_than_those_written_by_hand() {
    for (plan, machine) in plans::by_hand() {
        let derived = derive(plan.shape(), &machine, 64);
        let least = derived.iter().map(|plan| cost(plan, &machine)).min().unwrap();
        let by_hand = cost(&plan, &machine);
        assert!(least <= by_hand, "{}: cost {by_hand}, derived {least}", plan.name);
        // They come in this order, so that a search schedules the first ones.
        assert_eq!(cost(&derived[0], &machine), least, "{}", plan.name);
    }
}

#[test]
fn derived_plans_are_plans_of_every_shape() {
    let machine = Machine::rpu_128x128();
    for lanes in 3..=12 {
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
