//! Folders of another version of the models: what is refused names both versions.

use super::{SWEEP, plan, records, sweep, vadd};
use lab_run::model::MODEL_VERSION;
use lab_sweep::{Journal, Manifest, Plan, Record, Results, Shard, line};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// A plan with the name and the settings of [`SWEEP`] and other keys, as another version of the models has
/// them.
fn other_keys() -> Plan {
    plan(&format!("seed = 1\n{SWEEP}"))
}

/// The folder of a sweep whose results are by another version of the models.
fn folder(plan: &Plan, model: u32) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    sweep(folder.path(), plan, Shard::WHOLE, false, &vadd);
    rewrite(folder.path(), model);
    folder
}

/// Lets another version have written the records of a folder.
fn rewrite(folder: &Path, model: u32) {
    let path = folder.join("journal.jsonl");
    let other = |line: &str| {
        let mut record = Record::parse(line).unwrap();
        record.report.as_mut().unwrap().simulator.model_version = model;
        lab_sweep::line(&record).unwrap()
    };
    let lines: String = fs::read_to_string(&path).unwrap().lines().map(other).collect();
    fs::write(path, lines).unwrap();
}

fn refused(folder: &Path, manifest: &Manifest) -> String {
    let written = fs::read(folder.join("sweep.json")).unwrap();
    let error = Journal::open(folder, Shard::WHOLE, manifest).unwrap_err().to_string();
    assert_eq!(fs::read(folder.join("sweep.json")).unwrap(), written);
    error.replacen(&*folder.to_string_lossy(), "out", 1)
}

#[test]
fn results_of_another_version_are_not_continued() {
    let expected = format!(
        "out holds results of `test` by version 7 of the models, and this rpu has version {MODEL_VERSION}"
    );
    assert_eq!(refused(folder(&other_keys(), 7).path(), &plan(SWEEP).manifest), expected);
    // Its name and the reason are others.
    let other = plan(&format!("name = 'other'\n{SWEEP}"));
    let error = refused(folder(&other_keys(), 7).path(), &other.manifest);
    assert_eq!(error, "out holds the sweep `test`, not `other`");
    let error = refused(folder(&other_keys(), MODEL_VERSION).path(), &plan(SWEEP).manifest);
    assert_eq!(error, "out holds another sweep `test`, without a point of this one");
}

/// The points of an exploration are those with a record, whatever their keys are.
#[test]
fn an_exploration_has_results_of_one_version() {
    let swept = plan(SWEEP).manifest;
    let space = Some(swept.points.key(0));
    let explored = Manifest { explored: space, points: Vec::new().into_iter().collect(), ..swept };
    let with = |model: u32| {
        let folder = tempfile::tempdir().unwrap();
        drop(Journal::open(folder.path(), Shard::WHOLE, &explored).unwrap());
        let lines = records(&plan(SWEEP), &vadd).into_iter().map(|record| line(&record).unwrap());
        fs::write(folder.path().join("journal.jsonl"), lines.collect::<String>()).unwrap();
        rewrite(folder.path(), model);
        folder
    };
    let (old, new) = (with(7), with(MODEL_VERSION));
    let changed = Manifest { title: "another".into(), ..explored.clone() };
    for manifest in [&explored, &changed] {
        let error = refused(old.path(), manifest);
        assert!(error.starts_with("out holds results of `test` by version 7 of the models"), "{error}");
    }
    assert!(Journal::open(new.path(), Shard::WHOLE, &explored).is_ok());

    assert_eq!(Results::merge(&[old.path()]).unwrap().points(), 4);
    let error = Results::merge(&[new.path(), old.path()]).unwrap_err().to_string();
    let [new, old] = [new, old].map(|folder| folder.path().join("journal.jsonl").display().to_string());
    let expected = format!("{old} has results by version 7 of the models, {new} by version {MODEL_VERSION}");
    assert_eq!(error, expected);
}

#[test]
fn folders_of_two_versions_are_not_merged() {
    let (new, old) = (folder(&plan(SWEEP), MODEL_VERSION), folder(&other_keys(), 7));
    let error = Results::merge(&[new.path(), old.path()]).unwrap_err().to_string();
    let [new, old] = [&new, &old].map(|folder| folder.path().display().to_string());
    let expected = format!("{old} has results by version 7 of the models, {new} by version {MODEL_VERSION}");
    assert_eq!(error, expected);
}

/// A key that an older version did not write.
#[test]
fn a_record_that_cannot_be_read_names_its_version() {
    let folder = folder(&plan(SWEEP), 7);
    let path = folder.path().join("journal.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let first = text.lines().next().unwrap().replacen("\"program\":", "\"its_name\":", 1);
    let (content, _) = first.rsplit_once(",\"checksum\"").unwrap();
    let checksum = &blake3::hash(content.as_bytes()).to_hex()[..16];
    fs::write(&path, format!("{content},\"checksum\":\"{checksum}\"}}\n")).unwrap();
    let error = Results::merge(&[folder.path()]).unwrap().records().unwrap_err().to_string();
    assert!(error.starts_with("invalid record: the key `program` is missing"), "{error}");
    let versions = format!("; version 7 of the models wrote it, and this rpu has version {MODEL_VERSION}");
    assert!(error.ends_with(&versions), "{error}");
}
