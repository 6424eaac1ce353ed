//! Every strategy's kernels against the host model: on the CPU through the emulation, and on a GPU where there is one.
//!
//! Inputs are fresh at each run. A failure prints its seed; `GPU_REF_SEED=<seed> cargo test -p gpu-ref` runs it again.

use std::sync::LazyLock;

use gpu_ref::{Barrett, Device, Direction, Error, Modulus, Plan, Recipe, Strategy, Sync, Word, host, number};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

static SEED: LazyLock<u64> = LazyLock::new(|| match std::env::var("GPU_REF_SEED") {
    Ok(seed) => seed.parse().expect("GPU_REF_SEED is a decimal number"),
    Err(_) => rand::rng().random(),
});

static EMULATED: LazyLock<Option<Device>> = LazyLock::new(|| present(Device::emulated()));
static GPU: LazyLock<Option<Device>> = LazyLock::new(|| present(Device::open(0)));

/// The device, or `None` with the reason on standard error: the tests that need it are skipped.
fn present(device: Result<Device, Error>) -> Option<Device> {
    device.inspect_err(|reason| eprintln!("SKIPPED, nothing was tested on this device: {reason}")).ok()
}

/// Polynomials for all moduli: extreme ones first, then random ones.
fn inputs<W: Word>(moduli: &[Modulus<W>], polynomials: usize, rng: &mut StdRng) -> Vec<W> {
    let mut words = Vec::new();
    for polynomial in 0..polynomials {
        for modulus in moduli {
            let q = modulus.q().widen();
            words.extend((0..modulus.n()).map(|i| {
                W::narrow(match polynomial {
                    0 => q - 1,
                    1 if i % 3 == 0 => q - 1,
                    1 => u128::from(i % 3 == 1),
                    _ => rng.random_range(0..q),
                })
            }));
        }
    }
    words
}

/// The host model applied to each polynomial and limb of a batch.
fn model<W: Word>(moduli: &[Modulus<W>], words: &[W], f: impl Fn(&Modulus<W>, &[W]) -> Vec<W>) -> Vec<W> {
    let n = moduli[0].n();
    words.chunks(n).zip(moduli.iter().cycle()).flat_map(|(chunk, modulus)| f(modulus, chunk)).collect()
}

fn first_difference<W: Word>(got: &[W], want: &[W]) -> Option<String> {
    let index = got.iter().zip(want).position(|(g, w)| g != w)?;
    Some(format!("word {index}: got {:?}, want {:?}", got[index], want[index]))
}

/// Forward, inverse and product of one recipe.
fn check<W: Word>(device: &Device, recipe: &Recipe, limbs: usize, polynomials: usize) {
    let n = 1 << recipe.log_n;
    let longest = recipe.strategy.modulus_bits(W::BITS);
    let moduli: Vec<_> = (0..limbs)
        .map(|limb| Modulus::<W>::find(if limb == 1 { 22 } else { longest }, n, limb / 2).unwrap())
        .collect();
    let plan = Plan::with_recipe(device, recipe.clone(), &moduli).unwrap();
    let mut rng = StdRng::seed_from_u64(*SEED);
    let (left, right) = (inputs(&moduli, polynomials, &mut rng), inputs(&moduli, polynomials, &mut rng));
    let transformed = model(&moduli, &left, host::forward);

    let report = |what: &str, got: &[W], want: &[W]| {
        if let Some(difference) = first_difference(got, want) {
            panic!("{what} of {recipe:?} on {:?}, {difference}; GPU_REF_SEED={}", device.name(), *SEED);
        }
    };
    report("forward", &plan.run(Direction::Forward, &left).unwrap(), &transformed);
    report("inverse", &plan.run(Direction::Inverse, &transformed).unwrap(), &left);

    let (mut x, mut y) = (plan.upload(&left).unwrap(), plan.upload(&right).unwrap());
    plan.multiply(&mut x, &mut y).unwrap();
    let factors = transformed.iter().zip(model(&moduli, &right, host::forward));
    let products: Vec<_> = factors
        .zip(moduli.iter().cycle().flat_map(|m| std::iter::repeat_n(m.q().widen(), n)))
        .map(|((a, b), q)| W::narrow(number::mul_mod(a.widen(), b.widen(), q)))
        .collect();
    report("product", &plan.download(&x).unwrap(), &model(&moduli, &products, host::inverse));
}

fn check_recipe(device: &Device, recipe: &Recipe, limbs: usize, polynomials: usize) {
    match recipe.word_bits {
        32 => check::<u32>(device, recipe, limbs, polynomials),
        64 => check::<u64>(device, recipe, limbs, polynomials),
        _ => check::<u128>(device, recipe, limbs, polynomials),
    }
}

/// The sizes to emulate: each way of dividing a transform once, since every one of them is compiled. A resident transform needs
/// a fiber for every second coefficient, and variants that share their kernels' text need not repeat all of it.
const fn emulated_sizes(strategy: Strategy) -> &'static [u32] {
    match strategy {
        Strategy::HeBooster(Sync::Local | Sync::Barrier) => &[10, 12],
        Strategy::HeBooster(Sync::Launches) => &[10],
        Strategy::Shivdikar(Barrett::Classical | Barrett::DhemQuisquater) => &[10, 12],
        Strategy::Best => &[10, 16],
        _ => &[10, 13, 16],
    }
}

/// A strategy at all its word sizes: small and middle sizes with several polynomials and limbs, large ones with one.
fn check_strategy(device: &Device, strategy: Strategy, sizes: &[u32]) {
    for &bits in strategy.word_bits() {
        for &log_n in sizes {
            let recipe = Recipe::new(strategy, bits, log_n).unwrap();
            let (limbs, polynomials) = if log_n <= 13 { (2, 3) } else { (1, 1) };
            check_recipe(device, &recipe, limbs, polynomials);
        }
    }
}

macro_rules! strategies {
    ($($name:ident: $strategy:expr,)*) => {
        mod emulated {
            use super::*;
            $(#[test]
            fn $name() {
                if let Some(device) = &*EMULATED {
                    check_strategy(device, $strategy, emulated_sizes($strategy));
                }
            })*
        }
        mod gpu {
            use super::*;
            $(#[test]
            fn $name() {
                if let Some(device) = &*GPU {
                    check_strategy(device, $strategy, &[10, 11, 12, 13, 14, 15, 16, 17]);
                }
            })*

            /// Short enough for `compute-sanitizer --tool racecheck`.
            #[test]
            fn small_sizes_of_all() {
                if let Some(device) = &*GPU {
                    for strategy in [$($strategy),*] {
                        check_strategy(device, strategy, &[10, 13]);
                    }
                }
            }
        }
    };
}

strategies! {
    wide: Strategy::Wide,
    cheddar: Strategy::Cheddar,
    shivdikar_2: Strategy::Shivdikar(Barrett::Classical),
    shivdikar_3: Strategy::Shivdikar(Barrett::DhemQuisquater),
    shivdikar_4: Strategy::Shivdikar(Barrett::Proposed),
    caramel: Strategy::Caramel,
    he_booster_local: Strategy::HeBooster(Sync::Local),
    he_booster_barrier: Strategy::HeBooster(Sync::Barrier),
    he_booster_launches: Strategy::HeBooster(Sync::Launches),
    best: Strategy::Best,
}
