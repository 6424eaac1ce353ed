//! Sweeps through the command line.

use crate::common::{command, names, rpu, succeed};
use std::fs;
use std::path::Path;

mod faults;
mod kill;
mod replay;
mod slurm;

const SMALL: &str = "
name = 'small'
title = 'A small sweep'
n = 1024
plan = 'kl'
schedule_for = 'base'
[grid]
hple.count = [64, 128]
vdm.banks = [64, 128]
[[reference]]
label = 'elsewhere'
time_us = 1
area_mm2 = 20
";

const FILES: [&str; 5] = ["pareto.png", "pareto.svg", "report.html", "results.csv", "results.jsonl"];

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("small.toml"), SMALL).expect("a file");
    folder
}

fn results(folder: &Path) -> Vec<Vec<u8>> {
    FILES.iter().map(|name| fs::read(folder.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))).collect()
}

#[test]
fn a_sweep_leaves_its_files_and_they_parse() {
    let folder = folder();
    let folder = folder.path();
    let printed = succeed(folder, &["sweep", "small.toml"]);
    assert!(printed.contains("Pareto front"), "{printed}");
    let out = folder.join("out");
    for name in FILES {
        assert!(names(&out).contains(&name.to_owned()), "{name}");
    }

    let lines = fs::read_to_string(out.join("results.jsonl")).unwrap();
    let records: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(records.len(), 4);
    for record in &records {
        assert_eq!(record["status"], "ok");
        assert_eq!(record["checked"], true);
        assert_eq!(record["stalls"]["unattributed"], 0);
        assert!(record["key"].is_string() && record["cycles"].is_u64() && record["area_mm2"].is_f64());
        assert_eq!(record["machine"]["hple"]["count"], record["point"]["hple.count"]);
        assert_eq!(record["simulator"]["wall_s"], serde_json::Value::Null);
    }
    let mut table = csv::Reader::from_path(out.join("results.csv")).unwrap();
    assert!(table.headers().unwrap().iter().any(|name| name == "vdm.banks"));
    assert_eq!(table.records().map(Result::unwrap).count(), 4);
    let svg = fs::read_to_string(out.join("pareto.svg")).unwrap();
    assert!(svg.contains("A small sweep") && svg.contains("elsewhere") && svg.contains("(64, 64)"));
    assert!(fs::read_to_string(out.join("report.html")).unwrap().contains(svg.lines().nth(1).unwrap()));
    assert!(fs::read(out.join("pareto.png")).unwrap().starts_with(b"\x89PNG"));

    // Nothing is left to do, and drawing again gives the same result.
    let before = results(&out);
    succeed(folder, &["sweep", "small.toml"]);
    assert_eq!(results(&out), before);
    fs::remove_file(out.join("pareto.svg")).unwrap();
    succeed(folder, &["plot", "out"]);
    assert_eq!(results(&out), before);

    // A chart changes no results, not even those of a lost journal.
    fs::write(out.join("results.csv"), "edited").unwrap();
    succeed(folder, &["plot", "out"]);
    assert_eq!(fs::read_to_string(out.join("results.csv")).unwrap(), "edited");
    let before = results(&out);
    fs::remove_file(out.join("journal.jsonl")).unwrap();
    for args in [&["plot", "out"][..], &["plot", "out", "--x", "cycles"]] {
        let output = rpu(folder, args);
        assert_eq!(output.status.code(), Some(2));
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(errors.contains("no point has a result") && !errors.contains("--where"), "{errors}");
    }
    assert_eq!(results(&out), before);
}

