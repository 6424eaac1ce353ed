//! The papers' variants compared with the host model: recipes other than a strategy's own,
//! sequences of several kernels, and residues of long integers.

#[path = "../../reference/tests/common/mod.rs"]
mod common;

use common::{
    ON_EMULATED, RngExt, SEED, StdRng, check_recipe, moduli, named, on, on_each, polynomials, rng, run, same,
    trial,
};
use gpu_ablation::residues::{Access, Reconstruction, Residues};
use gpu_ablation::sequence::{Execution, Sequence};
use gpu_ablation::variants::{cheddar, hybrid, lom, los, tom, two_dimensional, two_stage};
use gpu_ref::recipe::Pass;
use gpu_ref::{
    Barrett, Device, Direction, Error, Feature, Modulus, Plan, Product, Recipe, Strategy, Sync, Word, host,
};
use num_bigint::BigUint;
use num_traits::ToPrimitive;
use std::process::ExitCode;

const N: usize = 1 << 10;

/// Two moduli, and one group of interleaved polynomials, but at least two.
fn check_all(device: &Device, recipes: &[Recipe]) {
    for recipe in recipes {
        check_recipe(device, recipe, 2, 2 << recipe.interleave_log().saturating_sub(1));
    }
}

const BARRETT: Barrett = Barrett::Proposed;

fn one_block(device: &Device) {
    let recipes = [
        los(Barrett::Remainder, 32, 10, 1).unwrap(),
        los(BARRETT, 64, 11, 4).unwrap(),
        los(BARRETT, 64, 10, 1).unwrap().with(Feature::GlobalExchange).unwrap(),
    ];
    check_all(device, &recipes);
}

fn many_blocks(device: &Device) {
    let recipes = [
        lom(BARRETT, 32, 12, 3, 1).unwrap(),
        lom(BARRETT, 64, 13, 2, 4).unwrap(),
        two_dimensional(BARRETT, 32, 10, 2, 3, true).unwrap(),
        two_dimensional(BARRETT, 64, 11, 1, 0, false).unwrap().with(Feature::GlobalExchange).unwrap(),
        hybrid(32, 12).unwrap(),
    ];
    check_all(device, &recipes);
}

fn interleaved_polynomials(device: &Device) {
    let recipes = [
        tom(BARRETT, 32, 10, 3).unwrap(),
        Recipe::new(Strategy::Best, 64, 10).unwrap().interleaved(2).unwrap(),
    ];
    check_all(device, &recipes);
}

fn products_in_four_ways(device: &Device) {
    let truncated = |separate| Product { separate, truncated: true, ..Product::default() };
    let one_block = los(BARRETT, 32, 10, 2).unwrap();
    let blocks = lom(BARRETT, 64, 12, 1, 1).unwrap();
    let square = two_dimensional(BARRETT, 32, 10, 2, 3, false).unwrap();
    let mut recipes = vec![
        one_block.clone().with_product(truncated(false)).unwrap(),
        one_block.with_product(truncated(true)).unwrap(),
        blocks.with_product(truncated(false)).unwrap(),
        square.with_product(truncated(true)).unwrap(),
    ];
    let separate = Product { separate: true, ..Product::default() };
    for (strategy, bits) in [(Strategy::Best, 32), (Strategy::Wide, 128)] {
        recipes.push(Recipe::new(strategy, bits, 10).unwrap().with_product(separate).unwrap());
    }
    check_all(device, &recipes);
}

/// Roots on the fly in one pass and in two, with full and partial last rounds, and in a product.
fn roots_on_the_fly(device: &Device) {
    let recipes = [
        Recipe::new(Strategy::Cheddar, 32, 10).unwrap().with(Feature::OnTheFly).unwrap(),
        cheddar(13, 5, [2, 3], 4).unwrap().with(Feature::OnTheFly).unwrap(),
    ];
    check_all(device, &recipes);
}

