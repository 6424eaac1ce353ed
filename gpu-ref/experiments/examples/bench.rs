//! Times transforms and products on a CUDA device and prints one CSV line for each:
//! `impl,work,log_n,bits,modulus_bits,moduli,batch,mode,us,low,high`.
//!
//! `us` is the median of 15 samples in microseconds per transform or product, `low` and `high`
//! the shortest and the longest. A batch of 64 or 512 polynomials has one modulus, or 64 moduli in
//! turn, each with its own table. Modes:
//!
//! * `warm`: one batch again and again, so that a small one stays in the L2 cache;
//! * `cold`: batches of 512 MiB in total take turns;
//! * `steady`: the same, for so long that the card reaches its limit of power, at N = 2^16 with 64 moduli;
//! * `alone`: one transform in each graph;
//! * `row-warm`, `row-cold`: many single transforms in a row on one polynomial, or on 512 MiB of them
//!   if those are at most 4096.
//!
//! `copy` is the driver's copy of as many bytes as a batch of 512 or 64 at N = 2^16, per transform: the
//! floor of one pass.
//!
//! Before timing, every recipe is compared with the host model on new random inputs, word for word.
//! A difference is an error.

use clap::Parser;
use gpu_experiments::measure::{Samples, Work, time, time_copy};
use gpu_ref::recipe::Card;
use gpu_ref::testing::{compare, model, products, random};
use gpu_ref::{Device, Direction, Modulus, Plan, Recipe, Strategy, Timing, Word, host};
use rayon::prelude::*;

type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Larger than any current L2 cache.
const COLD_BYTES: usize = 512 << 20;
/// Batches of a graph. More do not fit one of a reasonable size.
const MOST_BATCHES: usize = 4096;
/// Single transforms in a row on one polynomial.
const ROW: usize = 64;
/// After a steady state.
const REST: std::time::Duration = std::time::Duration::from_secs(2);
/// Number of moduli of a residue number system.
const MODULI: usize = 64;

const WORKS: [Work; 3] =
    [Work::Transform(Direction::Forward), Work::Transform(Direction::Inverse), Work::Product];

#[derive(Parser)]
struct Options {
    /// Strategies
    #[arg(long, value_name = "NAME", default_values = ["best"])]
    strategy: Vec<String>,
    /// Word sizes; by default all of a strategy
    #[arg(long, value_name = "B")]
    bits: Vec<u32>,
    /// N is 2^L
    #[arg(long, value_name = "L", default_values_t = 12..=17)]
    log_n: Vec<u32>,
    /// Use a kernel for each pass
    #[arg(long)]
    in_passes: bool,
}

/// Transforms of one size and arithmetic.
struct Case {
    strategy: Strategy,
    word_bits: u32,
    log_n: u32,
    /// No modulus is larger.
    largest: u128,
    in_passes: bool,
    card: Card,
}

impl Case {
    fn recipe(&self, transforms: usize) -> Result<Recipe, gpu_ref::Error> {
        let Self { strategy, word_bits, log_n, largest, in_passes, card } = *self;
        match strategy {
            Strategy::Best if in_passes => {
                Recipe::for_batches_in_passes(word_bits, log_n, largest, transforms)
            }
            Strategy::Best => Recipe::for_card(card, word_bits, log_n, largest, transforms),
            _ => Recipe::for_moduli(strategy, word_bits, log_n, largest),
        }
    }
}

/// Transforms in a batch, for which recipes may differ.
const BATCHES: [usize; 3] = [1, 64, 512];

fn main() -> Outcome<()> {
    let options = Options::parse();
    let device = Device::open(0)?;
    let cases = cases(&options, device.card()?);
    eprintln!("device: {}", device.name()?);
    // Compilation takes longer than timing, and can use every core.
    let recipes = cases.iter().flat_map(|case| BATCHES.map(|transforms| case.recipe(transforms)));
    recipes.collect::<Result<Vec<_>, _>>()?.par_iter().try_for_each(|recipe| match recipe.word_bits() {
        32 => compile::<u32>(&device, recipe),
        64 => compile::<u64>(&device, recipe),
        _ => compile::<u128>(&device, recipe),
    })?;
    println!("impl,work,log_n,bits,modulus_bits,moduli,batch,mode,us,low,high");
    copies(&device, &cases)?;
    for case in &cases {
        match case.word_bits {
            32 => bench::<u32>(&device, case)?,
            64 => bench::<u64>(&device, case)?,
            _ => bench::<u128>(&device, case)?,
        }
    }
    Ok(())
}

/// Copies to compare with batches of transforms of 2^16 words, for each word size.
fn copies(device: &Device, cases: &[Case]) -> Outcome<()> {
    let log_n = 16;
    for bits in [32, 64, 128] {
        if cases.iter().any(|case| (case.word_bits, case.log_n) == (bits, log_n)) {
            for batch in [512, 64] {
                let bytes = (batch << log_n) * bits as usize / 8;
                let Timing { median, low, high } = time_copy(device, bytes)?.divided_by(batch);
                println!("copy,copy,{log_n},{bits},{bits},1,{batch},cold,{median:.4},{low:.4},{high:.4}");
            }
        }
    }
    Ok(())
}

/// The cases that the options select.
fn cases(options: &Options, card: Card) -> Vec<Case> {
    let mut cases = Vec::new();
    for strategy in Strategy::ALL.into_iter().filter(|s| options.strategy.contains(&s.to_string())) {
        let wanted = |bits: &&u32| options.bits.is_empty() || options.bits.contains(bits);
        for &word_bits in strategy.word_bits().iter().filter(wanted) {
            for &log_n in &options.log_n {
                let largest = largest_moduli(strategy, word_bits).into_iter();
                cases.extend(largest.map(|largest| Case {
                    strategy,
                    word_bits,
                    log_n,
                    largest,
                    in_passes: options.in_passes,
                    card,
                }));
            }
        }
    }
    cases
}

