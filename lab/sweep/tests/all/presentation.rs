//! Summaries, tables, pages and charts of points with arbitrary numbers. Of the models, only the clock is in
//! them.

use b512_asm::{PerPipe, Pipe, Program};
use lab_run::{
    Bottleneck, Bounds, Instructions, OffChip, ProgramFacts, RunReport, StreamReport, Utilisation, Waits,
};
use lab_sweep::compose::{ComposeError, Composition, Condition, Form, Fronts, MAX_POINTS, Mark, Pool};
use lab_sweep::explore::Space;
use lab_sweep::outputs::Outputs;
use lab_sweep::{Definition, Journal, Plan, Record, Results, Settings, Shard, Status, line};
use plot::Panel;
use runtime::report::Hbm;
use serde_json::Value;
use sim::hbm::Traffic;
use sim::machine::Values;
use sim::{Area, Energy, MachineFile, Override};
use std::fmt::Write;
use std::fs;
use std::path::Path;
use tempfile::{TempDir, tempdir};

fn per_pipe<T: Default>(compute: T, shuffle: T) -> PerPipe<T> {
    let mut pipes = PerPipe::default();
    pipes[Pipe::Compute] = compute;
    pipes[Pipe::Shuffle] = shuffle;
    pipes
}

/// A run of so many cycles on a machine of this area, whose settings the point has.
fn run(settings: &Settings, cycles: u64, area_mm2: f64) -> RunReport {
    let of_machine = settings.iter().filter(|(key, _)| key.contains('.'));
    let overrides: Vec<Override> =
        of_machine.map(|(key, value)| Override::parse(&format!("{key}={value}")).unwrap()).collect();
    let machine = MachineFile::built_in("rpu-128x128", &overrides).unwrap();
    let program = Program { name: "demo".into(), ..Program::default() };
    let stalls = [("issue", 1), ("busy_compute", cycles / 2), ("drain", cycles - cycles / 2 - 1)];
    RunReport {
        program_blake3: "0123".into(),
        checked: true,
        cycles: Some(cycles),
        frequency_ghz: Some(2.0),
        time_us: Some(cycles as f64 / 2000.0),
        instructions: Some(Instructions { pipes: per_pipe(12, 3) }),
        bounds: Some(Bounds { resource_cycles: cycles / 2, dependence_cycles: 170 }),
        bound_ratio: Some(1.5),
        stalls: Some(stalls.map(|(cause, cycles)| (cause.to_owned(), cycles)).into()),
        utilisation: Some(Utilisation { pipes: per_pipe(0.512_345_678, 0.25) }),
        waits: Some(Waits { vrf_ports: per_pipe(7, 1), bank_conflict_cycles: 5 }),
        area_mm2,
        area_rpu_mm2: area_mm2 - 0.5,
        area_breakdown_mm2: Area { vdm: area_mm2 - 1.0, law: 1.0, ..Area::default() },
        energy_uj: 0.123_456,
        energy_kernels_uj: 0.1,
        energy_static_uj: 0.023_456,
        energy_breakdown_uj: Energy { law: 0.06, vdm: 0.04, ..Energy::default() },
        power_w: Some(0.25),
        power_rpu_w: Some(0.125),
        ..RunReport::new(&ProgramFacts::of(&program), &machine)
    }
}

fn with_stream(report: RunReport, total_us: f64) -> RunReport {
    let stream = StreamReport {
        runs: 8,
        words_per_run: Traffic { inputs: 2048, tables: 3072, outputs: 1024 },
        hbm_bytes: 1 << 20,
        transfer_us_per_run: 1.5,
        compute_us_per_run: 1.25,
        total_us,
        bottleneck: Bottleneck::Hbm,
        hbm_utilisation: 0.875,
        compute_utilisation: 0.75,
        vdm_words_needed: 1 << 12,
        vdm_words: 1 << 20,
    };
    RunReport { hbm: Some(OffChip::Stream(stream)), ..report }
}

