//! Job arrays, with a stand-in for SLURM.

use super::results;
use crate::common::{command, names, rpu, succeed};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// More points than are timed before the tasks start.
const SWEEP: &str = "
n = 1024
plan = 'kl'
schedule_for = 'base'
[grid]
hple.multiplier_latency_cycles = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
vbar.latency_cycles = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
";

/// Runs a job at once instead of queuing it: each task of an array, or the job itself. `calls`
/// records the arguments.
const SBATCH: &str = r#"#!/bin/sh
for script; do :; done
echo "$*" >> calls
tasks=$(sed -n 's/^#SBATCH --array=1-//p' "$script")
{
    if [ -n "$tasks" ]; then
        # Out of order, and each on its own, as after `sbatch --array=K`.
        for task in $(seq "$tasks" -1 1); do
            SLURM_ARRAY_TASK_ID=$task SLURM_ARRAY_TASK_MIN=$task SLURM_ARRAY_TASK_COUNT=1 sh "$script"
        done
    else
        sh "$script"
    fi
} > log 2>&1
echo "7;cluster"
"#;

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    // A name that scripts must quote.
    let inside = folder.path().join("a folder");
    fs::create_dir_all(inside.join("bin")).unwrap();
    fs::write(inside.join("s.toml"), SWEEP).unwrap();
    let sbatch = inside.join("bin/sbatch");
    fs::write(&sbatch, SBATCH).unwrap();
    fs::set_permissions(&sbatch, fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

/// Writes a job array and submits it to the stand-in. Returns its output.
fn submit(folder: &Path, arguments: &[&str]) -> (String, String) {
    let sweep = ["sweep", "slurm", "s.toml", "--out", "d", "--time", "10", "--submit"];
    call(folder, &[&sweep, arguments].concat())
}

/// Runs a command beside the stand-in. Returns its output.
fn call(folder: &Path, arguments: &[&str]) -> (String, String) {
    let path = format!("{}:{}", folder.join("bin").display(), std::env::var("PATH").unwrap());
    let output = command(folder).env("PATH", path).args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let errors = text(output.stderr);
    assert!(output.status.success(), "{errors}");
    (text(output.stdout), errors)
}

#[test]
fn the_tasks_of_an_array_and_the_merge_leave_what_one_process_does() {
    let folder = folder();
    let folder = &folder.path().join("a folder");
    succeed(folder, &["sweep", "s.toml", "--out", "whole"]);
    let (printed, errors) = submit(folder, &["--tasks", "3", "--least", "0"]);
    assert_eq!(printed, "array 7, merge 7\n");
    assert!(errors.contains("32 points timed; 68 of 100 left, about "), "{errors}");
    assert!(errors.contains("the longest of 3 tasks runs for about "), "{errors}");
    assert!(!errors.contains("instead of") && !errors.contains("exceeds"), "{errors}");
    let log = fs::read_to_string(folder.join("d/log")).unwrap();
    assert!(results(&folder.join("d")) == results(&folder.join("whole")), "{log}");
    let calls = fs::read_to_string(folder.join("d/calls")).unwrap();
    assert_eq!(calls, "--parsable array.sbatch\n--parsable --dependency=afterany:7 merge.sbatch\n");
    let journals: Vec<String> =
        names(&folder.join("d")).into_iter().filter(|name| name.starts_with("journal")).collect();
    let shard = |k: u32| format!("journal-{k}-of-3.jsonl");
    assert_eq!(journals, [shard(1), shard(2), shard(3), "journal.jsonl".to_owned()]);

    // Nothing is left to do, and submitting again is harmless.
    let (_, errors) = submit(folder, &["--tasks", "3", "--least", "0"]);
    assert!(errors.contains("0 points timed; 0 of 100 left"), "{errors}");
    assert!(results(&folder.join("d")) == results(&folder.join("whole")));
}

#[test]
fn little_work_is_for_few_tasks() {
    let folder = folder();
    let folder = &folder.path().join("a folder");
    let (_, errors) = submit(folder, &["--tasks", "50"]);
    assert!(errors.contains("1 task instead of 50: more would run for less than 120 s each"), "{errors}");
    assert!(errors.contains("\nthe task runs for about "), "{errors}");
    assert_eq!(fs::read_to_string(folder.join("d/results.jsonl")).unwrap().lines().count(), 100);
}

#[test]
fn the_tasks_of_an_exploration_have_seeds_of_their_own() {
    let folder = folder();
    let folder = &folder.path().join("a folder");
    let options = ["s.toml", "--evaluations", "30", "-p", "n=2048", "--out"];
    call(
        folder,
        &[&["explore", "slurm"], &options[..], &["d", "--tasks", "2", "--time", "10", "--submit"]].concat(),
    );
    for shard in ["1/2", "2/2"] {
        succeed(folder, &[&["explore"], &options[..], &["e", "--shard", shard]].concat());
    }
    succeed(folder, &["sweep", "merge", "e"]);
    let log = fs::read_to_string(folder.join("d/log")).unwrap();
    assert!(results(&folder.join("d")) == results(&folder.join("e")), "{log}");
    let points = fs::read_to_string(folder.join("d/results.jsonl")).unwrap().lines().count();
    assert!((31..=60).contains(&points), "{points}");
}

#[test]
fn what_cannot_be_an_array_is_refused() {
    let folder = folder();
    let folder = &folder.path().join("a folder");
    let refuse = |arguments: &[&str], reason: &str| {
        let output = rpu(folder, &[&["sweep", "slurm", "s.toml", "--tasks", "3"], arguments].concat());
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert!(errors.contains(reason), "{errors}");
    };
    refuse(&["--time", "soon"], "invalid time limit `soon`: write minutes,");
}
