//! This project's CPU transforms, measured on the machine at hand.
//!
//! These are the only numbers of the reproduction that differ between machines and runs; they have
//! their own files and section.

use super::Error;
use super::evaluation::{Code, Evaluation};
use super::table::{Table, cell, significant, size};
use plot::{Bar, Bars, Panel, Stacking};
use ring::Degree;
use ring::host::{Fast, Ntt, Ntt64};
use ring::modular::Modulus;
use ring::prime::largest_prime;
use ring::root::smallest_root;
use std::num::NonZeroUsize;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

/// The sizes measured.
const SIZES: [u32; 4] = [1024, 4096, 16384, 65536];
/// The transforms: name, and modulus size in bits. The first two are the fastest available for
/// words of 64 and of 128 bits; the last one is the plain one.
const CODES: [(&str, u32); 3] =
    [("fastest, 64-bit words", 60), ("fastest, 128-bit words", 128), ("plain Montgomery", 128)];
/// The minimum time of a measurement.
const EACH: Duration = Duration::from_millis(200);
/// The approximate time of a batch.
const BATCH: Duration = Duration::from_millis(1);

/// A measured transform.
#[derive(Clone, PartialEq, Debug)]
pub struct Timing {
    /// The code, with its instruction set if that depends on the processor.
    pub code: String,
    /// Modulus size in bits.
    pub bits: u32,
    /// Number of points.
    pub n: u32,
    /// Number of threads, which run separate transforms at the same time.
    pub threads: usize,
    /// Wall-clock time divided by the number of transforms, in us: with several threads a
    /// throughput, not a latency.
    pub us: f64,
}

/// Measurements on one machine.
#[derive(Clone, PartialEq, Debug)]
pub struct Measurements {
    /// The processor's name.
    pub processor: String,
    /// The measurements.
    pub timings: Vec<Timing>,
}

impl Measurements {
    /// Measures forward transforms for words of 64 and 128 bits, on one thread and on all cores.
    ///
    /// # Errors
    /// Returns an error if there is no modulus for a size, which does not occur for these sizes.
    pub fn new() -> Result<Self, Error> {
        let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let counts = if cores > 1 { vec![1, cores] } else { vec![1] };
        let mut timings = Vec::new();
        for (code, bits) in CODES {
            for n in SIZES {
                let error = |reason| Error::Cpu { bits, n, reason };
                let time = |threads| transform_us(code, bits, n, threads).map_err(error);
                for &threads in &counts {
                    let (detail, us) = time(threads)?;
                    timings.push(Timing { code: detail, bits, n, threads, us });
                }
            }
        }
        Ok(Self { processor: processor(), timings })
    }

    /// What the page writes above the columns of the table, without the first.
    pub(super) const HEADS: [&'static str; 8] = [
        "modulus, bits",
        "n",
        "threads",
        "here, µs",
        "paper's program, µs",
        "our fastest, µs",
        "here / paper's program",
        "here / our fastest",
    ];

    /// The table of the measurements and the simulated times.
    pub(super) fn table(&self, evaluation: &Evaluation) -> Table {
        let header = vec![
            "code",
            "modulus_bits",
            "n",
            "threads",
            "cpu_us_measured_here",
            "rpu_paper_us_simulated",
            "rpu_best_us_simulated",
            "measured_over_simulated_paper",
            "measured_over_simulated_best",
        ];
        let row = |timing: &Timing| {
            let [paper, best] = Code::BOTH.map(|code| evaluation.size(code, timing.n).timing.time_us);
            let counts = [
                timing.code.clone(),
                timing.bits.to_string(),
                timing.n.to_string(),
                timing.threads.to_string(),
            ];
            let times = [timing.us, paper, best, timing.us / paper, timing.us / best].map(cell);
            counts.into_iter().chain(times).collect()
        };
        Table { header, rows: self.timings.iter().map(row).collect() }
    }

