//! This project's CPU transforms, measured on the machine at hand.
//!
//! These are the only numbers of the reproduction that differ from machine to machine and from run to
//! run; they have files and a section of their own.

use super::Error;
use super::evaluation::{Code, Evaluation};
use super::table::{Table, cell, significant, size};
use crate::plot::{self, Bar, Bars, Panel, Stacking};
use codegen::number;
use sim::cpu::Ntt;
use sim::modular::Modulus;
use std::num::NonZeroUsize;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

/// The sizes measured.
const SIZES: [u32; 4] = [1024, 4096, 16384, 65536];
/// The sizes of the modulus, in bits.
const BITS: [u32; 2] = [64, 128];
/// How long each measurement takes at least.
const EACH: Duration = Duration::from_millis(200);
/// How long a batch takes, about.
const BATCH: Duration = Duration::from_millis(1);

/// A measured transform.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Timing {
    /// The modulus has so many bits.
    pub bits: u32,
    /// Points.
    pub n: u32,
    /// Threads that run transforms of their own at the same time.
    pub threads: usize,
    /// Wall-clock time over the number of transforms, in us: with several threads a throughput, not a
    /// latency.
    pub us: f64,
}

/// Measurements on one machine.
#[derive(Clone, PartialEq, Debug)]
pub struct Measurements {
    /// What the machine calls its processor.
    pub processor: String,
    /// The measurements.
    pub timings: Vec<Timing>,
}

impl Measurements {
    /// Measures forward transforms at 64 and 128 bits, on one thread and on all cores.
    ///
    /// # Errors
    /// Where there is no modulus for a size; for these sizes there is.
    pub fn new() -> Result<Self, Error> {
        let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let counts = if cores > 1 { vec![1, cores] } else { vec![1] };
        let mut timings = Vec::new();
        for bits in BITS {
            for n in SIZES {
                let ntt = transform(bits, n).map_err(|reason| Error::Cpu { bits, n, reason })?;
                for &threads in &counts {
                    timings.push(Timing { bits, n, threads, us: measure(&ntt, threads) });
                }
            }
        }
        Ok(Self { processor: processor(), timings })
    }

    /// The table of the measurements, with the simulated times beside them.
    pub(super) fn table(&self, evaluation: &Evaluation) -> Table {
        let header = vec![
            "modulus_bits",
            "n",
            "threads",
            "cpu_us_measured_here",
            "rpu_kl_us_simulated",
            "rpu_best_us_simulated",
            "measured_over_simulated_kl",
            "measured_over_simulated_best",
        ];
        let row = |timing: &Timing| {
            let [kl, best] = Code::BOTH.map(|code| evaluation.size(code, timing.n).timing.time_us);
            let counts = [timing.bits.to_string(), timing.n.to_string(), timing.threads.to_string()];
            let times = [timing.us, kl, best, timing.us / kl, timing.us / best].map(cell);
            counts.into_iter().chain(times).collect()
        };
        Table { header, rows: self.timings.iter().map(row).collect() }
    }

    /// A chart of the speed-up over them.
    pub(super) fn drawing(&self, evaluation: &Evaluation) -> plot::Figure {
        let mut kinds: Vec<(u32, usize)> = self.timings.iter().map(|t| (t.bits, t.threads)).collect();
        kinds.dedup();
        kinds.sort_unstable();
        kinds.dedup();
        let series = kinds.into_iter().map(|(bits, threads)| {
            let of = |n| self.timings.iter().find(|t| (t.bits, t.threads, t.n) == (bits, threads, n));
            let ratio = |n| of(n).map(|t| t.us / evaluation.size(Code::Paper, n).timing.time_us);
            let plural = if threads == 1 { "thread" } else { "threads" };
            Bar {
                label: format!("{bits}-bit modulus, {threads} {plural}"),
                values: SIZES.map(ratio).into(),
                notes: SIZES.map(|n| ratio(n).map_or_else(String::new, |r| significant(r, 3))).into(),
            }
        });
        plot::Figure {
            columns: 1,
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

fn transform(bits: u32, n: u32) -> Result<Ntt, String> {
    let q = number::largest_prime(bits, n.into()).map_err(|error| error.to_string())?;
    let root = number::smallest_root(q, n.into()).map_err(|error| error.to_string())?;
    let modulus = Modulus::new(q).map_err(|error| error.to_string())?;
    Ntt::new(modulus, n as usize, root).map_err(|error| error.to_string())
}

/// Microseconds a transform: the best of many short batches, each of which all threads begin
/// together. Short ones find a moment in which the machine does nothing else.
fn measure(ntt: &Ntt, threads: usize) -> f64 {
    let mut data: Vec<Vec<u128>> = (0..threads).map(|_| (0..ntt.len() as u128).collect()).collect();
    let mut batch = |count: usize| {
        let start = Barrier::new(threads);
        thread::scope(|scope| {
            let run = |x: &mut [u128]| {
                start.wait();
                let begin = Instant::now();
                (0..count).for_each(|_| ntt.forward(x));
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

/// The processor's name, where the system tells it.
fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    name.map_or_else(|| std::env::consts::ARCH.to_owned(), |(_, name)| name.trim().to_owned())
}
