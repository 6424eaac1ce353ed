//! Tables, charts and pages of sweeps.

use super::{SWEEP, VADD, plan, sweep, vadd};
use lab_sweep::outputs::{Differing, Outputs};
use lab_sweep::{Definition, Plan, Results, Shard};
use sim::Machine;
use sim::machine::Override;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

#[test]
fn outputs_mark_extrapolated_points_and_name_axes_without_a_cost() {
    let plan = plan(
        "kernel = 'add'\nn = 512\n[grid]\nfrontend.queue_depth = [8, 64]\nhbm.efficiency = [0.5, 0.9]\n\
         vrf.placement = ['mod', 'div']\n",
    );
    let (folder, outputs) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    sweep(folder.path(), &plan, Shard::WHOLE, false, &vadd);
    let results = Results::merge(&[folder.path()]).unwrap();
    let all = Outputs::new(&results);
    let note = "Not modelled: costs of hbm.efficiency";
    let summary = all.summary().unwrap();
    assert!(summary.contains(note) && summary.contains("costs extrapolated in 4 of 8 points"), "{summary}");
    assert!(summary.contains("Costs nothing: vrf.placement (a permutation of wires)"), "{summary}");
    all.write(outputs.path()).unwrap();
    let read = |name: &str| fs::read_to_string(outputs.path().join(name)).unwrap();
    assert!(read("report.html").contains(note));
    assert_eq!(
        read("results.csv").matches(",frontend.queue_depth,").count(),
        1 + 4,
        "the column and four marks"
    );
    // The legend breaks the note into lines.
    let chart = read("pareto.svg");
    assert!(chart.contains("Not modelled") && chart.contains("Costs nothing"));
    assert!(chart.contains("costs extrapolated"));
}

/// The outputs of a sweep on a changed machine: its summary, its table and its chart.
fn outputs(text: &str, change: &str) -> (String, Vec<BTreeMap<String, String>>, String) {
    let mut definition = Definition::parse("test.toml", text).unwrap();
    definition.set(&Override::parse(change).unwrap()).unwrap();
    let plan = Plan::new(&definition).unwrap();
    let folder = tempfile::tempdir().unwrap();
    sweep(folder.path(), &plan, Shard::WHOLE, false, &vadd);
    let results = Results::merge(&[folder.path()]).unwrap();
    let all = Outputs::new(&results);
    all.write(folder.path()).unwrap();
    let mut table = csv::Reader::from_path(folder.path().join("results.csv")).unwrap();
    let rows = table.deserialize().map(Result::unwrap).collect();
    (all.summary().unwrap(), rows, fs::read_to_string(folder.path().join("pareto.svg")).unwrap())
}

/// A row of a list sets some keys; the machine has the values of the others.
#[test]
fn outputs_have_the_values_of_the_machine_where_a_point_sets_none() {
    let (summary, rows, chart) = outputs(
        "kernel = 'add'\nn = 512\n[[list]]\nhple.count = 64\n[[list]]\nvdm.banks = 64\n\
         plan = 'kl'\n[[list]]\nhple.multiplier_latency_cycles = 9\n",
        "vdm.mapping='xor'",
    );
    let values = |key: &str| -> Vec<&str> { rows.iter().map(|row| row[key].as_str()).collect() };
    assert_eq!(values("hple.count"), ["64", "128", "128"]);
    assert_eq!(values("vdm.banks"), ["128", "64", "128"]);
    assert_eq!(values("hple.multiplier_latency_cycles"), ["11", "11", "9"]);
    assert!(chart.contains("(128, 64, ") && !chart.contains(", ,") && !chart.contains("(, "), "{chart}");
    assert!(
        summary.lines().any(|line| line.trim_start().starts_with("128") && line.contains("64")),
        "{summary}"
    );
}

