//! Measures the speedup of each optimisation of the four papers on a CUDA device, and prints a
//! Markdown table for each paper.
//!
//! `ablation [--paper NAME].. [--runs N] [--csv FILE]`; without options, all papers and 3 runs.
//! Papers: cheddar, he-booster, shivdikar, caramel. The file gets one line per claim and mode:
//! `paper,claim,claimed,card,mode,baseline,optimised,baseline_us,optimised_us,gain,low,high,verdict`.
//!
//! All subjects are measured in turn, as often as there are runs. A run is the median of 15 samples
//! for the whole batch of a claim's setting: `warm`, on the same data again and again, or `cold`, on
//! copies of 512 MiB in turn, for transforms and products that are launched one after the other. A
//! base conversion or residue conversion is one of 20 launches in a graph, an inner product has its
//! own launches, and all other work is launched as the claim says. A gain has the ratio of the
//! medians over the runs, and its extremes. Before timing, the kernels of every variant are compared
//! with the host model on new random inputs (integers and their residues with each other). A
//! difference is an error.

use gpu_ref::ablation::{self, Gain, Operation, Paper, Scheme, SpeedupClaim, Subject, Variant};
use gpu_ref::base_conversion::BaseConversion;
use gpu_ref::inner_product::InnerProduct;
use gpu_ref::residues::{Access, Reconstruction, Residues};
use gpu_ref::sequence::{BatchId, Execution};
use gpu_ref::{Device, Direction, Modulus, Plan, Sequence, Timing, Word, Work, host, number};
use rand::RngExt;
use rayon::prelude::*;
use std::error::Error;
use std::fmt::Write as _;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Larger than any current L2 cache.
const COLD_BYTES: usize = 512 << 20;
/// More do not fit a graph of a reasonable size.
const MOST_COPIES: usize = 256;

/// The times of a subject in all runs, in both modes.
#[derive(Default)]
struct Times {
    warm: Vec<Timing>,
    cold: Vec<Timing>,
    failure: Option<String>,
}

fn main() -> Outcome<()> {
    let Options { papers, runs, csv } = parse()?;
    let device = Device::open(0)?;
    println!("# Measured speedups of the papers' optimisations on one {}\n", device.name()?);
    println!(
        "Medians of {runs} runs. A claim with a number is reproduced if at least half of the claimed difference is seen, weaker if \
         less of it, and refuted if the difference is within the spread of the runs.\n"
    );
    let claims = ablation::claims()?;
    let wanted: Vec<&SpeedupClaim> = claims.iter().filter(|claim| papers.contains(&claim.paper)).collect();
    let mut known: Vec<(&Subject, Times)> = Vec::new();
    for subject in wanted.iter().flat_map(|claim| [&claim.baseline, &claim.optimised]) {
        if !known.iter().any(|(other, _)| other.same_work(subject)) {
            known.push((subject, Times::default()));
        }
    }
    // Compilation takes longer than timing, and can use every core. Errors appear when measuring.
    known.par_iter().for_each(|(subject, _)| drop(compile(&device, subject)));
    for _ in 0..runs {
        for (subject, times) in &mut known {
            match measure(&device, subject) {
                Ok((warm, cold)) => {
                    times.warm.push(warm);
                    times.cold.extend(cold);
                }
                Err(error) => times.failure = Some(error.to_string()),
            }
        }
    }
    let times = |subject: &Subject| {
        let found = known.iter().find(|(other, _)| other.same_work(subject));
        &found.expect("every subject was measured").1
    };
    let mut lines =
        "paper,claim,claimed,card,mode,baseline,optimised,baseline_us,optimised_us,gain,low,high,verdict\n"
            .to_owned();
    for paper in papers {
        println!("## {paper}\n");
        println!(
            "| claim | claimed | on | mode | baseline | us | optimised | us | gain here | spread | verdict |"
        );
        println!("|---|---|---|---|---|---|---|---|---|---|---|");
        for claim in wanted.iter().filter(|claim| claim.paper == paper) {
            let (baseline, optimised) = (times(&claim.baseline), times(&claim.optimised));
            report(claim, "warm", &baseline.warm, &optimised.warm, &mut lines)?;
            report(claim, "cold", &baseline.cold, &optimised.cold, &mut lines)?;
        }
        println!();
    }
    if let Some(path) = csv {
        std::fs::write(path, lines)?;
    }
    match known.iter().find_map(|(subject, times)| Some((subject, times.failure.as_ref()?))) {
        Some((subject, error)) => Err(format!("{subject:?}: {error}").into()),
        None => Ok(()),
    }
}

struct Options {
    papers: Vec<Paper>,
    runs: usize,
    csv: Option<String>,
}

