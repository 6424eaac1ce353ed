//! Sweeps of a small program, without the command line.

use b512_asm::assemble;
use codegen::{PlanChoice, RecipeOrigin, Request};
use lab_run::{Execution, Mode, Options, draw, run};
use lab_sweep::outputs::Outputs;
use lab_sweep::{
    Counts, Definition, Generated, Journal, JournalError, Plan, Record, Results, Shard, Status, execute,
    generate, line, records,
};
use sim::Machine;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

mod execute;
mod folders;
mod outputs;
mod replay;
mod versions;

const SWEEP: &str = "kernel = 'add'\nn = 512\n[grid]\nhple.count = [64, 128]\nvdm.banks = [32, 64]\n";

fn plan(text: &str) -> Plan {
    Plan::new(&Definition::parse("test.toml", text).unwrap()).unwrap()
}

const VADD: &str = include_str!("../../../../kernels-b512/vadd.b512");

fn vadd(request: &Request, _: &PlanChoice, _: &Machine) -> Result<Generated, String> {
    adder(VADD, request)
}

/// A sum of two vectors with the modulus of the request.
fn adder(text: &str, request: &Request) -> Result<Generated, String> {
    let mut generated = program(text)?;
    let program = &mut generated.program;
    program.moduli[0].1 = request.rings[0].q();
    program.claims[0].settings = request.claim(0).settings;
    Ok(generated)
}

fn program(text: &str) -> Result<Generated, String> {
    let program = assemble(text).map_err(|error| error.to_string())?;
    Ok(Generated { program, origin: RecipeOrigin::Given })
}

type Generator<'a> = &'a (dyn Fn(&Request, &PlanChoice, &Machine) -> Result<Generated, String> + Sync);

/// A record of no point of the sweep is kept, so that a sweep with its point needs no run.
#[test]
fn a_saved_sweep_has_the_records_of_other_points() {
    let (small, other) = (plan(SWEEP), plan(&SWEEP.replace("[64, 128]", "[32]")));
    let lines: String =
        [&small, &other].map(|plan| line(&records(plan, &vadd).swap_remove(0)).unwrap()).concat();
    let (folder, saved) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    drop(Journal::open(folder.path(), Shard::WHOLE, &small.manifest).unwrap());
    fs::write(folder.path().join("journal.jsonl"), &lines).unwrap();
    Results::merge(&[folder.path()]).unwrap().save(saved.path()).unwrap();
    assert_eq!(fs::read_to_string(saved.path().join("journal.jsonl")).unwrap(), lines);
}

/// Runs the rest of a sweep and returns its number of points.
fn sweep(folder: &Path, plan: &Plan, shard: Shard, retry_failed: bool, generate: Generator<'_>) -> usize {
    let mut journal = Journal::open(folder, shard, &plan.manifest).unwrap();
    let seen = AtomicUsize::new(0);
    let count = |_: &Record| _ = seen.fetch_add(1, Ordering::Relaxed);
    let points = journal.pending(plan, shard, retry_failed);
    execute(plan, &points, &mut journal, generate, &count).unwrap();
    assert_eq!(seen.into_inner(), points.len());
    points.len()
}

fn lines(folder: &Path) -> Vec<String> {
    Results::merge(&[folder]).unwrap().lines().collect::<Result<_, _>>().unwrap()
}

/// A program is checked on the machine of each point, whatever machine it is scheduled for.
#[test]
fn a_program_that_a_machine_cannot_run_is_an_error_of_that_point() {
    let folder = tempfile::tempdir().unwrap();
    // It stores beyond a VDM of 4 MiB, where it needs no symbol.
    let far =
        VADD.replace(".modulus", ".address a5, 0x60000\n.modulus").replace("halt", "vstore v0, a5, 0\nhalt");
    fs::write(folder.path().join("far.b512"), far).unwrap();
    for schedule_for in ["'base'", "['hple.count']", "'machine'"] {
        let text = format!(
            "program = 'far.b512'\nschedule_for = {schedule_for}\n[grid]\nhple.count = [64]\nvdm.size_mib = [8, 4, 1]"
        );
        let file = folder.path().join("s.toml").display().to_string();
        let plan = Plan::new(&Definition::parse(&file, &text).unwrap()).unwrap();
        let found = lab_sweep::records(&plan, &generate);
        let statuses: Vec<Status> = found.iter().map(|record| record.status).collect();
        assert_eq!(statuses, [Status::Ok, Status::Failed, Status::Failed], "{schedule_for}: {found:?}");
    }
}