#[test]
fn shards_in_any_number_and_order_merge_to_the_same_bytes() {
    let folder = folder();
    let folder = folder.path();
    succeed(folder, &["sweep", "small.toml", "--out", "whole", "-j", "1"]);
    let whole = results(&folder.join("whole"));

    for shard in ["2/3", "3/3", "1/3"] {
        succeed(folder, &["sweep", "small.toml", "--out", "together", "--shard", shard]);
        succeed(
            folder,
            &["sweep", "small.toml", "--out", &format!("alone-{}", &shard[..1]), "--shard", shard],
        );
    }
    succeed(folder, &["sweep", "merge", "together"]);
    assert_eq!(results(&folder.join("together")), whole);
    succeed(folder, &["sweep", "merge", "alone-3", "alone-1", "alone-2", "--out", "merged"]);
    assert_eq!(results(&folder.join("merged")), whole);
    // The folder serves as if the sweep had run there.
    assert!(succeed(folder, &["sweep", "status", "merged"]).contains("ok       4"));
    succeed(folder, &["plot", "merged"]);
    assert_eq!(results(&folder.join("merged")), whole);
    let line = String::from_utf8_lossy(&whole[4]);
    let key = line.split('"').nth(3).expect("a key");
    let replayed = rpu(folder, &["sweep", "replay", "merged", key]);
    assert!(String::from_utf8_lossy(&replayed.stderr).contains("agrees with its record"), "{replayed:?}");
    succeed(folder, &["sweep", "merge", "alone-1", "--out", "merged"]);
    assert_eq!(results(&folder.join("merged")), whole);

    let incomplete = rpu(folder, &["sweep", "merge", "alone-1"]);
    assert_eq!(incomplete.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&incomplete.stderr).contains("2 of 4 points have not run yet"));
    // So a running sweep has a page.
    let page = fs::read_to_string(folder.join("alone-1/report.html")).unwrap();
    assert!(page.contains("2 more have not run yet"), "{page}");
    assert!(succeed(folder, &["sweep", "status", "alone-1"]).contains("missing  2"));

    // By default, the first folder gets the records of all.
    succeed(folder, &["sweep", "merge", "alone-1", "alone-2", "alone-3"]);
    assert!(succeed(folder, &["sweep", "status", "alone-1"]).contains("ok       4"));
    succeed(folder, &["plot", "alone-1"]);
    assert_eq!(results(&folder.join("alone-1")), whole);
}

