//! The page of a ring program's run.

use crate::page::{BINS, add_busy, breakdown, busy_chart, costs, footer, heading};
use crate::table::title;
use crate::{OffChip, RunReport};
use maud::{Markup, html};
use pages::{Part, amount, four_digits, key, names, shell, stack};
use runtime::{Runtime, TRACKS, Timeline, limit};
use serde_json::{Value, json};
use sim::trace::perfetto::Slice;

/// The most slices of a timeline: more make a page too large for a browser.
const MAX_SLICES: usize = 30_000;

/// The page of a ring program's run, as one HTML file; with a timeline of launches and transfers if they are recorded.
pub fn ring_page(report: &RunReport, runtime: &Runtime<'_>, timeline: &Timeline) -> String {
    let slices = runtime.slices(timeline);
    let end_ps = slices.iter().map(|slice| slice.end_ps).max().unwrap_or(0);
    let data = (!slices.is_empty()).then(|| data(&slices, end_ps));
    let binds = report.binds.iter().flatten();
    let binds: Vec<Part> =
        binds.map(|(name, share)| Part { name: limit(name).to_owned(), size: *share }).collect();
    let binding = names(std::iter::once(&binds[..]));
    let body = html! {
        (heading(report))
        (facts(report))
        h2 { "What limits the time" }
        p {
            "The busiest pipe of the running kernel; latency if all pipes are idle for half of it; off-chip transfers if "
            "no kernel runs."
        }
        (stack(&binds, &binding, 1.0))
        (key(&binding))
        @if data.is_some() {
            h2 { "Timeline" }
            p.static { "The busy share of kernels and off-chip channel over time." }
            figure.static { (busy(&slices, end_ps)) }
            p.interactive { "Launches of kernels and off-chip transfers. Wheel or + and − zoom, dragging moves." }
            div.interactive #timeline {}
        }
        (kernels(report))
        (transfers(report))
        (costs(report))
        (footer(report))
    };
    shell(&title(report), &body, data.as_ref(), None).into_string()
}

fn facts(report: &RunReport) -> Markup {
    let row = |name: &str, value: String| html! { tr { td.name { (name) } td { (value) } } };
    let count = |count: Option<u64>| count.unwrap_or_default();
    let (operations, lifted) = (count(report.operations), count(report.lifted_operations));
    html! {
        table.narrow {
            tbody {
                @if let Some(time_us) = report.time_us { (row("time", amount(time_us, "µs"))) }
                (row("ring degree", count(report.n).to_string()))
                @if let Some(parameters) = &report.parameters {
                    (row("parameter set", format!("{}: {parameters}", parameters.set)))
                }
                @if let Some(keys) = report.keys { (row("keys", keys.name().to_owned())) }
                @if let Some(merit) = report.optimise { (row("mapping with the least", merit.name().to_owned())) }
                @if let Some(mapping) = report.mapping { (row("mapping", mapping.to_string())) }
                @if let Some(tried) = report.schedules_tried { (row("schedules tried", tried.to_string())) }
                (row("operations", format!("{operations}, {lifted} fused or renamed")))
                @if let Some(compute) = report.compute { (row("kernels run", format!("{:.1} % of the time", 100.0 * compute.busy))) }
                @if let Some(OffChip::Ring(hbm)) = &report.hbm {
                    (row("off-chip channel busy", format!("{:.1} % of the time", 100.0 * hbm.busy)))
                }
                @if let Some(power_w) = report.power_w { (row("power", format!("{power_w:.2} W"))) }
            }
        }
    }
}

fn kernels(report: &RunReport) -> Markup {
    let costs = || report.costs.iter().flatten();
    let parts: Vec<(String, f64)> = costs().map(|(name, cost)| (name.clone(), cost.time_us)).collect();
    let total = parts.iter().map(|(_, time)| time).sum();
    html! {
        h2 { "Kernels" }
        (breakdown("time", "µs", total, parts))
        table.sortable.narrow {
            thead { tr { th { "kernel" } th { "launches" } th { "operations" } th { "time (µs)" } th { "bound (µs)" } th { "energy (µJ)" } } }
            tbody {
                @for (name, cost) in costs() {
                    tr {
                        td.name { (name) }
                        td { (cost.launches) }
                        td { (cost.operations) }
                        td { (four_digits(cost.time_us)) }
                        td { (four_digits(cost.bound_us)) }
                        td { (four_digits(cost.energy_uj)) }
                    }
                }
            }
        }
    }
}

fn transfers(report: &RunReport) -> Markup {
    let Some(OffChip::Ring(hbm)) = &report.hbm else { return html! {} };
    let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    let parts = hbm.bytes_by_kind.iter().map(|(name, bytes)| (name.clone(), mib(*bytes))).collect();
    html! {
        h2 { "Off-chip transfers" }
        (breakdown("transfers", "MiB", mib(hbm.bytes_by_kind.values().sum()), parts))
        p { "Compulsory, each limb of an input and of an output once: " (four_digits(mib(hbm.compulsory_bytes))) " MiB." }
    }
}

/// The data of the timeline: for each slice its track, its beginning, its end and its name, in ns.
fn data(slices: &[Slice<'_>], end_ps: u64) -> Value {
    let ns = |ps: u64| ps as f64 / 1e3;
    let item = |slice: &Slice<'_>| {
        let (begin, end) = (ns(slice.begin_ps), ns(slice.end_ps));
        let (name, number) = slice.annotation;
        let text = format!("{}, {name} {number}", slice.name);
        json!([slice.track, begin, begin, begin, end, end, null, text])
    };
    json!({ "timeline": {
        "pipes": TRACKS,
        "cycles": ns(end_ps),
        "first": 0,
        "instructions": slices.iter().take(MAX_SLICES).map(item).collect::<Vec<_>>(),
    } })
}

/// The busy share of each track over time, as an SVG.
fn busy(slices: &[Slice<'_>], end_ps: u64) -> Markup {
    let mut tracks = vec![[0.0f64; BINS]; TRACKS.len()];
    let width = end_ps.max(1) as f64 / BINS as f64;
    for slice in slices {
        let (from, to) = (slice.begin_ps as f64 / width, slice.end_ps as f64 / width);
        add_busy(&mut tracks[slice.track], from, to);
    }
    let rows: Vec<(String, [f64; BINS])> = TRACKS.iter().map(|name| (*name).to_owned()).zip(tracks).collect();
    busy_chart(&rows, ["0 µs".to_owned(), format!("{:.1} µs", end_ps as f64 / 1e6)])
}

#[cfg(test)]
mod tests;