#[test]
fn a_program_that_points_share_is_generated_once() {
    let plan = plan(&format!("schedule_for = 'base'\n{SWEEP}"));
    let folder = tempfile::tempdir().unwrap();
    let generated = AtomicUsize::new(0);
    let generate = |request: &Request, plan: &PlanChoice, machine: &Machine| {
        generated.fetch_add(1, Ordering::Relaxed);
        vadd(request, plan, machine)
    };
    assert_eq!(sweep(folder.path(), &plan, Shard::WHOLE, false, &generate), 4);
    assert_eq!(generated.into_inner(), 1);
}

#[test]
fn errors_wrong_results_and_panics_are_records() {
    let plan = plan(SWEEP);
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let generate = |request: &Request, plan: &PlanChoice, machine: &Machine| match (
        machine.hple.count,
        machine.vdm.banks,
    ) {
        (64, 32) => Err("no such program".to_owned()),
        (64, 64) => panic!("a defect"),
        (128, 32) => adder(&VADD.replace("v2, v0, v1", "v2, v1, v1"), request),
        _ => vadd(request, plan, machine),
    };
    assert_eq!(sweep(folder, &plan, Shard::WHOLE, false, &generate), 4);
    let results = Results::merge(&[folder]).unwrap();
    let records = results.records().unwrap();
    let error = |i: usize| records[i].error.clone().unwrap_or_default();
    assert_eq!(error(0), "no such program");
    assert_eq!(error(1), "internal error: a defect");
    assert!(
        error(2).starts_with("`c` differs from a + b in ")
            && error(2).contains(" of 512 coefficients:\n  coefficient "),
        "{}",
        error(2)
    );
    assert_eq!(records[3].status, Status::Ok);
    assert_eq!(results.failed(), 3);
    let varying = ["hple.count", "vdm.banks"].map(str::to_owned);
    assert_eq!(records[0].name(&varying), "hple.count = 64, vdm.banks = 32");
    assert_eq!(records[0].name(&[]), records[0].key.to_string());
    let mut counts = Counts::default();
    records.iter().for_each(|record| counts.add(5, record));
    let told = counts.line(Duration::from_secs(2));
    assert_eq!(["points", "done", "failed"].map(|name| told[name].as_u64()), [Some(5), Some(4), Some(3)]);
    Outputs::new(&results).write(folder).unwrap();
    assert!(fs::read_to_string(folder.join("report.html")).unwrap().contains("a defect"));

    // They run again on request, once each, and a success replaces the failure.
    assert_eq!(sweep(folder, &plan, Shard::WHOLE, false, &vadd), 0);
    assert_eq!(sweep(folder, &plan, Shard::WHOLE, true, &generate), 3);
    assert_eq!(sweep(folder, &plan, Shard::WHOLE, true, &vadd), 3);
    assert_eq!(Results::merge(&[folder]).unwrap().failed(), 0);
    // The failure is still in the journal and does not hide the success.
    assert_eq!(sweep(folder, &plan, Shard::WHOLE, true, &vadd), 0);
}

/// Only the first claim, or only the last one, is not enough; and a program keeps the claims of the request.
#[test]
fn every_claim_and_every_output_counts() {
    let two = plan("kernel = 'add'\nn = 512\ntowers = 2\n[grid]\nhple.count = [64, 128]");
    let error = |plan: &Plan, change: &(dyn Fn(&Request, String) -> String + Sync)| {
        let changed = |request: &Request, plan: &PlanChoice, machine: &Machine| {
            let text = generate(request, plan, machine)?.program.to_string();
            program(&change(request, text))
        };
        let found = records(plan, &changed);
        assert!(found.iter().all(|record| record.error == found[0].error), "{found:?}");
        found[0].error.clone().unwrap_or_default()
    };
    let subtracts = |tower: usize| {
        move |_: &Request, text: String| {
            let at = text.match_indices("vadd ").nth(tower).unwrap().0;
            format!("{}vsub {}", &text[..at], &text[at + 5..])
        }
    };
    assert_eq!(error(&two, &|_, text| text), "");
    // Zeros are among the data, and x + 0 = x - 0.
    assert!(error(&two, &subtracts(0)).starts_with("`c0` differs from a0 + b0 "));
    assert!(error(&two, &subtracts(1)).starts_with("`c1` differs from a1 + b1 "));
    // The towers in one ring, with claims that are right.
    let one_ring = |request: &Request, text: String| {
        let [first, second] = [0, 1].map(|ring| format!("{:#x}", request.rings[ring].q()));
        text.replace(&second, &first)
    };
    let missing = error(&two, &one_ring);
    assert!(missing.starts_with("the program does not claim what was requested: `"), "{missing}");
    // Another operation, with claims that are right.
    let other = |_: &Request, text: String| text.replace("vadd ", "vsub ").replace(" + ", " - ");
    let missing = error(&two, &other);
    assert!(missing.starts_with("the program does not claim what was requested: `"), "{missing}");

    let one = plan("kernel = 'add'\nn = 512\n[grid]\nhple.count = [64, 128]");
    let unclaimed = |_: &Request, text: String| {
        let store = text.lines().find(|line| line.starts_with("vstore")).unwrap().to_owned();
        let value = store.split([' ', ',']).nth(1).unwrap().to_owned();
        let text = text.replacen("\n.address", "\n.output d, 512, at 0x4000\n.address a9, d\n.address", 1);
        text.replacen(&store, &format!("{store}\nvstore {value}, a9, 0"), 1)
    };
    assert!(error(&one, &unclaimed).contains("`d`"), "{}", error(&one, &unclaimed));
    let undefined = |_: &Request, text: String| text.replacen("\nvadd", "\nvadd v60, v61, v61, m0\nvadd", 1);
    assert!(error(&one, &undefined).contains("`v61` is read before it is written"));
}

