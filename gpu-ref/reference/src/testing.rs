//! Inputs, host models and devices for tests and examples (the feature `testing`).
//!
//! Each run of a test has new random inputs. A failure prints its seed; `GPU_REF_SEED=<seed> cargo test`
//! repeats it. The harness ignores the tests of a missing device and says why.

use crate::{Device, Direction, Error, Modulus, Plan, Recipe, Word, host};
use libtest_mimic::{Arguments, Failed, Trial};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use rayon::prelude::*;
use std::fmt::Display;
use std::process::ExitCode;
use std::sync::LazyLock;

/// A new seed for each run, unless `GPU_REF_SEED` sets it.
static SEED: LazyLock<u64> = LazyLock::new(|| match std::env::var("GPU_REF_SEED") {
    Ok(seed) => seed.parse().expect("GPU_REF_SEED is a decimal number"),
    Err(_) => RngExt::random(&mut rand::rng()),
});

#[doc(inline)]
pub use crate::named;

/// A device for all tests of a file, so that each kernel is compiled once.
type Shared = LazyLock<Result<Device, Error>>;

static EMULATED: Shared = LazyLock::new(Device::emulated);
static GPU: Shared = LazyLock::new(|| Device::open(0));

/// The emulation, and its name in tests.
pub static ON_EMULATED: (&str, &Shared) = ("emulated", &EMULATED);
/// A GPU, and its name in tests.
pub static ON_GPU: (&str, &Shared) = ("gpu", &GPU);

/// A function that tests a device, with its name.
pub type Test = (&'static str, fn(&'static Device));

/// Functions with their names.
#[doc(hidden)]
#[macro_export]
macro_rules! named {
    ($($test:ident),* $(,)?) => {
        [$((stringify!($test), $test as _)),*]
    };
}