#[test]
fn keys_of_the_machine_are_extrapolated_as_axes_are() {
    let change = "sdm.size_kib=64";
    let text = "kernel = 'add'\nn = 512\n[[list]]\nhple.count = 64\n[[list]]\nhple.count = 128\n";
    let (summary, rows, chart) = outputs(text, change);
    assert!(rows.iter().all(|row| row["extrapolated"] == "sdm.size_kib"), "{rows:?}");
    assert!(summary.contains("costs extrapolated in 2 of 2 points"), "{summary}");
    assert!(chart.contains("costs extrapolated"));
    // Nor does it matter which other keys a point sets.
    let (summary, rows, _) = outputs(&format!("{text}[[list]]\nisa.gs_butterfly = true\n"), change);
    let marked = rows.iter().filter(|row| !row["extrapolated"].is_empty()).count();
    assert_eq!(marked, 3);
    assert!(summary.contains("costs extrapolated in 3 of 3 points"), "{summary}");
}

#[test]
fn the_machine_of_the_paper_is_within_the_checked_range() {
    assert!(Machine::rpu_128x128().extrapolated().is_empty());
    let (summary, rows, chart) = outputs(SWEEP, "vdm.mapping='interleaved'");
    assert!(rows.iter().all(|row| row["extrapolated"].is_empty()));
    assert!(!summary.contains("extrapolated") && !chart.contains("extrapolated"));
}

/// More points than charts show. Sizes of memories change no cycle.
#[test]
fn a_large_sweep_shows_a_sample_and_lists_everything() {
    let sizes = |least: u32| (0..145).map(|i| (least + i).to_string()).collect::<Vec<_>>().join(", ");
    let text = format!(
        "kernel = 'add'\nn = 512\nschedule_for = 'base'\n[grid]\nsdm.size_kib = [{}]\nfrontend.instruction_memory_kib = [{}]\n",
        sizes(32),
        sizes(512)
    );
    let plan = plan(&text);
    let count = 145 * 145;
    assert_eq!(plan.len(), count);
    assert_eq!(plan.manifest.points.bytes(), count * (16 + 2 * 4), "memory of a point");
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    assert_eq!(sweep(folder, &plan, Shard::WHOLE, false, &vadd), count);
    let results = Results::merge(&[folder]).unwrap();
    assert_eq!(results.manifest, plan.manifest);
    let outputs = Outputs::new(&results);
    outputs.write(folder).unwrap();
    assert!(outputs.summary().unwrap().contains(&format!(" of {count} points")));
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    assert_eq!(read("results.csv").lines().count(), count + 1);
    assert_eq!(read("results.jsonl").lines().count(), count);
    let page = read("report.html");
    assert!(page.contains("The front, and a sample of the other points"));
    let rows = page.matches(" data-key=").count();
    assert!((3800..=5500).contains(&rows), "{rows}");
    // The front is one point.
    let shown = format!("he front and {} of {} other points", rows - 1, count - 1);
    let said = page.contains(&format!("Charts and table show t{shown}; results.csv has all."));
    assert!(said, "the page says how many points it shows");
    // Its lines are short.
    let chart = read("pareto.svg");
    let legend: Vec<&str> = chart.lines().filter(|line| !line.starts_with('<')).collect();
    assert!(legend.join(" ").contains(&format!("T{shown}")), "the legend says so");
    // A point's costs are its own, though all share one simulation.
    let areas: BTreeSet<u64> = [0, 1, 2, count - 1]
        .map(|point| results.record(point).unwrap().unwrap().report.unwrap().area_mm2.to_bits())
        .into();
    assert_eq!(areas.len(), 4);
}

