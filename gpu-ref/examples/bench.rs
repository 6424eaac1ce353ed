//! Times transforms on a CUDA device and prints one CSV line for each:
//! `impl,dir,logN,bits,batch,us_per_batch,us_per_ntt,GB_s`.
//!
//! `bench [--strategy NAME].. [--bits B].. [--log-n L].. [--batch P].. [--cold]`; without options,
//! everything. A batch is P polynomials of one modulus. With `--cold`, the batches that take turns
//! exceed the L2 cache. `GB_s` counts one read and one write per word (for a product: two factors
//! read, one product written). Before timing, every transform is compared with the host model on
//! new random inputs. A difference is an error.

use gpu_ref::{Device, Direction, Modulus, Plan, Recipe, Strategy, Word, Work, host};
use rand::RngExt;
use std::error::Error;

/// Larger than any current L2 cache.
const COLD_BYTES: usize = 256 << 20;

#[derive(Default)]
struct Options {
    strategies: Vec<String>,
    bits: Vec<u32>,
    sizes: Vec<u32>,
    batches: Vec<usize>,
    cold: bool,
}

fn parse() -> Result<Options, Box<dyn Error>> {
    let mut options = Options::default();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        if argument == "--cold" {
            options.cold = true;
            continue;
        }
        let value = arguments.next().ok_or_else(|| format!("{argument} needs a value"))?;
        match argument.as_str() {
            "--strategy" => options.strategies.push(value),
            "--bits" => options.bits.push(value.parse()?),
            "--log-n" => options.sizes.push(value.parse()?),
            "--batch" => options.batches.push(value.parse()?),
            _ => return Err(format!("unknown option {argument}").into()),
        }
    }
    if options.sizes.is_empty() {
        options.sizes = vec![12, 14, 16];
    }
    if options.batches.is_empty() {
        options.batches = vec![1, 64, 512];
    }
    Ok(options)
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = parse()?;
    let device = Device::open(0)?;
    eprintln!("device: {}", device.name()?);
    println!("impl,dir,logN,bits,batch,us_per_batch,us_per_ntt,GB_s");
    for strategy in Strategy::ALL {
        if !options.strategies.is_empty() && !options.strategies.contains(&strategy.to_string()) {
            continue;
        }
        for &bits in strategy.word_bits() {
            if !options.bits.is_empty() && !options.bits.contains(&bits) {
                continue;
            }
            for &log_n in &options.sizes {
                let usual = (strategy.to_string(), Recipe::new(strategy, bits, log_n)?, &options.batches[..]);
                let quick = if strategy == Strategy::Best && options.batches.contains(&1) {
                    Some(("best-latency".to_owned(), Recipe::low_latency(bits, log_n)?, &[1][..]))
                } else {
                    None
                };
                let published = (strategy == Strategy::Caramel && log_n > 12).then(|| {
                    ("caramel-8-points".to_owned(), eight_points(usual.1.clone()), &options.batches[..])
                });
                for (name, recipe, batches) in std::iter::once(usual).chain(quick).chain(published) {
                    let run = match bits {
                        32 => bench::<u32>,
                        64 => bench::<u64>,
                        _ => bench::<u128>,
                    };
                    run(&device, &name, recipe, batches, options.cold)?;
                }
            }
        }
    }
    Ok(())
}

/// Caramel's two kernels with eight points per thread, as published.
fn eight_points(mut recipe: Recipe) -> Recipe {
    for (pass, lanes_log) in recipe.passes.iter_mut().zip([2, 4]) {
        (pass.points_log, pass.lanes_log) = (3, lanes_log);
    }
    recipe
}

fn bench<W: Word>(
    device: &Device,
    name: &str,
    recipe: Recipe,
    batches: &[usize],
    cold: bool,
) -> Result<(), Box<dyn Error>> {
    const DISTINCT: usize = 4;
    let log_n = recipe.log_n;
    let n = 1 << log_n;
    let modulus = Modulus::<W>::find(recipe.strategy.modulus_bits(W::BITS), n, 0)?;
    let plan = Plan::with_recipe(device, recipe, &[modulus])?;

    let mut rng = rand::rng();
    let q = modulus.q().widen();
    let inputs: Vec<Vec<W>> =
        (0..DISTINCT).map(|_| (0..n).map(|_| W::narrow(rng.random_range(0..q))).collect()).collect();
    let transformed: Vec<Vec<W>> = inputs.iter().map(|x| host::forward(&modulus, x)).collect();
    let square = host::product(&modulus, &inputs[0], &inputs[0]);

    for &polynomials in batches {
        let fill =
            |from: &[Vec<W>]| from.iter().cycle().take(polynomials).flatten().copied().collect::<Vec<_>>();
        let (natural, reversed) = (fill(&inputs), fill(&transformed));
        if plan.run(Direction::Forward, &natural)? != reversed
            || plan.run(Direction::Inverse, &reversed)? != natural
        {
            return Err(format!("{name} differs from the host model: {:?}", plan.recipe()).into());
        }
        let (mut left, mut right) = (plan.upload(&natural)?, plan.upload(&natural)?);
        plan.multiply(&mut left, &mut right)?;
        if plan.download(&left)?[..n] != square {
            return Err(format!("a {name} product differs from the host model: {:?}", plan.recipe()).into());
        }

        let bytes = natural.len() * size_of::<W>();
        let pairs = if cold { COLD_BYTES.div_ceil(2 * bytes) } else { 1 };
        let mut batches = vec![left, right];
        for _ in 2..2 * pairs {
            batches.push(plan.upload(&natural)?);
        }
        for (work, arrays) in [
            (Work::Transform(Direction::Forward), 2),
            (Work::Transform(Direction::Inverse), 2),
            (Work::Product, 3),
        ] {
            let chosen = if cold || work == Work::Product { &mut batches[..] } else { &mut batches[..1] };
            let us = plan.time(work, chosen, 1)?.median;
            println!(
                "{name},{work},{log_n},{},{polynomials},{us:.3},{:.4},{:.1}",
                W::BITS,
                us / polynomials as f64,
                (arrays * bytes) as f64 / us / 1e3
            );
        }
    }
    Ok(())
}
