//! Sweeps of a small program, without the command line.

use b512_asm::{Program, assemble};
use codegen::Request;
use reports::sweep::outputs::Outputs;
use reports::sweep::{Definition, Journal, Plan, Record, Results, Shard, Status, execute};
use sim::Machine;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

const SWEEP: &str = "kernel = 'add'\nn = 512\n[grid]\nhple.count = [64, 128]\nvdm.banks = [32, 64]\n";

fn plan(text: &str) -> Plan {
    Plan::new(&Definition::parse("test.toml", text).unwrap()).unwrap()
}

fn vadd(_: &Request, _: &Machine) -> Result<Program, String> {
    assemble(include_str!("../../kernels-b512/vadd.b512")).map_err(|error| error.to_string())
}

type Generator<'a> = &'a (dyn Fn(&Request, &Machine) -> Result<Program, String> + Sync);

/// Runs what is left of a sweep, and says how many points that were.
fn sweep(folder: &Path, plan: &Plan, shard: Shard, retry_failed: bool, generate: Generator<'_>) -> usize {
    let mut journal = Journal::open(folder, shard, &plan.manifest).unwrap();
    let seen = AtomicUsize::new(0);
    let count = |_: &Record| _ = seen.fetch_add(1, Ordering::Relaxed);
    let mut simulated = 0;
    loop {
        let points = journal.pending(plan, shard, retry_failed).points;
        if points.is_empty() {
            break;
        }
        execute(plan, &points, &mut journal, generate, &count).unwrap();
        simulated += points.len();
    }
    assert_eq!(seen.into_inner(), simulated);
    simulated
}

fn lines(folder: &Path) -> Vec<String> {
    Results::merge(&[folder]).unwrap().lines().map(|(_, line)| line.to_owned()).collect()
}

#[test]
fn a_journal_cut_at_any_byte_of_its_last_lines_leads_to_the_same_results() {
    let plan = plan(SWEEP);
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    assert_eq!(sweep(folder, &plan, Shard::WHOLE, false, &vadd), 4);
    let whole = lines(folder);
    let path = folder.join("journal.jsonl");
    let journal = fs::read(&path).unwrap();
    let ends: Vec<usize> = (0..journal.len()).filter(|&at| journal[at] == b'\n').collect();
    // Every byte of the last line, and some of the one before.
    for cut in (ends[1]..ends[2]).step_by(50).chain(ends[2]..=journal.len()) {
        fs::write(&path, &journal[..cut]).unwrap();
        let missing = 4 - ends.iter().filter(|&&end| end < cut).count();
        let journal = Journal::open(folder, Shard::WHOLE, &plan.manifest).unwrap();
        assert_eq!(journal.pending(&plan, Shard::WHOLE, false).points.len(), missing, "cut at {cut}");
        drop(journal);
        // Opening cut off what was torn; what is left and what runs again make the whole.
        if cut % 16 == 0 {
            assert_eq!(sweep(folder, &plan, Shard::WHOLE, false, &vadd), missing, "cut at {cut}");
            assert_eq!(lines(folder), whole, "cut at {cut}");
        }
    }
}

#[test]
fn a_program_that_points_share_is_generated_once() {
    let plan = plan(&format!("schedule_for = 'base'\n{SWEEP}"));
    let folder = tempfile::tempdir().unwrap();
    let generated = AtomicUsize::new(0);
    let generate = |request: &Request, machine: &Machine| {
        generated.fetch_add(1, Ordering::Relaxed);
        vadd(request, machine)
    };
    assert_eq!(sweep(folder.path(), &plan, Shard::WHOLE, false, &generate), 4);
    assert_eq!(generated.into_inner(), 1);
}

#[test]
fn errors_wrong_results_and_panics_are_records() {
    let plan = plan(SWEEP);
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let generate = |request: &Request, machine: &Machine| match (machine.hple.count, machine.vdm.banks) {
        (64, 32) => Err("no such program".to_owned()),
        (64, 64) => panic!("a defect"),
        (128, 32) => {
            let text = include_str!("../../kernels-b512/vadd.b512").replace("v2, v0, v1", "v2, v1, v1");
            assemble(&text).map_err(|error| error.to_string())
        }
        _ => vadd(request, machine),
    };
    assert_eq!(sweep(folder, &plan, Shard::WHOLE, false, &generate), 4);
    let results = Results::merge(&[folder]).unwrap();
    let records = results.records().unwrap();
    let error = |i: usize| records[i].error.clone().unwrap_or_default();
    assert_eq!(error(0), "no such program");
    assert_eq!(error(1), "internal error: a defect");
    assert!(error(2).starts_with("`c` differs from add at coefficient 0"), "{}", error(2));
    assert_eq!(records[3].status, Status::Ok);
    assert_eq!(results.failed(), 3);
    Outputs::new(&results).unwrap().write(folder).unwrap();
    assert!(fs::read_to_string(folder.join("report.html")).unwrap().contains("a defect"));

    // They run again when asked to, and a success takes the place of the failure.
    assert_eq!(sweep(folder, &plan, Shard::WHOLE, false, &vadd), 0);
    assert_eq!(sweep(folder, &plan, Shard::WHOLE, true, &vadd), 3);
    assert_eq!(Results::merge(&[folder]).unwrap().failed(), 0);
}

#[test]
fn results_do_not_depend_on_shards() {
    let plan = plan(SWEEP);
    let whole = tempfile::tempdir().unwrap();
    sweep(whole.path(), &plan, Shard::WHOLE, false, &vadd);
    let folders: Vec<_> = (0..3).map(|_| tempfile::tempdir().unwrap()).collect();
    for (folder, shard) in folders.iter().zip(["1/3", "2/3", "3/3"]) {
        sweep(folder.path(), &plan, shard.parse().unwrap(), false, &vadd);
    }
    let reversed: Vec<&Path> = folders.iter().rev().map(|folder| folder.path()).collect();
    let merged = Results::merge(&reversed).unwrap();
    assert_eq!(merged, Results::merge(&[whole.path()]).unwrap());
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
    assert!(error.to_string().contains("another sweep"), "{error}");
}
