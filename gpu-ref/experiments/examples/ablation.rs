//! Measures the speedup of each optimisation of the four papers on a CUDA device, and prints a
//! Markdown table for each paper.
//!
//! The file of `--csv` gets one line per claim and mode:
//! `paper,claim,claimed,card,mode,baseline,optimised,baseline_us,optimised_us,gain,low,high,verdict`.
//!
//! The subjects of a paper are prepared together, then measured in turn, as often as there are runs. A
//! run is the median of 15 samples for the whole batch of a claim's setting: `warm`, on the same data
//! again and again, or `cold`, on copies of 256 MiB in turn, for transforms and products that are
//! launched one after the other. Inner products have their own launches, and all other work is launched as
//! the claim says. A gain has the ratio of the medians over the runs, and its extremes. Before timing, the
//! kernels of every variant are compared with the host model on new random inputs. A difference is an error.

use clap::Parser;
use gpu_experiments::claims::{self, Gain, InnerProducts, Paper, SpeedupClaim, Subject, Variant};
use gpu_experiments::measure::{Work, over, sample};
use gpu_experiments::sequence::{BatchId, Execution, Sequence};
use gpu_ref::inner_product::InnerProduct;
use gpu_ref::testing::{compare, moduli, random};
use gpu_ref::{Device, Direction, Modulus, Plan, Timing, Word, host, number};
use rayon::prelude::*;
use std::error::Error;
use std::fmt::Write as _;

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// Several times any current L2 cache.
const COLD_BYTES: usize = 256 << 20;
/// More do not fit a graph of a reasonable size.
const MOST_COPIES: usize = 256;

/// The times of a subject in all runs, in both modes.
#[derive(Default)]
struct Times {
    warm: Vec<Timing>,
    cold: Vec<Timing>,
}

/// Measures once, on data that stay on the device.
type Measure = Box<dyn FnMut() -> Outcome<Timing> + Send>;

/// A checked subject. Only transforms and products launched in sequence are measured cold, too.
struct Prepared {
    warm: Measure,
    cold: Option<Measure>,
}

fn main() -> Outcome<()> {
    let Options { paper, runs, csv } = Options::parse();
    let device = Device::open(0)?;
    println!("# Measured speedups of the papers' optimisations on one {}\n", device.name()?);
    println!(
        "Medians of {runs} runs. A claim with a number is reproduced if at least half of the claimed difference is seen, weaker if \
         less of it, and refuted if the difference is within the spread of the runs.\n"
    );
    let claims = claims::claims()?;
    let mut lines =
        "paper,claim,claimed,card,mode,baseline,optimised,baseline_us,optimised_us,gain,low,high,verdict\n"
            .to_owned();
    for paper in
        Paper::ALL.into_iter().filter(|known| paper.is_empty() || paper.contains(&known.name.to_owned()))
    {
        let claims: Vec<&SpeedupClaim> = claims.iter().filter(|claim| claim.paper == paper).collect();
        let subjects = subjects(&claims);
        let times = measure(&device, &subjects, runs)?;
        println!("## {paper}\n");
        println!("| claim | claimed | on | baseline, µs | optimised, µs | gain here | spread | verdict |");
        println!("|---|---|---|---|---|---|---|---|");
        for claim in claims {
            let [baseline, optimised] = [&claim.baseline, &claim.optimised].map(|subject| {
                let found = subjects.iter().position(|other| other.same_work(subject));
                &times[found.expect("every subject was measured")]
            });
            report(claim, "warm", &baseline.warm, &optimised.warm, &mut lines)?;
            report(claim, "cold", &baseline.cold, &optimised.cold, &mut lines)?;
        }
        println!();
    }
    if let Some(path) = csv {
        std::fs::write(path, lines)?;
    }
    Ok(())
}

/// The subjects of some claims, each once.
fn subjects<'c>(claims: &[&'c SpeedupClaim]) -> Vec<&'c Subject> {
    let mut known: Vec<&Subject> = Vec::new();
    for subject in claims.iter().flat_map(|claim| [&claim.baseline, &claim.optimised]) {
        if !known.iter().any(|other| other.same_work(subject)) {
            known.push(subject);
        }
    }
    known
}

