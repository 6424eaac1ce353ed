//! `kill -9` at any moment: what is run again leads to the same result.

use super::{FILES, results};
use crate::common::{command, names, succeed};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use reports::sweep::Results;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

/// Many points of a small program: most of a run's time goes into simulating and appending.
const SWEEP: &str = "
n = 1024
plan = 'kl'
schedule_for = 'base'
[grid]
hple.multiplier_latency_cycles = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
vbar.latency_cycles = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
";

/// How many runs have to be killed before their end.
const KILLS: usize = 50;
/// How many may be tried: some runs end before they are killed.
const TRIALS: usize = 4 * KILLS;
/// Each so many trials, a run that also draws the charts is killed, not a shard.
const WHOLE: usize = 10;

fn arguments(whole: bool) -> Vec<&'static str> {
    let mut arguments = vec!["sweep", "s.toml", "-j", "2"];
    if !whole {
        arguments.extend(["--shard", "1/2"]);
    }
    arguments
}

/// Starts `rpu` and kills it after `delay`. Says whether it was still running.
fn kill_after(folder: &Path, arguments: &[&str], delay: Duration) -> bool {
    let mut child = command(folder).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    thread::sleep(delay);
    child.kill().unwrap();
    child.wait().unwrap().code().is_none()
}

#[test]
fn sweeps_killed_at_fifty_random_moments_end_with_the_same_bytes() {
    let seed = 0;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let folder = |arguments: &[&str]| {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("s.toml"), SWEEP).unwrap();
        let begin = Instant::now();
        if !arguments.is_empty() {
            succeed(folder.path(), arguments);
        }
        (folder, begin.elapsed())
    };
    let merged = |folder: &Path| Results::merge(&[&folder.join("out")]).unwrap();

    let (uninterrupted, whole_time) = folder(&arguments(true));
    let (_, shard_time) = folder(&arguments(false));
    let expected = merged(uninterrupted.path());
    let expected_files = results(&uninterrupted.path().join("out"));

    let (mut kills, mut torn) = (0, 0);
    for trial in 0..TRIALS {
        if kills == KILLS {
            break;
        }
        let whole = trial % WHOLE == 0;
        let (folder, _) = folder(&[]);
        let folder = folder.path();
        let out = folder.join("out");
        let time = if whole { whole_time } else { shard_time };
        let delay = time.mul_f64(random.random());
        let told = format!("seed {seed}, trial {trial}, killed after {delay:?} of {time:?}");
        kills += usize::from(kill_after(folder, &arguments(whole), delay));
        if out.join("sweep.json").exists() {
            let left = merged(folder);
            torn += usize::from((1..expected.lines().count()).contains(&left.lines().count()));
            assert!(left.lines().all(|line| expected.lines().any(|other| line == other)), "{told}");
        }
        if whole {
            // What a file of results holds is complete, or the file is not there.
            for (name, expected) in FILES.iter().zip(&expected_files) {
                assert!(fs::read(out.join(name)).is_ok_and(|file| file == *expected) || !out.join(name).exists(), "{name}: {told}");
            }
            succeed(folder, &arguments(true));
            assert!(results(&out) == expected_files, "{told}");
        } else {
            succeed(folder, &arguments(false));
            succeed(folder, &["sweep", "s.toml", "--shard", "2/2"]);
        }
        assert!(merged(folder) == expected, "{told}");
    }
    assert_eq!(kills, KILLS, "runs end before they are killed");
    // Otherwise the moments were none during the sweep.
    assert!(torn >= KILLS / 5, "{torn} of {KILLS} runs were killed between their first and last point");
}
