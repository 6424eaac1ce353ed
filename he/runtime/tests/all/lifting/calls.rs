//! The second model of lifting, for programs with calls. `LIFTED_CALL_CASES` is the number of random programs.

use super::{Described, ZERO, described, model, random_limits};
use crate::measures::cases;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus as Random;
use ring_program::{Call, Limb, RingProgram, Step};
use runtime::lift::Executed;
use runtime::testing::random_calls;
use runtime::{Limits, lift_program};
use std::collections::{BTreeMap, HashMap};

/// All calls, one after the other.
fn calls(steps: &[Step]) -> Vec<&Call> {
    let mut all = Vec::new();
    for step in steps {
        match step {
            Step::Call(call) => all.push(call),
            Step::Repeat(count, steps) => (0..count.get()).for_each(|_| all.extend(calls(steps))),
        }
    }
    all
}

/// The launches of all calls. Values have numbers: zero, the inputs, then those of each call.
fn expected(program: &RingProgram, limits: Limits) -> Vec<Described> {
    let mut now: HashMap<Limb, usize> = HashMap::new();
    for &limb in program.inputs().iter().flat_map(|group| &group.limbs) {
        let next = now.len() + 1;
        now.entry(limb).or_insert(next);
    }
    let mut next = now.len() + 1;
    let mut launches = Vec::new();
    for Call { function, arguments, results } in calls(program.steps()) {
        let before = program.functions()[..function.index()].iter();
        let before: u32 = before.map(|function| function.body().operations().len() as u32).sum();
        let function = program.function(*function);
        let parameters = function.parameters();
        let arguments: Vec<usize> = arguments.iter().map(|limb| now[limb]).collect();
        let first = |value: &usize| parameters[arguments.iter().position(|other| other == value).unwrap()];
        let same = parameters.iter().copied().zip(arguments.iter().map(first)).collect();
        let model = model(function.body(), limits, &same);
        let mut names = HashMap::from([(ZERO, ZERO)]);
        names.extend(parameters.iter().map(|limb| model.given[limb]).zip(arguments.iter().copied()));
        let name = |value: &usize| names.get(value).copied().unwrap_or(next + value);
        launches.extend(model.described().into_iter().map(|launch| {
            Described {
                first: before + launch.first,
                operands: launch.operands.iter().map(name).collect(),
                results: launch.results.iter().map(name).collect(),
                executed: launch
                    .executed
                    .iter()
                    .map(|it| Executed { result: before + it.result, product: before + it.product })
                    .collect(),
                ..launch
            }
        }));
        now.extend(results.iter().copied().zip(model.outputs.iter().map(name)));
        next += model.reads.len();
    }
    launches
}

#[test]
fn both_models_make_the_same_launches_of_calls() {
    let mut rng = Random::seed_from_u64(13);
    let mut equal = 0;
    for case in 0..cases("LIFTED_CALL_CASES", 100) {
        let program = random_calls(&mut rng);
        let limits = random_limits(&mut rng, &program);
        let expected = expected(&program, limits);
        let found = described(&lift_program(&program, limits).1);
        let text = || format!("case {case}, {limits:?}\n{}", program.to_text());
        assert_eq!(found.len(), expected.len(), "{}", text());
        // The numbers of values are in one order.
        let mut names: BTreeMap<usize, usize> = BTreeMap::new();
        for (at, (found, expected)) in found.into_iter().zip(expected).enumerate() {
            let pairs = [(&found.operands, &expected.operands), (&found.results, &expected.results)];
            for (found, expected) in
                pairs.into_iter().flat_map(|(found, expected)| found.iter().zip(expected))
            {
                names.entry(*found).or_insert(*expected);
            }
            let renamed = |values: &[usize]| values.iter().map(|value| names[value]).collect();
            let (operands, results) = (renamed(&found.operands), renamed(&found.results));
            assert_eq!(Described { operands, results, ..found }, expected, "launch {at} of {}", text());
        }
        let in_order: Vec<usize> = names.into_values().collect();
        assert!(in_order.windows(2).all(|pair| pair[0] < pair[1]), "{in_order:?}, {}", text());
        equal += usize::from(calls(program.steps()).iter().any(|call| {
            call.arguments.iter().enumerate().any(|(at, limb)| call.arguments[..at].contains(limb))
        }));
    }
    assert!(equal > 0, "no call has one argument twice");
}
