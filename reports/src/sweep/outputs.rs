//! The files that results become.

use super::journal::JournalError;
use super::plan::Manifest;
use super::results::{Record, Results, Status};
use crate::files;
use crate::pareto::{self, Costs};
use crate::plot::{self, Chart, PlotError, Point, Series};
use crate::run::TimingReport;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde_json::Value;
use sim::timing::Cause;
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why the files could not be written.
#[derive(Debug, Error)]
pub enum OutputError {
    /// The results cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// There is nothing to draw.
    #[error(transparent)]
    Plot(#[from] PlotError),
    /// A file cannot be written.
    #[error("{}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The table cannot be written.
    #[error("the table cannot be written: {0}")]
    Table(#[from] csv::Error),
}

/// Writes `results.jsonl`, `results.csv`, `pareto.svg`, `pareto.png` and `report.html` to
/// `folder`, and returns their names. Without a point that went well there is no chart and no
/// page.
///
/// # Errors
/// Where a record is of another version or a file cannot be written.
pub fn write(folder: &Path, results: &Results) -> Result<Vec<&'static str>, OutputError> {
    let records = results.records()?;
    let front = front(&records);
    let mut lines = String::new();
    for (_, line) in results.lines() {
        lines.push_str(line);
        lines.push('\n');
    }
    let mut contents = vec![
        ("results.jsonl", lines.into_bytes()),
        ("results.csv", table(&results.manifest, &records, &front)?),
    ];
    if records.iter().any(|record| record.status == Status::Ok) {
        let chart = chart(&results.manifest, &records);
        let svg = plot::svg(&chart)?;
        let page = page(&results.manifest, &records, &front, results.missing(), &svg).into_string();
        contents.push(("pareto.png", plot::png(&chart)?));
        contents.push(("pareto.svg", svg.into_bytes()));
        contents.push(("report.html", page.into_bytes()));
    }
    for (name, content) in &contents {
        let path = folder.join(name);
        files::write(&path, content).map_err(|source| OutputError::Write { path, source })?;
    }
    Ok(contents.into_iter().map(|(name, _)| name).collect())
}

/// The front as a text for people, slowest design last.
///
/// # Errors
/// Where a record is of another version.
pub fn summary(results: &Results) -> Result<String, JournalError> {
    let records = results.records()?;
    let front = front(&records);
    let mut rows: Vec<(&Record, &TimingReport, f64)> = records
        .iter()
        .filter(|record| front.contains(record.key.as_str()))
        .filter_map(|record| costs(record).map(|(timing, area)| (record, timing, area)))
        .collect();
    rows.sort_by(|(_, a, _), (_, b, _)| a.time_us.total_cmp(&b.time_us));
    let manifest = &results.manifest;
    let names: Vec<&str> = manifest.varying.iter().map(|key| title(key)).collect();
    let mut text = format!("{}\nPareto front, {} of {} points\n", manifest.title, rows.len(), records.len());
    let mut row = |settings: &[String], rest: [&str; 3]| {
        for (name, setting) in names.iter().zip(settings) {
            text += &format!("  {setting:>width$}", width = name.chars().count().max(5));
        }
        let [latency, area, cycles] = rest;
        text += &format!("  {latency:>12}  {area:>10}  {cycles:>10}\n");
    };
    let heading: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    row(&heading, ["latency (us)", "area (mm2)", "cycles"]);
    for (record, timing, area) in rows {
        let settings: Vec<String> = manifest.varying.iter().map(|key| plain(record.point.get(key))).collect();
        let [latency, area] = [timing.time_us, area].map(|value| format!("{value:.2}"));
        row(&settings, [&latency, &area, &timing.cycles.to_string()]);
    }
    Ok(text)
}

/// The cycles and the area of a record that has them.
fn costs(record: &Record) -> Option<(&TimingReport, f64)> {
    let report = record.report.as_ref()?;
    Some((report.timing.as_ref()?, report.area_mm2))
}

/// The keys of the points on the front of latency and area.
fn front(records: &[Record]) -> HashSet<&str> {
    let (keys, designs): (Vec<&str>, Vec<Costs>) = records
        .iter()
        .filter_map(|record| {
            let (timing, area) = costs(record)?;
            Some((record.key.as_str(), Costs { first: timing.time_us, second: area }))
        })
        .unzip();
    pareto::front(&designs).into_iter().map(|i| keys[i]).collect()
}

/// A value as people write it: no quotes around text.
fn plain(value: Option<&Value>) -> String {
    match value {
        None => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

/// A key as people call it.
fn title(key: &str) -> &str {
    match key {
        "hple.count" => "HPLEs",
        "vdm.banks" => "VDM banks",
        other => other,
    }
}

/// Area against latency. The last key that varies and has at most eight values makes the series.
fn chart(manifest: &Manifest, records: &[Record]) -> Chart {
    let value = |record: &Record, key: &str| plain(record.point.get(key));
    let values = |key: &str| {
        let mut values: Vec<String> = Vec::new();
        for record in records {
            let value = value(record, key);
            if !values.contains(&value) && values.len() <= plot::MAX_SERIES {
                values.push(value);
            }
        }
        values
    };
    let varying: Vec<(&str, Vec<String>)> =
        manifest.varying.iter().map(|key| (key.as_str(), values(key))).collect();
    let series = varying.iter().rfind(|(_, values)| (2..=plot::MAX_SERIES).contains(&values.len()));
    let (series_key, series_values) = match series {
        Some((key, values)) => (Some(*key), values.clone()),
        None => (None, vec![String::new()]),
    };
    let name = |record: &Record, without: Option<&str>| {
        let keys = varying.iter().map(|(key, _)| *key).filter(|key| Some(*key) != without);
        keys.map(|key| value(record, key)).collect::<Vec<_>>().join(", ")
    };
    let point = |record: &Record| {
        let (timing, area) = costs(record)?;
        Some(Point {
            x: timing.time_us,
            y: area,
            name: format!("({})", name(record, None)),
            short_name: name(record, series_key),
        })
    };
    let in_series = |record: &&Record, of: &String| series_key.is_none_or(|key| value(record, key) == *of);
    Chart {
        title: manifest.title.clone(),
        x_label: "Latency (µs)".into(),
        y_label: "Area (mm²)".into(),
        series_label: series_key.map(title).unwrap_or_default().into(),
        name_label: match &varying[..] {
            [] => String::new(),
            keys => {
                let names = keys.iter().map(|(key, _)| title(key).trim_start_matches("VDM "));
                format!("({})", names.collect::<Vec<_>>().join(", "))
            }
        },
        short_name_label: {
            let names = varying.iter().map(|(key, _)| *key).filter(|key| Some(*key) != series_key).map(title);
            names.collect::<Vec<_>>().join(", ")
        },
        series: series_values
            .iter()
            .map(|of| Series {
                label: of.clone(),
                points: records.iter().filter(|record| in_series(record, of)).filter_map(point).collect(),
            })
            .collect(),
        references: manifest
            .references
            .iter()
            .map(|r| plot::Reference { x: r.time_us, y: r.area_mm2, label: r.label.clone() })
            .collect(),
    }
}

/// A column of results beyond the points' settings: its heading, and its value in a record.
type Column = (&'static str, fn(&Record) -> Option<String>);

/// The columns of the table after those of the settings.
const COLUMNS: [Column; 15] = [
    ("cycles", |r| Some(costs(r)?.0.cycles.to_string())),
    ("frequency_ghz", |r| Some(costs(r)?.0.frequency_ghz.to_string())),
    ("time_us", |r| Some(costs(r)?.0.time_us.to_string())),
    ("area_mm2", |r| Some(costs(r)?.1.to_string())),
    ("energy_uj", |r| Some(r.report.as_ref()?.energy_uj.to_string())),
    ("load_store_instructions", |r| Some(costs(r)?.0.instructions.load_store.to_string())),
    ("compute_instructions", |r| Some(costs(r)?.0.instructions.compute.to_string())),
    ("shuffle_instructions", |r| Some(costs(r)?.0.instructions.shuffle.to_string())),
    ("resource_bound_cycles", |r| Some(costs(r)?.0.bounds.resource_cycles.to_string())),
    ("dependence_bound_cycles", |r| Some(costs(r)?.0.bounds.dependence_cycles.to_string())),
    ("load_store_utilisation", |r| Some(costs(r)?.0.utilisation.load_store.to_string())),
    ("compute_utilisation", |r| Some(costs(r)?.0.utilisation.compute.to_string())),
    ("shuffle_utilisation", |r| Some(costs(r)?.0.utilisation.shuffle.to_string())),
    ("checked", |r| Some(r.report.as_ref()?.checked.to_string())),
    ("program_blake3", |r| Some(r.report.as_ref()?.program_blake3.clone())),
];

/// All results as CSV: settings, [`COLUMNS`], a column of cycles for each cause, the error.
fn table(manifest: &Manifest, records: &[Record], front: &HashSet<&str>) -> Result<Vec<u8>, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut header: Vec<String> = vec!["key".into(), "status".into(), "pareto".into()];
    header.extend(manifest.columns.iter().cloned());
    header.extend(COLUMNS.iter().map(|(name, _)| (*name).to_owned()));
    header.extend(Cause::ALL.iter().map(|cause| format!("{}_cycles", cause.name())));
    header.push("error".into());
    writer.write_record(&header)?;
    for record in records {
        let status = if record.status == Status::Ok { "ok" } else { "failed" };
        let mut row =
            vec![record.key.clone(), status.into(), front.contains(record.key.as_str()).to_string()];
        row.extend(manifest.columns.iter().map(|column| plain(record.point.get(column))));
        row.extend(COLUMNS.iter().map(|(_, value)| value(record).unwrap_or_default()));
        row.extend(Cause::ALL.iter().map(|cause| {
            let cycles = costs(record).and_then(|(timing, _)| timing.stalls.get(cause.name()));
            cycles.map_or_else(String::new, u64::to_string)
        }));
        row.push(record.error.clone().unwrap_or_default());
        writer.write_record(&row)?;
    }
    writer.into_inner().map_err(|error| error.into_error().into())
}

const STYLE: &str = "
:root { color-scheme: light dark; --line: #d5d5d5; --muted: #666; --mark: #fdf3d8; }
@media (prefers-color-scheme: dark) { :root { --line: #444; --muted: #aaa; --mark: #3a3118; } }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; line-height: 1.25; margin-bottom: .25rem; }
p { margin: .25rem 0 1rem; color: var(--muted); }
figure { margin: 1.5rem 0; background: #fff; border: 1px solid var(--line); border-radius: 6px; padding: .5rem; }
figure svg { width: 100%; height: auto; display: block; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; white-space: nowrap; width: 100%; }
th, td { padding: .25rem .6rem; text-align: right; border-bottom: 1px solid var(--line); }
th { font-weight: 600; vertical-align: bottom; }
tr.front { background: var(--mark); }
td.failed { text-align: left; white-space: normal; color: #c0392b; }
footer { margin: 1.5rem 0; color: var(--muted); font-size: .85rem; }
";

/// One page with the chart and a table of all points.
fn page(manifest: &Manifest, records: &[Record], front: &HashSet<&str>, missing: usize, svg: &str) -> Markup {
    let failed = records.iter().filter(|record| record.status == Status::Failed).count();
    let simulator = records.iter().find_map(|record| Some(&record.report.as_ref()?.simulator));
    let (columns, common): (Vec<&String>, Vec<&String>) = manifest.columns.iter().partition(|column| {
        let mut values = records.iter().map(|record| record.point.get(*column));
        let first = values.next();
        values.any(|value| Some(value) != first)
    });
    let common: Vec<String> = common
        .into_iter()
        .map(|column| {
            format!("{column} {}", plain(records.first().and_then(|record| record.point.get(column))))
        })
        .collect();
    // The share of cycles in which each pipe is busy; where the rest goes is in results.csv.
    let percent = |share: f64| format!("{:.0}\u{a0}%", share * 100.0);
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (manifest.title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 { (manifest.title) }
                p {
                    (common.join(", ")) ". " (records.len()) " points"
                    @if failed > 0 { ", " (failed) " of them failed" }
                    @if missing > 0 { "; " (missing) " more have not run yet" }
                    ". Rows on the Pareto front are marked. Every program was executed and compared with "
                    "the golden model, coefficient by coefficient."
                }
                figure { (PreEscaped(svg)) }
                div.scroll {
                    table {
                        thead {
                            tr {
                                @for column in &columns { th { (title(column)) } }
                                th { "cycles" } th { "GHz" } th { "latency" br; "(µs)" } th { "area" br; "(mm²)" }
                                th { "energy" br; "(µJ)" } th { "bound" br; "(cycles)" }
                                th { "load/store" br; "busy" } th { "compute" br; "busy" } th { "shuffle" br; "busy" }
                            }
                        }
                        tbody {
                            @for record in records {
                                tr.front[front.contains(record.key.as_str())] {
                                    @for column in &columns { td { (plain(record.point.get(*column))) } }
                                    @if let (Some((timing, area)), Some(report)) = (costs(record), &record.report) {
                                        td { (timing.cycles) }
                                        td { (timing.frequency_ghz) }
                                        td { (format!("{:.3}", timing.time_us)) }
                                        td { (format!("{area:.2}")) }
                                        td { (format!("{:.2}", report.energy_uj)) }
                                        td {
                                            (timing.bounds.resource_cycles.max(timing.bounds.dependence_cycles))
                                        }
                                        td { (percent(timing.utilisation.load_store)) }
                                        td { (percent(timing.utilisation.compute)) }
                                        td { (percent(timing.utilisation.shuffle)) }
                                    } @else {
                                        td.failed colspan="9" { (record.error.as_deref().unwrap_or("failed")) }
                                    }
                                }
                            }
                        }
                    }
                }
                @if let Some(simulator) = simulator {
                    footer { "rpu " (simulator.version) ", model " (&simulator.model_blake3[..16.min(simulator.model_blake3.len())]) }
                }
            }
        }
    }
}