/// Styles and scripts of pages differ between versions of rpu; the results do not.
#[test]
fn what_another_version_drew_is_told_from_what_somebody_altered() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    sweep(folder, &plan(SWEEP), Shard::WHOLE, false, &vadd);
    let results = Results::merge(&[folder]).unwrap();
    let outputs = Outputs::new(&results);
    outputs.write(folder).unwrap();
    let differing = || {
        let Differing { altered, drawn_otherwise } = outputs.differing(folder).unwrap();
        (altered.join(" "), drawn_otherwise.join(" "))
    };
    let changed = |name: &str, from: &str, to: &str| {
        let text = fs::read_to_string(folder.join(name)).unwrap();
        assert!(text.contains(from), "{name}: {text}");
        fs::write(folder.join(name), text.replacen(from, to, 1)).unwrap();
        let checksum = |text: &str| blake3::hash(text.as_bytes()).to_string();
        (checksum(&text), checksum(&text.replacen(from, to, 1)))
    };
    assert_eq!(differing(), ("".into(), "".into()));
    let (old, new) = changed("report.html", "<style>", "<style>i{}");
    assert_eq!(differing(), ("report.html".into(), "".into()));
    changed("results.b3", &old, &new);
    assert_eq!(differing(), ("".into(), "report.html".into()));
    // Of other results.
    let (old, new) = changed("results.csv", ",true,", ",false,");
    assert_eq!(differing(), ("results.csv".into(), "report.html".into()));
    changed("results.b3", &old, &new);
    assert_eq!(differing(), ("results.csv report.html".into(), "".into()));
    fs::remove_file(folder.join("results.b3")).unwrap();
    assert_eq!(differing(), ("results.csv report.html".into(), "".into()));
    // The checksums are a file of the folder, too; a file that is not there is not wrong.
    outputs.write(folder).unwrap();
    fs::remove_file(folder.join("results.csv")).unwrap();
    assert_eq!(differing(), ("".into(), "".into()));
    changed("results.b3", "  pareto.svg", "0  pareto.svg");
    assert_eq!(differing(), ("".into(), "".into()));
    outputs.draw(folder).unwrap();
    let (page, _) = changed("pareto.svg", "<svg", "<svg ");
    changed("results.b3", &page, &old);
    assert_eq!(differing(), ("pareto.svg".into(), "".into()));
}

/// Charts of tasks that the sweep no longer has would pass for its results.
#[test]
fn charts_of_an_earlier_definition_go() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let write = |degrees: &str, generate: super::Generator<'_>| {
        let plan = plan(&format!("kernel = 'add'\n[grid]\nn = {degrees}\nhple.count = [64, 128]"));
        sweep(folder, &plan, Shard::WHOLE, true, generate);
        let results = Results::merge(&[folder]).unwrap();
        Outputs::new(&results).write(folder).unwrap();
        let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        let mut drawn: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
        drawn.retain(|name| name.ends_with(".svg") || name.ends_with(".png") || name.ends_with(".html"));
        drawn.sort();
        drawn.join(" ")
    };
    let [one, two] = ["512", "1024"].map(|n| format!("pareto-add-{n}-128.png pareto-add-{n}-128.svg"));
    assert_eq!(write("[512, 1024]", &lab_sweep::generate), format!("{two} {one} report.html"));
    let altered = folder.join("pareto-add-512-128.svg");
    fs::write(&altered, "mine").unwrap();
    assert_eq!(
        write("[1024]", &lab_sweep::generate),
        "pareto-add-512-128.svg pareto.png pareto.svg report.html"
    );
    fs::remove_file(altered).unwrap();
    // Without a point that ran there is neither chart nor page. The name of another file is not a chart's.
    let outside = folder.parent().unwrap().join(format!("{}.html", folder.file_name().unwrap().display()));
    fs::write(&outside, "another").unwrap();
    let mut sums = fs::read_to_string(folder.join("results.b3")).unwrap();
    let name = outside.file_name().unwrap().display();
    sums += &format!(
        "{}  ../{name}\n{}  pareto/../../{name}\n",
        blake3::hash(b"another"),
        blake3::hash(b"another")
    );
    fs::write(folder.join("results.b3"), sums).unwrap();
    fs::remove_file(folder.join("journal.jsonl")).unwrap();
    assert_eq!(write("[1024]", &|_, _, _| Err("no".into())), "");
    assert!(outside.exists());
    fs::remove_file(outside).unwrap();
}

#[test]
fn a_page_says_that_everything_was_checked_only_if_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("own.b512");
    for (claim, is_checked) in [(".computes", true), ("// .computes", false)] {
        fs::write(&program, VADD.replace(".computes", claim)).unwrap();
        let plan = plan(&format!("program = '{}'\n[grid]\nhple.count = [64, 128]", program.display()));
        let out = tempfile::tempdir().unwrap();
        sweep(out.path(), &plan, Shard::WHOLE, false, &vadd);
        Outputs::new(&Results::merge(&[out.path()]).unwrap()).write(out.path()).unwrap();
        let page = fs::read_to_string(out.path().join("report.html")).unwrap();
        assert_eq!(page.contains("every coefficient of its results was checked"), is_checked);
    }
}