fn parse() -> Outcome<Options> {
    let mut options = Options { papers: Vec::new(), runs: 3, csv: None };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{argument} needs a value"))?;
        match (argument.as_str(), value.as_str()) {
            ("--paper", "cheddar") => options.papers.push(Paper::Cheddar),
            ("--paper", "he-booster") => options.papers.push(Paper::HeBooster),
            ("--paper", "shivdikar") => options.papers.push(Paper::Shivdikar),
            ("--paper", "caramel") => options.papers.push(Paper::Caramel),
            ("--runs", runs) => options.runs = runs.parse()?,
            ("--csv", _) => options.csv = Some(value),
            _ => return Err(format!("unknown option {argument} {value}").into()),
        }
    }
    if options.papers.is_empty() {
        options.papers = vec![Paper::Cheddar, Paper::HeBooster, Paper::Shivdikar, Paper::Caramel];
    }
    Ok(options)
}

/// One row of the table and one line of the file, if both variants have times in this mode.
fn report(
    claim: &SpeedupClaim,
    mode: &str,
    baseline: &[Timing],
    optimised: &[Timing],
    lines: &mut String,
) -> Outcome<()> {
    let (Some(baseline), Some(optimised)) = (Timing::over(baseline), Timing::over(optimised)) else {
        return Ok(());
    };
    let claimed = claim.gain.map_or("faster".to_owned(), |gain| format!("{gain:.3}"));
    let gain = Gain::of(baseline, optimised);
    let (what, card, verdict) = (&claim.what, claim.card, claim.verdict(gain));
    let (from, to) = (claim.baseline.label(), claim.optimised.label());
    let (before, after) = (baseline.median, optimised.median);
    let Gain { median, low, high } = gain;
    println!(
        "| {what} | {claimed} | {card} | {mode} | {from} | {before:.2} | {to} | {after:.2} | {median:.3} | {low:.3} to {high:.3} | \
         {verdict} |"
    );
    writeln!(
        lines,
        "{},\"{what}\",{claimed},{card},{mode},\"{from}\",\"{to}\",{before:.2},{after:.2},{median:.3},{low:.3},{high:.3},{verdict}",
        claim.paper
    )?;
    Ok(())
}

/// Compiles the kernels of a subject's transforms.
fn compile(device: &Device, subject: &Subject) -> Outcome<()> {
    let Subject::Transforms(variant) = subject else { return Ok(()) };
    match variant.recipe.word_bits {
        32 => compile_words::<u32>(device, variant),
        64 => compile_words::<u64>(device, variant),
        _ => compile_words::<u128>(device, variant),
    }
}

fn compile_words<W: Word>(device: &Device, variant: &Variant) -> Outcome<()> {
    let recipe = &variant.recipe;
    let moduli = moduli::<W>(recipe.modulus_bits, 1 << recipe.log_n, 1)?;
    let plan = Plan::with_recipe(device, recipe.clone(), &moduli)?;
    if variant.work == Work::Product {
        let zero = vec![W::zeroed(); plan.polynomial_words() << recipe.interleave_log];
        plan.multiply(&mut plan.upload(&zero)?, &mut plan.upload(&zero)?)?;
    }
    Ok(())
}

/// A subject's time on warm data, and on cold data if it is a transform or product launched in
/// sequence.
fn measure(device: &Device, subject: &Subject) -> Outcome<(Timing, Option<Timing>)> {
    match subject {
        Subject::Transforms(variant) => match variant.recipe.word_bits {
            32 => measure_words::<u32>(device, variant),
            64 => measure_words::<u64>(device, variant),
            _ => measure_words::<u128>(device, variant),
        },
        Subject::Scheme(scheme) => {
            let warm = match scheme.operation {
                Operation::Conversion { .. } => measure_conversion(device, scheme),
                _ if scheme.word_bits == 32 => measure_scheme::<u32>(device, scheme),
                _ => measure_scheme::<u64>(device, scheme),
            };
            Ok((warm?, None))
        }
    }
}

/// Checks the first and last column of a conversion and times it.
fn measure_conversion(device: &Device, scheme: &Scheme) -> Outcome<Timing> {
    let Operation::Conversion { to, tile } = scheme.operation else {
        return Err("expected a conversion".into());
    };
    let n = 1 << scheme.log_n;
    let all = moduli::<u32>(scheme.modulus_bits, n, scheme.limbs + to)?;
    let (from, to) = all.split_at(scheme.limbs);
    let conversion = BaseConversion::new(device, from, to, tile)?;
    let words = random(from, 1);
    let results = conversion.run(&words)?;
    let others = |j: usize, q: u128| {
        let others = from.iter().enumerate().filter(|&(i, _)| i != j);
        others.fold(1, |product, (_, m)| number::mul_mod(product, m.q().into(), q))
    };
    let scaled = |j: usize, column: usize| {
        let p = u128::from(from[j].q());
        number::mul_mod(words[j * n + column].into(), number::pow_mod(others(j, p), p - 2, p), p)
    };
    for column in [0, n - 1] {
        for (i, q) in to.iter().map(|m| u128::from(m.q())).enumerate() {
            let terms = (0..from.len()).map(|j| number::mul_mod(scaled(j, column), others(j, q), q));
            if terms.sum::<u128>() % q != results[i * n + column].into() {
                return Err(format!("differs from the host model in column {column} of limb {i}").into());
            }
        }
    }
    Ok(conversion.time(&words)?)
}

