//! The papers' variants compared with the host model: recipes other than a strategy's own, and
//! sequences of several kernels.

use gpu_experiments::sequence::{Execution, Sequence};
use gpu_experiments::variants::{cheddar, hybrid, lom, los, two_dimensional, two_stage};
use gpu_ref::testing::{
    ON_EMULATED, Test, check_recipe, moduli, named, on, on_each, polynomials, rng, run, same, trial,
};
use gpu_ref::{
    Barrett, Device, Direction, Error, Feature, Modulus, Plan, Product, Recipe, Strategy, Sync, host,
};
use std::process::ExitCode;

fn check_all(device: &Device, recipes: &[Recipe]) {
    for recipe in recipes {
        check_recipe(device, recipe, 2, 2);
    }
}

const BARRETT: Barrett = Barrett::Proposed;

fn one_block(device: &Device) {
    let recipes = [
        los(Barrett::Remainder, 32, 10, 1).unwrap(),
        los(BARRETT, 64, 11, 4).unwrap(),
        los(BARRETT, 64, 10, 1).unwrap(),
    ];
    check_all(device, &recipes);
}

fn many_blocks(device: &Device) {
    let recipes = [
        lom(BARRETT, 32, 12, 3, 1).unwrap(),
        lom(BARRETT, 64, 13, 2, 4).unwrap(),
        two_dimensional(BARRETT, 32, 10, 2, 3, true).unwrap(),
        two_dimensional(BARRETT, 64, 11, 1, 0, false).unwrap(),
        hybrid(32, 12).unwrap(),
    ];
    check_all(device, &recipes);
}

fn products_in_two_ways(device: &Device) {
    let separate = Product { separate: true, ..Product::default() };
    let mut recipes = vec![
        los(BARRETT, 32, 10, 2).unwrap().with_product(separate).unwrap(),
        lom(BARRETT, 64, 12, 1, 1).unwrap(),
        two_dimensional(BARRETT, 32, 10, 2, 3, false).unwrap().with_product(separate).unwrap(),
    ];
    for (strategy, bits) in [(Strategy::Best, 32), (Strategy::Wide, 128)] {
        recipes.push(Recipe::new(strategy, bits, 10).unwrap().with_product(separate).unwrap());
    }
    check_all(device, &recipes);
}

/// Two passes with other parameters than the published ones, and partial last rounds.
fn cheddars_kernels(device: &Device) {
    check_all(device, &[cheddar(13, 5, [2, 3], 4).unwrap()]);
}

fn caramels_kernels(device: &Device) {
    let own = two_stage(13, 3).unwrap();
    let product = Product { separate: true, ..Product::default() };
    check_all(device, &[own.clone(), own.with_product(product).unwrap()]);
}

/// Variants that a strategy lacks are rejected, and the message names a valid alternative.
fn unsound_variants_are_refused() {
    let refused = |recipe: Result<Recipe, Error>| matches!(recipe, Err(Error::Unsupported { .. }));
    let own = |strategy| Recipe::new(strategy, 64, 12).unwrap();
    assert!(refused(own(Strategy::Caramel).with(Feature::Once)));
    assert!(refused(own(Strategy::HeBooster(Sync::Local)).with(Feature::Overlap)));
    assert!(refused(own(Strategy::HeBooster(Sync::Local)).with_product(Product::default())));
    assert!(refused(own(Strategy::Shivdikar(BARRETT)).with_shared_roots(1)));
    assert!(refused(own(Strategy::Best).with_shared_roots(3)));
}

/// Products and transforms on several batches give equal results in every order permitted by
/// their data.
fn programs_in_every_execution(device: &Device) {
    let separate = Product { separate: true, ..Product::default() };
    let recipe = two_stage(13, 3).unwrap().with_product(separate).unwrap();
    let moduli = moduli::<u64>(3, 50, 1 << 13).unwrap();
    let plans: Vec<_> =
        moduli.iter().map(|&m| Plan::with_recipe(device, recipe.clone(), &[m]).unwrap()).collect();
    let mut rng = rng();
    // The second of two polynomials is random.
    let mut input = |m| polynomials(&[m], 2, &mut rng).split_off(1 << 13);
    let inputs: Vec<[Vec<u64>; 2]> = moduli.iter().map(|&m| [input(m), input(m)]).collect();
    for execution in [Execution::Launches, Execution::SequentialGraph, Execution::DependencyGraph] {
        let mut sequence = Sequence::new(device);
        let mut ids = Vec::new();
        for (plan, pair) in plans.iter().zip(&inputs) {
            let [left, right] = pair.each_ref().map(|x| sequence.add(plan.upload(x).unwrap()));
            sequence.multiply(plan, left, right).unwrap();
            sequence.transform(plan, Direction::Forward, left).unwrap();
            ids.push(left);
        }
        assert_eq!(sequence.kernels(), 3 * (2 + 2 + 1 + 2 + 2));
        sequence.run(execution).unwrap();
        for (((plan, pair), modulus), &id) in plans.iter().zip(&inputs).zip(&moduli).zip(&ids) {
            let want = host::forward(modulus, &host::product(modulus, &pair[0], &pair[1]));
            let got = plan.download(sequence.batch(id)).unwrap();
            same(format_args!("{execution:?}"), &got, &want);
        }
    }
}

/// A batch of another sequence is rejected, and so is one batch for both factors.
fn foreign_batches_are_refused(device: &Device) {
    let modulus = Modulus::<u32>::find(30, 1 << 10, 0).unwrap();
    let plan = Plan::new(device, Strategy::Best, &[modulus]).unwrap();
    let (mut one, mut other) = (Sequence::new(device), Sequence::new(device));
    let here = one.add(plan.upload(&vec![1; 1 << 10]).unwrap());
    let elsewhere = other.transform(&plan, Direction::Forward, here);
    assert!(matches!(elsewhere, Err(Error::Unsupported { .. })));
    assert!(matches!(one.multiply(&plan, here, here), Err(Error::Unsupported { .. })));
    let mut resident = Sequence::new(device);
    let plan = Plan::new(device, Strategy::HeBooster(Sync::Local), &[modulus]).unwrap();
    let id = resident.add(plan.upload(&vec![1; 1 << 10]).unwrap());
    resident.transform(&plan, Direction::Forward, id).unwrap();
    assert!(matches!(resident.run(Execution::DependencyGraph), Err(Error::Unsupported { .. })));
}

fn main() -> ExitCode {
    let each = named![
        one_block,
        many_blocks,
        products_in_two_ways,
        cheddars_kernels,
        caramels_kernels,
        programs_in_every_execution
    ];
    let emulated: [Test; 1] = named![foreign_batches_are_refused];
    let mut trials: Vec<_> = on_each(&each).collect();
    trials.extend(emulated.map(|(name, test)| on(ON_EMULATED, name, test)));
    trials.push(trial("unsound_variants_are_refused".into(), None, unsound_variants_are_refused));
    run(trials)
}