/// A program that claims a sum and computes `a + b + (a - k)`: right if `a` has the words `k`.
fn made_for(words: &[u128]) -> String {
    let words: Vec<String> = words.iter().map(|word| format!("{word:#x}")).collect();
    let known = format!(".table k, 512\n.words k {{ {} }}\n.modulus m1", words.join(" "));
    let wrong = "vload v3, a0, k\nvsub v3, v0, v3, m1\nvadd v2, v0, v1, m1\nvadd v2, v2, v3, m1\nvstore v2";
    VADD.replacen(".modulus m1", &known, 1).replacen("vstore v2", wrong, 1)
}

#[test]
fn a_program_made_for_known_data_fails() {
    let machine = Machine::rpu_128x128();
    // What a run draws without a seed.
    let text = made_for(&draw(0, 0, 512, 0x7fff_ffff_ffff_ffff_ffff_ffff_ffff_ffff));
    let options = Options { mode: Mode::FunctionalOnly, check: true, ..Options::default() };
    assert!(run(&assemble(&text).unwrap(), &machine, &options).unwrap_err().is_wrong_result());

    // What a sweep draws for every program.
    let vadd = assemble(VADD).unwrap();
    let execution = Execution::random(&vadd, &machine, 0).unwrap().remove(0);
    let text = made_for(execution.claim(&vadd.claims[0]).unwrap().0[0]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("add.b512");
    fs::write(&file, text).unwrap();
    let found =
        records(&plan(&format!("program = '{}'\n[grid]\nhple.count = [64, 128]", file.display())), &generate);
    for record in found {
        assert!(record.error.is_some_and(|error| error.contains("`c` differs from a + b in")));
    }
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
    assert_eq!(merged.manifest, Results::merge(&[whole.path()]).unwrap().manifest);
    let merged: Vec<String> = merged.lines().collect::<Result<_, _>>().unwrap();
    assert_eq!(merged, lines(whole.path()));
}

/// A front over an axis that costs nothing is degenerate.
#[test]
fn each_axis_of_the_exploration_costs_area() {
    let plan = plan(include_str!("../../../../configs/sweeps/explore.toml"));
    let axes: Vec<_> = plan.manifest.varying.iter().filter_map(|path| sim::machine::key(path)).collect();
    assert_eq!(axes.len(), 6);
    for key in axes {
        assert!(key.effects.contains(&sim::machine::table::Effect::Area), "{}", key.path);
    }
}

/// A program of the user's own, with data for its input and its output.
#[test]
fn a_given_program_is_checked_on_given_data() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let text = include_str!("../../../../kernels-b512/vadd.b512");
    fs::write(file("add.b512"), text.replace(".computes", "// .computes")).unwrap();
    let words =
        |word: fn(u128) -> u128| -> Vec<u8> { (0..512).flat_map(|i| word(i).to_le_bytes()).collect() };
    fs::write(file("a.bin"), words(|i| i)).unwrap();
    fs::write(file("b.bin"), words(|i| 2 * i)).unwrap();
    fs::write(file("c.bin"), words(|i| 3 * i)).unwrap();
    fs::write(file("wrong.bin"), words(|i| 3 * i + u128::from(i == 7))).unwrap();
    let planned = |rest: &str| {
        let text = format!(
            "program = 'add.b512'\nstream = 2\ninput.a = 'a.bin'\ninput.b = 'b.bin'\n{rest}\n[grid]\nhple.count = [64, 128]"
        );
        let name = file("own.toml").display().to_string();
        Plan::new(&Definition::parse(&name, &text).unwrap())
    };
    let run = |rest: &str| records(&planned(rest).unwrap(), &generate);
    let sources = |records: &[Record]| -> Vec<_> {
        records.iter().map(|record| record.program_source.clone().unwrap_or_default()).collect()
    };
    let checked = run("expect.c = 'c.bin'");
    assert_eq!(sources(&checked), ["file", "file"]);
    let report = checked[0].report.as_ref().unwrap();
    assert!(report.checked && report.stream().is_some_and(|stream| stream.runs == 2));
    assert!(!run("")[0].report.as_ref().unwrap().checked, "there is nothing to compare with");
    // Random data would be below both moduli.
    let small = ".input a, 512, at 0x0\n.output c, 512, at 0x200\n.modulus m0, 97\n.modulus m1, 12289\n\
                 vload v0, a0, a\nvadd v0, v0, v0, m0\nvstore v0, a0, c\nhalt\n";
    fs::write(file("small.b512"), small).unwrap();
    for (given, status) in [("", Status::Ok), ("input.a = 'a.bin'", Status::Failed)] {
        let text = format!("program = 'small.b512'\n{given}");
        let name = file("small.toml").display().to_string();
        let plan = Plan::new(&Definition::parse(&name, &text).unwrap()).unwrap();
        assert_eq!(records(&plan, &generate)[0].status, status);
    }
    // One of two outputs.
    let two = fs::read_to_string(file("add.b512")).unwrap();
    let two = two
        .replace(".output c, 512", ".output c, 512\n.output d, 512")
        .replace("halt", "vstore v2, a0, d\nhalt");
    fs::write(file("two.b512"), two).unwrap();
    let text = "program = 'two.b512'\ninput.a = 'a.bin'\ninput.b = 'b.bin'\nexpect.c = 'c.bin'";
    let plan = Plan::new(&Definition::parse(&file("two.toml").display().to_string(), text).unwrap()).unwrap();
    assert!(!records(&plan, &generate)[0].report.as_ref().unwrap().checked, "nobody compares `d`");
    let wrong = run("expect.c = 'wrong.bin'");
    let error = wrong[0].error.clone().unwrap();
    let expected = "`c` differs from the expected data at coefficient 7: it is 0x15 and should be 0x16";
    assert_eq!(error, expected);
    // What does not fit the program is an error of the definition.
    for (rest, message) in [
        ("expect.y = 'c.bin'", "unknown output `y`"),
        ("input.x = 'a.bin'", "unknown input `x`; the program has: a, b"),
        ("expect.c = 'short.bin'", "`c` has 512 coefficients, but the expected data has 1"),
    ] {
        fs::write(file("short.bin"), [0; 16]).unwrap();
        let errors = planned(rest).err().unwrap();
        assert_eq!(errors.iter().map(|error| error.message.as_str()).collect::<Vec<_>>(), [message]);
    }
}