/// Checks another operation and times it: residues by conversion back, inner products by their
/// first and last column.
fn measure_scheme<W: Word>(device: &Device, scheme: &Scheme) -> Outcome<Timing> {
    let n = 1 << scheme.log_n;
    let moduli = moduli::<W>(scheme.modulus_bits, n, scheme.limbs)?;
    let there_and_back = |access: Access, how: Reconstruction| {
        let residues = Residues::new(device, &moduli, access)?;
        let words = random(&moduli, 1);
        let coefficients = residues.run_reconstruct(how, &words)?;
        if residues.run_decompose(&coefficients)? != words {
            return Err("residues do not convert back to the same integers".into());
        }
        Ok::<_, Box<dyn Error>>((residues, words, coefficients))
    };
    match scheme.operation {
        Operation::Decompose(access) => {
            let (residues, _, coefficients) = there_and_back(access, Reconstruction::Garner)?;
            Ok(residues.time_decompose(&coefficients)?)
        }
        Operation::Reconstruct(access, how) => {
            let (residues, words, _) = there_and_back(access, how)?;
            Ok(residues.time_reconstruct(how, &words)?)
        }
        Operation::InnerProduct { terms, fusion } => {
            let mut product = InnerProduct::new(device, &moduli, terms, fusion)?;
            let (left, keys) = (random(&moduli, terms), random(&moduli, 2 * terms));
            let results = product.run(&left, &keys)?;
            let words = moduli.len() * n;
            for at in [0, words - 1, words, 2 * words - 1] {
                let (part, word, q) = (at / words, at % words, moduli[at % words / n].q().widen());
                let terms = (0..terms).map(|term| {
                    let (x, key) = (left[term * words + word], keys[(2 * term + part) * words + word]);
                    number::mul_mod(x.widen(), key.widen(), q)
                });
                if terms.fold(0, |sum, x| (sum + x) % q) != results[at].widen() {
                    return Err(format!("differs from the host model at word {at}").into());
                }
            }
            Ok(product.time(&left, &keys)?)
        }
        Operation::Conversion { .. } => Err("base conversion requires 32-bit words".into()),
    }
}

/// Checks a variant and times it.
fn measure_words<W: Word>(device: &Device, variant: &Variant) -> Outcome<(Timing, Option<Timing>)> {
    let (recipe, n) = (&variant.recipe, 1 << variant.recipe.log_n);
    let moduli = moduli::<W>(recipe.modulus_bits, n, variant.limbs)?;
    let per_plan = if variant.limbs_together { variant.limbs } else { 1 };
    let plans = moduli
        .chunks(per_plan)
        .map(|moduli| Plan::with_recipe(device, recipe.clone(), moduli))
        .collect::<Result<Vec<_>, _>>()?;
    let factors = if variant.work == Work::Product { 2 } else { 1 };
    let inputs: Vec<Vec<Vec<W>>> = plans
        .iter()
        .map(|plan| (0..factors).map(|_| random(plan.moduli(), variant.polynomials)).collect())
        .collect();

    // Timing repeats the work on its own results, so the check uses a separate sequence.
    let mut sequence = Sequence::new(device);
    let ids = append(&mut sequence, &plans, &inputs, variant.work)?;
    sequence.run(variant.execution)?;
    for ((plan, inputs), &id) in plans.iter().zip(&inputs).zip(&ids) {
        agree(plan.moduli(), inputs, &plan.download(sequence.batch(id))?, variant.work)?;
    }
    let warm = sequence.time(variant.execution)?;
    if variant.execution == Execution::DependencyGraph {
        // Copies would run beside each other.
        return Ok((warm, None));
    }
    let bytes: usize = inputs.iter().flatten().map(|words| size_of_val(&words[..])).sum();
    let copies = (COLD_BYTES / bytes).clamp(2, MOST_COPIES);
    for _ in 1..copies {
        append(&mut sequence, &plans, &inputs, variant.work)?;
    }
    let cold = sequence.time(variant.execution)?.divided_by(copies);
    Ok((warm, Some(cold)))
}

/// The largest primes of a given length.
fn moduli<W: Word>(bits: u32, n: usize, count: usize) -> Outcome<Vec<Modulus<W>>> {
    (0..count).map(|skip| Ok(Modulus::find(bits, n, skip)?)).collect()
}

/// Polynomials for some moduli: a few random ones, repeated.
fn random<W: Word>(moduli: &[Modulus<W>], polynomials: usize) -> Vec<W> {
    const DISTINCT: usize = 3;
    let mut rng = rand::rng();
    let distinct: Vec<W> = (0..polynomials.min(DISTINCT))
        .flat_map(|_| moduli.iter().flat_map(|m| std::iter::repeat_n(m.q().widen(), m.n())))
        .map(|q| W::narrow(rng.random_range(0..q)))
        .collect();
    let words = polynomials * moduli.len() * moduli[0].n();
    distinct.into_iter().cycle().take(words).collect()
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
        if let Some(at) = want.iter().zip(&results[range.clone()]).position(|(want, got)| want != got) {
            return Err(format!("differs from the host model at word {at} of limb {chunk}").into());
        }
    }
    Ok(())
}
