//! The front of a sweep, a space or a chart: its objectives, its designs, and the same one in all outputs.

use lab_sweep::compose::{ComposeError, Composition, Condition, Form, Fronts, Mark, Pool};
use lab_sweep::explore::{Explored, Space, explore};
use lab_sweep::outputs::Outputs;
use lab_sweep::{Definition, Journal, Plan, Results, Shard, execute, generate};
use plot::{Chart, Panel};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use tempfile::{TempDir, tempdir};

const SPACE: &str = "kernel = 'ntt'\nn = 1024\nplan = 'kl'\n[grid]\nhple.count = [16, 32, 64, 128, 256]\n\
    vdm.banks = [32, 64, 128]\n[explore]\n";

/// A row of `results.csv`.
type Row = BTreeMap<String, String>;

fn rows(folder: &Path) -> Vec<Row> {
    let mut table = csv::Reader::from_path(folder.join("results.csv")).unwrap();
    table.deserialize().map(Result::unwrap).collect()
}

fn number(row: &Row, column: &str) -> f64 {
    row[column].parse().unwrap()
}

/// The keys of the rows with this value of `pareto`.
fn marked(rows: &[Row]) -> BTreeSet<String> {
    rows.iter().filter(|row| row["pareto"] == "true").map(|row| row["key"].clone()).collect()
}

/// The keys of the rows that no other one beats in some columns, by the definition.
fn front(rows: &[Row], objectives: &[&str]) -> BTreeSet<String> {
    let costs = |row: &Row| objectives.iter().map(|column| number(row, column)).collect::<Vec<f64>>();
    let beats = |a: &Row, b: &Row| {
        let (a, b) = (costs(a), costs(b));
        a != b && a.iter().zip(&b).all(|(a, b)| a <= b)
    };
    let is_on = |row: &&Row| !rows.iter().any(|other| beats(other, row));
    rows.iter().filter(is_on).map(|row| row["key"].clone()).collect()
}

/// All outputs of an exploration.
struct Explorations {
    folder: TempDir,
    explored: Explored,
    summary: String,
    rows: Vec<Row>,
    svg: String,
    page: String,
}

impl Explorations {
    fn new(text: &str) -> Self {
        let folder = tempdir().unwrap();
        let space = Space::new(&Definition::parse("space.toml", text).unwrap()).unwrap();
        let mut journal = Journal::open(folder.path(), Shard::WHOLE, &space.manifest()).unwrap();
        let explored = explore(&space, &mut journal, 100, 0, &generate, &|_| ()).unwrap();
        let results = Results::merge(&[folder.path()]).unwrap();
        let outputs = Outputs::new(&results);
        outputs.write(folder.path()).unwrap();
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        Self {
            explored,
            summary: outputs.summary().unwrap(),
            rows: rows(folder.path()),
            svg: read("pareto.svg"),
            page: read("report.html"),
            folder,
        }
    }

    /// Holds the number that is printed, the table of text, the column and the page to a front.
    fn check(&self, expected: &BTreeSet<String>) {
        assert_eq!(marked(&self.rows), *expected);
        assert_eq!(self.explored.front, expected.len());
        let (count, all) = (expected.len(), self.rows.len());
        assert!(
            self.summary.contains(&format!("Pareto front, {count} of {all} points\n")),
            "{}",
            self.summary
        );
        assert_eq!(self.page.matches("<tr class=\"front").count(), count);
    }
}

fn sweep(text: &str) -> (TempDir, String) {
    let folder = tempdir().unwrap();
    let plan = Plan::new(&Definition::parse("sweep.toml", text).unwrap()).unwrap();
    let mut journal = Journal::open(folder.path(), Shard::WHOLE, &plan.manifest).unwrap();
    let batch = journal.pending(&plan, Shard::WHOLE, false);
    execute(&plan, &batch, &mut journal, &generate, &|_| ()).unwrap();
    let results = Results::merge(&[folder.path()]).unwrap();
    let outputs = Outputs::new(&results);
    outputs.write(folder.path()).unwrap();
    let summary = outputs.summary().unwrap();
    (folder, summary)
}