fn caramels_kernels(device: &Device) {
    let streaming = |recipe: Recipe| recipe.with(Feature::Streaming).unwrap();
    let own = streaming(two_stage(13, 3).unwrap());
    let product = Product { separate: true, ..Product::default() };
    let recipes = [
        own.clone().with(Feature::Casts).unwrap(),
        own.with_product(product).unwrap(),
        streaming(Recipe::new(Strategy::Wide, 128, 10).unwrap()),
    ];
    check_all(device, &recipes);
}

/// Variants that a strategy lacks are rejected, and the message names a valid alternative.
fn unsound_variants_are_refused() {
    let refused = |recipe: Result<Recipe, Error>| matches!(recipe, Err(Error::Unsupported { .. }));
    let truncated = Product { truncated: true, ..Product::default() };
    let own = |strategy| Recipe::new(strategy, 64, 12).unwrap();
    assert!(refused(own(Strategy::Best).with_product(truncated)));
    assert!(refused(own(Strategy::Best).with(Feature::Casts)));
    assert!(refused(own(Strategy::Best).with(Feature::OnTheFly)));
    assert!(refused(own(Strategy::HeBooster(Sync::Local)).with(Feature::Streaming)));
    assert!(refused(own(Strategy::HeBooster(Sync::Local)).with_product(Product::default())));
    assert!(refused(own(Strategy::HeBooster(Sync::Local)).interleaved(1)));
    assert!(refused(own(Strategy::Best).interleaved(11)));
    assert!(refused(own(Strategy::Shivdikar(BARRETT)).with_shared_roots(1)));
    assert!(refused(own(Strategy::Best).with_shared_roots(3)));
    let one_stage = Pass { stages: 1, points_log: 1, lanes_log: 6, blocks: 1 };
    let one_stage_last = own(Strategy::Shivdikar(BARRETT)).with_passes(vec![one_stage; 12]).unwrap();
    assert!(refused(one_stage_last.with_product(truncated)));
    let interleaved = tom(BARRETT, 32, 10, 3).unwrap();
    assert!(refused(interleaved.with_product(truncated)));
}

/// An interleaved batch must be a multiple of the group size.
fn interleaved_batches_are_whole(device: &Device) {
    let modulus = Modulus::<u32>::find(30, 1 << 10, 0).unwrap();
    let plan = Plan::with_recipe(device, tom(BARRETT, 32, 10, 3).unwrap(), &[modulus]).unwrap();
    let wrong = plan.upload(&vec![0; 3 << 10]).map(|_| ());
    assert_eq!(wrong, Err(Error::Length { unit: 8 << 10, got: 3 << 10 }));
}

