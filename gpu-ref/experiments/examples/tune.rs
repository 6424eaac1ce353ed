//! Searches for a faster recipe of `best` on a CUDA device: changes one parameter at a time and keeps the
//! best change.
//!
//! Batches are timed cold: batches of 512 MiB in total take turns. The program prints the default recipe and
//! each improvement; with `--near`, the default recipe and all its neighbours, fastest first; with
//! `--chained`, it and all that are one kernel of two passes.
//!
//! A line is `us,passes,product,shared_roots,alternating,spilled`, in microseconds per transform or product:
//! a pass is `stages:points_log:lanes_log:blocks`, a product `fused:blocks` or `separate`, and `spilled`
//! the bytes of registers that a thread of some kernel keeps in memory.

use clap::{Parser, ValueEnum};
use gpu_experiments::measure::{self, Work, spilled_bytes};
use gpu_ref::recipe::Pass;
use gpu_ref::{Device, Direction, Error, Feature, Modulus, Plan, Product, Recipe, Word, host};
use rayon::prelude::*;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// Larger than any current L2 cache.
const COLD_BYTES: usize = 512 << 20;

#[derive(Parser)]
struct Options {
    /// Word size: 32, 64 or 128
    #[arg(long)]
    bits: u32,
    /// N is 2^L
    #[arg(long, value_name = "L")]
    log_n: u32,
    /// Length of the moduli; by default two bits less than a word
    #[arg(long, value_name = "M")]
    modulus_bits: Option<u32>,
    /// Transforms of a batch
    #[arg(long, default_value_t = 512)]
    batch: usize,
    /// Moduli in turn, at most as many as transforms
    #[arg(long, default_value_t = 64)]
    moduli: usize,
    /// Work to time
    #[arg(long, value_enum, default_value = "forward")]
    work: Timed,
    /// Most improvements
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Prints all neighbours
    #[arg(long)]
    near: bool,
    /// Prints all recipes of one kernel
    #[arg(long)]
    chained: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Timed {
    /// Forward transforms
    Forward,
    /// Inverse transforms
    Inverse,
    /// Products
    Product,
}

impl Options {
    fn work(&self) -> Work {
        match self.work {
            Timed::Forward => Work::Transform(Direction::Forward),
            Timed::Inverse => Work::Transform(Direction::Inverse),
            Timed::Product => Work::Product,
        }
    }
}

fn main() -> Outcome<()> {
    let mut options = Options::parse();
    options.moduli = options.moduli.min(options.batch);
    let modulus_bits = options.modulus_bits.unwrap_or(options.bits.saturating_sub(2));
    if !(1..=options.bits.min(128)).contains(&modulus_bits)
        || options.moduli == 0
        || !options.batch.is_multiple_of(options.moduli)
    {
        return Err(
            "expected moduli shorter than a word, and a batch that is a multiple of their number".into()
        );
    }
    let largest = u128::MAX >> (128 - modulus_bits);
    // Its passes are what the neighbours differ in.
    let start = Recipe::for_batches_in_passes(options.bits, options.log_n, largest, options.batch)?;
    match options.bits {
        32 => tune::<u32>(start, &options),
        64 => tune::<u64>(start, &options),
        _ => tune::<u128>(start, &options),
    }
}

/// What all candidates transform: one polynomial with all its limbs, and its transform.
struct Model<W> {
    moduli: Vec<Modulus<W>>,
    input: Vec<W>,
    want: Vec<W>,
}

impl<W: Word> Model<W> {
    fn new(start: &Recipe, count: usize) -> Outcome<Self> {
        let n = 1 << start.log_n();
        let moduli = (0..count)
            .map(|skip| Modulus::<W>::find_at_most(start.largest_modulus(), n, skip))
            .collect::<Result<Vec<_>, _>>()?;
        let input = gpu_ref::testing::random(&moduli, 1);
        let want = gpu_ref::testing::model(&moduli, &input, host::forward);
        Ok(Self { moduli, input, want })
    }