/// A test, or an ignored one if something is missing. The reason appears next to its name.
pub fn trial(name: String, missing: Option<String>, test: impl FnOnce() + Send + 'static) -> Trial {
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
pub fn on(
    device: (&str, &'static Shared),
    name: &str,
    test: impl FnOnce(&'static Device) + Send + 'static,
) -> Trial {
    let (prefix, device) = device;
    let missing = device.as_ref().err().map(ToString::to_string);
    trial(format!("{prefix}::{name}"), missing, move || test(device.as_ref().expect("the device is there")))
}

/// Tests on each device.
pub fn on_each(tests: &[Test]) -> impl Iterator<Item = Trial> {
    tests.iter().flat_map(|&(name, test)| [on(ON_EMULATED, name, test), on(ON_GPU, name, test)])
}

/// Runs the tests that the command line selects.
pub fn run(trials: Vec<Trial>) -> ExitCode {
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// The generator of a test's inputs.
pub fn rng() -> StdRng {
    StdRng::seed_from_u64(*SEED)
}

/// The largest primes of a length, with roots for N.
///
/// # Errors
/// Returns the errors of [`Modulus::find`].
pub fn moduli<W: Word>(count: usize, bits: u32, n: usize) -> Result<Vec<Modulus<W>>, Error> {
    (0..count).into_par_iter().map(|skip| Modulus::find(bits, n, skip)).collect()
}

/// Random polynomials for all moduli: three, repeated.
pub fn random<W: Word>(moduli: &[Modulus<W>], count: usize) -> Vec<W> {
    const DISTINCT: usize = 3;
    let mut rng = rand::rng();
    let rows = (0..count.min(DISTINCT)).flat_map(|_| moduli);
    let words = rows.flat_map(|m| std::iter::repeat_n(m.q().widen(), m.n()));
    let distinct: Vec<W> = words.map(|q| W::narrow(rng.random_range(0..q))).collect();
    let length = count * moduli.iter().map(Modulus::n).sum::<usize>();
    distinct.into_iter().cycle().take(length).collect()
}

/// Polynomials for all moduli: the first has the largest residues, the second of more than two also other
/// extremes, and the rest are random.
pub fn polynomials<W: Word>(moduli: &[Modulus<W>], count: usize, rng: &mut StdRng) -> Vec<W> {
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

/// A function of the host model, applied to each polynomial and limb of a batch.
pub fn model<W: Word>(
    moduli: &[Modulus<W>],
    words: &[W],
    f: impl Fn(&Modulus<W>, &[W]) -> Vec<W> + Sync,
) -> Vec<W> {
    let rows = words.par_chunks(moduli[0].n()).enumerate();
    rows.flat_map_iter(|(row, words)| f(&moduli[row % moduli.len()], words)).collect()
}

/// The host model's product of each polynomial and limb of two batches.
pub fn products<W: Word>(moduli: &[Modulus<W>], left: &[W], right: &[W]) -> Vec<W> {
    let rows = left.par_chunks(moduli[0].n()).zip(right.par_chunks(moduli[0].n())).enumerate();
    rows.flat_map_iter(|(row, (x, y))| host::product(&moduli[row % moduli.len()], x, y)).collect()
}

/// Compares results with a model's, word for word.
///
/// # Errors
/// Returns the first difference, as a message.
pub fn compare<W: Word>(what: impl Display, got: &[W], want: &[W]) -> Result<(), String> {
    if got.len() != want.len() {
        return Err(format!("{what}: got {} words, want {}", got.len(), want.len()));
    }
    match got.iter().zip(want).position(|(got, want)| got != want) {
        Some(at) => Err(format!("{what}, word {at}: got {:?}, want {:?}", got[at], want[at])),
        None => Ok(()),
    }
}

/// [`compare`] for tests.
///
/// # Panics
/// Panics at a difference.
#[track_caller]
pub fn same<W: Word>(what: impl Display, got: &[W], want: &[W]) {
    if let Err(difference) = compare(what, got, want) {
        panic!("{difference}; GPU_REF_SEED={}", *SEED);
    }
}

/// Forward transform, inverse transform and product with one recipe.
///
/// # Panics
/// Panics if one differs from the host model.
pub fn check_recipe(device: &Device, recipe: &Recipe, limbs: usize, polynomials: usize) {
    match recipe.word_bits() {
        32 => check::<u32>(device, recipe, limbs, polynomials),
        64 => check::<u64>(device, recipe, limbs, polynomials),
        _ => check::<u128>(device, recipe, limbs, polynomials),
    }
}

fn check<W: Word>(device: &Device, recipe: &Recipe, limbs: usize, count: usize) {
    let modulus = |limb: usize| {
        let longest = if limb == 1 { u128::MAX >> (116 - recipe.log_n()) } else { recipe.largest_modulus() };
        Modulus::<W>::find_at_most(longest, 1 << recipe.log_n(), limb / 2).expect("such a prime exists")
    };
    let moduli: Vec<_> = (0..limbs).map(modulus).collect();
    let plan = Plan::with_recipe(device, recipe.clone(), &moduli).expect("the recipe fits the moduli");
    let mut rng = rng();
    let (left, right) = (polynomials(&moduli, count, &mut rng), polynomials(&moduli, count, &mut rng));
    let transformed = model(&moduli, &left, host::forward);
    let check = |what: &str, got: Result<Vec<W>, Error>, want: &[W]| {
        let got = got.unwrap_or_else(|error| panic!("{what} of {recipe:?}: {error}"));
        same(format_args!("{what} of {recipe:?} on {:?}", device.name()), &got, want);
    };
    check("forward", plan.run(Direction::Forward, &left), &transformed);
    check("inverse", plan.run(Direction::Inverse, &transformed), &left);
    let product = || {
        let (mut x, mut y) = (plan.upload(&left)?, plan.upload(&right)?);
        plan.multiply(&mut x, &mut y)?;
        plan.download(&x)
    };
    check("product", product(), &products(&moduli, &left, &right));
}
