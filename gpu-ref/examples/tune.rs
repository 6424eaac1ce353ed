//! Searches for a faster recipe of a strategy on a CUDA device: changes one parameter at a time and
//! keeps the best change.
//!
//! `tune STRATEGY BITS LOG_N BATCH [forward|inverse|product]` prints each improvement and the final
//! recipe.

use gpu_ref::recipe::Pass;
use gpu_ref::{Device, Direction, Modulus, Plan, Recipe, Strategy, Word, Work, host};
use rand::RngExt;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [strategy, bits, log_n, batch, rest @ ..] = &arguments[..] else {
        return Err("usage: tune STRATEGY BITS LOG_N BATCH [forward|inverse|product]".into());
    };
    let strategy =
        Strategy::ALL.into_iter().find(|s| s.to_string() == *strategy).ok_or("unknown strategy")?;
    let work = match rest.first().map(String::as_str) {
        None | Some("forward") => Work::Transform(Direction::Forward),
        Some("inverse") => Work::Transform(Direction::Inverse),
        Some("product") => Work::Product,
        Some(other) => {
            return Err(format!("unknown work {other}; expected forward, inverse or product").into());
        }
    };
    let (bits, log_n, batch) = (bits.parse()?, log_n.parse()?, batch.parse()?);
    let recipe = match (strategy, batch) {
        (Strategy::Best, 1) => Recipe::low_latency(bits, log_n)?,
        _ => Recipe::new(strategy, bits, log_n)?,
    };
    match bits {
        32 => tune::<u32>(recipe, batch, work),
        64 => tune::<u64>(recipe, batch, work),
        _ => tune::<u128>(recipe, batch, work),
    }
}

fn tune<W: Word>(start: Recipe, batch: usize, work: Work) -> Result<(), Box<dyn Error>> {
    let device = Device::open(0)?;
    let n = 1 << start.log_n;
    let modulus = Modulus::<W>::find(start.strategy.modulus_bits(W::BITS), n, 0)?;
    let mut rng = rand::rng();
    let q = modulus.q().widen();
    let input: Vec<W> = (0..n).map(|_| W::narrow(rng.random_range(0..q))).collect();
    let want = host::forward(&modulus, &input);

    let words: Vec<W> = input.iter().copied().cycle().take(n * batch).collect();
    let first = Plan::with_recipe(&device, start.clone(), &[modulus])?;
    let mut batches = [first.upload(&words)?, first.upload(&words)?];
    let used = if work == Work::Product { 2 } else { 1 };
    let mut best = (first.time(work, &mut batches[..used], 1)?.median, start);
    println!("{:10.3} us  {:?}", best.0, best.1);
    loop {
        let candidates = neighbours(&best.1);
        // Compilation takes longer than timing, and can use every core.
        let plans: Vec<_> = std::thread::scope(|scope| {
            let builds: Vec<_> = candidates
                .into_iter()
                .map(|recipe| scope.spawn(|| Plan::with_recipe(&device, recipe, &[modulus])))
                .collect();
            builds.into_iter().filter_map(|build| build.join().ok()?.ok()).collect()
        });
        let before = best.0;
        for plan in plans {
            let Ok(time) = plan.time(work, &mut batches[..used], 1) else { continue };
            let us = time.median;
            if us < best.0 * 0.99 && plan.run(Direction::Forward, &input)? == want {
                best = (us, plan.recipe().clone());
                println!("{:10.3} us  {:?}", best.0, best.1);
            }
        }
        if best.0 > before * 0.99 {
            break;
        }
    }
    println!("{:10.4} us per transform: {:?}", best.0 / batch as f64, best.1);
    Ok(())
}

/// All valid recipes that differ in one parameter.
fn neighbours(recipe: &Recipe) -> Vec<Recipe> {
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
        for blocks in 1..=8 {
            all.push(changed(&|p| p.blocks = blocks));
        }
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
    all.push(Recipe { overlap: !recipe.overlap, ..recipe.clone() });
    all.push(Recipe { early_roots: !recipe.early_roots, ..recipe.clone() });
    all.extend((0..=3).map(|shared_roots| Recipe { shared_roots, ..recipe.clone() }));
    if recipe.passes.len() > 1 {
        for mib in [8, 16, 24, 32, 40] {
            all.push(Recipe { chunk_bytes: Some(mib << 20), ..recipe.clone() });
        }
        all.push(Recipe { chunk_bytes: None, ..recipe.clone() });
    }
    all.retain(|other| other != recipe && other.check().is_ok());
    all
}