/// Prepares all subjects on every core, because compilation and host models take longest, and then
/// measures them in turn.
fn measure(device: &Device, subjects: &[&Subject], runs: usize) -> Outcome<Vec<Times>> {
    let prepared = subjects.par_iter().map(|subject| named(subject, prepare(device, subject)));
    let mut prepared: Vec<Prepared> = prepared.collect::<Outcome<_>>()?;
    let mut times: Vec<Times> = subjects.iter().map(|_| Times::default()).collect();
    for _ in 0..runs {
        for ((subject, prepared), times) in subjects.iter().zip(&mut prepared).zip(&mut times) {
            times.warm.push(named(subject, (prepared.warm)())?);
            if let Some(cold) = &mut prepared.cold {
                times.cold.push(named(subject, cold())?);
            }
        }
    }
    Ok(times)
}

/// An error with the name of its subject.
fn named<T>(subject: &Subject, outcome: Outcome<T>) -> Outcome<T> {
    outcome.map_err(|error| format!("{subject:?}: {error}").into())
}

#[derive(Parser)]
struct Options {
    /// Papers; by default all
    #[arg(long, value_name = "NAME", value_parser = Paper::ALL.map(|paper| paper.name))]
    paper: Vec<String>,
    /// Runs of all measurements
    #[arg(long, value_name = "N", default_value_t = 3)]
    runs: usize,
    /// A file for the results
    #[arg(long, value_name = "FILE")]
    csv: Option<String>,
}

/// One row of the table and one line of the file, if both variants have times in this mode.
fn report(
    claim: &SpeedupClaim,
    mode: &str,
    baseline: &[Timing],
    optimised: &[Timing],
    lines: &mut String,
) -> Outcome<()> {
    let (Some(baseline), Some(optimised)) = (over(baseline), over(optimised)) else {
        return Ok(());
    };
    let claimed = claim.gain.map_or("faster".to_owned(), |gain| format!("{gain:.3}"));
    let gain = Gain::of(baseline, optimised);
    let (what, card, verdict) = (&claim.what, claim.card, claim.verdict(gain));
    let (from, to) = (claim.baseline.label(), claim.optimised.label());
    let (before, after) = (baseline.median, optimised.median);
    let Gain { median, low, high } = gain;
    println!(
        "| {what}<br>Baseline: {from}; optimised: {to} | {claimed} | {card}, {mode} | {before:.2} | {after:.2} | {median:.3} | \
         {low:.3} to {high:.3} | {verdict} |"
    );
    writeln!(
        lines,
        "{},\"{what}\",{claimed},{card},{mode},\"{from}\",\"{to}\",{before:.2},{after:.2},{median:.3},{low:.3},{high:.3},{verdict}",
        claim.paper
    )?;
    Ok(())
}

/// Checks a subject and puts its data on the device.
fn prepare(device: &Device, subject: &Subject) -> Outcome<Prepared> {
    match subject {
        Subject::Transforms(variant) => match variant.recipe.word_bits() {
            32 => prepare_transforms::<u32>(device, variant),
            64 => prepare_transforms::<u64>(device, variant),
            _ => prepare_transforms::<u128>(device, variant),
        },
        Subject::InnerProducts(products) => {
            Ok(Prepared { warm: prepare_products(device, products)?, cold: None })
        }
    }
}

/// Checks the first and last word of both sums.
fn prepare_products(device: &Device, products: &InnerProducts) -> Outcome<Measure> {
    let &InnerProducts { log_n, limbs, terms, fusion, .. } = products;
    let n = 1 << log_n;
    let moduli = moduli::<u64>(limbs, 56, n)?;
    let mut product = InnerProduct::new(device, &moduli, terms, fusion)?;
    let (left, keys) = (random(&moduli, terms), random(&moduli, 2 * terms));
    let results = product.run(&left, &keys)?;
    let words = limbs * n;
    for at in [0, words - 1, words, 2 * words - 1] {
        let (part, word, q) = (at / words, at % words, u128::from(moduli[at % words / n].q()));
        let terms = (0..terms).map(|term| {
            let (x, key) = (left[term * words + word], keys[(2 * term + part) * words + word]);
            number::mul_mod(x.into(), key.into(), q)
        });
        if terms.fold(0, |sum, x| (sum + x) % q) != results[at].into() {
            return Err(format!("differs from the host model at word {at}").into());
        }
    }
    let (device, mut batches) = (device.clone(), product.batches(&left, &keys)?);
    Ok(Box::new(move || Ok(sample(&device, || product.apply(&mut batches))?)))
}

