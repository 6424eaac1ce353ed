//! The page of a ring program's run.

use crate::html::{Part, key, names, shell, stack};
use crate::page::{BINS, add_busy, breakdown, busy_chart};
use maud::{Markup, html};
use runtime::{Report, Runtime, TRACKS, Timeline, limit};
use serde_json::{Value, json};
use sim::trace::perfetto::Slice;

/// The most slices of a timeline: more make a page too large for a browser.
const MAX_SLICES: usize = 30_000;

/// The page of a run, as one HTML file; with a timeline of launches and transfers if they are recorded.
pub fn ring_page(title: &str, report: &Report, runtime: &Runtime<'_>, timeline: &Timeline) -> String {
    let slices = runtime.slices(timeline);
    let end_ps = slices.iter().map(|slice| slice.end_ps).max().unwrap_or(0);
    let data = (!slices.is_empty()).then(|| data(&slices, end_ps));
    let binds: Vec<Part> =
        report.binds.iter().map(|(name, share)| Part { name: limit(name), size: *share }).collect();
    let binding = names(std::iter::once(&binds[..]));
    let body = html! {
        h1 { (title) }
        p {
            "Machine " (report.machine.name) ", ring degree " (report.n) ". "
            @if report.checked { "Big integers confirmed every output. " }
        }
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
            p.interactive { "Launches of kernels and off-chip transfers, in ns. Wheel or + and − zoom, dragging moves." }
            div.interactive #timeline {}
        }
        (kernels(report))
        (transfers(report))
        footer { "rpu " (env!("CARGO_PKG_VERSION")) ", model " (crate::model::MODEL_VERSION) }
    };
    shell(title, &body, data.as_ref(), None).into_string()
}

fn facts(report: &Report) -> Markup {
    let row = |name: &str, value: String| html! { tr { td.name { (name) } td { (value) } } };
    html! {
        table.narrow {
            tbody {
                (row("time", format!("{:.3} µs", report.time_us)))
                (row("operations", format!("{}, {} fused or renamed", report.operations, report.lifted_operations)))
                (row("kernels run", format!("{:.1} % of the time", 100.0 * report.compute.busy)))
                (row("off-chip channel busy", format!("{:.1} % of the time", 100.0 * report.hbm.busy)))
                (row("energy", format!("{:.2} µJ", report.energy_uj)))
                (row("of kernels", format!("{:.2} µJ", report.energy_kernels_uj)))
                (row("of the off-chip memory", format!("{:.2} µJ", report.energy_hbm_uj)))
                (row("of leakage and idle clocks", format!("{:.2} µJ", report.energy_static_uj)))
                (row("power", format!("{:.2} W", report.power_w)))
                (row("area", format!("{:.2} mm²", report.area_mm2)))
            }
        }
    }
}

fn kernels(report: &Report) -> Markup {
    let parts: Vec<(String, f64)> =
        report.costs.iter().map(|(name, cost)| (name.clone(), cost.time_us)).collect();
    let total = parts.iter().map(|(_, time)| time).sum();
    html! {
        h2 { "Kernels" }
        (breakdown("time", "µs", total, parts))
        table.sortable.narrow {
            thead { tr { th { "kernel" } th { "launches" } th { "operations" } th { "time (µs)" } th { "bound (µs)" } th { "energy (µJ)" } } }
            tbody {
                @for (name, cost) in &report.costs {
                    tr {
                        td.name { (name) }
                        td { (cost.launches) }
                        td { (cost.operations) }
                        td { (format!("{:.3}", cost.time_us)) }
                        td { (format!("{:.3}", cost.bound_us)) }
                        td { (format!("{:.3}", cost.energy_uj)) }
                    }
                }
            }
        }
    }
}

fn transfers(report: &Report) -> Markup {
    let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    let kinds = &report.hbm.bytes_by_kind;
    let parts = kinds.iter().map(|(name, bytes)| ((*name).to_owned(), mib(*bytes))).collect();
    html! {
        h2 { "Off-chip transfers" }
        (breakdown("transfers", "MiB", mib(kinds.values().sum()), parts))
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
