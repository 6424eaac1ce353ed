//! Folders of sweeps: torn, changed, foreign and locked files.

use super::{SWEEP, VADD, adder, lines, plan, sweep, vadd};
use codegen::{PlanChoice, Request};
use lab_sweep::outputs::Outputs;
use lab_sweep::{Journal, JournalError, Manifest, Results, Shard};
use sim::Machine;
use std::fs::{self, File};
use std::time::SystemTime;

#[test]
fn a_cut_journal_leads_to_the_same_results() {
    let plan = plan("kernel = 'add'\nn = 512\n[grid]\nvdm.size_mib = [1]\nhple.count = [32, 64, 128]\n");
    // Failures are ordinary records and are not retried by default. Their lines are short, too.
    let generate = |request: &Request, plan: &PlanChoice, machine: &Machine| match machine.hple.count {
        64 => vadd(request, plan, machine),
        count => Err(format!("no program for {count}")),
    };
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    assert_eq!(sweep(folder, &plan, Shard::WHOLE, false, &generate), 3);
    let whole = lines(folder);
    let path = folder.join("journal.jsonl");
    let journal = fs::read(&path).unwrap();
    let check = |cut: usize| {
        fs::write(&path, &journal[..cut]).unwrap();
        let kept = journal[..cut].iter().filter(|&&byte| byte == b'\n').count();
        assert_eq!(sweep(folder, &plan, Shard::WHOLE, false, &generate), 3 - kept, "cut at {cut}");
        assert_eq!(lines(folder), whole, "cut at {cut}");
    };
    // For three points, waking a second thread thousands of times costs more than it gains.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    // All bytes near the ends of lines, and a share of those within, which are all alike: a line without an
    // end.
    let ends: Vec<usize> = (0..=journal.len()).filter(|&at| at == 0 || journal[at - 1] == b'\n').collect();
    let is_near_end = |cut: usize| ends.iter().any(|end| end.abs_diff(cut) < 40);
    let cuts = (0..=journal.len()).filter(|&cut| is_near_end(cut) || cut % 11 == 0);
    pool.install(|| cuts.for_each(check));
}

#[test]
fn two_processes_cannot_write_one_journal_and_sweeps_do_not_mix() {
    let (one, other) = (plan(SWEEP), plan("kernel = 'add'\nn = 512\nseed = 1"));
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let journal = Journal::open(first.path(), Shard::WHOLE, &one.manifest).unwrap();
    assert!(Journal::open(first.path(), Shard::WHOLE, &one.manifest).is_err());
    drop(journal);
    assert!(Journal::open(first.path(), Shard::WHOLE, &one.manifest).is_ok());
    Journal::open(second.path(), Shard::WHOLE, &other.manifest).unwrap();
    let error = Results::merge(&[first.path(), second.path()]).unwrap_err();
    assert!(error.to_string().contains("belongs to another definition of the sweep `test`"), "{error}");
}

/// The message about a folder whose journal was changed from `from` to `to`.
fn damaged(from: &str, to: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    sweep(folder.path(), &plan(SWEEP), Shard::WHOLE, false, &vadd);
    let path = folder.path().join("journal.jsonl");
    let journal = fs::read_to_string(&path).unwrap();
    assert!(journal.contains(from), "{journal}");
    fs::write(&path, journal.replacen(from, to, 1)).unwrap();
    let error = Results::merge(&[folder.path()]).unwrap_err().to_string();
    error.replace(&*path.to_string_lossy(), "journal.jsonl")
}

#[test]
fn a_changed_record_is_an_error_with_its_place() {
    let message = "journal.jsonl:1: invalid record: its checksum does not match its text";
    assert_eq!(damaged("\"cycles\":", "\"cycles\":1"), message);
    assert_eq!(damaged("\"status\":\"ok\"", "\"status\":\"failed\""), message);
    let message = "journal.jsonl:1: invalid record: it has no checksum";
    assert_eq!(damaged(",\"checksum\":\"", ",\"sum\":\""), message);
}

#[test]
fn two_results_of_a_point_that_differ_are_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let plan = plan(SWEEP);
    sweep(folder, &plan, Shard::WHOLE, false, &vadd);
    let records = Results::merge(&[folder]).unwrap().records().unwrap();
    // The same results again are fine.
    let again = folder.join("journal-1-of-2.jsonl");
    fs::copy(folder.join("journal.jsonl"), &again).unwrap();
    assert_eq!(Results::merge(&[folder]).unwrap().records().unwrap(), records);
    fs::remove_file(&again).unwrap();

    // Another simulator, with an honest checksum.
    let other = tempfile::tempdir().unwrap();
    let with_an_instruction_more = |request: &Request, _: &PlanChoice, _: &Machine| {
        adder(&VADD.replace("\nhalt", "\nvload v9, a0, a\nhalt"), request)
    };
    sweep(other.path(), &plan, Shard::WHOLE, false, &with_an_instruction_more);
    fs::copy(other.path().join("journal.jsonl"), &again).unwrap();
    let error = Results::merge(&[folder]).unwrap_err().to_string();
    assert!(error.contains("has two results that differ"), "{error}");
}