#[test]
fn towers_and_streams_are_axes_and_points_that_differ_in_them_do_not_compete() {
    let plan = plan("kernel = 'add'\nn = 512\n[grid]\ntowers = [1, 2]\nstream = [1, 4]");
    let found = records(&plan, &generate);
    assert!(found.iter().all(|record| record.status == Status::Ok), "{found:?}");
    let cycles = |i: usize| found[i].report.as_ref().unwrap().cycles.unwrap();
    assert!(cycles(2) > cycles(0) && cycles(0) == cycles(1));
    let workloads: BTreeSet<_> = plan.points().map(|point| point.workload()).collect();
    assert_eq!(workloads.len(), 4);
}

#[test]
fn work_stops_after_the_points_in_progress() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let plan = plan(SWEEP);
    let stop = Arc::new(AtomicBool::new(false));
    let mut journal =
        Journal::open(folder, Shard::WHOLE, &plan.manifest).unwrap().stopped_by(Arc::clone(&stop));
    let points = journal.pending(&plan, Shard::WHOLE, false);
    let first = |_: &Record| stop.store(true, Ordering::Relaxed);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let error = pool.install(|| execute(&plan, &points, &mut journal, &vadd, &first)).unwrap_err();
    assert!(matches!(error, JournalError::Stopped));
    drop(journal);
    assert_eq!(lines(folder).len(), 2);
    assert_eq!(sweep(folder, &plan, Shard::WHOLE, false, &vadd), 2);
}
