//! The page of a sweep.

use super::record::Record;
use super::results::Results;
use super::view::{EXTRAPOLATED, View, costs, extrapolated, plain, title};
use crate::run::label;
use b512_asm::Pipe;
use maud::{DOCTYPE, Markup, PreEscaped, html};

const STYLE: &str = "
:root { color-scheme: light dark; --line: #d5d5d5; --muted: #666; --mark: #fdf3d8; }
@media (prefers-color-scheme: dark) { :root { --line: #444; --muted: #aaa; --mark: #3a3118; } }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; line-height: 1.25; margin-bottom: .25rem; }
h2 { font-size: 1.2rem; margin: 2rem 0 0; }
p { margin: .25rem 0 1rem; color: var(--muted); }
figure { margin: 1.5rem 0; background: #fff; border: 1px solid var(--line); border-radius: 6px; padding: .5rem; }
figure svg { width: 100%; height: auto; display: block; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; white-space: nowrap; width: 100%; }
th, td { padding: .25rem .6rem; text-align: right; border-bottom: 1px solid var(--line); }
th { font-weight: 600; vertical-align: bottom; }
tr.front { background: var(--mark); }
td.pruned { text-align: left; color: var(--muted); }
td.failed { text-align: left; white-space: normal; color: #c0392b; }
footer { margin: 1.5rem 0; color: var(--muted); font-size: .85rem; }
";

/// A page with a table and, if a point succeeded, a chart for each workload.
pub(super) fn page(results: &Results, records: &[Record], sections: &[(View<'_>, Option<&str>)]) -> Markup {
    let manifest = &results.manifest;
    let (failed, pruned, missing) = (results.failed(), results.pruned(), results.missing());
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
                    @if pruned > 0 { ", " (pruned) " of them dropped on small rings" }
                    @if missing > 0 { "; " (missing) " more have not run yet" }
                    ". Rows on the Pareto front are marked."
                    @if records.iter().filter_map(|record| record.report.as_ref()).all(|run| run.checked) {
                        " Every program was executed, and every coefficient of its results was checked."
                    }
                }
                @for (view, svg) in sections {
                    @if sections.len() > 1 { h2 { (view.workload) } }
                    @if let Some(svg) = svg { figure { (PreEscaped(svg)) } }
                    @for note in view.notes() { p { (note) "." } }
                    @if view.records.iter().any(|record| !extrapolated(record).is_empty()) {
                        p { "* " (EXTRAPOLATED) ": a value is outside the range that printed numbers or synthesis check." }
                    }
                    (table(view, &columns))
                }
                @if let Some(simulator) = simulator {
                    footer { "rpu " (simulator.version) ", model " (simulator.model_version) }
                }
            }
        }
    }
}

/// All points of a workload.
fn table(view: &View<'_>, columns: &[&String]) -> Markup {
    // The share of cycles in which each pipe is busy; results.csv has the rest.
    let percent = |share: f64| format!("{:.0}\u{a0}%", share * 100.0);
    html! {
        div.scroll {
            table {
                thead {
                    tr {
                        @for column in columns { th { (title(column)) } }
                        th { "cycles" } th { "GHz" } th { "latency" br; "(µs)" } th { "area" br; "(mm²)" }
                        th { "energy" br; "(µJ)" } th { "bound" br; "(cycles)" }
                        @for pipe in Pipe::VECTOR { th { (label(pipe)) br; "busy" } }
                    }
                }
                tbody {
                    @for record in &view.records {
                        tr.front[view.front.contains(record.key.as_str())] {
                            @for column in columns { td { (plain(record.point.get(*column))) } }
                            @if let (Some((timing, area)), Some(report)) = (costs(record), &record.report) {
                                td { (timing.cycles) }
                                td { (timing.frequency_ghz) }
                                td { (format!("{:.3}", timing.time_us)) }
                                td { (format!("{area:.2}")) @if !extrapolated(record).is_empty() { " *" } }
                                td { (format!("{:.2}", report.energy_uj)) }
                                td {
                                    (timing.bounds.resource_cycles.max(timing.bounds.dependence_cycles))
                                }
                                @for pipe in Pipe::VECTOR { td { (percent(timing.utilisation.pipes[pipe])) } }
                            } @else {
                                @match (record.rung, &record.error) {
                                    (Some(n), _) => td.pruned colspan="9" { "dropped at n = " (n) },
                                    (None, error) => td.failed colspan="9" { (error.as_deref().unwrap_or("failed")) },
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
