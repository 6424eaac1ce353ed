//! Searches for a faster recipe of `best` on a CUDA device: changes one parameter at a time and keeps the
//! best change.
//!
//! `tune --bits B --log-n L [--modulus-bits M] [--batch T] [--moduli K] [--work forward|inverse|product]
//! [--rounds R] [--near]` times batches of T transforms (512), K moduli in turn (64, at most T), cold:
//! batches of 512 MiB in total take turns. It prints the default recipe and each improvement, at most R
//! (3). With `--near` it prints the default recipe and all its neighbours, fastest first.
//!
//! A line is `us,passes,product,shared_roots,alternating,spilled`, in microseconds per transform or product:
//! a pass is `stages:points_log:lanes_log:blocks`, a product `fused:blocks` or `separate`, and `spilled`
//! the bytes of registers that a thread of some kernel keeps in memory.

use gpu_ref::recipe::Pass;
use gpu_ref::{Device, Direction, Modulus, Plan, Recipe, Word, Work, host};
use rand::RngExt;
use rayon::prelude::*;
use std::error::Error;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Larger than any current L2 cache.
const COLD_BYTES: usize = 512 << 20;

struct Options {
    bits: u32,
    log_n: u32,
    modulus_bits: u32,
    batch: usize,
    moduli: usize,
    work: Work,
    rounds: usize,
    near: bool,
}

fn main() -> Outcome<()> {
    let options = parse()?;
    let largest = u128::MAX >> (128 - options.modulus_bits);
    let start = Recipe::for_batches(options.bits, options.log_n, largest, options.batch)?;
    match options.bits {
        32 => tune::<u32>(start, &options),
        64 => tune::<u64>(start, &options),
        _ => tune::<u128>(start, &options),
    }
}

fn parse() -> Outcome<Options> {
    let (mut bits, mut log_n, mut modulus_bits) = (None, None, None);
    let (mut batch, mut moduli, mut rounds, mut near) = (512, 64, 3, false);
    let mut work = Work::Transform(Direction::Forward);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        if argument == "--near" {
            near = true;
            continue;
        }
        let value = arguments.next().ok_or_else(|| format!("{argument} needs a value"))?;
        match (argument.as_str(), value.as_str()) {
            ("--bits", "32" | "64" | "128") => bits = Some(value.parse()?),
            ("--log-n", _) => log_n = Some(value.parse()?),
            ("--modulus-bits", _) => modulus_bits = Some(value.parse()?),
            ("--batch", _) => batch = value.parse()?,
            ("--moduli", _) => moduli = value.parse()?,
            ("--rounds", _) => rounds = value.parse()?,
            ("--work", "forward") => work = Work::Transform(Direction::Forward),
            ("--work", "inverse") => work = Work::Transform(Direction::Inverse),
            ("--work", "product") => work = Work::Product,
            _ => return Err(format!("unknown option {argument} {value}").into()),
        }
    }
    let (bits, log_n) = bits.zip(log_n).ok_or("expected --bits and --log-n")?;
    let modulus_bits = modulus_bits.unwrap_or(bits - 2);
    if !(1..=bits).contains(&modulus_bits) || moduli == 0 || batch == 0 || batch % moduli.min(batch) != 0 {
        return Err(
            "expected moduli shorter than a word, and a batch that is a multiple of their number".into()
        );
    }
    Ok(Options { bits, log_n, modulus_bits, batch, moduli: moduli.min(batch), work, rounds, near })
}

/// What all candidates transform: one polynomial with all its limbs, and its transform.
struct Model<W> {
    moduli: Vec<Modulus<W>>,
    input: Vec<W>,
    want: Vec<W>,
}