    /// A chart of the speed-up over the measured transforms.
    pub(super) fn drawing(&self, evaluation: &Evaluation) -> plot::Figure {
        let mut kinds: Vec<(&str, usize)> = Vec::new();
        for timing in &self.timings {
            let kind = (timing.code.as_str(), timing.threads);
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        let series = kinds.into_iter().map(|(code, threads)| {
            let of =
                |n| self.timings.iter().find(|t| (t.code.as_str(), t.threads, t.n) == (code, threads, n));
            let ratio = |n| of(n).map(|t| t.us / evaluation.size(Code::Paper, n).timing.time_us);
            let plural = if threads == 1 { "thread" } else { "threads" };
            Bar {
                label: format!("{code}, {threads} {plural}"),
                values: SIZES.map(ratio).into(),
                notes: SIZES.map(|n| ratio(n).map_or_else(String::new, |r| significant(r, 3))).into(),
            }
        });
        plot::Figure {
            columns: 1,
            basis: evaluation.basis(),
            panel: (960, 420),
            panels: vec![Panel::Bars(Bars {
                title: "The paper's program on the RPU (simulated) over our CPU transform (measured here)"
                    .into(),
                x_label: "Points".into(),
                y_label: "Speed-up (CPU time / RPU time)".into(),
                categories: SIZES.map(size).into(),
                series: series.collect(),
                stacking: Stacking::BesideLogarithmic,
            })],
        }
    }
}

/// The full name of one of [`CODES`] and its time per transform in microseconds.
fn transform_us(code: &str, bits: u32, n: u32, threads: usize) -> Result<(String, f64), String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let degree = Degree::try_from(n).map_err(|error| text(&error))?;
    let q = largest_prime(bits, degree).map_err(|error| text(&error))?;
    let root = smallest_root(q, degree).map_err(|error| text(&error))?;
    let points = n as usize;
    if let (Ok(q), Ok(root)) = (u64::try_from(q), u64::try_from(root)) {
        let ntt = Ntt64::new(points, q, root).map_err(|error| text(&error))?;
        return Ok((code.to_owned(), measure(&|x: &mut [u64]| ntt.forward(x), (0..q).take(points), threads)));
    }
    let values = (0..q).take(points);
    if code.starts_with("fastest") {
        let ntt = Fast::new(points, q, root).map_err(|error| text(&error))?;
        let us = measure(&|x: &mut [u128]| ntt.forward(x), values, threads);
        return Ok((format!("{code} ({})", ntt.implementation()), us));
    }
    let modulus = Modulus::new(q).map_err(|error| text(&error))?;
    let ntt = Ntt::new(modulus, points, root).map_err(|error| text(&error))?;
    Ok((code.to_owned(), measure(&|x: &mut [u128]| ntt.forward(x), values, threads)))
}

/// The time per transform in microseconds: the best of many short batches, which all threads begin
/// together. Short batches are likely to run without disturbance.
fn measure<W: Send>(
    forward: &(impl Fn(&mut [W]) + Sync),
    values: impl Iterator<Item = W> + Clone,
    threads: usize,
) -> f64 {
    let mut data: Vec<Vec<W>> = (0..threads).map(|_| values.clone().collect()).collect();
    let mut batch = |count: usize| {
        let start = Barrier::new(threads);
        thread::scope(|scope| {
            let run = |x: &mut [W]| {
                start.wait();
                let begin = Instant::now();
                (0..count).for_each(|_| forward(x));
                begin.elapsed()
            };
            let (first, others) = data.split_first_mut().expect("there is at least one thread");
            let others: Vec<_> = others.iter_mut().map(|x| scope.spawn(move || run(x))).collect();
            let first = run(first);
            let slowest = others.into_iter().map(|other| other.join().expect("a transform does not panic"));
            slowest.fold(first, Duration::max)
        })
    };
    let once = batch(1).max(Duration::from_nanos(1));
    let count = (BATCH.as_secs_f64() / once.as_secs_f64()).ceil().max(1.0) as usize;
    let begin = Instant::now();
    let mut best = f64::INFINITY;
    while begin.elapsed() < EACH || best == f64::INFINITY {
        best = best.min(batch(count).as_secs_f64() / (count * threads) as f64);
    }
    best * 1e6
}

/// The processor's name, if the system provides it.
fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    name.map_or_else(|| std::env::consts::ARCH.to_owned(), |(_, name)| name.trim().to_owned())
}
