//! The papers' variants compared with the host model: recipes other than a strategy's own, and
//! sequences of several kernels.
//!
//! Each run has new random inputs. A failure prints its seed; `GPU_REF_SEED=<seed> cargo test -p
//! gpu-ref` repeats it.

mod common;

use common::{ON_EMULATED, SEED, named, on, on_each, run, trial};
use gpu_ref::sequence::Execution;
use gpu_ref::{
    Barrett, Device, Direction, Error, Modulus, Plan, Product, Recipe, Sequence, Strategy, Sync, Word, host,
};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::process::ExitCode;

/// One polynomial for each modulus: largest coefficients if `number` is 0, random ones otherwise.
fn polynomial<W: Word>(moduli: &[Modulus<W>], number: usize, rng: &mut StdRng) -> Vec<W> {
    let coefficients = moduli.iter().flat_map(|m| std::iter::repeat_n(m.q().widen(), m.n()));
    coefficients.map(|q| W::narrow(if number == 0 { q - 1 } else { rng.random_range(0..q) })).collect()
}

/// A function of two polynomials applied to every polynomial and limb of two batches.
fn model<W: Word>(
    moduli: &[Modulus<W>],
    left: &[W],
    right: &[W],
    f: impl Fn(&Modulus<W>, &[W], &[W]) -> Vec<W>,
) -> Vec<W> {
    let n = moduli[0].n();
    let pairs = left.chunks(n).zip(right.chunks(n)).zip(moduli.iter().cycle());
    pairs.flat_map(|((x, y), modulus)| f(modulus, x, y)).collect()
}

/// Both directions and the product of a recipe, on two moduli and one group of interleaved
/// polynomials, but at least two.
fn check<W: Word>(device: &Device, recipe: &Recipe) {
    let (n, bits) = (1 << recipe.log_n, recipe.strategy.modulus_bits(W::BITS));
    let moduli = [Modulus::<W>::find(bits, n, 0).unwrap(), Modulus::find(22, n, 0).unwrap()];
    let plan = Plan::with_recipe(device, recipe.clone(), &moduli).unwrap();
    let mut rng = StdRng::seed_from_u64(*SEED);
    let polynomials = 2 << recipe.interleave_log.saturating_sub(1);
    let mut inputs =
        || (0..polynomials).flat_map(|number| polynomial(&moduli, number, &mut rng)).collect::<Vec<_>>();
    let (left, right) = (inputs(), inputs());
    let report = |what: &str, got: &[W], want: &[W]| {
        if let Some(at) = got.iter().zip(want).position(|(g, w)| g != w) {
            let (got, want, seed) = (got[at], want[at], *SEED);
            panic!("{what} of {recipe:?}, word {at}: got {got:?}, want {want:?}; GPU_REF_SEED={seed}");
        }
    };
    let transformed = model(&moduli, &left, &right, |modulus, x, _| host::forward(modulus, x));
    report("forward", &plan.run(Direction::Forward, &left).unwrap(), &transformed);
    report("inverse", &plan.run(Direction::Inverse, &transformed).unwrap(), &left);
    let (mut x, mut y) = (plan.upload(&left).unwrap(), plan.upload(&right).unwrap());
    plan.multiply(&mut x, &mut y).unwrap();
    report("product", &plan.download(&x).unwrap(), &model(&moduli, &left, &right, host::product));
}

fn check_all(device: &Device, recipes: &[Recipe]) {
    for recipe in recipes {
        match recipe.word_bits {
            32 => check::<u32>(device, recipe),
            64 => check::<u64>(device, recipe),
            _ => check::<u128>(device, recipe),
        }
    }
}

const BARRETT: Barrett = Barrett::Proposed;

fn one_block(device: &Device) {
    let recipes = [
        Recipe::los(Barrett::Remainder, 32, 10, 1).unwrap(),
        Recipe::los(BARRETT, 64, 11, 4).unwrap(),
        Recipe::los(BARRETT, 64, 10, 1).unwrap().without_shared_memory(),
    ];
    check_all(device, &recipes);
}

fn many_blocks(device: &Device) {
    let recipes = [
        Recipe::lom(BARRETT, 32, 12, 3, 1).unwrap(),
        Recipe::lom(BARRETT, 64, 13, 2, 4).unwrap(),
        Recipe::two_dimensional(BARRETT, 32, 10, 2, 3, true).unwrap(),
        Recipe::two_dimensional(BARRETT, 64, 11, 1, 0, false).unwrap().without_shared_memory(),
        Recipe::hybrid(32, 12).unwrap(),
    ];
    check_all(device, &recipes);
}

fn interleaved_polynomials(device: &Device) {
    let recipes = [
        Recipe::tom(BARRETT, 32, 10, 3).unwrap(),
        Recipe { interleave_log: 2, ..Recipe::new(Strategy::Best, 64, 10).unwrap() },
    ];
    check_all(device, &recipes);
}