impl<W: Word> Model<W> {
    fn new(start: &Recipe, count: usize) -> Outcome<Self> {
        let n = 1 << start.log_n;
        let moduli = (0..count)
            .map(|skip| Modulus::<W>::find_at_most(start.largest_modulus(), n, skip))
            .collect::<Result<Vec<_>, _>>()?;
        let mut rng = rand::rng();
        let bounds = moduli.iter().flat_map(|m| std::iter::repeat_n(m.q().widen(), n));
        let input: Vec<W> = bounds.map(|q| W::narrow(rng.random_range(0..q))).collect();
        let limbs = moduli.par_iter().zip(input.par_chunks(n));
        let want = limbs.flat_map_iter(|(modulus, x)| host::forward(modulus, x)).collect();
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
    let device = Device::open(0)?;
    let model = Model::<W>::new(&start, options.moduli)?;
    let own = model.plan(&device, start.clone(), options.work).ok_or("the default recipe fails")?;
    let words = model.input.repeat(options.batch / options.moduli);
    let count = (COLD_BYTES / size_of_val(&words[..])).max(2) & !1;
    let mut batches = (0..count).map(|_| own.upload(&words)).collect::<Result<Vec<_>, _>>()?;
    let mut time = |plan: &Plan<W>| -> Outcome<f64> {
        Ok(plan.time(options.work, &mut batches, 1)?.divided_by(options.batch).median)
    };
    let mut best = (time(&own)?, start);
    let print = |us, plan: &Plan<W>| -> Outcome<()> {
        print(us, plan.recipe(), plan.spilled_bytes(options.work)?);
        Ok(())
    };
    print(best.0, &own)?;
    for _ in 0..options.rounds {
        // Compilation takes longer than timing, and can use every core.
        let plans: Vec<Plan<W>> = neighbours(&best.1, options.work)
            .into_par_iter()
            .filter_map(|recipe| model.plan(&device, recipe, options.work))
            .collect();
        let mut times = Vec::new();
        for plan in &plans {
            times.push((time(plan)?, plan));
        }
        times.sort_by(|a, b| a.0.total_cmp(&b.0));
        if options.near {
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
    let passes: Vec<String> = recipe.passes.iter().map(pass).collect();
    let product = if recipe.product.separate {
        "separate".to_owned()
    } else {
        format!("fused:{}", recipe.product.blocks)
    };
    let Recipe { shared_roots, alternating, .. } = recipe;
    println!("{us:.4},{},{product},{shared_roots},{alternating},{spilled}", passes.join(" "));
}

/// All valid recipes that differ in one parameter.
fn neighbours(recipe: &Recipe, work: Work) -> Vec<Recipe> {
    let mut all = Vec::new();
    for at in 0..recipe.passes.len() {
        let changed = |change: &dyn Fn(&mut Pass)| {
            let mut other = recipe.clone();
            change(&mut other.passes[at]);
            other
        };
        for step in [-1i32, 1] {
            all.push(changed(&|p| p.points_log = p.points_log.wrapping_add_signed(step)));
            all.push(changed(&|p| p.lanes_log = p.lanes_log.wrapping_add_signed(step)));
            // The same number of threads with more or fewer points.
            all.push(changed(&|p| {
                p.points_log = p.points_log.wrapping_add_signed(step);
                p.lanes_log = p.lanes_log.wrapping_add_signed(step);
            }));
        }
        let limit = recipe.passes[at].blocks;
        for blocks in (1..=limit + 2).filter(|blocks| *blocks <= 4 || blocks.abs_diff(limit) <= 2) {
            all.push(changed(&|p| p.blocks = blocks));
        }
    }
    if let [whole] = recipe.passes[..] {
        let stages = whole.stages / 2;
        let pass = |first, stages| Pass { first, stages, points_log: 4, lanes_log: 3, blocks: 4 };
        let passes = vec![pass(0, stages), pass(stages, whole.stages - stages)];
        all.push(Recipe { passes, ..recipe.clone() });
    }
    if let [_, _] = recipe.passes[..] {
        for step in [-1i32, 1] {
            let mut other = recipe.clone();
            other.passes[0].stages = other.passes[0].stages.wrapping_add_signed(step);
            other.passes[1].first = other.passes[0].stages;
            other.passes[1].stages = other.passes[1].stages.wrapping_add_signed(-step);
            all.push(other);
        }
    }
    all.extend((0..=3).map(|shared_roots| Recipe { shared_roots, ..recipe.clone() }));
    all.push(Recipe { alternating: !recipe.alternating, ..recipe.clone() });
    if work == Work::Product {
        let product = |separate, blocks| {
            let product = gpu_ref::Product { separate, blocks, ..recipe.product };
            Recipe { product, ..recipe.clone() }
        };
        all.push(product(true, 1));
        all.extend([1, 2, 3, 4, 6, 8, 10, 12, 14, 16].map(|blocks| product(false, blocks)));
    }
    all.retain(|other| other != recipe && other.check().is_ok());
    all
}