fn of_ring(report: RunReport, binds: &[(&str, f64)], bytes: u64) -> RunReport {
    let kinds = [("inputs".to_owned(), bytes), ("keys".to_owned(), 1_000_000)];
    RunReport {
        n: Some(2048),
        operations: Some(9),
        kernels: Some([("ntt".to_owned(), 3)].into()),
        compute: Some(runtime::report::Compute { busy: 0.5, bound_ratio: None }),
        binds: Some(binds.iter().map(|(name, share)| ((*name).to_owned(), *share)).collect()),
        hbm: Some(OffChip::Ring(Hbm { bytes_by_kind: kinds.into(), needed_bytes: 1 << 20, busy: 0.5 })),
        ..report
    }
}

/// A point: none yet, an error, or a run with the origin of its program.
type Point = Option<Result<(&'static str, RunReport), String>>;

/// The folder of a sweep with such points.
fn folder(definition: &str, point: impl Fn(usize, &Settings) -> Point) -> TempDir {
    let folder = tempdir().unwrap();
    let plan = Plan::new(&Definition::parse("small.toml", definition).unwrap()).unwrap();
    drop(Journal::open(folder.path(), Shard::WHOLE, &plan.manifest).unwrap());
    let points = &plan.manifest.points;
    let mut lines = String::new();
    for index in 0..points.len() {
        let settings = points.settings(index);
        let Some(result) = point(index, &settings) else { continue };
        let (status, error, run) = match result {
            Ok(run) => (Status::Ok, None, Some(run)),
            Err(error) => (Status::Failed, Some(error), None),
        };
        let (program_source, report) = run.map(|(source, report)| (source.to_owned(), report)).unzip();
        let key = points.key(index);
        lines += &line(&Record {
            key,
            status,
            error,
            point: settings,
            recipes_tried: report.as_ref().map(|_| 3),
            program_source,
            report,
        })
        .unwrap();
    }
    fs::write(folder.path().join("journal.jsonl"), lines).unwrap();
    folder
}

/// What follows the first `from`, up to the next `to`.
fn between<'t>(text: &'t str, from: &str, to: &str) -> &'t str {
    let text = &text[text.find(from).unwrap_or_else(|| panic!("no {from}"))..];
    &text[..text.find(to).unwrap_or_else(|| panic!("no {to}"))]
}

