//! Measures the speedup of each optimisation of the four papers on a CUDA device, and prints a
//! Markdown table for each paper.
//!
//! `ablation [--paper NAME].. [--csv FILE]`; without options, all papers. Papers: cheddar,
//! he-booster, shivdikar, caramel. The file gets one line per claim:
//! `paper,claim,claimed,card,baseline,optimised,baseline_us,optimised_us,gain,verdict`.
//!
//! A time is the median of 15 samples for the whole batch of a claim's setting. A base conversion
//! or residue conversion is one of 20 launches in a graph, an inner product has its own launches,
//! and all other work is launched as the claim says. Before timing, the kernels of every variant
//! are compared with the host model on new random inputs (integers and their residues with each
//! other). A difference is an error.

use gpu_ref::ablation::{self, Operation, Paper, Scheme, SpeedupClaim, Subject, Variant};
use gpu_ref::base_conversion::BaseConversion;
use gpu_ref::inner_product::InnerProduct;
use gpu_ref::residues::{Access, Reconstruction, Residues};
use gpu_ref::sequence::BatchId;
use gpu_ref::{Device, Direction, Modulus, Plan, Sequence, Word, Work, host, number};
use rand::RngExt;
use std::error::Error;
use std::fmt::Write as _;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let (papers, csv) = parse()?;
    let device = Device::open(0)?;
    println!("# Measured speedups of the papers' optimisations on one {}\n", device.name()?);
    println!(
        "A claim with a number is reproduced if at least half of the claimed difference is seen, weaker if less of it, and refuted \
         within {:.0}% of none.\n",
        ablation::NOISE * 100.0
    );
    let mut lines =
        "paper,claim,claimed,card,baseline,optimised,baseline_us,optimised_us,gain,verdict\n".to_owned();
    let mut known: Vec<(Subject, Result<f64, String>)> = Vec::new();
    let claims = ablation::claims()?;
    for paper in papers {
        println!("## {paper}\n");
        println!("| claim | claimed | on | baseline | us | optimised | us | gain here | verdict |");
        println!("|---|---|---|---|---|---|---|---|---|");
        for claim in claims.iter().filter(|claim| claim.paper == paper) {
            let mut time = |subject: &Subject| {
                if let Some((_, time)) = known.iter().find(|(other, _)| other.same_work(subject)) {
                    return time.clone();
                }
                let time = measure(&device, subject).map_err(|error| error.to_string());
                known.push((subject.clone(), time.clone()));
                time
            };
            report(claim, time(&claim.baseline), time(&claim.optimised), &mut lines)?;
        }
        println!();
    }
    if let Some(path) = csv {
        std::fs::write(path, lines)?;
    }
    match known.iter().find_map(|(subject, time)| Some((subject, time.as_ref().err()?))) {
        Some((subject, error)) => Err(format!("{subject:?}: {error}").into()),
        None => Ok(()),
    }
}

fn parse() -> Outcome<(Vec<Paper>, Option<String>)> {
    let (mut papers, mut csv) = (Vec::new(), None);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{argument} needs a value"))?;
        match (argument.as_str(), value.as_str()) {
            ("--paper", "cheddar") => papers.push(Paper::Cheddar),
            ("--paper", "he-booster") => papers.push(Paper::HeBooster),
            ("--paper", "shivdikar") => papers.push(Paper::Shivdikar),
            ("--paper", "caramel") => papers.push(Paper::Caramel),
            ("--csv", _) => csv = Some(value),
            _ => return Err(format!("unknown option {argument} {value}").into()),
        }
    }
    if papers.is_empty() {
        papers = vec![Paper::Cheddar, Paper::HeBooster, Paper::Shivdikar, Paper::Caramel];
    }
    Ok((papers, csv))
}

/// One row of the table and one line of the file. A failure has no time.
fn report(
    claim: &SpeedupClaim,
    baseline: Result<f64, String>,
    optimised: Result<f64, String>,
    lines: &mut String,
) -> Outcome<()> {
    let claimed = claim.gain.map_or("faster".to_owned(), |gain| format!("{gain:.3}"));
    let show =
        |time: &Result<f64, String>| time.as_ref().map_or("failed".to_owned(), |us| format!("{us:.2}"));
    let (gain, verdict) = match (&baseline, &optimised) {
        (Ok(baseline), Ok(optimised)) => {
            let gain = baseline / optimised;
            (format!("{gain:.3}"), claim.verdict(gain).to_string())
        }
        _ => (String::new(), "failed".into()),
    };
    let (before, after) = (show(&baseline), show(&optimised));
    let (what, card) = (&claim.what, claim.card);
    let (from, to) = (claim.baseline.label(), claim.optimised.label());
    println!("| {what} | {claimed} | {card} | {from} | {before} | {to} | {after} | {gain} | {verdict} |");
    writeln!(
        lines,
        "{},\"{what}\",{claimed},{card},\"{from}\",\"{to}\",{before},{after},{gain},{verdict}",
        claim.paper
    )?;
    Ok(())
}

fn measure(device: &Device, subject: &Subject) -> Outcome<f64> {
    match subject {
        Subject::Transforms(variant) => match variant.recipe.word_bits {
            32 => measure_words::<u32>(device, variant),
            64 => measure_words::<u64>(device, variant),
            _ => measure_words::<u128>(device, variant),
        },
        Subject::Scheme(scheme) => match scheme.operation {
            Operation::Conversion { .. } => measure_conversion(device, scheme),
            _ if scheme.word_bits == 32 => measure_scheme::<u32>(device, scheme),
            _ => measure_scheme::<u64>(device, scheme),
        },
    }
}

/// Checks the first and last column of a conversion and times it.
fn measure_conversion(device: &Device, scheme: &Scheme) -> Outcome<f64> {
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
    Ok(conversion.time(&words)?.median)
}

/// Checks another operation and times it: residues by conversion back, inner products by their
/// first and last column.
fn measure_scheme<W: Word>(device: &Device, scheme: &Scheme) -> Outcome<f64> {
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
            Ok(residues.time_decompose(&coefficients)?.median)
        }
        Operation::Reconstruct(access, how) => {
            let (residues, words, _) = there_and_back(access, how)?;
            Ok(residues.time_reconstruct(how, &words)?.median)
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
            Ok(product.time(&left, &keys)?.median)
        }
        Operation::Conversion { .. } => Err("base conversion requires 32-bit words".into()),
    }
}

/// Checks a variant and times it.
fn measure_words<W: Word>(device: &Device, variant: &Variant) -> Outcome<f64> {
    let (recipe, n) = (&variant.recipe, 1 << variant.recipe.log_n);
    let bits = recipe.strategy.modulus_bits(recipe.word_bits);
    let moduli = moduli::<W>(bits, n, variant.limbs)?;
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
    Ok(sequence.time(variant.execution)?.median)
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
