//! Replay of a single point.

use super::folder;
use crate::common::{names, rpu, succeed};
use lab_sweep::Record;
use std::fs;

/// The lines of results, and the key of each.
fn lines(results: &str) -> Vec<(String, String)> {
    let key = |line: &str| {
        let record: serde_json::Value = serde_json::from_str(line).unwrap();
        record["key"].as_str().unwrap().to_owned()
    };
    results.lines().map(|line| (key(line), line.to_owned())).collect()
}

/// Status and errors of `rpu sweep replay`.
fn replay(folder: &std::path::Path, key: &str) -> (Option<i32>, String) {
    let output = rpu(folder, &["sweep", "replay", "out", key]);
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Status and errors of `rpu sweep verify`.
fn verify(folder: &std::path::Path) -> (Option<i32>, String) {
    let output = rpu(folder, &["sweep", "verify", "out"]);
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_point_runs_again_by_its_key_and_is_held_to_its_record() {
    let folder = folder();
    let folder = folder.path();
    succeed(folder, &["sweep", "small.toml"]);
    let out = folder.join("out");
    let files =
        || -> Vec<Vec<u8>> { names(&out).iter().map(|name| fs::read(out.join(name)).unwrap()).collect() };
    let before = files();
    let lines = lines(&fs::read_to_string(out.join("results.jsonl")).unwrap());
    for (key, line) in &lines {
        assert_eq!(succeed(folder, &["sweep", "replay", "out", key]), format!("{line}\n"));
    }
    let (key, line) = &lines[1];
    assert_eq!(succeed(folder, &["sweep", "replay", "out", &key[..10]]), format!("{line}\n"));
    let verified = |args: &[&str]| succeed(folder, &[&["sweep", "verify", "out"], args].concat());
    assert_eq!(verified(&[]), "4 of 4 points agree with their records; 4 of 4 are recorded\n");
    assert_eq!(verified(&["--sample", "3"]), "3 of 3 points agree with their records; 4 of 4 are recorded\n");
    assert_eq!(files(), before);

    let (status, errors) = replay(folder, "");
    assert_eq!(status, Some(2));
    assert!(errors.contains("4 points have keys that begin with ``"), "{errors}");
    for (key, _) in &lines {
        assert!(errors.contains(&format!("{key}  hple.count=")), "{errors}");
    }
    let (status, errors) = replay(folder, "xyz");
    assert_eq!(status, Some(2));
    assert!(errors.contains("no key begins with `xyz`"), "{errors}");
}

#[test]
fn a_record_that_the_point_does_not_lead_to_is_a_failure() {
    let folder = folder();
    let folder = folder.path();
    succeed(folder, &["sweep", "small.toml"]);
    let journal = folder.join("out/journal.jsonl");
    let text = fs::read_to_string(&journal).unwrap();
    let (key, line) = &lines(&text)[0];
    let mut record = Record::parse(line).unwrap();
    let cycles = record.report.as_mut().and_then(|report| report.cycles.replace(1)).unwrap();
    let other = lab_sweep::line(&record).unwrap();
    fs::write(&journal, text.replace(line, other.trim_end())).unwrap();
    let (status, errors) = replay(folder, key);
    assert_eq!(status, Some(1), "{errors}");
    assert!(errors.contains(&format!("`cycles` was 1 and is {cycles}")), "{errors}");
    assert!(!errors.contains("of the models"), "{errors}");
    record.report.as_mut().unwrap().simulator.model_version = 7;
    let older = lab_sweep::line(&record).unwrap();
    fs::write(&journal, text.replace(line, older.trim_end())).unwrap();
    let (_, errors) = replay(folder, key);
    assert!(
        errors.contains("its record, which version 7 of the models gave; this rpu has version "),
        "{errors}"
    );
    fs::write(&journal, text.replace(line, other.trim_end())).unwrap();
    let verified = rpu(folder, &["sweep", "verify", "out"]);
    assert_eq!(verified.status.code(), Some(1));
    assert_eq!(verified.stdout, b"3 of 4 points agree with their records; 4 of 4 are recorded\n");
    let errors = String::from_utf8_lossy(&verified.stderr);
    assert!(errors.contains(&format!("point {key} differs from its record")), "{errors}");
    assert!(errors.contains(&format!("`cycles` was 1 and is {cycles}")), "{errors}");

    fs::write(&journal, text.replace(&format!("{line}\n"), "")).unwrap();
    let (status, errors) = verify(folder);
    assert_eq!(status, Some(1));
    assert!(errors.contains("`results.jsonl` is not what"), "{errors}");
    fs::remove_file(folder.join("out/results.jsonl")).unwrap();
    fs::remove_file(folder.join("out/results.csv")).unwrap();
    for chart in ["report.html", "pareto.svg", "pareto.png"] {
        fs::remove_file(folder.join("out").join(chart)).unwrap();
    }
    let (status, errors) = verify(folder);
    assert_eq!((status, errors.trim()), (Some(1), "error: 1 of 4 points have no record"));
    let (status, errors) = replay(folder, key);
    assert_eq!(status, Some(1));
    assert!(errors.contains(&format!("the journal has no record of point {key}")), "{errors}");
}

/// All that a folder publishes follows from its definition and its journals.
#[test]
fn a_changed_file_of_a_folder_is_a_failure() {
    let folder = folder();
    let folder = folder.path();
    let references = "[[reference]]\nlabel = 'another machine'\narea_mm2 = 1\ntime_us = 1\n";
    let text = fs::read_to_string(folder.join("small.toml")).unwrap();
    fs::write(folder.join("small.toml"), text + references).unwrap();
    succeed(folder, &["sweep", "small.toml"]);
    for (file, from, to) in [
        ("results.csv", "ok,true", "ok,false"),
        ("results.jsonl", "\"cycles\":", "\"cycles\":1"),
        ("report.html", "another machine", "our machine"),
        ("pareto.svg", "another machine", "our machine"),
        ("sweep.json", "\"area_mm2\":1.0", "\"area_mm2\":9.0"),
    ] {
        let path = folder.join("out").join(file);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{file}: {text}");
        fs::write(&path, text.replacen(from, to, 1)).unwrap();
        let (status, errors) = verify(folder);
        assert_eq!(status, Some(1), "{file}: {errors}");
        let message = format!("`{file}` is not what the definition and the journals of the folder give");
        assert!(errors.contains(&message), "{errors}");
        fs::write(&path, text).unwrap();
    }
    assert_eq!(verify(folder), (Some(0), String::new()));
}

#[test]
fn a_failed_point_fails_again() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("s.toml"), "plan = 'kl'\nn = 256").unwrap();
    assert_eq!(rpu(folder, &["sweep", "s.toml"]).status.code(), Some(1));
    let results = fs::read_to_string(folder.join("out/results.jsonl")).unwrap();
    let (key, line) = &lines(&results)[0];
    assert_eq!(succeed(folder, &["sweep", "replay", "out", key]), format!("{line}\n"));
}
