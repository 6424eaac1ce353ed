//! Progress for scripts: JSON on standard error.

use crate::common::rpu;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::time::Instant;

/// The lines of JSON on standard error, and all of it.
fn json_lines(folder: &Path, args: &[&str], status: i32) -> (Vec<Value>, String) {
    let output = rpu(folder, args);
    let errors = String::from_utf8(output.stderr).expect("messages are UTF-8");
    assert_eq!(output.status.code(), Some(status), "{errors}");
    let lines = errors.lines().filter(|line| line.starts_with('{'));
    (lines.map(|line| serde_json::from_str(line).expect("JSON")).collect(), errors)
}

/// One point has too small a memory.
#[test]
fn a_sweep_counts_its_points() {
    let folder = tempfile::tempdir().unwrap();
    let text = "kernel = 'add'\nn = 65536\nplan = 'kl'\n[grid]\nvdm.size_mib = [1, 4]\n";
    fs::write(folder.path().join("s.toml"), text).unwrap();
    let begin = Instant::now();
    let (lines, errors) =
        json_lines(folder.path(), &["sweep", "s.toml", "--progress", "json", "--out", "a"], 1);
    assert!(lines.len() as u64 <= 1 + begin.elapsed().as_secs(), "{errors}");
    let last = lines.last().unwrap_or_else(|| panic!("no progress: {errors}"));
    assert_eq!(
        (&last["points"], &last["done"], &last["failed"]),
        (&2.into(), &2.into(), &1.into()),
        "{errors}"
    );
    assert_eq!(last["remaining_s"], 0.0);
    assert!(errors.lines().any(|line| line.starts_with("point vdm.size_mib = 1 failed: ")), "{errors}");
    assert!(errors.contains("1 of 2 points failed; the first, vdm.size_mib = 1: "), "{errors}");
    // Nothing is left, and the last line says so.
    let (lines, _) = json_lines(folder.path(), &["sweep", "s.toml", "--progress", "json", "--out", "a"], 1);
    assert_eq!((lines.len(), &lines[0]["points"], &lines[0]["done"]), (1, &0.into(), &0.into()));
    for how in ["none", "auto"] {
        let (lines, errors) =
            json_lines(folder.path(), &["sweep", "s.toml", "--progress", how, "--out", how], 1);
        assert!(lines.is_empty() && errors.contains(" failed: "), "{errors}");
    }
}

#[test]
fn an_exploration_tells_its_generations() {
    let folder = tempfile::tempdir().unwrap();
    let text = "kernel = 'add'\nn = 512\nplan = 'kl'\n[grid]\nhple.count = [32, 64]\nvdm.banks = [32, 64]\n\
                [explore]\nobjectives = ['time_us', 'area_mm2']\n";
    fs::write(folder.path().join("s.toml"), text).unwrap();
    let (lines, errors) =
        json_lines(folder.path(), &["explore", "s.toml", "--progress", "json", "--out", "a"], 0);
    let last = lines.last().unwrap_or_else(|| panic!("no progress: {errors}"));
    assert_eq!((&last["evaluations"], &last["simulated"]), (&4.into(), &4.into()), "{errors}");
    let front = last["front"].as_u64().unwrap();
    let told = format!("4 of 4 designs evaluated, 4 of them now; {front} on the front, hypervolume ");
    assert!(errors.contains(&told) && !errors.contains("do not go together"), "{errors}");
    let (lines, errors) = json_lines(folder.path(), &["explore", "s.toml", "--out", "b"], 0);
    assert!(lines.is_empty() && errors.contains("4 of 4 designs evaluated"), "{errors}");
}