/// The largest modulus to time, for each arithmetic of a strategy.
fn largest_moduli(strategy: Strategy, word_bits: u32) -> Vec<u128> {
    let longest = |bits: u32| u128::MAX >> (128 - bits);
    match (strategy, word_bits) {
        (Strategy::Best, 64) => vec![longest(50), longest(60), longest(62)],
        (Strategy::Best, 128) => vec![longest(124), longest(126)],
        _ => vec![longest(strategy.modulus_bits(word_bits))],
    }
}

/// Compiles all kernels of a recipe.
fn compile<W: Word>(device: &Device, recipe: &Recipe) -> Outcome<()> {
    let modulus = Modulus::<W>::find_at_most(recipe.largest_modulus(), 1 << recipe.log_n(), 0)?;
    let plan = Plan::with_recipe(device, recipe.clone(), &[modulus])?;
    let zero = vec![W::zeroed(); 1 << recipe.log_n()];
    plan.multiply(&mut plan.upload(&zero)?, &mut plan.upload(&zero)?)?;
    Ok(())
}

/// Inputs and results of the host model: one polynomial with all its limbs.
struct Model<W> {
    moduli: Vec<Modulus<W>>,
    left: Vec<W>,
    right: Vec<W>,
    transformed: Vec<W>,
    product: Vec<W>,
}

impl<W: Word> Model<W> {
    fn new(largest: u128, n: usize, moduli: usize) -> Outcome<Self> {
        let moduli: Vec<Modulus<W>> = (0..moduli)
            .into_par_iter()
            .map(|skip| Modulus::find_at_most(largest, n, skip))
            .collect::<Result<Vec<_>, _>>()?;
        let (left, right) = (random(&moduli, 1), random(&moduli, 1));
        let transformed = model(&moduli, &left, host::forward);
        let product = products(&moduli, &left, &right);
        Ok(Self { moduli, left, right, transformed, product })
    }
}

fn bench<W: Word>(device: &Device, case: &Case) -> Outcome<()> {
    for moduli in [MODULI, 1] {
        let model = Model::<W>::new(case.largest, 1 << case.log_n, moduli)?;
        for transforms in BATCHES.into_iter().filter(|transforms| transforms.is_multiple_of(moduli)) {
            let plan = Plan::with_recipe(device, case.recipe(transforms)?, &model.moduli)?;
            measure(case.strategy, &plan, &model, transforms / moduli)?;
        }
    }
    Ok(())
}

/// Checks and times batches of `polynomials` polynomials.
fn measure<W: Word>(strategy: Strategy, plan: &Plan<W>, model: &Model<W>, polynomials: usize) -> Outcome<()> {
    let repeat = |words: &[W]| words.repeat(polynomials);
    let (left, right) = (repeat(&model.left), repeat(&model.right));
    let transformed = repeat(&model.transformed);
    let (mut x, mut y) = (plan.upload(&left)?, plan.upload(&right)?);
    plan.multiply(&mut x, &mut y)?;
    let what = |work: &str| format!("{work} of {:?}", plan.recipe());
    compare(what("forward"), &plan.run(Direction::Forward, &left)?, &transformed)?;
    compare(what("inverse"), &plan.run(Direction::Inverse, &transformed)?, &left)?;
    compare(what("product"), &plan.download(&x)?, &repeat(&model.product))?;

    let mut batches = vec![x, y];
    let many = (COLD_BYTES / size_of_val(&left[..])).max(2) & !1;
    let cold = many <= MOST_BATCHES;
    while cold && batches.len() < many {
        batches.push(plan.upload(&left)?);
    }
    let count = polynomials * model.moduli.len();
    let is_steady = (plan.recipe().log_n(), model.moduli.len(), count) == (16, MODULI, 512);
    // The steady state last, and time to leave it again.
    let runs = WORKS.map(|work| (work, false)).into_iter().chain(WORKS.map(|work| (work, true)));
    for (work, steady) in runs.filter(|&(_, steady)| is_steady || !steady) {
        let one = if work == Work::Product { 2 } else { 1 };
        let report = |mode: &str, batches: usize, rounds: usize, all: &mut [_]| -> Outcome<()> {
            let samples = if mode == "steady" { Samples::Steady } else { Samples::Bursts };
            let Timing { median, low, high } =
                time(plan, work, &mut all[..batches], rounds, samples)?.divided_by(count);
            let recipe = plan.recipe();
            let (log_n, word_bits, modulus_bits) =
                (recipe.log_n(), recipe.word_bits(), recipe.modulus_bits());
            let moduli = model.moduli.len();
            println!(
                "{strategy},{work},{log_n},{word_bits},{modulus_bits},{moduli},{count},{mode},{median:.4},{low:.4},{high:.4}"
            );
            Ok(())
        };
        if steady {
            report("steady", many, 1, &mut batches)?;
            std::thread::sleep(REST);
        } else if count == 1 {
            report("alone", one, 1, &mut batches)?;
            report("row-warm", one, ROW, &mut batches)?;
            if cold {
                report("row-cold", many, 1, &mut batches)?;
            }
        } else {
            report("warm", one, 1, &mut batches)?;
            report("cold", many, 1, &mut batches)?;
        }
    }
    Ok(())
}