/// The outputs of a folder as one text: its summary, its table, its charts, and the body and the data of its
/// page.
fn outputs(folder: &Path) -> String {
    let results = Results::merge(&[folder]).unwrap();
    let outputs = Outputs::new(&results);
    let mut text = outputs.summary().unwrap();
    let out = tempdir().unwrap();
    let names = outputs.write(out.path()).unwrap();
    let read = |name: &str| fs::read_to_string(out.path().join(name)).unwrap();
    writeln!(text, "\n{}\n\n{}", names.join(" "), read("results.csv")).unwrap();
    for name in names.iter().filter(|name| name.ends_with(".svg")) {
        let svg = read(name);
        let texts = svg.split("<text").skip(1).map(|element| between(element, ">", "</text>")[1..].trim());
        writeln!(text, "{name}: {}", texts.collect::<Vec<_>>().join(" | ")).unwrap();
    }
    let page = read("report.html");
    let mut body = String::new();
    for (i, part) in between(&page, "<h1>", "<footer>").split("<svg").enumerate() {
        body += if i == 0 { part } else { &part[part.find("</svg>").unwrap()..] };
    }
    writeln!(text, "\n{}", body.replace("><", ">\n<")).unwrap();
    let data = between(&page, r#"{"columns""#, "</script>");
    let data: Value = serde_json::from_str(data).unwrap();
    for column in data["columns"].as_array().unwrap() {
        writeln!(text, "{column}").unwrap();
    }
    for group in data["groups"].as_array().unwrap() {
        let mut group = group.clone();
        let points = group["points"].take();
        writeln!(text, "{group}").unwrap();
        for point in points.as_array().unwrap() {
            writeln!(text, "{point}").unwrap();
        }
    }
    // Keys change with the version of the models.
    let keys = results.manifest.points.keys().iter().enumerate();
    keys.fold(text, |text, (point, key)| text.replace(&key.to_string(), &format!("point {point}")))
}

fn fresh(name: &str, folder: &Path) {
    diagnostic::snapshot::fresh(
        format!("{}/tests/presentation/{name}.txt", env!("CARGO_MANIFEST_DIR")),
        outputs(folder),
    );
}

/// A failed point, one that has not run, one beyond the checked range, an ideal one, and two on the front.
#[test]
fn a_sweep_with_points_of_every_kind() {
    let definition = "title = 'Six points'\nkernel = 'add'\nn = 512\n[grid]\nsdm.size_kib = [32, 64]\n\
        ideal.bank_conflicts = [false, true]\nhple.count = [64, 128]\n\
        [[reference]]\nlabel = 'somebody'\ntime_us = 0.5\narea_mm2 = 9\n";
    let folder = folder(definition, |index, settings| match index {
        0 => Some(Ok(("library", run(settings, 1200, 10.0)))),
        1 => Some(Ok(("tuned", run(settings, 300, 20.0)))),
        2 => Some(Ok(("library", run(settings, 200, 5.0)))),
        3 => Some(Err("=too large".into())),
        4 => Some(Ok(("neighbour", run(settings, 1300, 10.5)))),
        5 => Some(Ok(("library", run(settings, 400, 30.0)))),
        _ => None,
    });
    fresh("kinds", folder.path());
}

/// The name stands first; the technology has a line of its own, with what differs from its file.
#[test]
fn a_summary_names_the_machine_and_its_changes() {
    let definition = "kernel = 'add'\nn = 512\n[grid]\nhple.count = [64, 128]\n";
    let folder = folder(definition, |_, settings| {
        let mut report = run(settings, 1000, 10.0);
        let change = |values: &mut Values| {
            values.name = "mine".into();
            values.technology.node_nm = 7;
            values.vdm.banks = 64;
        };
        report.machine.edit(change).unwrap();
        Some(Ok(("library", report)))
    });
    let results = Results::merge(&[folder.path()]).unwrap();
    let summary = Outputs::new(&results).summary().unwrap();
    let lines: Vec<&str> = summary.lines().skip(1).take(2).collect();
    let technology = "Technology gf12 with node_nm = 7, the vector crossbar's area by the paper's claim";
    assert_eq!(lines, ["mine, vdm.banks = 64, plan best", technology], "{summary}");
}

/// Its share would be no number.
#[test]
fn nothing_binds_a_run_without_cycles() {
    let definition = "kernel = 'add'\nn = 512\n[grid]\nhple.count = [64, 128]\n";
    let folder = folder(definition, |index, settings| {
        let report = run(settings, 1000, 10.0);
        let stalls = if index == 0 { report.stalls.clone() } else { Some([("issue".to_owned(), 0)].into()) };
        Some(Ok(("library", RunReport { stalls, ..report })))
    });
    let results = Results::merge(&[folder.path()]).unwrap();
    Outputs::new(&results).write(folder.path()).unwrap();
    let table = fs::read_to_string(folder.path().join("results.csv")).unwrap();
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split(',').collect()).collect();
    let column = |name: &str| rows[0].iter().position(|head| *head == name).unwrap();
    let binds = [&rows[1], &rows[2]].map(|row| (row[column("binds")], row[column("binds_share")]));
    assert_eq!(binds, [("busy_compute", "0.5"), ("", "")]);
}

/// A run of the functional engine alone has no time.
#[test]
fn a_run_without_a_time_is_no_design() {
    let definition = "kernel = 'add'\nn = 512\n[grid]\nhple.count = [64, 128]\n";
    let ran = folder(definition, |index, settings| {
        let report = run(settings, 1000, 10.0 - index as f64);
        let untimed = RunReport { time_us: None, cycles: None, ..report.clone() };
        Some(Ok(("library", if index == 0 { report } else { untimed })))
    });
    let text = format!("{definition}[explore]\nobjectives = ['area_mm2', 'energy_uj']\n");
    let space = Space::new(&Definition::parse("space.toml", &text).unwrap()).unwrap();
    let folder = tempdir().unwrap();
    drop(Journal::open(folder.path(), Shard::WHOLE, &space.manifest()).unwrap());
    fs::copy(ran.path().join("journal.jsonl"), folder.path().join("journal.jsonl")).unwrap();
    let results = Results::merge(&[folder.path()]).unwrap();
    let summary = Outputs::new(&results).summary().unwrap();
    let (_, front) = summary.split_once("Pareto front, 1 of 2 points").expect(&summary);
    assert!(front.contains("10.00") && !front.contains("9.00"), "{summary}");
}

