//! The cost of a point in sweeps of 100, 1,000 and 10,000 points, and the gain from a second
//! thread: `cargo bench --features benches --bench scaling`.
//!
//! The sweeps differ only in size: one program on machines with the same mix of latencies. The time
//! of a one-point sweep, mostly the program and its check, is subtracted. The sweeps take turns,
//! and the median of each counts. The cost of a point is processor time, so that other load on the
//! machine hardly changes it. Only the gain from the second thread is wall-clock time, for a whole
//! sweep except its files, with programs long enough that points take longer than the one-off work.

use cpu_time::ThreadTime;
use lab_sweep::outputs::Outputs;
use lab_sweep::{Definition, Journal, Plan, Results, Shard, execute, generate};
use std::error::Error;
use std::time::{Duration, Instant};

const POINTS: [usize; 3] = [100, 1_000, 10_000];
const ROUNDS: usize = 5;
/// The ring degree of these sweeps.
const N: u32 = 1024;
/// The points of the sweep that two threads share.
const SHARED: usize = 4_000;
/// The ring degree of that sweep.
const SHARED_N: u32 = 16_384;

/// A sweep of `points` points, up to 10,000.
fn definition(points: usize, n: u32) -> String {
    // The same mix of latencies for any number of points: 617 and 10,000 are coprime.
    let column = |value: fn(usize) -> usize| {
        let values: Vec<String> = (0..points).map(|i| value(i * 617 % 10_000).to_string()).collect();
        values.join(", ")
    };
    format!(
        "n = {n}
        plan = 'kl'
        schedule_for = 'base'
        [zip]
        hple.multiplier_latency_cycles = [{}]
        hple.initiation_interval = [{}]
        sbar.latency_cycles = [{}]
        vbar.latency_cycles = [{}]
        ",
        column(|i| 1 + i % 20),
        column(|i| 1 + i / 20 % 5),
        column(|i| 1 + i / 100 % 10),
        column(|i| 1 + i / 1000),
    )
}

/// The times of a sweep's parts on the waiting thread.
#[derive(Clone, Copy)]
struct Times {
    /// From the definition's text to machines and keys.
    resolve: Duration,
    /// Programs, their checks, the cycle model, the journal.
    simulate: Duration,
    /// From the journal to the sorted results.
    merge: Duration,
    /// Wall-clock time of these three.
    wall: Duration,
    /// Tables and charts; a chart costs the same for any number of points.
    files: Duration,
}

impl Times {
    /// Everything except the files.
    fn sum(&self) -> Duration {
        self.resolve + self.simulate + self.merge
    }
}

/// Runs a sweep in a new folder.
fn sweep(text: &str, threads: usize) -> Result<Times, Box<dyn Error + Send + Sync>> {
    let folder = tempfile::tempdir()?;
    let folder = folder.path();
    rayon::ThreadPoolBuilder::new().num_threads(threads).build()?.install(|| {
        let wall = Instant::now();
        let mut begin = ThreadTime::now();
        let mut lap = || std::mem::replace(&mut begin, ThreadTime::now()).elapsed();
        let plan = Plan::new(&Definition::parse("scaling.toml", text)?)?;
        let resolve = lap();
        let mut journal = Journal::open(folder, Shard::WHOLE, &plan.manifest)?;
        let points = journal.pending(&plan, Shard::WHOLE, false);
        execute(&plan, &points, &mut journal, &generate, &|_| ())?;
        drop(journal);
        let simulate = lap();
        let results = Results::merge(&[folder])?;
        assert_eq!((results.failed(), results.missing()), (0, 0));
        let (merge, wall) = (lap(), wall.elapsed());
        Outputs::new(&results).write(folder)?;
        Ok(Times { resolve, simulate, merge, wall, files: lap() })
    })
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let texts: Vec<String> = [1].into_iter().chain(POINTS).map(|points| definition(points, N)).collect();
    let mut times: Vec<Vec<Times>> = vec![Vec::new(); texts.len()];
    for _ in 0..ROUNDS {
        for (times, text) in times.iter_mut().zip(&texts) {
            times.push(sweep(text, 1)?);
        }
    }
    println!("microseconds of the processor a point, on one thread");
    println!("  points   resolve  simulate     merge       sum     ratio   (files)");
    let of = |times: &[Times], part: fn(&Times) -> Duration| {
        median(times.iter().map(|times| part(times).as_secs_f64() * 1e6).collect())
    };
    let mut first = None;
    for (points, of_size) in POINTS.iter().zip(&times[1..]) {
        let each = |part| (of(of_size, part) - of(&times[0], part)) / (points - 1) as f64;
        let sum = each(Times::sum);
        println!(
            "{points:>8} {:>9.1} {:>9.1} {:>9.1} {sum:>9.1} {:>9.2} {:>9.1}",
            each(|times| times.resolve),
            each(|times| times.simulate),
            each(|times| times.merge),
            sum / *first.get_or_insert(sum),
            each(|times| times.files),
        );
    }

    let (text, half) = (definition(SHARED, SHARED_N), definition(SHARED / 2, SHARED_N));
    let (mut gains, mut apart) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let (one, two) = (sweep(&text, 1)?, sweep(&text, 2)?);
        let [half_one, half_two] = std::thread::scope(|scope| {
            let sweeps = [(); 2].map(|()| scope.spawn(|| sweep(&half, 1)));
            sweeps.map(|sweep| sweep.join().expect("a sweep does not panic"))
        });
        let halves = half_one?.wall.max(half_two?.wall);
        gains.push(one.wall.as_secs_f64() / two.wall.as_secs_f64());
        apart.push(one.wall.as_secs_f64() / halves.as_secs_f64());
    }
    println!("{SHARED} points on two threads: {:.2} times as fast as on one", median(gains));
    println!("two sweeps of half as many side by side, which share nothing: {:.2} times", median(apart));
    Ok(())
}