    /// A plan whose kernels are compiled and whose transforms are right.
    fn plan(&self, device: &Device, recipe: Recipe, work: Work) -> Option<Plan<W>> {
        let plan = Plan::with_recipe(device, recipe, &self.moduli).ok()?;
        if work == Work::Product {
            let mut factors = [plan.upload(&self.input).ok()?, plan.upload(&self.input).ok()?];
            let [left, right] = &mut factors;
            plan.multiply(left, right).ok()?;
        }
        (plan.run(Direction::Forward, &self.input).ok()? == self.want).then_some(plan)
    }
}

fn tune<W: Word>(start: Recipe, options: &Options) -> Outcome<()> {
    let (device, work) = (Device::open(0)?, options.work());
    let model = Model::<W>::new(&start, options.moduli)?;
    let own = model.plan(&device, start.clone(), work).ok_or("the default recipe fails")?;
    let words = model.input.repeat(options.batch / options.moduli);
    let count = (COLD_BYTES / size_of_val(&words[..])).max(2) & !1;
    let mut batches = (0..count).map(|_| own.upload(&words)).collect::<Result<Vec<_>, _>>()?;
    let mut time = |plan: &Plan<W>| -> Outcome<f64> {
        Ok(measure::time(plan, work, &mut batches, 1, measure::Samples::Bursts)?
            .divided_by(options.batch)
            .median)
    };
    let mut best = (time(&own)?, start);
    let print = |us, plan: &Plan<W>| -> Outcome<()> {
        print(us, plan.recipe(), spilled_bytes(plan, work)?);
        Ok(())
    };
    print(best.0, &own)?;
    for _ in 0..options.rounds {
        // Compilation takes longer than timing, and can use every core.
        let others = if options.chained { chains(&best.1, work) } else { neighbours(&best.1, work) };
        let plans: Vec<Plan<W>> =
            others.into_par_iter().filter_map(|recipe| model.plan(&device, recipe, work)).collect();
        let mut times = Vec::new();
        for plan in &plans {
            times.push((time(plan)?, plan));
        }
        times.sort_by(|a, b| a.0.total_cmp(&b.0));
        if options.near || options.chained {
            return times.into_iter().try_for_each(|(us, plan)| print(us, plan));
        }
        match times.first() {
            Some(&(us, plan)) if us < 0.99 * best.0 => {
                print(us, plan)?;
                best = (us, plan.recipe().clone());
            }
            _ => break,
        }
    }
    Ok(())
}

/// Prints one line.
fn print(us: f64, recipe: &Recipe, spilled: usize) {
    let pass = |pass: &Pass| {
        let Pass { stages, points_log, lanes_log, blocks, .. } = pass;
        format!("{stages}:{points_log}:{lanes_log}:{blocks}")
    };
    let passes: Vec<String> = recipe.passes().iter().map(pass).collect();
    let Product { separate, blocks, .. } = recipe.product();
    let product = if separate { "separate".to_owned() } else { format!("fused:{blocks}") };
    let (shared_roots, alternating) = (recipe.shared_roots(), recipe.has(Feature::Alternating));
    println!("{us:.4},{},{product},{shared_roots},{alternating},{spilled}", passes.join(" "));
}

/// The passes that differ in one parameter, valid or not.
fn other_passes(passes: &[Pass]) -> Vec<Vec<Pass>> {
    let mut all = Vec::new();
    for (at, &pass) in passes.iter().enumerate() {
        let mut change = |changed: Pass| {
            let mut other = passes.to_vec();
            other[at] = changed;
            all.push(other);
        };
        for step in [-1i32, 1] {
            let points_log = pass.points_log.wrapping_add_signed(step);
            let lanes_log = pass.lanes_log.wrapping_add_signed(step);
            change(Pass { points_log, ..pass });
            change(Pass { lanes_log, ..pass });
            // The same number of threads with more or fewer points.
            change(Pass { points_log, lanes_log, ..pass });
        }
        let limit = pass.blocks;
        for blocks in (1..=limit + 2).filter(|blocks| *blocks <= 4 || blocks.abs_diff(limit) <= 2) {
            change(Pass { blocks, ..pass });
        }
    }
    match *passes {
        [whole] => {
            let pass = |stages| Pass { stages, points_log: 4, lanes_log: 3, blocks: 4 };
            all.push(vec![pass(whole.stages / 2), pass(whole.stages.div_ceil(2))]);
        }
        [first, second] => all.extend([-1i32, 1].map(|step| {
            let stages = [first.stages.wrapping_add_signed(step), second.stages.wrapping_add_signed(-step)];
            vec![Pass { stages: stages[0], ..first }, Pass { stages: stages[1], ..second }]
        })),
        _ => {}
    }
    all
}

/// The recipes with [`Feature::Chained`], of 128 and 256 threads and about half of the stages in each pass.
fn chains(recipe: &Recipe, work: Work) -> Vec<Recipe> {
    let half = recipe.log_n() / 2;
    let mut all = Vec::new();
    for columns in half - 1..=half + 1 {
        let pass = |stages: u32, points_log: u32, threads_log: u32, blocks| {
            let lanes_log = (threads_log + points_log).checked_sub(stages)?;
            Some(Pass { stages, points_log, lanes_log, blocks })
        };
        for (threads_log, limits) in [(7, [4, 5, 8]), (8, [2, 3, 4])] {
            for (first, second) in [(3, 2), (3, 3), (4, 2), (4, 3), (4, 4)] {
                for blocks in limits {
                    let rows = recipe.log_n() - columns;
                    let passes =
                        [pass(columns, first, threads_log, blocks), pass(rows, second, threads_log, blocks)];
                    let [Some(first), Some(second)] = passes else { continue };
                    all.push((vec![first, second], blocks));
                }
            }
        }
    }
    let chain = |(passes, blocks): (Vec<Pass>, u32)| {
        let own = recipe.clone().without(Feature::Alternating).with_passes(passes)?;
        let own = own.with_product(Product { separate: false, blocks })?;
        let shared = if work == Work::Product { 0 } else { recipe.shared_roots() };
        own.with_shared_roots(shared)?.with(Feature::Chained)
    };
    all.into_iter().filter_map(|parts| chain(parts).ok()).collect()
}

/// All valid recipes that differ in one parameter.
fn neighbours(recipe: &Recipe, work: Work) -> Vec<Recipe> {
    let with_passes = |passes| -> Result<Recipe, Error> {
        let other = recipe.clone().with_passes(passes)?.with_product(recipe.product())?;
        other.with_shared_roots(recipe.shared_roots())
    };
    let mut all: Vec<Recipe> =
        other_passes(recipe.passes()).into_iter().filter_map(|p| with_passes(p).ok()).collect();
    all.extend((0..=3).filter_map(|shared| recipe.clone().with_shared_roots(shared).ok()));
    if recipe.has(Feature::Alternating) {
        all.push(recipe.clone().without(Feature::Alternating));
    } else {
        all.extend(recipe.clone().with(Feature::Alternating));
    }
    if work == Work::Product {
        let product = |separate, blocks| recipe.clone().with_product(Product { separate, blocks });
        all.extend(product(true, 1));
        all.extend([1, 2, 3, 4, 6, 8, 10, 12, 14, 16].into_iter().flat_map(|blocks| product(false, blocks)));
    }
    all.retain(|other| other != recipe);
    all
}