fn products_in_four_ways(device: &Device) {
    let truncated = |separate| Product { separate, truncated: true, ..Product::default() };
    let los = Recipe::los(BARRETT, 32, 10, 2).unwrap();
    let lom = Recipe::lom(BARRETT, 64, 12, 1, 1).unwrap();
    let square = Recipe::two_dimensional(BARRETT, 32, 10, 2, 3, false).unwrap();
    let mut recipes = vec![
        Recipe { product: truncated(false), ..los.clone() },
        Recipe { product: truncated(true), ..los },
        Recipe { product: truncated(false), ..lom },
        Recipe { product: truncated(true), ..square },
    ];
    let separate = Product { separate: true, ..Product::default() };
    for (strategy, bits) in [(Strategy::Best, 32), (Strategy::Wide, 128)] {
        recipes.push(Recipe { product: separate, ..Recipe::new(strategy, bits, 10).unwrap() });
    }
    check_all(device, &recipes);
}

/// Roots on the fly in one pass and in two, with full and partial last rounds, and in a product.
fn roots_on_the_fly(device: &Device) {
    let recipes = [
        Recipe { on_the_fly: true, ..Recipe::new(Strategy::Cheddar, 32, 10).unwrap() },
        Recipe { on_the_fly: true, ..Recipe::cheddar(13, 5, [2, 3], 4).unwrap() },
    ];
    check_all(device, &recipes);
}

fn caramels_kernels(device: &Device) {
    let own = Recipe::two_stage(13, 3).unwrap();
    let product = Product { separate: true, ..Product::default() };
    let recipes = [
        Recipe { casts: true, streaming: true, ..own.clone() },
        Recipe { product, streaming: true, ..own },
        Recipe { streaming: true, ..Recipe::new(Strategy::Wide, 128, 10).unwrap() },
    ];
    check_all(device, &recipes);
}

/// Invalid recipes are rejected, and the message names a valid alternative.
fn unsound_variants_are_refused() {
    let refused = |recipe: Recipe| matches!(recipe.check(), Err(Error::Unsupported { .. }));
    let truncated = Product { truncated: true, ..Product::default() };
    let own = |strategy| Recipe::new(strategy, 64, 12).unwrap();
    assert!(refused(Recipe { product: truncated, ..own(Strategy::Best) }));
    assert!(refused(Recipe { casts: true, ..own(Strategy::Best) }));
    assert!(refused(Recipe { on_the_fly: true, ..own(Strategy::Best) }));
    assert!(refused(Recipe { streaming: true, ..own(Strategy::HeBooster(Sync::Local)) }));
    assert!(refused(Recipe { interleave_log: 11, ..own(Strategy::Best) }));
    let one_stage_last = Recipe {
        product: truncated,
        passes: (0..12)
            .map(|first| gpu_ref::recipe::Pass { first, stages: 1, points_log: 1, lanes_log: 6, blocks: 1 })
            .collect(),
        ..own(Strategy::Shivdikar(BARRETT))
    };
    assert!(refused(one_stage_last));
}

/// An interleaved batch must be a multiple of the group size.
fn interleaved_batches_are_whole(device: &Device) {
    let modulus = Modulus::<u32>::find(30, 1 << 10, 0).unwrap();
    let plan = Plan::with_recipe(device, Recipe::tom(BARRETT, 32, 10, 3).unwrap(), &[modulus]).unwrap();
    let wrong = plan.upload(&vec![0; 3 << 10]).map(|_| ());
    assert_eq!(wrong, Err(Error::Length { unit: 8 << 10, got: 3 << 10 }));
}

/// Products and transforms on several batches give equal results in every order permitted by
/// their data.
fn programs_in_every_execution(device: &Device) {
    let recipe = Recipe {
        product: Product { separate: true, ..Product::default() },
        ..Recipe::two_stage(13, 3).unwrap()
    };
    let moduli: Vec<_> = (0..3).map(|skip| Modulus::<u64>::find(50, 1 << 13, skip).unwrap()).collect();
    let plans: Vec<_> =
        moduli.iter().map(|&m| Plan::with_recipe(device, recipe.clone(), &[m]).unwrap()).collect();
    let mut rng = StdRng::seed_from_u64(*SEED);
    let inputs: Vec<[Vec<u64>; 2]> =
        moduli.iter().map(|&m| [polynomial(&[m], 1, &mut rng), polynomial(&[m], 2, &mut rng)]).collect();
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
            assert!(got == want, "{execution:?}, GPU_REF_SEED={}", *SEED);
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
        interleaved_polynomials,
        products_in_four_ways,
        roots_on_the_fly,
        caramels_kernels,
        programs_in_every_execution
    ];
    let emulated: [common::Test; 2] = named![interleaved_batches_are_whole, foreign_batches_are_refused];
    let mut trials: Vec<_> = on_each(&each).collect();
    trials.extend(emulated.map(|(name, test)| on(ON_EMULATED, name, test)));
    trials.push(trial("unsound_variants_are_refused".into(), None, unsound_variants_are_refused));
    run(trials)
}