#[test]
fn points_that_are_the_same_are_named() {
    let folder = folder();
    let folder = folder.path();
    let sweep = "n = 1024\n[grid]\nplan = ['kl', 'pease']\nhple.count = [64, 128]";
    fs::write(folder.join("same.toml"), sweep).unwrap();
    let output = rpu(folder, &["sweep", "same.toml"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let expected =
        "2 points are the same as others and count once, for example plan = \"pease\", hple.count = 64";
    assert!(errors.contains(expected), "{errors}");
}

#[test]
fn charts_of_any_columns_are_composed_from_several_folders() {
    let folder = folder();
    let folder = folder.path();
    succeed(folder, &["sweep", "small.toml", "--out", "one"]);
    succeed(folder, &["sweep", "small.toml", "--out", "two", "-p", "n=2048"]);
    let chart = |args: &[&str], file: &str| {
        let args = [&["plot", "one", "two"], args, &["-o", file]].concat();
        succeed(folder, &args);
        fs::read_to_string(folder.join(file)).unwrap()
    };
    let svg = chart(&["--x", "energy_uj", "--y", "energy_delay_uj_us", "--label", "hple.count"], "a.svg");
    for text in ["Energy (µJ)", "Energy × delay (µJ µs)", "2 tasks", "One front for each"] {
        assert!(svg.contains(text), "{text} is missing");
    }
    let svg =
        chart(&["--facet", "n", "--where", "hple.count >= 64 and vdm.banks = 64", "--no-front"], "b.svg");
    assert!(
        svg.contains("ring degree 1024") && svg.contains("ring degree 2048") && !svg.contains("Pareto front")
    );
    assert!(chart(&["--form", "parallel"], "c.html").starts_with("<!DOCTYPE html>"));
    let tornado = chart(&["--form", "tornado", "--y", "cycles", "--facet", "folder"], "d.svg");
    assert!(tornado.contains("HPLEs") && tornado.contains("folder one"), "{tornado}");
    succeed(folder, &["plot", "one", "--colour", "isa.word_bits", "-o", "e.png"]);
    assert!(fs::read(folder.join("e.png")).unwrap().starts_with(b"\x89PNG"));

    let refused = |args: &[&str]| {
        let output = rpu(folder, &[&["plot", "one"], args].concat());
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    // A table is as good as its folder, but has no title; its axes are the settings in which its rows differ.
    let columns = ["--y", "energy_uj", "--colour", "vdm.banks", "--where", "hple.count >= 64"];
    succeed(folder, &[&["plot", "one"], &columns[..], &["-o", "f.svg"]].concat());
    succeed(folder, &[&["plot", "one/results.csv"], &columns[..], &["-o", "g.svg"]].concat());
    let [of_folder, of_table] = ["f.svg", "g.svg"].map(|file| fs::read_to_string(folder.join(file)).unwrap());
    assert_eq!(of_table, of_folder.replace("A small sweep:", "1K-point NTT, 128-bit modulus:"));
    succeed(folder, &["plot", "one/results.csv", "two"]);
    assert!(folder.join("one/chart.svg").is_file());
    fs::write(folder.join("other.csv"), "a,b\n1,2\n").unwrap();
    let output = rpu(folder, &["plot", "other.csv"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("expected the columns of results.csv"));

    assert!(refused(&["--x", "time_u"]).contains("did you mean `time_us`?"));
    let unknown = refused(&["--x", "nonsense"]);
    assert!(
        unknown.contains("unknown column `nonsense`") && unknown.contains("vdm.banks, cycles, "),
        "{unknown}"
    );
    assert!(refused(&["--where", "hple.count >> 3"]).contains("--where:1:13"));
    // Short names of columns, and units.
    let area = |y: &str, condition: &str, file: &str| {
        succeed(folder, &["plot", "one", "--y", y, "--where", condition, "-o", file]);
        fs::read(folder.join(file)).unwrap()
    };
    let long = area("area_mm2", "area_mm2 < 16 and hple.count >= 64", "h.svg");
    assert_eq!(area("area", "area < 16 mm2 && hple.count >= 64", "i.svg"), long);
    assert!(refused(&["--y", "vdm"]).contains("did you mean `vdm_mm2` or `vdm_uj`?"));
    for args in [
        &["--form", "parallel", "--colour", "n"][..],
        &["--form", "parallel", "--label", "n"],
        &["--form", "tornado", "--x", "cycles"],
        &["--form", "tornado", "--front"],
    ] {
        let error = refused(args);
        let expected = format!("`{}` has no effect on `--form {}`", args[2], args[1]);
        assert!(error.contains(&expected), "{error}");
    }
    assert!(refused(&["--y", "plan"]).contains("values that are not numbers"));
    assert!(refused(&["--x", "stream_us"]).contains("the column `stream_us` is empty for some results"));
    assert!(refused(&["--where", "hple.count > 1000"]).contains("no result meets the conditions"));
}

#[test]
fn a_chart_of_a_table_names_the_sizes_of_moduli() {
    let folder = folder();
    let folder = folder.path();
    let sweep = "kernel = 'add'\nn = 512\nplan = 'kl'\n[grid]\nhple.count = [64, 128]\n";
    fs::write(folder.join("add.toml"), sweep).unwrap();
    for (moduli, title) in
        [("0x3001", "512-point add, 14-bit modulus"), ("12289,40961", "512-point add, 2 moduli of 16 bits")]
    {
        succeed(folder, &["sweep", "add.toml", "--out", moduli, "-p", &format!("modulus={moduli}")]);
        succeed(folder, &["plot", &format!("{moduli}/results.csv"), "-o", "chart.svg"]);
        let svg = fs::read_to_string(folder.join("chart.svg")).unwrap();
        assert!(svg.contains(&format!("{title}: area against latency")), "{svg}");
    }
}

/// More effort tries more recipes.
#[test]
fn a_sweep_searches_for_plans_as_much_as_it_says() {
    let folder = folder();
    let folder = folder.path();
    let tried = ["off", "quick", "full"].map(|effort| {
        let sweep = format!("kernel = 'add'\nn = 512\ntune = '{effort}'\n[grid]\nhple.count = [64]\n");
        fs::write(folder.join("add.toml"), sweep).unwrap();
        succeed(folder, &["sweep", "add.toml", "--out", effort]);
        let record = fs::read(folder.join(effort).join("results.jsonl")).unwrap();
        let record: serde_json::Value = serde_json::from_slice(&record).unwrap();
        record["recipes_tried"].as_u64()
    });
    assert!(tried[0] == Some(0) && tried[1] > tried[0] && tried[2] > tried[1], "{tried:?}");
}

#[test]
fn an_exploration_leaves_the_folder_of_a_sweep() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    let space = "kernel = 'ntt'\nn = 1024\nplan = 'kl'\n[grid]\nhple.count = [64, 128]\n\
        vdm.banks = [64, 128]\nsbar.latency_cycles = [3, 4, 5, 6]\n[explore]\npopulation = 4\n";
    fs::write(folder.join("space.toml"), space).expect("a file");
    let printed = succeed(folder, &["explore", "space.toml", "--evaluations", "8", "--seed", "3"]);
    assert!(printed.contains("Pareto front"), "{printed}");
    let before = results(&folder.join("out"));
    assert_eq!(String::from_utf8_lossy(&before[4]).lines().count(), 8);
    // Nothing is left to do.
    succeed(folder, &["explore", "space.toml", "--evaluations", "8", "--seed", "3"]);
    succeed(folder, &["plot", "out"]);
    assert_eq!(results(&folder.join("out")), before);
    // Designs to come are unknown, so none is missing.
    let status = succeed(folder, &["sweep", "status", "out"]);
    assert_eq!(status.lines().skip(1).collect::<Vec<_>>(), ["  ok       8", "  failed   0"]);
    assert!(status.contains("an exploration, 8 points so far"), "{status}");
    let line = String::from_utf8_lossy(&before[4]);
    let key = line.split('"').nth(3).expect("a key");
    succeed(folder, &["sweep", "replay", "out", key]);

    for shard in ["1/2", "2/2"] {
        succeed(
            folder,
            &["explore", "space.toml", "--evaluations", "6", "--out", "shards", "--shard", shard],
        );
    }
    succeed(folder, &["sweep", "merge", "shards"]);
    assert!(names(&folder.join("shards")).contains(&"results.csv".to_owned()));
}

#[test]
fn the_number_of_threads_changes_no_byte() {
    let folder = folder();
    let folder = folder.path();
    let files = |out: &str, threads: &str| -> Vec<(String, Vec<u8>)> {
        succeed(folder, &["sweep", "small.toml", "--out", out, "-j", threads]);
        let file = |name: String| {
            let mut content = fs::read(folder.join(out).join(&name)).unwrap();
            if name == "journal.jsonl" {
                // Its records are in completion order.
                let mut lines: Vec<&[u8]> = content.split_inclusive(|&byte| byte == b'\n').collect();
                lines.sort_unstable();
                content = lines.concat();
            }
            (name, content)
        };
        names(&folder.join(out)).into_iter().map(file).collect()
    };
    let one = files("one", "1");
    assert_eq!(one.len(), FILES.len() + 3, "and the definition, the journal and the checksums");
    for ((name, one), (_, two)) in one.iter().zip(files("two", "2")) {
        assert!(*one == two, "{name} differs");
    }
}

#[test]
fn failed_points_are_records_and_the_status_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("s.toml"), "[grid]\nplan = ['kl']\nn = [1024, 256]\n").unwrap();
    let output = rpu(folder, &["sweep", "s.toml"]);
    assert_eq!(output.status.code(), Some(1));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("1 of 2 points failed; the first, plan = kl, n = 256: "), "{errors}");
    let lines = fs::read_to_string(folder.join("out/results.jsonl")).unwrap();
    let records: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(records[1]["status"], "failed");
    assert!(records[1]["error"].as_str().is_some_and(|error| error.contains("n = 256")));

    // Only --retry-failed runs it again.
    let journal = || fs::read_to_string(folder.join("out/journal.jsonl")).unwrap().lines().count();
    assert_eq!(journal(), 2);
    rpu(folder, &["sweep", "s.toml"]);
    assert_eq!(journal(), 2);
    rpu(folder, &["sweep", "s.toml", "--retry-failed"]);
    assert_eq!(journal(), 3);
}