/// The plans of a variant. They live until the program ends, as the launches on the device do.
fn plans<W: Word>(device: &Device, variant: &Variant) -> Outcome<&'static [Plan<W>]> {
    let recipe = &variant.recipe;
    let moduli = moduli::<W>(variant.limbs, recipe.modulus_bits(), 1 << recipe.log_n())?;
    let per_plan = if variant.limbs_together { variant.limbs } else { 1 };
    let plan = |moduli: &[_]| Plan::with_recipe(device, recipe.clone(), moduli);
    Ok(moduli.chunks(per_plan).map(plan).collect::<Result<Vec<_>, _>>()?.leak())
}

/// Compiles the kernels of a variant, and checks it.
fn prepare_transforms<W: Word>(device: &Device, variant: &Variant) -> Outcome<Prepared> {
    let plans = plans::<W>(device, variant)?;
    let Variant { work, execution, .. } = *variant;
    let factors = if work == Work::Product { 2 } else { 1 };
    let inputs: Vec<Vec<Vec<W>>> = plans
        .iter()
        .map(|plan| (0..factors).map(|_| random(plan.moduli(), variant.polynomials)).collect())
        .collect();
    let mut warm = Sequence::new(device);
    let ids = append(&mut warm, plans, &inputs, work)?;
    warm.run(execution)?;
    for ((plan, inputs), &id) in plans.iter().zip(&inputs).zip(&ids) {
        agree(plan.moduli(), inputs, &plan.download(warm.batch(id))?, work)?;
    }
    // Copies in a graph of dependencies would overlap.
    let cold = if execution == Execution::DependencyGraph {
        None
    } else {
        let bytes: usize = inputs.iter().flatten().map(|words| size_of_val(&words[..])).sum();
        let copies = (COLD_BYTES / bytes).clamp(2, MOST_COPIES);
        let mut cold = Sequence::new(device);
        for _ in 0..copies {
            append(&mut cold, plans, &inputs, work)?;
        }
        Some(Box::new(move || Ok(cold.time(execution)?.divided_by(copies))) as Measure)
    };
    Ok(Prepared { warm: Box::new(move || Ok(warm.time(execution)?)), cold })
}

/// Adds the work of each plan to a sequence, and returns the batches of its results.
fn append<'p, W: Word>(
    sequence: &mut Sequence<'p, W>,
    plans: &'p [Plan<W>],
    inputs: &[Vec<Vec<W>>],
    work: Work,
) -> Outcome<Vec<BatchId>> {
    plans
        .iter()
        .zip(inputs)
        .map(|(plan, inputs)| {
            let ids = inputs
                .iter()
                .map(|words| Ok(sequence.add(plan.upload(words)?)))
                .collect::<Outcome<Vec<_>>>()?;
            match work {
                Work::Transform(direction) => sequence.transform(plan, direction, ids[0])?,
                Work::Product => sequence.multiply(plan, ids[0], ids[1])?,
            }
            Ok(ids[0])
        })
        .collect()
}

/// Compares the first and last limb of the first and last polynomial with the host model.
fn agree<W: Word>(moduli: &[Modulus<W>], inputs: &[Vec<W>], results: &[W], work: Work) -> Outcome<()> {
    let (n, limbs) = (moduli[0].n(), moduli.len());
    let chunks = results.len() / n;
    for chunk in [0, limbs - 1, chunks - limbs, chunks - 1] {
        let (range, modulus) = (chunk * n..(chunk + 1) * n, &moduli[chunk % limbs]);
        let input = |number: usize| &inputs[number][range.clone()];
        let want = match work {
            Work::Transform(Direction::Forward) => host::forward(modulus, input(0)),
            Work::Transform(Direction::Inverse) => host::inverse(modulus, input(0)),
            Work::Product => host::product(modulus, input(0), input(1)),
        };
        compare(format_args!("limb {chunk}"), &results[range.clone()], &want)?;
    }
    Ok(())
}
