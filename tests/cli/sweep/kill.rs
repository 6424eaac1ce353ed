//! `kill -9` at any moment: a resumed run has the same result.

use super::{FILES, results};
use crate::common::{command, succeed};
use lab_sweep::Results;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const SWEEP: &str = "
n = 1024
plan = 'kl'
schedule_for = 'base'
[grid]
hple.multiplier_latency_cycles = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
vbar.latency_cycles = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
sbar.latency_cycles = [1, 2]
";

/// Number of runs that must be killed before they end; `RPU_KILLS` sets another.
fn kills() -> usize {
    std::env::var("RPU_KILLS").map_or(8, |kills| kills.parse().expect("a number"))
}

/// The command to kill.
#[derive(Clone, Copy)]
enum Run {
    /// A sweep, killed at any time between its start and its last chart.
    Whole,
    /// A shard, killed after its first record: from then on it only simulates and appends.
    Shard,
}

impl Run {
    const fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::Whole => &["sweep", "s.toml", "-j", "2"],
            Self::Shard => &["sweep", "s.toml", "-j", "2", "--shard", "1/2"],
        }
    }

    /// Starts the run and returns when its measured time begins.
    fn start(self, folder: &Path) -> (Child, Instant) {
        fs::write(folder.join("s.toml"), SWEEP).unwrap();
        let mut command = command(folder);
        let mut child =
            command.args(self.arguments()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        if let Self::Shard = self {
            let journal = folder.join("out/journal-1-of-2.jsonl");
            let begun = || fs::metadata(&journal).is_ok_and(|journal| journal.len() > 0);
            while !begun() && child.try_wait().unwrap().is_none() {
                thread::sleep(Duration::from_micros(100));
            }
        }
        (child, Instant::now())
    }

    /// The duration of an uninterrupted run.
    fn time(self, folder: &Path) -> Duration {
        let (mut child, begin) = self.start(folder);
        assert!(child.wait().unwrap().success());
        begin.elapsed()
    }

    /// Kills it `delay` after its start. Returns whether it was still running.
    fn killed(self, folder: &Path, delay: Duration) -> bool {
        let (mut child, _) = self.start(folder);
        thread::sleep(delay);
        child.kill().unwrap();
        child.wait().unwrap().code().is_none()
    }
}

#[test]
fn sweeps_killed_at_random_moments_end_with_the_same_bytes() {
    let wanted = kills();
    let folder = || tempfile::tempdir().unwrap();
    let merged = |folder: &Path| -> Vec<Option<String>> {
        let results = Results::merge(&[&folder.join("out")]).unwrap();
        (0..results.points()).map(|point| results.line(point).unwrap()).collect()
    };
    let uninterrupted = folder();
    let whole_time = Run::Whole.time(uninterrupted.path());
    let shard_time = Run::Shard.time(folder().path());
    let expected = merged(uninterrupted.path());
    let expected_files = results(&uninterrupted.path().join("out"));
    let points = expected.len();

    let seed = 0;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let (mut kills, mut halfway) = (0, 0);
    // Some runs end before they are killed.
    for trial in 0..4 * wanted {
        if kills == wanted {
            break;
        }
        let (run, time) = if trial % 10 == 0 { (Run::Whole, whole_time) } else { (Run::Shard, shard_time) };
        let delay = time.mul_f64(random.random());
        let told = format!("seed {seed}, trial {trial}: killed after {delay:?} of {time:?}");
        let folder = folder();
        let (folder, out) = (folder.path(), folder.path().join("out"));
        kills += usize::from(run.killed(folder, delay));

        // The remaining records are a subset of all records.
        if out.join("sweep.json").exists() {
            let left = merged(folder);
            halfway += usize::from((1..points / 2).contains(&left.iter().flatten().count()));
            let agrees =
                |(left, expected): (&Option<String>, &Option<String>)| left.is_none() || left == expected;
            assert!(left.iter().zip(&expected).all(agrees), "{told}");
        }
        for (name, expected) in FILES.iter().zip(&expected_files) {
            let file = fs::read(out.join(name)).ok();
            assert!(file.is_none_or(|file| file == *expected), "{name} is torn; {told}");
        }

        match run {
            Run::Whole => {
                succeed(folder, Run::Whole.arguments());
                assert!(results(&out) == expected_files, "{told}");
            }
            Run::Shard => {
                succeed(folder, Run::Shard.arguments());
                succeed(folder, &["sweep", "s.toml", "--shard", "2/2"]);
            }
        }
        assert!(merged(folder) == expected, "{told}");
    }
    assert_eq!(kills, wanted, "too many runs ended before they were killed");
    // Otherwise no kill happened during the sweep.
    assert!(halfway >= wanted / 2, "only {halfway} of {wanted} runs were killed between two points");
}

/// A sweep of longer points, one of which it has finished.
fn busy(folder: &Path) -> Child {
    let text = SWEEP.replace("n = 1024", "n = 16384");
    fs::write(folder.join("s.toml"), text).unwrap();
    let mut sweep = command(folder);
    sweep.args(["sweep", "s.toml", "-j", "1"]).stdout(Stdio::null()).stderr(Stdio::piped());
    let child = sweep.spawn().unwrap();
    let journal = folder.join("out/journal.jsonl");
    while !fs::metadata(&journal).is_ok_and(|journal| journal.len() > 0) {
        thread::sleep(Duration::from_millis(1));
    }
    child
}

/// SIGTERM and SIGINT end a sweep after the points in progress, with their own statuses.
#[test]
fn a_signal_ends_a_sweep_and_the_same_command_continues() {
    for (signal, name, status) in [(Signal::INT, "SIGINT", 130), (Signal::TERM, "SIGTERM", 143)] {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let child = busy(folder);
        kill_process(Pid::from_child(&child), signal).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(status));
        let messages = String::from_utf8(output.stderr).unwrap();
        assert!(messages.contains(&format!("stopped by {name}")), "{messages}");
        assert!(messages.contains("the same command continues"), "{messages}");
        let done = Results::merge(&[&folder.join("out")]).unwrap().lines().count();
        assert!((1..200).contains(&done), "{done}");
        succeed(folder, &["sweep", "s.toml", "-j", "2"]);
        assert_eq!(Results::merge(&[&folder.join("out")]).unwrap().lines().count(), 200);
    }
}

/// A second signal waits for no point. The status is that of either signal.
#[test]
fn a_second_signal_ends_a_sweep_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let child = busy(folder.path());
    for signal in [Signal::INT, Signal::TERM] {
        kill_process(Pid::from_child(&child), signal).unwrap();
    }
    let status = child.wait_with_output().unwrap().status.code();
    assert!([Some(130), Some(143)].contains(&status), "{status:?}");
}
