//! What a point costs in sweeps of 100, 1,000 and 10,000 points, and what a second thread brings:
//! `cargo run --release -p reports --example scaling`.
//!
//! The sweeps are alike but for their size: ten points share a program, and each sweep has its mix of
//! machines. They take turns, and the median of each counts, so that other work on the machine
//! changes the times more than the ratios.

use reports::sweep::outputs::Outputs;
use reports::sweep::{Definition, Journal, Plan, PlannedPoint, Results, Shard, execute, generate};
use std::error::Error;
use std::time::{Duration, Instant};

const POINTS: [usize; 3] = [100, 1_000, 10_000];
const ROUNDS: usize = 5;

/// A sweep of so many points, a multiple of 10 up to 10,000.
fn definition(points: usize) -> String {
    // Machines for which programs are made: the same mix, whatever their number.
    let programs = (0..points / 10).map(|i| i * 617 % 1000);
    let column = |value: fn(usize) -> usize| {
        let values: Vec<String> = programs.clone().map(|i| value(i).to_string()).collect();
        values.join(", ")
    };
    format!(
        "n = 1024
        plan = 'kl'
        schedule_for = ['hple.multiplier_latency_cycles', 'hple.initiation_interval', 'sbar.latency_cycles']
        [grid]
        vbar.latency_cycles = [3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
        [zip]
        hple.multiplier_latency_cycles = [{}]
        hple.initiation_interval = [{}]
        sbar.latency_cycles = [{}]
        ",
        column(|i| 1 + i % 20),
        column(|i| 1 + i / 20 % 5),
        column(|i| 1 + i / 100),
    )
}

/// The times of a sweep's parts.
#[derive(Clone, Copy)]
struct Times {
    /// From the definition's text to machines and keys.
    resolve: Duration,
    /// Programs, their checks, the cycle model, the journal.
    simulate: Duration,
    /// From the journal to the results in the order of the points.
    merge: Duration,
    /// Tables and charts; a chart costs the same, whatever its points.
    files: Duration,
}

impl Times {
    /// All but the files.
    fn sum(&self) -> Duration {
        self.resolve + self.simulate + self.merge
    }
}

/// Runs a sweep in a new folder.
fn sweep(text: &str, threads: usize) -> Result<Times, Box<dyn Error + Send + Sync>> {
    let folder = tempfile::tempdir()?;
    let folder = folder.path();
    rayon::ThreadPoolBuilder::new().num_threads(threads).build()?.install(|| {
        let mut begin = Instant::now();
        let mut lap = || std::mem::replace(&mut begin, Instant::now()).elapsed();
        let plan = Plan::new(&Definition::parse("scaling.toml", text)?)?;
        let resolve = lap();
        let mut journal = Journal::open(folder, Shard::WHOLE, &plan.manifest)?;
        let points: Vec<&PlannedPoint> = plan.points.iter().collect();
        execute(&plan, &points, &mut journal, &generate, &|_| ())?;
        drop(journal);
        let simulate = lap();
        let results = Results::merge(&[folder])?;
        assert_eq!((results.failed(), results.missing()), (0, 0));
        let merge = lap();
        Outputs::new(&results)?.write(folder)?;
        Ok(Times { resolve, simulate, merge, files: lap() })
    })
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let texts = POINTS.map(definition);
    sweep(&texts[0], 1)?;
    let mut one = POINTS.map(|_| Vec::new());
    let mut two = Vec::new();
    for _ in 0..ROUNDS {
        for (times, text) in one.iter_mut().zip(&texts) {
            times.push(sweep(text, 1)?);
        }
        two.push(sweep(&texts[1], 2)?);
    }
    println!("one thread, microseconds a point");
    println!(
        "{:>8} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "points", "resolve", "simulate", "merge", "sum", "ratio", "(files)"
    );
    let of = |times: &[Times], part: fn(&Times) -> Duration| {
        median(times.iter().map(|times| part(times).as_secs_f64() * 1e6).collect())
    };
    let first = of(&one[0], Times::sum) / POINTS[0] as f64;
    for (points, times) in POINTS.iter().zip(&one) {
        let each = |part| of(times, part) / *points as f64;
        let sum = each(Times::sum);
        println!(
            "{points:>8} {:>9.1} {:>9.1} {:>9.1} {sum:>9.1} {:>9.2} {:>9.1}",
            each(|times| times.resolve),
            each(|times| times.simulate),
            each(|times| times.merge),
            sum / first,
            each(|times| times.files),
        );
    }
    let ratios =
        one[1].iter().zip(&two).map(|(one, two)| one.simulate.as_secs_f64() / two.simulate.as_secs_f64());
    println!(
        "two threads simulate {} points {:.2} times as fast as one",
        POINTS[1],
        median(ratios.collect())
    );
    Ok(())
}
