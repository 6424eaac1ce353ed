//! Shared by all tests of the crates in `gpu-ref`: the devices, random inputs, the comparison of a recipe
//! with the host model, and a harness that ignores the tests of a missing device and says why.
//!
//! Each run has new random inputs. A failure prints its seed; `GPU_REF_SEED=<seed> cargo test` repeats it.

#![allow(dead_code, unused_imports, reason = "not every test file uses all items")]

use gpu_ref::{Device, Direction, Error, Modulus, Plan, Recipe, Word, host, number};
use libtest_mimic::{Arguments, Failed, Trial};
pub(crate) use rand::rngs::StdRng;
pub(crate) use rand::{RngExt, SeedableRng};
use std::process::ExitCode;
use std::sync::LazyLock;

/// A new seed for each run, unless `GPU_REF_SEED` sets it.
pub(crate) static SEED: LazyLock<u64> = LazyLock::new(|| match std::env::var("GPU_REF_SEED") {
    Ok(seed) => seed.parse().expect("GPU_REF_SEED is a decimal number"),
    Err(_) => rand::RngExt::random(&mut rand::rng()),
});

/// A device for all tests of a file, so that each kernel is compiled once.
type Shared = LazyLock<Result<Device, Error>>;

pub(crate) static EMULATED: Shared = LazyLock::new(Device::emulated);
pub(crate) static GPU: Shared = LazyLock::new(|| Device::open(0));

/// A test, or an ignored one if something is missing. The reason appears next to its name.
pub(crate) fn trial(name: String, missing: Option<String>, test: impl FnOnce() + Send + 'static) -> Trial {
    let Some(reason) = missing else {
        return Trial::test(name, move || {
            test();
            Ok(())
        });
    };
    let failure = Failed::from(&reason);
    Trial::test(name, move || Err(failure)).with_kind(reason).with_ignored_flag(true)
}

/// A test on one device, named after both.
pub(crate) fn on(
    device: (&str, &'static Shared),
    name: &str,
    test: impl FnOnce(&'static Device) + Send + 'static,
) -> Trial {
    let (prefix, device) = device;
    let missing = device.as_ref().err().map(ToString::to_string);
    trial(format!("{prefix}::{name}"), missing, move || test(device.as_ref().expect("the device is there")))
}

/// The emulation, and its name in tests.
pub(crate) const ON_EMULATED: (&str, &Shared) = ("emulated", &EMULATED);
/// A GPU, and its name in tests.
pub(crate) const ON_GPU: (&str, &Shared) = ("gpu", &GPU);

/// A function that tests a device, with its name.
pub(crate) type Test = (&'static str, fn(&'static Device));

/// Tests on each device.
pub(crate) fn on_each(tests: &[Test]) -> impl Iterator<Item = Trial> {
    tests.iter().flat_map(|&(name, test)| [on(ON_EMULATED, name, test), on(ON_GPU, name, test)])
}

/// Runs the tests that the command line selects.
pub(crate) fn run(trials: Vec<Trial>) -> ExitCode {
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// The largest primes of a length.
pub(crate) fn moduli<W: Word>(count: usize, bits: u32, n: usize) -> Vec<Modulus<W>> {
    (0..count).map(|skip| Modulus::find(bits, n, skip).unwrap()).collect()
}

pub(crate) fn rng() -> StdRng {
    StdRng::seed_from_u64(*SEED)
}

/// Polynomials for all moduli: the first has the largest residues, the second of more than two also other
/// extremes, and the rest are random.
pub(crate) fn polynomials<W: Word>(moduli: &[Modulus<W>], count: usize, rng: &mut StdRng) -> Vec<W> {
    let mut words = Vec::new();
    for polynomial in 0..count {
        for (modulus, q) in moduli.iter().map(|modulus| (modulus, modulus.q().widen())) {
            words.extend((0..modulus.n()).map(|i| {
                W::narrow(match polynomial {
                    0 => q - 1,
                    1 if count > 2 => [q - 1, 1, 0][i % 3],
                    _ => rng.random_range(0..q),
                })
            }));
        }
    }
    words
}

/// The host model applied to each polynomial and limb of a batch.
pub(crate) fn model<W: Word>(
    moduli: &[Modulus<W>],
    words: &[W],
    f: impl Fn(&Modulus<W>, &[W]) -> Vec<W>,
) -> Vec<W> {
    let n = moduli[0].n();
    words.chunks(n).zip(moduli.iter().cycle()).flat_map(|(chunk, modulus)| f(modulus, chunk)).collect()
}

/// Word by word products, each modulo the prime of its row.
pub(crate) fn products<W: Word>(moduli: &[Modulus<W>], left: &[W], right: &[W]) -> Vec<W> {
    let n = moduli[0].n();
    let q = moduli.iter().cycle().flat_map(|m| std::iter::repeat_n(m.q().widen(), n));
    let pairs = left.iter().zip(right).zip(q);
    pairs.map(|((a, b), q)| W::narrow(number::mul_mod(a.widen(), b.widen(), q))).collect()
}

/// Compares results with a model's, word for word.
#[track_caller]
pub(crate) fn same<W: Word>(what: impl std::fmt::Display, got: &[W], want: &[W]) {
    assert_eq!(got.len(), want.len(), "{what}");
    if let Some(at) = got.iter().zip(want).position(|(got, want)| got != want) {
        panic!("{what}, word {at}: got {:?}, want {:?}; GPU_REF_SEED={}", got[at], want[at], *SEED);
    }
}

/// Forward transform, inverse transform and product with one recipe.
pub(crate) fn check_recipe(device: &Device, recipe: &Recipe, limbs: usize, polynomials: usize) {
    match recipe.word_bits() {
        32 => check::<u32>(device, recipe, limbs, polynomials),
        64 => check::<u64>(device, recipe, limbs, polynomials),
        _ => check::<u128>(device, recipe, limbs, polynomials),
    }
}

fn check<W: Word>(device: &Device, recipe: &Recipe, limbs: usize, count: usize) {
    let modulus = |limb: usize| {
        let longest = if limb == 1 { u128::MAX >> (116 - recipe.log_n()) } else { recipe.largest_modulus() };
        Modulus::<W>::find_at_most(longest, 1 << recipe.log_n(), limb / 2).unwrap()
    };
    let moduli: Vec<_> = (0..limbs).map(modulus).collect();
    let plan = Plan::with_recipe(device, recipe.clone(), &moduli).unwrap();
    let mut rng = rng();
    let (left, right) = (polynomials(&moduli, count, &mut rng), polynomials(&moduli, count, &mut rng));
    let transformed = model(&moduli, &left, host::forward);
    let check = |what: &str, got: Result<Vec<W>, Error>, want: &[W]| {
        same(format_args!("{what} of {recipe:?} on {:?}", device.name()), &got.unwrap(), want);
    };
    check("forward", plan.run(Direction::Forward, &left), &transformed);
    check("inverse", plan.run(Direction::Inverse, &transformed), &left);
    let (mut x, mut y) = (plan.upload(&left).unwrap(), plan.upload(&right).unwrap());
    plan.multiply(&mut x, &mut y).unwrap();
    let factors = products(&moduli, &transformed, &model(&moduli, &right, host::forward));
    check("product", plan.download(&x), &model(&moduli, &factors, host::inverse));
}

/// Functions with their names.
macro_rules! named {
    ($($test:ident),* $(,)?) => {
        [$((stringify!($test), $test as _)),*]
    };
}
pub(crate) use named;