#[test]
fn workloads_have_charts_and_tables_of_their_own() {
    let definition =
        "kernel = 'ntt'\nn = 1024\nstream = 8\n[grid]\nmodulus_bits = [30, 60]\nhple.count = [64, 128]\n";
    let folder = folder(definition, |index, settings| {
        let report = run(settings, 1000 + 100 * index as u64, 10.0 - index as f64);
        Some(Ok(("library", with_stream(report, 9.5 - index as f64))))
    });
    fresh("workloads", folder.path());
}

#[test]
fn ring_programs_have_bounds_of_their_own() {
    let definition = "kernel = 'ntt'\nn = 1024\n[grid]\nhple.count = [64, 128, 256]\n";
    let folder = folder(definition, |index, settings| {
        let report = run(settings, 1000, 10.0 + index as f64);
        let binds: &[_] = match index {
            0 => &[("compute", 0.25), ("hbm", 0.75)],
            1 => &[("front_end", 0.625), ("latency", 0.375)],
            _ => &[],
        };
        Some(Ok(("file", of_ring(report, binds, 500_000 * index as u64))))
    });
    fresh("ring", folder.path());
}

/// A chart as text: a line for each design, or for what stands for several.
fn chart(figure: &plot::Figure) -> String {
    let mut text = format!("{} columns of {:?}\n", figure.columns, figure.panel);
    for panel in &figure.panels {
        match panel {
            Panel::Scatter(chart) => {
                let mut rest = chart.clone();
                for series in rest.series.drain(..) {
                    writeln!(text, "{}, joined {}", series.label, series.joined).unwrap();
                    series.points.iter().for_each(|point| writeln!(text, "  {point:?}").unwrap());
                }
                writeln!(text, "{rest:#?}").unwrap();
            }
            Panel::Parallel(chart) => {
                chart.axes.iter().for_each(|axis| writeln!(text, "{axis:?}").unwrap());
                chart.lines.iter().for_each(|line| writeln!(text, "  {line:?}").unwrap());
                writeln!(text, "{}, {}, {:?}", chart.title, chart.highlight_label, chart.notes).unwrap();
            }
            Panel::Tornado(chart) => {
                chart.bars.iter().for_each(|bar| writeln!(text, "  {bar:?}").unwrap());
                writeln!(text, "{}, {}, {:?}", chart.title, chart.x_label, chart.notes).unwrap();
            }
            other => panic!("{other:?}"),
        }
    }
    text
}

fn composition(form: Form) -> Composition {
    Composition {
        form,
        x: "time".into(),
        y: "area".into(),
        colour: None,
        label: None,
        facet: None,
        fronts: Fronts::IfBetter,
        marks: Vec::new(),
        limits: Vec::new(),
    }
}

/// Charts of two folders, and of the table of one.
#[test]
fn composed_charts_show_the_points_of_folders_and_tables() {
    let definition = |n: u32| {
        format!(
            "title = 'Sums of {n}'\nkernel = 'add'\nn = {n}\n[grid]\nsdm.size_kib = [32, 64]\n\
             ideal.bank_conflicts = [false, true]\nhple.count = [64, 128]\n\
             [[reference]]\nlabel = 'somebody'\nn = 512\ntime_us = 0.5\narea_mm2 = 9\n"
        )
    };
    let filled = |n| {
        folder(&definition(n), |index, settings| {
            let source = ["library", "tuned"][index % 2];
            let report = run(settings, 1000 + 10 * index as u64, 20.0 - (3 * index % 8) as f64);
            if index == 7 { Some(Err("too large".into())) } else { Some(Ok((source, report))) }
        })
    };
    let (one, two) = (filled(512), filled(1024));
    let compose = |sources: &[&Path], conditions: &str, composition: &Composition| {
        let conditions = match conditions {
            "" => Vec::new(),
            conditions => Condition::parse_all("--where", conditions).unwrap(),
        };
        Pool::read(sources, &conditions).unwrap().compose(composition).map(|figure| chart(&figure))
    };
    let scatter = Composition {
        marks: vec![Mark::parse("--mark", "smallest: area < 14 mm2").unwrap()],
        limits: Condition::parse_all("--limit", "area < 18 mm2").unwrap(),
        ..composition(Form::Scatter)
    };
    let names = [one.path(), two.path()].map(|path| path.display().to_string());
    let mut text = compose(&[one.path()], "", &scatter).unwrap();
    // A table is as good as its folder, but has no title and no published results.
    Outputs::new(&Results::merge(&[one.path()]).unwrap()).write(one.path()).unwrap();
    text += &compose(&[&one.path().join("results.csv")], "", &scatter).unwrap();
    for (form, conditions) in
        [(Form::Scatter, "hple.count = 64"), (Form::Parallel, ""), (Form::Tornado, "sdm.size_kib = 32")]
    {
        let facet = (form == Form::Scatter).then(|| "n".to_owned());
        let composition = Composition { facet, ..composition(form) };
        text += &compose(&[one.path(), two.path()], conditions, &composition).unwrap();
    }
    let text = text.replace(&names[0], "one").replace(&names[1], "two");
    diagnostic::snapshot::fresh(
        concat!(env!("CARGO_MANIFEST_DIR"), "/tests/presentation/composed.txt"),
        text,
    );
}

