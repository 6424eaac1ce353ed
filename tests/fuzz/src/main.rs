//! Calls all properties on damaged inputs for a given time, on all cores.

use clap::Parser;
use fuzz::{Damage, TARGETS, Target, repository};
use rayon::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Call properties that hold of any input on damaged copies of real inputs
#[derive(Parser)]
struct Args {
    /// Seconds for each target
    #[arg(long, default_value_t = 10)]
    seconds: u64,
    /// Only this target
    #[arg(long)]
    target: Option<String>,
    /// The number of the first sequence of inputs; the same number repeats the same inputs
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Folder for inputs that break a property
    #[arg(long, default_value = "tests/fuzz/findings")]
    findings: PathBuf,
}

/// The inputs of one sequence.
const SEQUENCE: u64 = 256;

fn main() -> ExitCode {
    let args = Args::parse();
    let chosen = |target: &Target| args.target.as_ref().is_none_or(|name| name == target.name);
    let (mut total, mut findings) = (0, 0);
    for target in TARGETS.iter().filter(|target| chosen(target)) {
        let begin = Instant::now();
        let (executions, broken) = campaign(target, &args);
        let rate = executions as f64 / begin.elapsed().as_secs_f64();
        println!("{:<14} {executions:>10} executions, {rate:>7.0} a second, {broken} findings", target.name);
        total += executions;
        findings += broken;
    }
    println!("{:<14} {total:>10} executions, {findings} findings", "total");
    if total == 0 || findings > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Runs a target until its time is over. Returns the executions and the findings.
fn campaign(target: &Target, args: &Args) -> (u64, u64) {
    let seeds = (target.seeds)(repository());
    let end = Instant::now() + Duration::from_secs(args.seconds);
    let (executions, findings) = (AtomicU64::new(0), AtomicU64::new(0));
    let sequence = |number: usize| {
        let mut damage = Damage::new(&seeds, args.seed.wrapping_add(number as u64));
        for _ in 0..SEQUENCE {
            let input = damage.next_input();
            executions.fetch_add(1, Ordering::Relaxed);
            if catch_unwind(AssertUnwindSafe(|| (target.property)(&input))).is_err() {
                let finding = findings.fetch_add(1, Ordering::Relaxed);
                save(target, args, finding, &input);
            }
            if Instant::now() >= end {
                return None;
            }
        }
        Some(())
    };
    (0..usize::MAX).into_par_iter().with_max_len(1).map(sequence).while_some().for_each(drop);
    (executions.into_inner(), findings.into_inner())
}

/// Writes an input that breaks a property.
fn save(target: &Target, args: &Args, finding: u64, input: &[u8]) {
    let path = args.findings.join(format!("{}-{finding}", target.name));
    let written = std::fs::create_dir_all(&args.findings).and_then(|()| std::fs::write(&path, input));
    match written {
        Ok(()) => eprintln!("{}: an input that breaks `{}`", path.display(), target.name),
        Err(error) => eprintln!("cannot write {}: {error}", path.display()),
    }
}
