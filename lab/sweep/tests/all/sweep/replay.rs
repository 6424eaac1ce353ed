//! Replay of points, and of a sample of them.

use super::{SWEEP, VADD, plan, sweep, vadd};
use lab_sweep::{
    AGAIN, Definition, Plan, PointKey, Record, Replay, ReplayError, Results, Shard, Verdict, Verification,
    line, verify,
};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use tempfile::{TempDir, tempdir};

fn ran(text: &str) -> TempDir {
    let folder = tempdir().unwrap();
    sweep(folder.path(), &plan(text), Shard::WHOLE, false, &vadd);
    folder
}

/// Changes the record of a point.
fn change(folder: &Path, point: usize, change: impl Fn(&mut Record)) -> PointKey {
    let results = Results::merge(&[folder]).unwrap();
    let mut record = results.record(point).unwrap().unwrap();
    let old = results.line(point).unwrap().unwrap();
    change(&mut record);
    let path = folder.join("journal.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace(&old, line(&record).unwrap().trim_end())).unwrap();
    record.key
}

fn verdict(folder: &Path, key: PointKey) -> Verdict {
    let replayed = Replay::find(folder, &key.to_string()).unwrap().run(&vadd).unwrap();
    assert_eq!(replayed.key, key);
    replayed.verdict
}

/// Twelve points. Of those that a prefix leaves open, ten are listed.
#[test]
fn a_prefix_is_of_one_point_or_an_error_that_lists_some() {
    let axes = "vdm.banks = [32, 64, 128]\nhple.count = [16, 32, 64, 128]\n";
    let folder = ran(&format!("kernel = 'add'\nn = 512\n[grid]\n{axes}"));
    let folder = folder.path();
    let points = Results::merge(&[folder]).unwrap().manifest.points;
    let mut keys = points.keys().to_vec();
    keys.sort_unstable();
    let message = |prefix: &str| Replay::find(folder, prefix).map(drop).unwrap_err().to_string();
    let all = message("");
    let lines: Vec<&str> = all.lines().collect();
    // The error holds one more than it lists, so that it knows of more.
    assert_eq!(lines[0], "11 points have keys that begin with ``:");
    for (line, key) in lines[1..11].iter().zip(&keys) {
        let place = points.keys().iter().position(|known| known == key).unwrap();
        let settings = points.settings(place);
        let settings = settings.iter().map(|(key, value)| format!("{key}={value}"));
        assert_eq!(*line, format!("{key}  {}", settings.collect::<Vec<_>>().join(" ")));
    }
    assert_eq!(lines[11..], ["and 1 more"]);
    assert!(message("z").ends_with("no key begins with `z`"));
    let first = keys[0].to_string();
    let alone = (1..)
        .find(|&length| keys.iter().filter(|key| key.to_string().starts_with(&first[..length])).count() == 1);
    assert_eq!(Replay::find(folder, &first[..alone.unwrap()]).unwrap().run(&vadd).unwrap().key, keys[0]);
}

#[test]
fn a_replay_names_every_value_that_differs() {
    let folder = ran(SWEEP);
    let folder = folder.path();
    let keys = Results::merge(&[folder]).unwrap().manifest.points.keys().to_vec();
    assert_eq!(verdict(folder, keys[0]), Verdict::Same);
    let key = change(folder, 1, |record| {
        record.program_source = None;
        let report = record.report.as_mut().unwrap();
        report.seed = Some(7);
        report.bounds.as_mut().unwrap().resource_cycles += 1;
    });
    let Verdict::Differs(differences) = verdict(folder, key) else { panic!("they differ") };
    let texts: Vec<String> = differences.iter().map(ToString::to_string).collect();
    let names: BTreeSet<&str> = differences.iter().map(|difference| difference.name.as_str()).collect();
    assert_eq!(names, ["bounds.resource_cycles", "checksum", "program_source", "seed"].into(), "{texts:?}");
    assert!(texts.contains(&"`program_source` was null and is \"file\"".to_owned()), "{texts:?}");

    // Without a record.
    let path = folder.join("journal.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let others = text.lines().filter(|line| !line.contains(&keys[2].to_string()));
    fs::write(&path, others.map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    assert_eq!(verdict(folder, keys[2]), Verdict::NoRecord);
}

#[test]
fn a_definition_without_the_point_is_an_error() {
    let folder = ran(SWEEP);
    let folder = folder.path();
    let key = Results::merge(&[folder]).unwrap().manifest.points.key(0);
    let path = folder.join("sweep.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("vdm.banks = [32, 64]", "vdm.banks = [32, 128]")).unwrap();
    let error = Replay::find(folder, &key.to_string()).map(drop).unwrap_err();
    assert!(matches!(error, ReplayError::Changed { .. }), "{error}");
    assert_eq!(error.to_string(), format!("`test.toml` no longer defines the point {key}"));
}

/// Names of files are relative to where the sweep ran. Those of another folder may be other files.
#[test]
fn other_files_than_those_of_the_sweep_are_no_difference_of_its_results() {
    let (here, folder) = (tempdir().unwrap(), tempdir().unwrap());
    let path = here.path().join("a.b512");
    fs::write(&path, VADD).unwrap();
    let name = here.path().join("s.toml").display().to_string();
    let plan = Plan::new(&Definition::parse(&name, "program = 'a.b512'").unwrap()).unwrap();
    sweep(folder.path(), &plan, Shard::WHOLE, false, &vadd);
    let key = plan.manifest.points.key(0);
    assert_eq!(verdict(folder.path(), key), Verdict::Same);
    let replayed = || Replay::find(folder.path(), &key.to_string()).map(drop).unwrap_err();
    fs::write(&path, VADD.replace("halt", "vload v9, a0, a\nhalt")).unwrap();
    let error = replayed();
    assert!(matches!(error, ReplayError::OtherFiles { .. }), "{error}");
    let error = verify(folder.path(), None, 0, &vadd, &|_, _| ()).unwrap_err();
    assert!(matches!(error, ReplayError::OtherFiles { .. }), "{error}");
    fs::remove_file(&path).unwrap();
    let ReplayError::Config(errors) = replayed() else { panic!("a file is missing") };
    let helps: Vec<_> = errors.iter().map(|error| error.help.as_deref()).collect();
    assert_eq!(helps, [Some(AGAIN)]);
}

#[test]
fn a_verification_counts_and_names_what_differs() {
    let folder = ran(SWEEP);
    let folder = folder.path();
    let seen = Mutex::new(Vec::new());
    let verified = |sample, seed| {
        seen.lock().unwrap().clear();
        let progress = |of: usize, record: &Record| seen.lock().unwrap().push((of, record.key));
        let found = verify(folder, sample, seed, &vadd, &progress).unwrap();
        let mut seen = seen.lock().unwrap().clone();
        seen.sort_unstable();
        (found, seen)
    };
    let keys: BTreeSet<PointKey> =
        Results::merge(&[folder]).unwrap().manifest.points.keys().iter().copied().collect();
    let (all, seen_of_all) = verified(None, 0);
    let Verification { verified: count, recorded, points, ref files, ref differing } = all;
    assert_eq!((count, recorded, points), (4, 4, 4));
    assert!(files.altered.is_empty() && files.drawn_otherwise.is_empty() && differing.is_empty());
    assert_eq!(seen_of_all, keys.iter().map(|&key| (4, key)).collect::<Vec<_>>());

    // The seed chooses the points of a sample.
    let samples: BTreeSet<Vec<(usize, PointKey)>> = (0..8).map(|seed| verified(Some(2), seed).1).collect();
    assert!(samples.len() > 2 && samples.iter().all(|sample| sample.len() == 2 && sample[0].0 == 2));
    let (sample, _) = verified(Some(2), 3);
    assert_eq!((sample.verified, sample.recorded, sample.points), (2, 4, 4));
    assert_eq!(verified(Some(2), 3).1, verified(Some(2), 3).1);
    assert_eq!(verified(Some(9), 0).0.verified, 4);

    let key = change(folder, 2, |record| record.report.as_mut().unwrap().area_mm2 = 1.0);
    let (one, _) = verified(None, 0);
    assert_eq!(one.differing.keys().copied().collect::<Vec<_>>(), [key]);
    assert!(one.differing[&key].iter().any(|difference| difference.name == "area_mm2"));
    let path = folder.join("sweep.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("\"title\":\"", "\"title\":\"my ")).unwrap();
    assert_eq!(verified(None, 0).0.files.altered, ["sweep.json"]);
}

/// A point of an exploration is a design of its space.
#[test]
fn points_of_an_exploration_are_replayed() {
    use lab_sweep::explore::{Space, explore};
    let text = "kernel = 'add'\nn = 512\n[grid]\nhple.count = [64, 128]\nvdm.banks = [32, 64]\n[explore]\n";
    let folder = tempdir().unwrap();
    let folder = folder.path();
    let space = Space::new(&Definition::parse("space.toml", text).unwrap()).unwrap();
    let mut journal = lab_sweep::Journal::open(folder, Shard::WHOLE, &space.manifest()).unwrap();
    explore(&space, &mut journal, 100, 0, &vadd, &|_| ()).unwrap();
    drop(journal);
    let keys = Results::merge(&[folder]).unwrap().manifest.points.keys().to_vec();
    assert_eq!(keys.len(), 4);
    for key in keys {
        assert_eq!(verdict(folder, key), Verdict::Same);
    }
    let all = verify(folder, None, 0, &vadd, &|_, _| ()).unwrap();
    assert!(all.verified == 4 && all.differing.is_empty() && all.files.altered.is_empty());
    let path = folder.join("sweep.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("vdm.banks = [32, 64]", "vdm.banks = [32, 128]")).unwrap();
    let error = verify(folder, None, 0, &vadd, &|_, _| ()).unwrap_err();
    assert!(matches!(error, ReplayError::Changed { .. }), "{error}");
}