/// The error of a chart of one folder or table.
fn refused(source: &Path, conditions: &str, y: &str) -> String {
    let conditions = match conditions {
        "" => Vec::new(),
        conditions => Condition::parse_all("--where", conditions).unwrap(),
    };
    let composition = Composition { y: y.into(), ..composition(Form::Scatter) };
    let figure = Pool::read(&[source], &conditions).and_then(|pool| pool.compose(&composition));
    match figure.unwrap_err() {
        ComposeError::Unknown { message, help } => format!("{message}; {help}"),
        error => error.to_string(),
    }
}

#[test]
fn a_chart_has_points_but_not_too_many_and_columns_that_exist() {
    let definition = "kernel = 'add'\nn = 512\n[grid]\nhple.count = [64, 128]\n";
    let failed = folder(definition, |_, _| Some(Err("too large".into())));
    assert_eq!(refused(failed.path(), "", "area"), "there is nothing to draw: no point has a result");
    let ran = folder(definition, |_, settings| Some(Ok(("library", run(settings, 1000, 10.0)))));
    assert_eq!(refused(ran.path(), "area > 10", "area"), "no result meets the conditions");
    let unknown = refused(ran.path(), "", "nonsense");
    assert!(unknown.starts_with("unknown column `nonsense`"), "{unknown}");
    assert!(
        unknown.contains("every machine key, folder, key, ") && unknown.contains(", time_us, "),
        "{unknown}"
    );

    let path = ran.path().join("many.csv");
    let table = |rows: usize| {
        let row = |i: usize| format!("{i},ok,{},2.5\n", 1 + i);
        fs::write(
            &path,
            "key,status,time_us,area_mm2\n".to_owned() + &(0..rows).map(row).collect::<String>(),
        )
        .unwrap();
    };
    table(MAX_POINTS + 7);
    assert_eq!(refused(&path, "", "area"), "20007 points; a chart shows at most 20000");
    let some = Condition::parse_all("--where", "time > 7").unwrap();
    let pool = Pool::read(&[&path], &some).unwrap();
    assert!(format!("{pool:?}").contains("points: 20000"));

    // A folder is one whatever its name.
    let other = tempdir().unwrap();
    let named = other.path().join("ran.csv");
    fs::rename(ran.path(), &named).unwrap();
    assert!(Pool::read(&[&named], &[]).is_ok());
}

/// A figure of a table with these columns and rows, beside those that every table has.
fn of_table(columns: &str, rows: &[&str], composition: &Composition) -> Result<plot::Figure, String> {
    let folder = tempdir().unwrap();
    let path = folder.path().join("t.csv");
    let row = |(i, row): (usize, &&str)| format!("{i},ok,{},2.5,{row}\n", 1 + i);
    let rows: String = rows.iter().enumerate().map(row).collect();
    fs::write(&path, format!("key,status,time_us,area_mm2,{columns}\n{rows}")).unwrap();
    Pool::read(&[&path], &[]).and_then(|pool| pool.compose(composition)).map_err(|error| error.to_string())
}