/// Products and transforms on several batches give equal results in every order permitted by
/// their data.
fn programs_in_every_execution(device: &Device) {
    let separate = Product { separate: true, ..Product::default() };
    let recipe = two_stage(13, 3).unwrap().with_product(separate).unwrap();
    let moduli = moduli::<u64>(3, 50, 1 << 13);
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

fn residue(x: &BigUint, q: u128) -> u128 {
    (x % q).to_u128().unwrap()
}

/// Coefficients of `words` words: first Q - 1 and 0 in turn, then random ones below Q.
fn coefficients<W: Word>(product: &BigUint, words: usize, rng: &mut StdRng) -> Vec<W> {
    let number = |i: usize| -> BigUint {
        match i {
            0 => product - 1u32,
            1 => BigUint::ZERO,
            _ => (0..words + 1).fold(BigUint::ZERO, |x, _| (x << 64) + rng.random::<u64>()) % product,
        }
    };
    let mask = (BigUint::from(1u32) << W::BITS) - 1u32;
    let word = |x: &BigUint, k: usize| W::narrow(((x >> (k * W::BITS as usize)) & &mask).to_u128().unwrap());
    let numbers: Vec<_> = (0..2 * N).map(number).collect();
    numbers.iter().flat_map(|x| (0..words).map(move |k| (x, k))).map(|(x, k)| word(x, k)).collect()
}

fn check_residues<W: Word>(device: &Device, limbs: usize, bits: u32, access: Access) {
    let moduli = moduli::<W>(limbs, bits, N);
    let product: BigUint = moduli.iter().map(|m| BigUint::from(m.q().widen())).product();
    let residues = Residues::new(device, &moduli, access).unwrap();
    assert_eq!(residues.words(), product.bits().div_ceil(W::BITS.into()) as usize);
    let numbers: Vec<W> = coefficients(&product, residues.words(), &mut rng());
    let whole = |words: &[W]| words.iter().rev().fold(BigUint::ZERO, |x, w| (x << W::BITS) + w.widen());
    let want: Vec<W> = numbers
        .chunks(N * residues.words())
        .flat_map(|polynomial| moduli.iter().map(move |m| (polynomial, m.q().widen())))
        .flat_map(|(polynomial, q)| polynomial.chunks(residues.words()).map(move |x| (x, q)))
        .map(|(x, q)| W::narrow(residue(&whole(x), q)))
        .collect();
    same("residues", &residues.decompose(&numbers).unwrap(), &want);
    for how in [Reconstruction::Garner, Reconstruction::Direct] {
        same("coefficients", &residues.reconstruct(how, &want).unwrap(), &numbers);
    }
    // Every integer has residues, even above the product.
    let largest = vec![W::narrow(u128::MAX); N * residues.words()];
    let x = whole(&largest[..residues.words()]);
    let want: Vec<W> = moduli.iter().flat_map(|m| vec![W::narrow(residue(&x, m.q().widen())); N]).collect();
    same("residues", &residues.decompose(&largest).unwrap(), &want);
}

fn long_integers(device: &Device) {
    check_residues::<u32>(device, 7, 30, Access::Transposed);
    check_residues::<u64>(device, 5, 62, Access::Strided);
    check_residues::<u64>(device, 4, 40, Access::Transposed);
    check_residues::<u32>(device, 1, 20, Access::Strided);
}

fn unsound_residues_are_refused(device: &Device) {
    let good = moduli::<u64>(2, 40, N);
    let refused = |moduli: &[_]| Residues::new(device, moduli, Access::Transposed).map(|_| ());
    assert!(matches!(refused(&[]), Err(Error::Modulus { .. })));
    assert!(matches!(refused(&[good[0], good[0]]), Err(Error::Modulus { .. })));
    assert!(matches!(refused(&[good[0], Modulus::find(41, N, 0).unwrap()]), Err(Error::Modulus { .. })));
    assert!(matches!(refused(&moduli(1, 30, N)), Err(Error::Modulus { .. })));
    assert!(matches!(refused(&moduli(1, 63, N)), Err(Error::Modulus { .. })));
    assert!(matches!(refused(&moduli(200, 40, N)), Err(Error::Unsupported { .. })));
    let wide = Residues::new(device, &moduli::<u128>(1, 100, N), Access::Transposed);
    assert!(matches!(wide.map(|_| ()), Err(Error::Unsupported { .. })));
    let residues = Residues::new(device, &good, Access::Transposed).unwrap();
    let unit = N * residues.words();
    assert_eq!(residues.decompose(&[1; 3]), Err(Error::Length { unit, got: 3 }));
    let large = residues.reconstruct(Reconstruction::Garner, &vec![u64::MAX; 2 * N]);
    assert!(matches!(large, Err(Error::Range { index: 0, .. })));
}

fn main() -> ExitCode {
    let each = named![
        one_block,
        many_blocks,
        interleaved_polynomials,
        products_in_four_ways,
        roots_on_the_fly,
        caramels_kernels,
        programs_in_every_execution,
        long_integers
    ];
    let emulated: [common::Test; 3] =
        named![interleaved_batches_are_whole, foreign_batches_are_refused, unsound_residues_are_refused];
    let mut trials: Vec<_> = on_each(&each).collect();
    trials.extend(emulated.map(|(name, test)| on(ON_EMULATED, name, test)));
    trials.push(trial("unsound_variants_are_refused".into(), None, unsound_variants_are_refused));
    run(trials)
}