/// A full disk leaves a part of a record; after space was freed, the next record follows on the same line.
#[test]
fn a_torn_record_in_the_middle_runs_again() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let plan = plan(SWEEP);
    sweep(folder, &plan, Shard::WHOLE, false, &vadd);
    let expected = lines(folder);
    let path = folder.join("journal.jsonl");
    let journal = fs::read_to_string(&path).unwrap();
    let records: Vec<&str> = journal.lines().collect();
    // A part may end with a brace, like a whole record.
    let brace = records[1].find('}').unwrap() + 1;
    for cut in [1, 8, 20, brace, records[1].len() / 2, records[1].len() - 1] {
        for newline in ["", "\n"] {
            let torn = [records[0], "\n", &records[1][..cut], newline, records[2], "\n", records[3], "\n"];
            fs::write(&path, torn.concat()).unwrap();
            assert_eq!(sweep(folder, &plan, Shard::WHOLE, false, &vadd), 1, "{cut} {newline:?}");
            assert_eq!(lines(folder), expected);
        }
    }
}

/// Nothing is made in its place.
#[test]
fn a_journal_is_a_file() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("journal.jsonl")).unwrap();
    let error = Journal::open(folder.path(), Shard::WHOLE, &plan(SWEEP).manifest).unwrap_err().to_string();
    assert!(error.contains("journal.jsonl") && error.ends_with("it is a folder"), "{error}");
}

#[test]
fn a_folder_holds_one_sweep() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    sweep(folder, &plan(SWEEP), Shard::WHOLE, false, &vadd);
    let other = plan(&format!("name = 'other'\n{SWEEP}"));
    let error = Journal::open(folder, Shard::WHOLE, &other.manifest).unwrap_err().to_string();
    assert!(error.ends_with("holds the sweep `test`, not `other`"), "{error}");
    let other = plan(&SWEEP.replace("'add'", "'mul'"));
    let error = Journal::open(folder, Shard::WHOLE, &other.manifest).unwrap_err().to_string();
    assert!(error.ends_with("holds another sweep `test`, without a point of this one"), "{error}");
    assert_eq!(Results::merge(&[folder]).unwrap().manifest.name, "test");
    let keys = other.manifest.points.keys();
    let explored = Manifest { explored: Some(keys[0]), ..plan(SWEEP).manifest };
    let error = Journal::open(folder, Shard::WHOLE, &explored).unwrap_err().to_string();
    assert!(error.ends_with("holds a sweep `test`"), "{error}");
    let folder_of_other = tempfile::tempdir().unwrap();
    Journal::open(folder_of_other.path(), Shard::WHOLE, &explored).unwrap();
    let sweep_there = Journal::open(folder_of_other.path(), Shard::WHOLE, &plan(SWEEP).manifest);
    let error = sweep_there.unwrap_err().to_string();
    assert!(error.ends_with("holds an exploration `test`"), "{error}");
    // All its records are designs of one space.
    let changed = Manifest { title: "another".into(), ..explored.clone() };
    Journal::open(folder_of_other.path(), Shard::WHOLE, &changed).unwrap();
    let changed = Manifest { explored: Some(keys[1]), ..explored };
    let error = Journal::open(folder_of_other.path(), Shard::WHOLE, &changed).unwrap_err().to_string();
    assert!(error.ends_with("holds the exploration `test` of another space"), "{error}");
}

/// Results of points do not depend on what definitions call their settings.
#[test]
fn a_default_that_a_definition_names_leaves_results_and_their_labels_valid() {
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let [short, long] = ["", "vdm.banks = [128, 64]\n"]
        .map(|axis| plan(&format!("kernel = 'add'\nn = 512\n[grid]\nhple.count = [64, 128]\n{axis}")));
    assert_eq!(sweep(first.path(), &short, Shard::WHOLE, false, &vadd), 2);
    assert_eq!(sweep(first.path(), &long, Shard::WHOLE, false, &vadd), 2);
    assert_eq!(sweep(second.path(), &long, Shard::WHOLE, false, &vadd), 4);
    assert_eq!(lines(first.path()), lines(second.path()));
    let both = Results::merge(&[first.path(), second.path()]).unwrap();
    for results in [&both, &Results::merge(&[first.path()]).unwrap()] {
        let folder = tempfile::tempdir().unwrap();
        Outputs::new(results).write(folder.path()).unwrap();
        let table = fs::read_to_string(folder.path().join("results.csv")).unwrap();
        let banks = table.lines().skip(1).map(|line| line.split(',').nth(8).unwrap().to_owned());
        assert_eq!(banks.collect::<Vec<_>>(), ["128", "64", "128", "64"], "{table}");
    }
    // And without it again.
    assert_eq!(sweep(first.path(), &short, Shard::WHOLE, false, &vadd), 0);
    let settings = Results::merge(&[first.path()]).unwrap().records().unwrap();
    assert!(settings.iter().all(|record| !record.point.contains_key("vdm.banks")));
}