#[test]
fn a_figure_has_twelve_panels_and_room_for_all_axes() {
    let panels = |count: usize| {
        let rows: Vec<String> = (0..count).map(|row| row.to_string()).collect();
        let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
        let composition = Composition { facet: Some("k".into()), ..composition(Form::Scatter) };
        of_table("k", &rows, &composition).map(|figure| (figure.columns, figure.panel, figure.panels.len()))
    };
    assert_eq!(panels(1), Ok((1, (960, 640), 1)));
    assert_eq!(panels(2), Ok((2, (720, 480), 2)));
    assert_eq!(panels(12), Ok((2, (720, 480), 12)));
    assert_eq!(panels(13), Err("the column `k` has 13 values; a chart has at most 12 panels".into()));

    let parallel = |axes: usize| {
        let columns: Vec<String> = (0..axes).map(|axis| format!("k{axis}")).collect();
        let rows = ["1,", "2,"].map(|value| value.repeat(axes));
        let rows = rows.each_ref().map(|row| row.trim_end_matches(','));
        of_table(&columns.join(","), &rows, &composition(Form::Parallel)).unwrap().panel
    };
    assert_eq!((parallel(9), parallel(10), parallel(11)), ((960, 640), (960, 652), (960, 698)));
}

#[test]
fn a_chart_of_several_tasks_has_a_front_for_each() {
    let notes = |rows: &[&str]| {
        let figure = of_table("kernel,n", rows, &composition(Form::Scatter)).unwrap();
        let [Panel::Scatter(chart)] = &figure.panels[..] else { panic!("{figure:?}") };
        chart.notes.clone()
    };
    assert_eq!(notes(&["add,512", "add,1024"]), ["One front for each task"]);
    assert!(notes(&["add,512", "add,512"]).is_empty());
}

/// Whether they are read from a folder or from its table.
#[test]
fn points_of_one_task_have_one_title() {
    let definition = "kernel = 'add'\nn = 512\nmodulus = '0x3001'\n[grid]\nhple.count = [64, 128]\n";
    let ran = folder(definition, |_, settings| Some(Ok(("library", run(settings, 1000, 10.0)))));
    Outputs::new(&Results::merge(&[ran.path()]).unwrap()).write(ran.path()).unwrap();
    for source in [ran.path().to_owned(), ran.path().join("results.csv")] {
        let figure = Pool::read(&[&source], &[]).unwrap().compose(&composition(Form::Scatter)).unwrap();
        let [Panel::Scatter(chart)] = &figure.panels[..] else { panic!("{figure:?}") };
        assert_eq!(chart.title, "512-point add, 14-bit modulus: area against latency");
    }
}

/// Explorations of the same objectives have charts of these.
#[test]
fn axes_are_those_of_all_explorations_or_time_and_area() {
    let exploration = |objectives: &str| {
        let text = format!(
            "kernel = 'add'\nn = 512\n[grid]\nhple.count = [64, 128]\n[explore]\nobjectives = {objectives}\n"
        );
        let folder = tempdir().unwrap();
        let space = Space::new(&Definition::parse("space.toml", &text).unwrap()).unwrap();
        drop(Journal::open(folder.path(), Shard::WHOLE, &space.manifest()).unwrap());
        folder
    };
    let energy = "['area_mm2', 'energy_uj']";
    let [first, same, other] = [energy, energy, "['cycles', 'area_mm2']"].map(exploration);
    let axes = |folders: &[&TempDir]| {
        Pool::read(&folders.iter().map(|folder| folder.path()).collect::<Vec<_>>(), &[]).unwrap().axes()
    };
    assert_eq!(axes(&[&first, &same]), ["area_mm2", "energy_uj"]);
    // Without any point, each has the time of a stream.
    assert_eq!(axes(&[&first, &other])[1], "area_mm2");
    assert_ne!(axes(&[&first, &other])[0], "area_mm2");
}

#[test]
fn a_tornado_chart_of_zeros_says_how_many_there_are() {
    let tornado = Composition { y: "energy_hbm_uj".into(), ..composition(Form::Tornado) };
    let of = |rows: &[&str]| of_table("hple.count,energy_hbm_uj", rows, &tornado).map(|_| ());
    assert_eq!(of(&["64,1", "128,3"]), Ok(()));
    let message = "the column `energy_hbm_uj` is not above 0 in 2 of 3 results; a tornado chart shows ratios of \
                   values";
    assert_eq!(of(&["64,0", "128,3", "256,0"]), Err(message.into()));
}
