//! The page of a ring program's run.

mod flame;
mod roofline;
mod timeline;

use self::flame::flame;
use self::roofline::roofline;
use self::timeline::{MAX_SLICES, Shown};
use crate::page::{breakdown, costs, footer, heading};
use crate::page_parts::{StackPart, amount, fitting, four_digits, names, shares, shell, stack};
use crate::stages::{Stage, stages};
use crate::table::title;
use crate::{OffChip, RunReport};
use maud::{Markup, html};
use runtime::{Runtime, Timeline, limit};

/// The page of a ring program's run, as one HTML file; with a timeline of launches and transfers if they are
/// recorded.
pub fn ring_page(report: &RunReport, runtime: &Runtime<'_>, timeline: &Timeline) -> String {
    let shown = Shown::of(runtime, timeline);
    let data = shown.as_ref().map(Shown::data);
    let binds = report.binds.iter().flatten();
    let binds: Vec<StackPart> =
        binds.map(|(name, share)| StackPart { name: limit(name).to_owned(), size: *share }).collect();
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
        (shares(&binds, &binding, 1.0))
        (owners(report))
        @if let Some(shown) = &shown { (over_time(shown)) }
        (kernels(report))
        (transfers(report))
        (costs(report))
        (footer(report))
    };
    shell(&title(report), &body, data.as_ref()).into_string()
}

/// Time, bytes and energy by stage.
fn owners(report: &RunReport) -> Markup {
    let Some(profile) = &report.profile else { return html! {} };
    let stages = stages(profile);
    html! {
        h2 { "Where time, bytes and energy go" }
        @if !stages.is_empty() {
            (table(&stages))
            (roofline(&stages, &report.machine))
        }
        (flame(profile))
    }
}

fn table(stages: &[Stage]) -> Markup {
    let sum = |of: fn(&Stage) -> f64| stages.iter().map(of).sum::<f64>();
    let [time_ps, energy_uj] = [sum(|stage| stage.time_ps as f64), sum(|stage| stage.energy_uj)];
    // One unit for all rows.
    let unit = |whole: f64, unit| fitting(unit, whole).unwrap_or((unit, 1.0));
    let ((time_unit, time), (energy_unit, energy)) = (unit(time_ps / 1e6, "µs"), unit(energy_uj, "µJ"));
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    html! {
        p {
            "Launches run one after the other; the time between two belongs to the later one. A load belongs to the launch that needs it, "
            "a save to that which made or evicted the limb. The rows add up to the run."
        }
        div.scroll {
            table.sortable {
                thead { tr {
                    th { "stage" } th { "no." } th { "time (" (time_unit) ")" } th { "share" } th { "of it waiting" } th { "off chip (MiB)" }
                    th { "energy (" (energy_unit) ")" } th { "multiplications per byte" }
                } }
                tbody {
                    @for (number, stage) in (1..).zip(stages) {
                        tr {
                            td.name { (stage.name) }
                            td { (number) }
                            td { (four_digits(stage.time_ps as f64 / 1e6 * time)) }
                            td { (percent(stage.time_ps as f64 / time_ps.max(1.0))) }
                            td { (percent(stage.waiting())) }
                            td { (four_digits(stage.bytes() as f64 / f64::from(1 << 20))) }
                            td { (four_digits(stage.energy_uj * energy)) }
                            td { (stage.intensity().map(four_digits).unwrap_or_default()) }
                        }
                    }
                }
            }
        }
    }
}

/// The busy shares over time, with launches and transfers for the script.
fn over_time(shown: &Shown<'_>) -> Markup {
    html! {
        h2 { "Timeline" }
        p {
            "The busy share of each part of the machine over time, from all launches and transfers: "
            @for (index, (name, share)) in shown.totals().enumerate() {
                @if index > 0 { ", " }
                (name) " " (format!("{:.1} %", 100.0 * share))
            }
            " of the time."
        }
        figure.static { (shown.chart()) }
        p.interactive {
            "Wheel or + and − zoom, dragging moves. "
            @if shown.has_slices() { "Where few fit the width, single launches and transfers appear." }
            @else {
                (shown.events()) " launches and transfers are more than the " (MAX_SLICES) " of a page; a Perfetto trace has them."
            }
        }
        div.interactive #timeline {}
    }
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
    // One unit for all rows.
    let (time_unit, time) = fitting("µs", total).unwrap_or(("µs", 1.0));
    let of_all = costs().map(|(_, cost)| cost.energy_uj).sum();
    let (energy_unit, energy) = fitting("µJ", of_all).unwrap_or(("µJ", 1.0));
    html! {
        h2 { "Kernels" }
        (breakdown("time", "µs", total, parts))
        table.sortable.narrow {
            thead { tr {
                th { "kernel" } th { "launches" } th { "operations" } th { "time (" (time_unit) ")" } th { "bound (" (time_unit) ")" }
                th { "energy (" (energy_unit) ")" }
            } }
            tbody {
                @for (name, cost) in costs() {
                    tr {
                        td.name { (name) }
                        td { (cost.launches) }
                        td { (cost.operations) }
                        td { (four_digits(cost.time_us * time)) }
                        td { (four_digits(cost.bound_us * time)) }
                        td { (four_digits(cost.energy_uj * energy)) }
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
        p { "Compulsory, each limb of an input and of an output once: " (four_digits(mib(report.least_bytes.unwrap_or(0)))) " MiB." }
    }
}
