//! The page of a sweep.

use super::chart::designs;
use super::columns::{Column, binds, columns};
use super::manifest::Manifest;
use super::measure::Measure;
use super::names::short_name;
use super::quantity::{Better, Quantity, names};
use super::record::Record;
use super::results::Results;
use super::scatter::tuple;
use super::value::plain;
use super::view::{EXTRAPOLATED, SEARCHED, View, extrapolated, is_beyond_reticle, setting, text};
use b512_asm::Pipe;
use diagnostic::counted;
use lab_run::page_parts::{StackPart, cause_label, key, names as part_names, part_label, shell, stack};
use lab_run::{OffChip, RunReport, ghz};
use maud::{Markup, PreEscaped, html};
use runtime::limit;
use serde_json::{Value, json};
use sim::timing::Cause;
use sim::{Area, Energy};
use std::borrow::Cow;

/// The most points of a workload that the interactive chart has: more make a page too large for a browser.
const MAX_CHART_POINTS: usize = 5000;

/// A page with a table and, if a point succeeded, a chart for each workload.
pub(super) fn page(results: &Results, sections: &[(View<'_>, Option<&str>)]) -> Markup {
    let manifest = &results.manifest;
    let reports =
        sections.iter().flat_map(|(view, _)| &view.records).filter_map(|record| record.report.as_ref());
    let simulator = reports.map(|report| &report.simulator).next();
    let (varying, common): (Vec<&String>, Vec<&String>) = manifest.columns.iter().partition(|column| {
        let mut values = results.recorded().map(|point| manifest.points.value(point, column));
        let first = values.next();
        values.any(|value| Some(value) != first)
    });
    let first = results.recorded().next();
    let first = |column: &String| plain(first.and_then(|point| manifest.points.value(point, column)));
    let common: Vec<String> =
        common.into_iter().map(|column| Quantity::of(column).with_value(&first(column))).collect();
    let body = html! {
        h1 { (manifest.title) }
        (summary(results, &common))
        @for (index, (view, svg)) in sections.iter().enumerate() {
            @if sections.len() > 1 { h2 { (view.workload) } }
            @if let Some(svg) = svg {
                figure.static { (PreEscaped(svg)) }
                div.interactive id=(format!("chart-{index}")) {}
            }
            @if let Some(shared) = view.records.iter().find_map(|record| view.shared(record)) { p { (shared) "." } }
            @if let Some(basis) = View::basis(view.records.iter().copied()) { p { (basis) "." } }
            @for note in view.notes() { p { (note) "." } }
            @if view.hidden() > 0 {
                @let (shown, all) = view.beside_front();
                p { "Charts and table show the front and " (shown) " of " (all) " other points; results.csv has all." }
            } @else if view.points > MAX_CHART_POINTS {
                p { "The interactive chart shows the front and " (MAX_CHART_POINTS) " other points; results.csv has all." }
            }
            @if view.efforts_differ {
                p { "A light dot: " (SEARCHED) "; the others are the library's." }
            }
            (front_stacks(view))
            h3 { @if view.hidden() > 0 { "The front, and a sample of the other points" } @else { "All points" } }
            @if view.records.iter().any(|record| !extrapolated(record).is_empty()) {
                p { "* " (EXTRAPOLATED) ": a value is outside the range that printed numbers or synthesis check." }
            }
            @if view.records.iter().any(|record| is_beyond_reticle(record)) {
                p { "† beyond a reticle: no single exposure makes a chip of this area." }
            }
            (table(view, &varying, index))
        }
        @if let Some(simulator) = simulator {
            footer { "rpu " (simulator.version) ", model " (simulator.model_version) }
        }
    };
    let data = sections.iter().any(|(_, svg)| svg.is_some()).then(|| data(manifest, sections));
    shell(&manifest.title, &body, data.as_ref())
}

fn summary(results: &Results, common: &[String]) -> Markup {
    let (failed, missing) = (results.failed(), results.missing());
    html! {
        p {
            (common.join(", ")) ". " (counted(results.recorded().count(), "point", "points"))
            @if failed > 0 { ", " (failed) " of them failed" }
            @if missing > 0 { "; " (missing) " more have not run yet" }
            ". Rows on the Pareto front are marked."
            @if results.all_checked() {
                " Every program was executed, and every coefficient of its results was checked."
            }
        }
    }
}

/// The data of the interactive charts: columns, and the values of each point.
fn data(manifest: &Manifest, sections: &[(View<'_>, Option<&str>)]) -> Value {
    let results = columns();
    let mut columns: Vec<Value> = manifest.columns.iter().map(|name| of_name(name)).collect();
    columns.extend(results.iter().map(of_column));
    let groups = sections.iter().map(|(view, _)| {
        let designs = designs(view);
        let named = designs.named_keys();
        let points = shown(view).map(|record| point(manifest, view, &named, &results, record));
        let points: Vec<Value> = points.collect();
        let objectives: Vec<&str> = view.goals.objectives.iter().map(|objective| objective.name()).collect();
        json!({
            "colour": designs.series_key(),
            "labels": names(named),
            "objectives": objectives,
            "points": points,
        })
    });
    json!({
        "columns": columns,
        "settings": manifest.columns,
        "groups": groups.collect::<Vec<_>>(),
    })
}

/// The records of the interactive chart.
fn shown<'v>(view: &'v View<'_>) -> impl Iterator<Item = &'v Record> {
    let step = step(view.hidden(), view.records.len());
    let chosen = move |(i, record): &(usize, &&Record)| i % step == 0 || view.front.contains(&record.key);
    view.records.iter().enumerate().filter(chosen).map(|(_, record)| *record)
}

/// Every so many-th record is in the chart. A view that hides points has its sample already.
fn step(hidden: usize, records: usize) -> usize {
    if hidden > 0 { 1 } else { records.div_ceil(MAX_CHART_POINTS).max(1) }
}

/// What the script knows of any column.
fn of_name(name: &str) -> Value {
    let quantity = Quantity::of(name);
    json!({ "name": name, "short": short_name(name), "unit": quantity.unit_name(), "label": quantity.label() })
}

fn of_column(column: &Column) -> Value {
    let name = column.name.as_str();
    let stem = short_name(name);
    let has = |parts: &[(&str, f64)]| parts.iter().any(|(part, _)| *part == stem);
    // The bars of a design: where its cycles, its area and its energy go.
    let part = match Cause::all().find(|cause| cause.name() == stem) {
        Some(cause) if name.ends_with("_cycles") => Some(("cycles", cause_label(cause))),
        _ if name.ends_with("_mm2") && has(&Area::default().components()) => Some(("area", part_label(stem))),
        _ if name.ends_with("_uj") && has(&Energy::default().components()) => {
            Some(("energy", part_label(stem)))
        }
        _ if name == "energy_hbm_uj" => Some(("energy", part_label("hbm"))),
        _ if name == "energy_static_uj" => Some(("energy", part_label("static"))),
        _ => None,
    };
    let (of, part) = part.unzip();
    let mut data = of_name(name);
    data["of"] = of.into();
    data["part"] = part.into();
    // What the details of a design list.
    data["shown"] = (column.measure.is_some() || SHOWN.contains(&name)).into();
    // A front needs two columns with better values.
    data["better"] = column.better.map(Better::name).into();
    data
}

/// The results beside the measures that the details of a design list.
const SHOWN: [&str; 3] = ["frequency_ghz", "bound_ratio", "program_source"];

fn point(manifest: &Manifest, view: &View<'_>, named: &[&str], results: &[Column], record: &Record) -> Value {
    let name = |keys: &[&str]| {
        let values: Vec<String> = keys.iter().map(|key| text(record, key)).collect();
        tuple(values.join(", "), keys.len())
    };
    // The chart and the marked rows must agree on the front.
    let is_exact = |column: &Column| column.measure.is_some();
    let rounded = |column: &Column, value: Value| match value.as_f64() {
        // Six digits are enough for a chart, and a third of the page. They are too few for a front.
        Some(number) if value.is_f64() && !is_exact(column) => {
            format!("{number:.5e}").parse::<f64>().map_or(value, Value::from)
        }
        _ => value,
    };
    let settings =
        manifest.columns.iter().map(|column| setting(record, column).map_or(Value::Null, Cow::into_owned));
    let values =
        results.iter().map(|column| column.value(record).map_or(Value::Null, |value| rounded(column, value)));
    json!({
        "key": record.key,
        "name": name(&view.varying),
        // Beside a point of the chart.
        "label": (named.len() < view.varying.len()).then(|| name(named)),
        "beyond": view.is_beyond(record),
        "ideal": record.is_ideal(),
        "searched": view.is_searched(record),
        "values": settings.chain(values).collect::<Vec<_>>(),
    })
}

/// The causes of the cycles of each point on the front, as stacked bars.
fn front_stacks(view: &View<'_>) -> Markup {
    let on_front = |record: &&&Record| view.front.contains(&record.key);
    let mut front: Vec<&Record> = view.records.iter().filter(on_front).copied().collect();
    let first = |record: &Record| View::value(record, view.goals.axes()[0]).unwrap_or_default();
    front.sort_by(|a, b| first(a).total_cmp(&first(b)));
    let parts = |record: &&Record| -> Vec<StackPart> {
        let Some(stalls) = record.report.as_ref().and_then(|run| run.stalls.as_ref()) else {
            return Vec::new();
        };
        let part = |cause: Cause| StackPart {
            name: cause_label(cause),
            size: stalls.get(cause.name()).map_or(0.0, |&cycles| cycles as f64),
        };
        Cause::all().map(part).collect()
    };
    let named = designs(view).named_keys();
    let stacks: Vec<Vec<StackPart>> = front.iter().map(parts).collect();
    let causes = part_names(stacks.iter().map(Vec::as_slice));
    html! {
        @if stacks.iter().any(|parts| !parts.is_empty()) {
            h3 { "Where the cycles go on the front" }
            (key(&causes))
            div.scroll {
                table {
                    thead { tr {
                        th { (names(named.iter().copied())) }
                        th { "cycles" } th { "share" }
                    } }
                    tbody {
                        @for (record, parts) in front.iter().zip(&stacks) {
                            @let whole = parts.iter().map(|part| part.size).sum();
                            tr {
                                td.name { (named.iter().map(|name| text(record, name)).collect::<Vec<_>>().join(", ")) }
                                td { (whole) }
                                td.wide { (stack(parts, &causes, whole)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The name of what binds, for people.
fn binds_label(name: &str) -> String {
    match Cause::all().find(|cause| cause.name() == name) {
        Some(cause) => cause_label(cause).replace("waits for ", ""),
        None => limit(name).to_owned(),
    }
}

/// The bytes that a ring program moves to and from the off-chip memory.
fn off_chip(report: &RunReport) -> Option<u64> {
    match report.hbm.as_ref()? {
        OffChip::Ring(hbm) => Some(hbm.bytes_by_kind.values().sum()),
        OffChip::Stream(_) => None,
    }
}

/// A text as a string of a style sheet, which cannot end its element.
fn css(text: &str) -> String {
    let safe = |c: char| {
        if c.is_alphanumeric() || " ()".contains(c) {
            c.to_string()
        } else {
            format!("\\{:x} ", u32::from(c))
        }
    };
    format!("\"{}\"", text.trim().chars().map(safe).collect::<String>())
}

/// The most settings before the results in a table: more would move these off the screen.
const MAX_SETTINGS: usize = 8;

/// All points of a workload.
fn table(view: &View<'_>, columns: &[&String], index: usize) -> Markup {
    // The share of cycles in which each pipe is busy; results.csv has the rest.
    let percent = |share: f64| format!("{:.0}\u{a0}%", share * 100.0);
    let has_stream = view.workload.stream > 0;
    let mut reports = view.records.iter().filter_map(|record| record.report.as_ref());
    // Ring programs move data off chip, and have no bounds and no pipes of their own.
    let is_ring = reports.any(|report| report.n.is_some());
    let mut heads: Vec<(String, &str)> =
        columns.iter().map(|column| (Quantity::of(column).with_unit(), "")).collect();
    let settings = heads.len();
    let mut head = |name: &str, unit: &'static str| heads.push((name.to_owned(), unit));
    head("cycles", "");
    head("GHz", "");
    head("latency", "(µs)");
    if has_stream {
        head("stream", "(µs)");
    }
    head("area", "(mm²)");
    head("energy", "(µJ)");
    head("power", "(W)");
    if is_ring {
        head("binds", "");
        head("off chip", "(MB)");
    } else {
        head("most cycles", "");
        head("bound", "(cycles)");
        for pipe in Pipe::VECTOR {
            head(pipe.label(), "busy");
        }
    }
    let results = heads.len() - settings;
    let results_first = settings > MAX_SETTINGS;
    if results_first {
        heads.rotate_left(settings);
    }
    html! {
        // On a phone, a row is a card whose values have their headings beside them.
        style { "@media (max-width: 48rem) {" @for (i, (name, unit)) in heads.iter().enumerate() {
            (PreEscaped(format!("#table-{index} td:nth-child({}):not(.failed)::before {{ content: {} }}", i + 1, css(&format!("{name} {unit}")))))
        } "}" }
        div.scroll {
            table.sortable.cards id=(format!("table-{index}")) {
                thead {
                    tr { @for (name, unit) in &heads { th { (name) @if !unit.is_empty() { br; (unit) } } } }
                }
                tbody {
                    @for record in &view.records {
                        tr.front[view.front.contains(&record.key)].beyond[view.is_beyond(record)] data-key=(record.key) {
                            @if !results_first { @for column in columns { td { (text(record, column)) } } }
                            @if let (Some(costs), Some(report)) = (record.outcome().costs, &record.report) {
                                @let value = |measure: Measure| measure.of(&costs);
                                td { (value(Measure::Cycles)) }
                                td { (ghz(&report.machine)) }
                                td { (format!("{:.3}", value(Measure::TimeUs))) }
                                @if has_stream { td { (format!("{:.3}", value(Measure::StreamUs))) } }
                                td { (format!("{:.2}", value(Measure::AreaMm2))) @if !extrapolated(record).is_empty() { " *" } @if is_beyond_reticle(record) { " †" } }
                                td { (format!("{:.2}", value(Measure::EnergyUj))) }
                                td { (format!("{:.2}", value(Measure::PowerW))) }
                                td { @if let Some((name, share)) = binds(report) { (binds_label(name)) " " (percent(share)) } }
                                @if is_ring { td { @if let Some(bytes) = off_chip(report) { (format!("{:.1}", bytes as f64 / 1e6)) } } } @else {
                                    td { @if let Some(bounds) = report.bounds { (bounds.resource_cycles.max(bounds.dependence_cycles)) } }
                                    @for pipe in Pipe::VECTOR {
                                        td { @if let Some(utilisation) = &report.utilisation { (percent(utilisation.pipes[pipe])) } }
                                    }
                                }
                            } @else {
                                td.failed colspan=(results) { (record.error.as_deref().unwrap_or("failed")) }
                                // Headings on a phone count the cells.
                                @if results_first { @for _ in 1..results { td hidden {} } }
                            }
                            @if results_first { @for column in columns { td { (text(record, column)) } } }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chart_has_a_sample_of_many_points() {
        let steps = [(0, 0), (0, 5000), (0, 5001), (0, 20_000), (1, 5001)];
        assert_eq!(steps.map(|(hidden, records)| step(hidden, records)), [1, 1, 2, 4, 1]);
    }
}