/// Waiting for a writer would never end.
#[cfg(unix)]
#[test]
fn pipes_in_a_folder_are_refused() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    for name in ["sweep.json", "journal.jsonl", "journal-1-of-2.jsonl"] {
        let folder = tempfile::tempdir().unwrap();
        let plan = plan(SWEEP);
        sweep(folder.path(), &plan, Shard::WHOLE, false, &vadd);
        let path = folder.path().join(name);
        let _ = fs::remove_file(&path);
        let (fifo, mode) = (FileType::Fifo, Mode::RUSR | Mode::WUSR);
        mknodat(CWD, &path, fifo, mode, 0).unwrap();
        let expected = format!("cannot read or write `{}`: it is a pipe, not a file", path.display());
        let opened = Journal::open(folder.path(), Shard::WHOLE, &plan.manifest).unwrap_err();
        assert_eq!(opened.to_string(), expected);
        assert_eq!(Results::merge(&[folder.path()]).unwrap_err().to_string(), expected);
    }
}

#[test]
fn manifests_of_other_versions_are_refused_and_merged_folders_have_one_definition() {
    let folders = [SWEEP, &SWEEP.replace("[32, 64]", "[32]")].map(|text| {
        let folder = tempfile::tempdir().unwrap();
        sweep(folder.path(), &plan(text), Shard::WHOLE, false, &vadd);
        folder
    });
    let [first, second] = folders.each_ref().map(|folder| folder.path());
    let error = Results::merge(&[first, second]).unwrap_err().to_string();
    let expected = "belongs to another definition of the sweep `test` than the first folder";
    assert_eq!(error, format!("{} {expected}", second.display()));

    let path = first.join("sweep.json");
    let manifest = fs::read_to_string(&path).unwrap();
    let refused = |schema: &str| {
        fs::write(&path, manifest.replacen("\"schema\":3", schema, 1)).unwrap();
        let error = Results::merge(&[first]).unwrap_err().to_string();
        let manifest = plan(SWEEP).manifest;
        assert_eq!(Journal::open(first, Shard::WHOLE, &manifest).unwrap_err().to_string(), error);
        error.strip_prefix(&format!("{}: ", path.display())).unwrap().to_owned()
    };
    assert_eq!(refused("\"schema\":99"), "the folder has format 99; this version of rpu reads format 3");
    assert_eq!(
        refused("\"halving\":{\"objective\":\"cycles\"},\"schema\":2"),
        "the folder has format 2, which rpu reads up to version 14 of its models; this version of rpu reads format 3"
    );
}

/// The process that runs the sweep would lose its records.
#[test]
fn a_journal_in_use_is_not_replaced() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let plan = plan(SWEEP);
    sweep(there.path(), &plan, Shard::WHOLE, false, &vadd);
    let results = Results::merge(&[there.path()]).unwrap();
    let journal = Journal::open(here.path(), Shard::WHOLE, &plan.manifest).unwrap();
    assert!(matches!(results.save(here.path()), Err(JournalError::Locked { .. })));
    drop(journal);
    results.save(here.path()).unwrap();
    assert_eq!(lines(here.path()), lines(there.path()));
}

/// Shards of a sweep may start while others read it.
#[test]
fn a_manifest_is_written_only_if_it_differs() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let path = folder.join("sweep.json");
    let open = |manifest: &Manifest| drop(Journal::open(folder, Shard::WHOLE, manifest).unwrap());
    let [first, other] = ["[16, 32]", "[16, 64]"]
        .map(|counts| plan(&format!("kernel = 'add'\nn = 512\n[grid]\nhple.count = {counts}\n")).manifest);
    open(&first);
    let text = fs::read(&path).unwrap();
    let time = SystemTime::UNIX_EPOCH;
    File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    open(&first);
    assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), time);

    // Another one of the same length, and one that only continues.
    open(&other);
    let changed = fs::read(&path).unwrap();
    assert!(changed.len() == text.len() && changed != text);
    open(&first);
    assert_eq!(fs::read(&path).unwrap(), text);
    fs::write(&path, [&text[..], b" \n"].concat()).unwrap();
    open(&first);
    assert_eq!(fs::read(&path).unwrap(), text);
}