fn composition(x: &str, y: &str, fronts: Fronts) -> Composition {
    Composition {
        form: Form::Scatter,
        x: x.into(),
        y: y.into(),
        colour: None,
        label: None,
        facet: None,
        fronts,
        marks: Vec::new(),
        limits: Vec::new(),
    }
}

fn compose(folder: &Path, composition: &Composition) -> Result<Chart, ComposeError> {
    let figure = Pool::read(&[folder], &[])?.compose(composition)?;
    match figure.panels.into_iter().next() {
        Some(Panel::Scatter(chart)) => Ok(chart),
        panel => panic!("{panel:?}"),
    }
}

/// The points on the fronts of a chart, in two columns.
fn on_front(chart: &Chart) -> Vec<(f64, f64)> {
    let points = chart.series.iter().flat_map(|series| &series.points);
    let mut points: Vec<_> =
        points.filter(|point| point.front.is_some()).map(|point| (point.x, point.y)).collect();
    points.sort_by(|a, b| a.partial_cmp(b).unwrap());
    points
}

#[test]
fn every_output_of_an_exploration_has_the_front_of_its_objectives() {
    let found = Explorations::new(&format!("{SPACE}objectives = ['area_mm2', 'energy_uj']\n"));
    found.check(&front(&found.rows, &["area_mm2", "energy_uj"]));
    assert_ne!(marked(&found.rows), front(&found.rows, &["time_us", "area_mm2"]));
    for text in ["Area (mm²)", "Energy (µJ)", "energy against area", "Pareto front"] {
        assert!(found.svg.contains(text), "{text} is missing");
    }
    assert!(!found.svg.contains("Latency"));
    assert!(found.summary.contains("energy (uJ)"), "{}", found.summary);
    assert!(found.page.contains(r#""objectives":["area_mm2","energy_uj"]"#));

    // A chart of the folder has the same axes.
    let pool = Pool::read(&[found.folder.path()], &[]).unwrap();
    assert_eq!(pool.axes(), ["area_mm2", "energy_uj"]);
}

#[test]
fn a_front_has_as_many_objectives_as_are_stated() {
    let objectives = ["energy_uj", "cycles", "area_mm2"];
    let found = Explorations::new(&format!("{SPACE}objectives = {objectives:?}\n"));
    found.check(&front(&found.rows, &objectives));
    let of_two = front(&found.rows, &objectives[..2]);
    assert!(marked(&found.rows).len() > of_two.len());
    assert!(found.svg.contains("large: Pareto front"), "its projection is not a line");
    assert!(found.summary.contains("The objectives of the front are energy, cycles, area\n"));
}

#[test]
fn designs_beyond_a_constraint_are_on_no_front() {
    let found = Explorations::new(&format!("{SPACE}constraints = ['area < 12 mm2']\n"));
    let within: Vec<Row> = found.rows.iter().filter(|row| number(row, "area_mm2") < 12.0).cloned().collect();
    found.check(&front(&within, &["time_us", "area_mm2"]));
    assert!(found.svg.contains("Pale designs exceed a constraint"));
    let count = format!("designs with area < 12 mm²: {} of 15\n", within.len());
    assert!(found.summary.contains(&count), "{}", found.summary);
    let chart = compose(found.folder.path(), &composition("energy_uj", "cycles", Fronts::Always)).unwrap();
    assert_eq!(on_front(&chart).len(), front(&within, &["energy_uj", "cycles"]).len());

    let none = Explorations::new(&format!("{SPACE}constraints = ['area < 1 mm2']\n"));
    none.check(&BTreeSet::new());
    assert!(none.svg.contains("Latency") && !none.svg.contains("Pareto front"));
}

const STREAMS: &str = "kernel = 'ntt'\nn = 1024\nplan = 'kl'\nstream = 8\n[grid]\nhbm.efficiency = [0.01, 0.9]\n\
    launch.cycles = [0, 2000]\nhple.count = [64, 128]\n";

#[test]
fn the_time_of_a_design_with_a_stream_is_that_of_the_stream() {
    let (folder, summary) = sweep(STREAMS);
    let rows = rows(folder.path());
    assert_eq!(marked(&rows), front(&rows, &["stream_us", "area_mm2"]));
    assert!(marked(&rows).iter().all(|key| {
        let row = rows.iter().find(|row| row["key"] == *key).unwrap();
        row["hbm.efficiency"] == "0.9" && row["launch.cycles"] == "0"
    }));
    assert!(summary.contains("time of the stream (us)") && !summary.contains("latency"), "{summary}");
    let svg = fs::read_to_string(folder.path().join("pareto.svg")).unwrap();
    assert!(svg.contains("Time of the stream (µs)") && svg.contains("stream of 8 runs"));
    let pool = Pool::read(&[folder.path()], &[]).unwrap();
    assert_eq!(pool.axes(), ["stream_us", "area_mm2"]);

    // Runs of another number are another task.
    let (folder, _) = sweep(&STREAMS.replace("stream = 8\n[grid]", "[grid]\nstream = [1, 8]"));
    let all = self::rows(folder.path());
    let of = |runs: &str| -> Vec<Row> { all.iter().filter(|row| row["stream"] == runs).cloned().collect() };
    let both = ["1", "8"].map(|runs| front(&of(runs), &["stream_us", "area_mm2"]));
    assert_eq!(marked(&all), both.into_iter().flatten().collect());
    for runs in [1, 8] {
        assert!(folder.path().join(format!("pareto-ntt-1024-128-stream-{runs}.svg")).is_file());
    }
}

#[test]
fn an_exploration_of_streams_minimises_their_time() {
    let found = Explorations::new(STREAMS);
    found.check(&front(&found.rows, &["stream_us", "area_mm2"]));
    let stated = "[explore]\nobjectives = ['stream_us', 'energy_uj']\nconstraints = ['stream < 50 us']\n";
    let found = Explorations::new(&format!("{STREAMS}{stated}"));
    let within: Vec<Row> = found.rows.iter().filter(|row| number(row, "stream_us") < 50.0).cloned().collect();
    assert!(within.len() < found.rows.len());
    found.check(&front(&within, &["stream_us", "energy_uj"]));

    // A program of one's own.
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("own.b512"), include_str!("../../../../kernels-b512/vadd.b512")).unwrap();
    let text = "program = 'own.b512'\nstream = 4\n[grid]\nhbm.gb_per_s = [32, 512]\nhple.count = [64, 128]\n";
    let own = Definition::parse(folder.path().join("own.toml").to_str().unwrap(), text).unwrap();
    let space = Space::new(&own).unwrap();
    assert_eq!(space.goals().objectives[0].name(), "stream_us");
    assert!(space.manifest().title.ends_with("own.b512, stream of 4 runs: area against time of the stream"));

    let error = refused(&format!("{SPACE}objectives = ['stream_us', 'area_mm2']\n"));
    assert!(error.contains("`stream_us` is the time of a stream, but the designs have none"), "{error}");
    assert!(error.contains("set `stream = 8`"), "{error}");
}

fn refused(text: &str) -> String {
    match Space::new(&Definition::parse("space.toml", text).unwrap()) {
        Ok(_) => panic!("{text} is a space"),
        Err(errors) => errors.to_string(),
    }
}

#[test]
fn some_measures_need_a_program_that_has_them() {
    for (task, measure, message) in [
        ("kernel = 'ntt'", "slot_level_ns", "`slot_level_ns` is of bootstraps"),
        ("kernel = 'hmult'\nset = 'ark'", "slot_level_ns", "`slot_level_ns` is of bootstraps"),
        ("kernel = 'ntt'", "key_mib", "`key_mib` is of ring programs"),
        ("kernel = 'ntt'", "energy_hbm_uj", "`energy_hbm_uj` is of the off-chip memory"),
    ] {
        let error = refused(&format!(
            "{task}\nn = 1024\n[grid]\nhple.count = [64, 128]\n[explore]\nobjectives = ['{measure}', 'area_mm2']"
        ));
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn a_space_has_one_task() {
    let error = refused("kernel = 'ntt'\n[grid]\nn = [1024, 2048]\nhple.count = [64, 128]");
    assert_eq!(
        error,
        "space.toml:3:1: D004: a space has one task, but `n` has the values 1024, 2048; \
         set `n` for all designs, and use one `rpu explore` per value"
    );
    for (key, text) in [
        ("modulus_bits", "n = 1024\n[grid]\nmodulus_bits = [60, 128]"),
        ("kernel", "n = 1024\n[grid]\nkernel = ['ntt', 'intt']"),
        ("towers", "n = 1024\n[[list]]\ntowers = 2\n[[list]]\nhple.count = 64"),
        ("stream", "n = 1024\n[zip]\nstream = [1, 8]\nhple.count = [64, 128]"),
        ("level", "kernel = 'hmult'\nset = 'ark'\nn = 2048\n[grid]\nlevel = [3, 4]"),
        ("technology", "n = 1024\n[grid]\ntechnology = ['gf12', 'gf12-built']"),
    ] {
        let error = refused(text);
        let one = if key == "technology" { "technology" } else { "task" };
        assert!(error.contains(&format!("a space has one {one}, but `{key}` has the values ")), "{error}");
    }
    // Plans, searches and dataflows are decisions; and a value that is the same in all rows is not a choice.
    for text in [
        "n = 1024\n[grid]\nplan = ['kl', 'best']\nhple.count = [64, 128]",
        "n = 1024\n[[list]]\nn = 1024\nhple.count = 128\n[[list]]\nhple.count = 64",
        "kernel = 'hmult'\nset = 'ark'\nn = 2048\nlevel = 3\n[grid]\ndataflow = ['oc', 'mp']\nkeys = ['streamed', 'seeded']",
    ] {
        assert!(Space::new(&Definition::parse("space.toml", text).unwrap()).is_ok(), "{text}");
    }
}

#[test]
fn levels_of_a_ring_program_are_tasks() {
    let text = "kernel = 'hmult'\nset = 'ark'\nn = 2048\n[grid]\nlevel = [3, 4]\nvdm.size_mib = [1, 4]";
    let plan = Plan::new(&Definition::parse("sweep.toml", text).unwrap()).unwrap();
    let tasks: BTreeSet<_> = plan.points().map(|point| point.workload().to_string()).collect();
    let task = |level: u32| format!("hmult of the parameter set ark, n = 2048, level {level}");
    assert_eq!(tasks, BTreeSet::from([task(3), task(4)]));
}

#[test]
fn fronts_know_whether_less_or_more_is_better() {
    let (folder, _) = sweep(SPACE);
    let folder = folder.path();
    let chart = |x: &str, y: &str| compose(folder, &composition(x, y, Fronts::Always)).unwrap();
    let rows = rows(folder);
    let best = |column: &str| rows.iter().map(|row| number(row, column)).fold(f64::NEG_INFINITY, f64::max);
    // More costs more: area, or time.
    for (cost, column) in [("area_mm2", "frequency_ghz"), ("time_us", "compute_utilisation")] {
        let points = on_front(&chart(cost, column));
        assert!(points.len() > 1 && points.windows(2).all(|w| w[0].1 < w[1].1), "{column}: {points:?}");
        assert!((points.last().unwrap().1 / best(column) - 1.0).abs() < 1e-12);
    }

    for key in ["hple.count", "vdm.banks", "compute_instructions"] {
        let chart = compose(folder, &composition("time_us", key, Fronts::IfBetter)).unwrap();
        assert!(chart.without_front && on_front(&chart).is_empty(), "{key}");
        let error = compose(folder, &composition("time_us", key, Fronts::Always)).unwrap_err();
        let message = format!("no front of the column `{key}`: neither less nor more of it is better");
        assert_eq!(error.to_string(), message);
    }
    assert!(compose(folder, &composition("time_us", "area_mm2", Fronts::Never)).unwrap().without_front);
}

#[test]
fn tables_of_fronts_are_aligned_and_have_clocks_that_differ() {
    let table = |summary: &str| -> Vec<String> {
        let lines = summary.lines().skip_while(|line| !line.starts_with("Pareto front"));
        lines.skip(1).take_while(|line| line.starts_with("  ")).map(str::to_owned).collect()
    };
    let is_aligned =
        |table: &[String]| table.iter().all(|line| line.chars().count() == table[0].chars().count());
    let (_folder, summary) = sweep(SPACE);
    let of_clocks = table(&summary);
    assert!(of_clocks.len() > 3 && is_aligned(&of_clocks), "{summary}");
    assert!(of_clocks[0].ends_with("  GHz") && of_clocks.iter().any(|line| line.ends_with("  1.680")));

    let one_clock = SPACE.replace("[32, 64, 128]", "[64]").replace("256", "256, 512");
    let (_folder, summary) = sweep(&one_clock);
    assert!(!table(&summary)[0].contains("GHz"), "{summary}");

    let long = SPACE.replace("plan = 'kl'\n", "").replace("[grid]", "[grid]\nplan = ['kl', 'unoptimised']");
    let (_folder, summary) =
        sweep(&long.replace("hple.count = [16, 32, 64, 128, 256]", "hple.count = [64, 128]"));
    assert!(is_aligned(&table(&summary)), "{summary}");
}

/// A table may have 512 in one row and 512.0 in another one.
#[test]
fn equal_numbers_are_one_value_of_an_axis() {
    let (folder, _) = sweep(
        "kernel = 'ntt'\nplan = 'kl'\nn = 1024\n[grid]\nhple.count = [64, 128]\nhbm.gb_per_s = [256.0, 512.0]\n",
    );
    let path = folder.path().join("table.csv");
    let table = fs::read_to_string(folder.path().join("results.csv")).unwrap();
    let header = table.lines().next().unwrap();
    let mut rows: Vec<String> = table.lines().skip(1).map(str::to_owned).collect();
    assert!(rows[0].contains(",256.0,"), "{}", rows[0]);
    rows[0] = rows[0].replacen(",256.0,", ",256,", 1);
    fs::write(&path, [header.to_owned(), rows.join("\n")].join("\n")).unwrap();
    let mut wanted = composition("cycles", "area_mm2", Fronts::Never);
    wanted.colour = Some("hbm.gb_per_s".into());
    let chart = compose(&path, &wanted).unwrap();
    let labels: Vec<&str> = chart.series.iter().map(|series| series.label.as_str()).collect();
    assert_eq!(labels, ["256", "512"]);
    // The same rows with one bandwidth only do not differ in it.
    let same: Vec<String> = rows.iter().map(|row| row.replacen(",512.0,", ",256.0,", 1)).collect();
    fs::write(&path, [header.to_owned(), same.join("\n")].join("\n")).unwrap();
    let chart = compose(&path, &composition("cycles", "area_mm2", Fronts::Never)).unwrap();
    assert_eq!(chart.name_label, "HPLEs");
}

/// Charts of any form say what they do not model, and which designs are extrapolated or exceed a constraint.
#[test]
fn charts_of_all_forms_have_the_remarks_of_the_sweep() {
    let text = "kernel = 'ntt'\nplan = 'kl'\nn = 1024\n[grid]\nhple.count = [64, 128]\nvdm.banks = [64, 128]\n\
        hbm.efficiency = [0.5, 0.9]\nfrontend.queue_depth = [8, 64]\n[explore]\nconstraints = ['area < 16 mm2']\n";
    let exploration = Explorations::new(text);
    let notes = |form: Form| -> (Vec<String>, usize) {
        let composition = Composition { form, ..composition("time_us", "area_mm2", Fronts::IfBetter) };
        let figure = Pool::read(&[exploration.folder.path()], &[]).unwrap().compose(&composition).unwrap();
        match figure.panels.into_iter().next() {
            Some(Panel::Scatter(chart)) => {
                let points = chart.series.iter().flat_map(|series| &series.points);
                let pale = points.filter(|point| point.pale).count();
                (chart.notes, pale)
            }
            Some(Panel::Parallel(chart)) => {
                let pale = chart.lines.iter().filter(|line| line.pale).count();
                (chart.notes, pale)
            }
            Some(Panel::Tornado(chart)) => (chart.notes, 0),
            panel => panic!("{panel:?}"),
        }
    };
    let beyond = exploration.rows.iter().filter(|row| number(row, "area_mm2") > 16.0).count();
    assert!((1..exploration.rows.len()).contains(&beyond), "{beyond}");
    for form in [Form::Scatter, Form::Parallel, Form::Tornado] {
        let (notes, pale) = notes(form);
        let has = |start: &str| notes.iter().filter(|note| note.starts_with(start)).count();
        assert_eq!(has("Not modelled: costs of hbm.efficiency"), 1, "{notes:?}");
        assert_eq!(has("Pale designs"), usize::from(form != Form::Tornado), "{notes:?}");
        // A chart of two columns marks them.
        assert_eq!(has("Costs extrapolated in 8 of 16"), usize::from(form != Form::Scatter), "{notes:?}");
        assert!(form == Form::Tornado || pale == beyond, "{pale}");
    }
}

#[test]
fn a_chart_has_a_colour_for_each_value_or_is_an_error() {
    let exploration = Explorations::new(SPACE);
    let mut wanted = composition("time_us", "area_mm2", Fronts::IfBetter);
    wanted.colour = Some("area_mm2".into());
    let error = compose(exploration.folder.path(), &wanted).unwrap_err();
    assert!(matches!(error, ComposeError::Colours { values: 15, .. }), "{error}");
    wanted.colour = Some("hple.count".into());
    assert_eq!(compose(exploration.folder.path(), &wanted).unwrap().series.len(), 5);
}

#[test]
fn a_chart_of_one_sweep_has_its_title() {
    let text = "title = 'Banks'\nkernel = 'ntt'\nplan = 'kl'\nn = 1024\n[grid]\nvdm.banks = [64, 128]\n";
    let title = |text: &str, x: &str| {
        let (folder, _) = sweep(text);
        compose(folder.path(), &composition(x, "area_mm2", Fronts::Never)).unwrap().title
    };
    assert_eq!(title(text, "time_us"), "Banks");
    assert_eq!(title(text, "energy_uj"), "Banks: area against energy");
    let untitled = title(text.trim_start_matches("title = 'Banks'\n"), "time_us");
    assert!(
        untitled.starts_with("1K-point NTT") && untitled.ends_with(": area against latency"),
        "{untitled}"
    );
}

/// `<` is strict, for a sweep that is searched as for a chart.
#[test]
fn a_design_at_a_strict_limit_exceeds_it() {
    let all = Explorations::new(SPACE);
    let limit = number(&all.rows[3], "area_mm2");
    for (sign, strict) in [("<", true), ("<=", false)] {
        let limited = Explorations::new(&format!("{SPACE}constraints = ['area {sign} {limit} mm2']\n"));
        let keeps = |area: f64| if strict { area < limit } else { area <= limit };
        let within: Vec<Row> =
            all.rows.iter().filter(|row| keeps(number(row, "area_mm2"))).cloned().collect();
        let note = format!("area {sign} {limit} mm²: {} of 15\n", within.len());
        assert!(limited.summary.contains(&note), "{note} {}", limited.summary);
        let conditions = Condition::parse_all("--where", &format!("area {sign} {limit} mm2")).unwrap();
        let pool = Pool::read(&[all.folder.path()], &conditions).unwrap();
        let figure = pool.compose(&composition("cycles", "area", Fronts::Never)).unwrap();
        let Panel::Scatter(chart) = &figure.panels[0] else { panic!("{figure:?}") };
        assert_eq!(chart.series.iter().map(|series| series.points.len()).sum::<usize>(), within.len());
    }
}

/// Machines that nobody can build, and settings that cost nothing.
#[test]
fn equal_designs_are_on_a_front_together_and_ideal_ones_displace_none() {
    let text = "kernel = 'ntt'\nn = 1024\nmodulus_bits = 60\nplan = 'kl'\n[grid]\nideal.queues = [true, false]\n\
        hple.count = [64, 128]\nhbm.gb_per_s = [100, 512]\n";
    let (folder, _) = sweep(text);
    let rows = rows(folder.path());
    let real: Vec<Row> = rows.iter().filter(|row| row["ideal.queues"] == "false").cloned().collect();
    assert_eq!(marked(&rows), front(&real, &["time_us", "area_mm2"]));
    let bandwidths: BTreeSet<&str> =
        rows.iter().filter(|row| row["pareto"] == "true").map(|row| row["hbm.gb_per_s"].as_str()).collect();
    assert_eq!(bandwidths.len(), 2, "they change no cost");
    let explored = Explorations::new(&format!("{text}[explore]\n"));
    explored.check(&marked(&rows));
    let chart = compose(folder.path(), &composition("time", "area", Fronts::Always)).unwrap();
    assert_eq!(on_front(&chart).len(), marked(&rows).len());

    // Without real machines, the front is that of the ideal ones.
    let (folder, _) = sweep(&text.replace("[true, false]", "[true]"));
    assert!(!marked(&self::rows(folder.path())).is_empty());
}

#[test]
fn programs_are_the_same_task_by_their_content_not_by_their_name() {
    let own = |(name, program): (&str, &str)| {
        let folder = tempdir().unwrap();
        fs::write(folder.path().join(name), program).unwrap();
        let file = folder.path().join("sweep.toml");
        let text = format!("program = '{name}'\n[grid]\nhple.count = [64, 128]\n");
        let plan = Plan::new(&Definition::parse(file.to_str().unwrap(), &text).unwrap()).unwrap();
        let mut journal = Journal::open(folder.path(), Shard::WHOLE, &plan.manifest).unwrap();
        let batch = journal.pending(&plan, Shard::WHOLE, false);
        execute(&plan, &batch, &mut journal, &generate, &|_| ()).unwrap();
        folder
    };
    let add = include_str!("../../../../kernels-b512/vadd.b512");
    let other = include_str!("../../../../kernels-b512/ntt1024.b512");
    let [first, second, same] = [("own.b512", add), ("own.b512", other), ("copy.b512", add)].map(own);
    let fronts = |folders: [&TempDir; 2]| {
        let pool = Pool::read(&folders.map(TempDir::path), &[]).unwrap();
        let figure = pool.compose(&composition("time", "area", Fronts::Always)).unwrap();
        let Panel::Scatter(chart) = &figure.panels[0] else { panic!("{figure:?}") };
        let points = chart.series.iter().flat_map(|series| &series.points);
        let fronts: BTreeSet<usize> = points.filter_map(|point| point.front).collect();
        (fronts.len(), chart.title.clone())
    };
    let (count, title) = fronts([&first, &second]);
    assert_eq!((count, title.as_str()), (2, "2 tasks: area against latency"));
    let (count, title) = fronts([&first, &same]);
    assert_eq!((count, title.as_str()), (1, "copy.b512: area against latency"));
}

#[test]
fn designs_with_programs_of_quick_searches_have_a_dot_beside_those_of_the_library() {
    let folder = tempdir().unwrap();
    let dots = |sources: [&str; 3]| {
        let path = folder.path().join("table.csv");
        let rows: Vec<String> = (0..3).map(|i| format!("{i},ok,false,{i},{i}.5,7,{}", sources[i])).collect();
        let header = "key,status,pareto,hple.count,time_us,area_mm2,program_source";
        fs::write(&path, format!("{header}\n{}\n", rows.join("\n"))).unwrap();
        let chart = compose(&path, &composition("time", "area", Fronts::Never)).unwrap();
        let points = chart.series.iter().flat_map(|series| &series.points);
        points.map(|point| point.dotted).collect::<Vec<bool>>()
    };
    assert_eq!(dots(["library", "tuned", "neighbour"]), [false, true, true]);
    assert_eq!(dots(["library", "library", "named"]), [false; 3]);
    // All by the same effort.
    assert_eq!(dots(["tuned", "tuned", "file"]), [false; 3]);
}

/// Points of an exploration seldom differ in one axis only.
#[test]
fn a_tornado_chart_needs_designs_that_differ_in_one_axis_only() {
    let text = "kernel = 'ntt'\nplan = 'kl'\nn = 1024\n[[list]]\nhple.count = 64\nvdm.banks = 64\n[[list]]\n\
        hple.count = 128\nvdm.banks = 128\n";
    let (folder, _) = sweep(text);
    let tornado = Composition { form: Form::Tornado, ..composition("time_us", "area_mm2", Fronts::IfBetter) };
    assert!(matches!(compose(folder.path(), &tornado), Err(ComposeError::NoEffect)));
}

/// An axis of the task counts as any other: its values are different tasks.
#[test]
fn a_tornado_chart_names_the_largest_effect_also_of_the_task() {
    let text = "kernel = 'ntt'\nplan = 'kl'\n[grid]\nn = [1024, 4096]\nhple.count = [64, 128]\n";
    let (folder, _) = sweep(text);
    let tornado = Composition { form: Form::Tornado, ..composition("time_us", "time_us", Fronts::IfBetter) };
    let pool = Pool::read(&[folder.path()], &[]).unwrap();
    let figure = pool.compose(&tornado).unwrap();
    let Panel::Tornado(chart) = &figure.panels[0] else { panic!("{figure:?}") };
    assert_eq!(chart.bars.len(), 2);
    assert!(
        chart.notes.iter().any(|note| note.starts_with("Largest effect: ring degree, ")),
        "{:?}",
        chart.notes
    );
}

/// Labels of many values would hide the chart; the legend sorts numbers as numbers.
#[test]
fn a_chart_of_many_axes_names_the_front_by_few() {
    let text = "kernel = 'ntt'\nn = 1024\nplan = 'kl'\n[grid]\nhple.multiplier_latency_cycles = [9, 11]\n\
        sbar.latency_cycles = [3, 4]\nvbar.latency_cycles = [3, 4]\nhple.count = [64, 128]\nvdm.banks = [128, 32, 64]\n";
    let (folder, _) = sweep(text);
    let mut wanted = composition("time_us", "area_mm2", Fronts::IfBetter);
    let chart = compose(folder.path(), &wanted).unwrap();
    let points = || chart.series.iter().flat_map(|series| &series.points);
    // The others are the same along the front.
    let names: Vec<&str> = chart.name_label.split(", ").collect();
    assert!(names.len() == 3 && names.contains(&"HPLEs") && names.contains(&"VDM banks"), "{names:?}");
    assert!(chart.short_name_label.is_empty() && points().all(|point| point.short_name.is_empty()));
    wanted.colour = Some("vdm.banks".into());
    let series = compose(folder.path(), &wanted).unwrap().series;
    assert_eq!(series.iter().map(|series| &*series.label).collect::<Vec<_>>(), ["32", "64", "128"]);
    wanted.label = Some("vdm.banks".into());
    assert_eq!(compose(folder.path(), &wanted).unwrap().name_label, "VDM banks");
}

#[test]
fn a_chart_marks_designs_draws_limits_and_has_the_references_of_its_sweep() {
    let text = "kernel = 'ntt'\nplan = 'kl'\nn = 1024\n[grid]\nvdm.banks = [64, 128]\n[[reference]]\nlabel = 'elsewhere'\n\
        time_us = 1\narea_mm2 = 30\n[[reference]]\nlabel = 'measured'\nenergy_uj = 5\narea_mm2 = 31\n";
    let (folder, _) = sweep(text);
    let of_paper = rows(folder.path()).into_iter().find(|row| row["vdm.banks"] == "128").unwrap();
    let chart = |x: &str, mark: &str, limit: &str, source: &str| {
        let mut wanted = composition(x, "area_mm2", Fronts::IfBetter);
        wanted.marks = vec![Mark::parse("--mark", mark).unwrap()];
        wanted.limits = Condition::parse_all("--limit", limit).unwrap();
        compose(&folder.path().join(source), &wanted)
    };
    let mark = format!("RPU paper: key = {}", of_paper["key"]);
    for source in ["", "results.csv"] {
        let chart = chart("time_us", &mark, "area <= 20.5 mm2", source).unwrap();
        let first = &chart.references[0];
        assert_eq!((first.label.as_str(), first.y), ("RPU paper", number(&of_paper, "area_mm2")));
        let published = chart.references[1..].iter().map(|reference| (reference.x, reference.y));
        // A table has no references.
        assert!(published.eq(source.is_empty().then_some((1.0, 30.0))));
        assert!(chart.limits[0].vertical && chart.limits[0].label == "area <= 20.5 mm²");
    }
    // Each reference is in charts of what it has.
    let of_energy = chart("energy_uj", &mark, "energy_uj < 1", "").unwrap().references;
    assert_eq!((of_energy.len(), of_energy[1].label.as_str(), of_energy[1].x), (2, "measured", 5.0));
    let error = |mark: &str, limit: &str| chart("time_us", mark, limit, "").unwrap_err().to_string();
    assert!(error("key = 1", "time_us < 1").contains("the mark `key = 1`"));
    assert!(error(&mark, "energy_uj < 1").contains("the limit of `energy_uj` is on no axis"));
    assert!(error("wrong = 1", "time_us < 1").contains("unknown column `wrong`"));
}