#[test]
fn names_from_files_control_no_terminal_no_chart_and_no_spreadsheet() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    succeed(folder, &["gen", "ntt", "--n", "1024", "--plan", "kl", "-o", "=1+1.o"]);
    let sweep = |title: &str| {
        let text = format!("title = \"{title}\"\n[grid]\nprogram = [\"=1+1.o\"]\nhple.count = [64, 128]\n");
        fs::write(folder.join("s.toml"), text).unwrap();
    };
    // TOML forbids raw control characters, but has escapes for them.
    sweep("<a> & \\u001b[31m\\u0000");
    let refused = rpu(folder, &["sweep", "s.toml"]);
    assert_eq!(refused.status.code(), Some(2));
    let errors = String::from_utf8(refused.stderr).unwrap();
    assert!(errors.contains("`title` is not one line of text") && !errors.contains('\u{1b}'), "{errors}");
    sweep("<a> & 'b'");
    let summary = succeed(folder, &["sweep", "s.toml"]);
    assert!(summary.starts_with("<a> & 'b'\n"), "{summary}");
    for name in ["out/pareto.svg", "out/report.html"] {
        let text = fs::read_to_string(folder.join(name)).unwrap();
        assert!(text.contains("&lt;a&gt; &amp; "), "{name}");
        assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{name}");
    }
    let mut table = csv::Reader::from_path(folder.join("out/results.csv")).unwrap();
    let program = table.headers().unwrap().iter().position(|name| name == "program").unwrap();
    assert_eq!(&table.records().next().unwrap().unwrap()[program], "'=1+1.o");
}

#[test]
fn a_task_of_a_job_array_takes_its_part() {
    let folder = folder();
    let mut command = command(folder.path());
    command.args(["sweep", "small.toml"]);
    command
        .env("SLURM_ARRAY_TASK_ID", "2")
        .env("SLURM_ARRAY_TASK_COUNT", "4")
        .env("SLURM_ARRAY_TASK_MIN", "1");
    assert!(command.output().unwrap().status.success());
    assert_eq!(names(&folder.path().join("out")), ["journal-2-of-4.jsonl", "sweep.json"]);
}
