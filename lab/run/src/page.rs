//! The page of a run.

use crate::RunReport;
use crate::page_parts::{
    StackPart, amount, causes, names, part_label, pipeline, row, shares, shell, stack, timeline,
};
use crate::table::{ghz, overrides, title};
use b512_asm::Pipe;
use maud::{Markup, html};
use sim::Machine;
use sim::trace::Trace;

/// Columns of the static chart of the pipes.
pub(super) const BINS: usize = 300;
/// The height of a row of this chart.
const HEIGHT: usize = 46;

/// The page of a run, as one HTML file; with a timeline if `trace` is given.
pub fn page(report: &RunReport, trace: Option<&Trace<'_>>) -> String {
    let data = trace.map(timeline);
    let body = html! {
        (heading(report))
        (facts(report))
        @if let Some((cycles, stalls)) = report.cycles.zip(report.stalls.as_ref()) {
            (causes(cycles, |cause| stalls.get(cause.name()).copied().unwrap_or(0)))
        }
        (pipes(report))
        @if let (Some(trace), Some(cycles)) = (trace, report.cycles) {
            h2 { "Pipeline" }
            p.static { "The busy share of each pipe over time." }
            figure.static { (busy(trace, cycles)) }
            (pipeline())
        }
        (costs(report))
        (footer(report))
    };
    shell(&title(report), &body, data.as_ref()).into_string()
}

/// What ran on which machine.
pub(super) fn heading(report: &RunReport) -> Markup {
    let changes = overrides(report);
    html! {
        h1 { (title(report)) }
        p {
            "Machine " (report.machine.name)
            @if !changes.is_empty() { " with " (changes.join(", ")) }
            ". "
            @if report.checked { "Every coefficient of the results was checked. " }
        }
    }
}

/// Area and energy by part, and the keys of the machine.
pub(super) fn costs(report: &RunReport) -> Markup {
    html! {
        h2 { "Area and energy" }
        (breakdown("area", "mm²", report.area_mm2, labelled(&report.area_breakdown_mm2.components())))
        (breakdown("energy", "µJ", report.energy_uj, labelled(&report.energy_parts_uj())))
        (machine(&report.machine))
    }
}

pub(super) fn footer(report: &RunReport) -> Markup {
    html! {
        footer { "rpu " (report.simulator.version) ", model " (report.simulator.model_version) ", program " (report.program_blake3) }
    }
}

fn facts(report: &RunReport) -> Markup {
    let Some(((time_us, cycles), bounds)) = report.duration().zip(report.bounds) else { return html! {} };
    let row = |name: &str, value: String| html! { tr { td.name { (name) } td { (value) } } };
    html! {
        table.narrow {
            tbody {
                (row("time", format!("{}, {cycles} cycles at {} GHz", amount(time_us, "µs"), ghz(&report.machine))))
                (row("resource bound", format!("{} cycles", bounds.resource_cycles)))
                (row("dependence bound", format!("{} cycles", bounds.dependence_cycles)))
                (row("over the larger bound", format!("{:.2} times", report.bound_ratio.unwrap_or(1.0))))
                (row("area", format!("{:.2} mm²", report.area_mm2)))
                (row("energy", amount(report.energy_uj, "µJ")))
                @if let Some(power_w) = report.power_w { (row("power", format!("{power_w:.2} W"))) }
            }
        }
    }
}

fn pipes(report: &RunReport) -> Markup {
    let (Some(instructions), Some(utilisation), Some(waits)) =
        (&report.instructions, &report.utilisation, &report.waits)
    else {
        return html! {};
    };
    html! {
        h2 { "Pipes" }
        table.sortable.narrow {
            thead { tr { th { "pipe" } th { "instructions" } th { "occupied" } th { "waits for VRF ports (cycles)" } } }
            tbody {
                @for pipe in Pipe::VECTOR {
                    tr {
                        td.name { (pipe.label()) }
                        td { (instructions.pipes[pipe]) }
                        td { (format!("{:.1} %", 100.0 * utilisation.pipes[pipe])) }
                        td { (waits.vrf_ports[pipe]) }
                    }
                }
            }
        }
        p { "Bank conflicts of the VDM: " (waits.bank_conflict_cycles) " cycles. Waits overlap; the causes above contain their effect." }
    }
}

/// Parts of area or energy with their names for people.
fn labelled(components: &[(&'static str, f64)]) -> Vec<(String, f64)> {
    components.iter().map(|&(name, size)| (part_label(name), size)).collect()
}

/// A total and a stack of its parts.
pub(super) fn breakdown(name: &str, unit: &str, total: f64, components: Vec<(String, f64)>) -> Markup {
    let parts: Vec<StackPart> = components.into_iter().map(|(name, size)| StackPart { name, size }).collect();
    let names = names(std::iter::once(&parts[..]));
    html! {
        h3 { (name) ": " (amount(total, unit)) }
        (stack(&parts, &names, total))
        (shares(&parts, &names, total))
    }
}

fn machine(machine: &Machine) -> Markup {
    html! {
        details {
            summary { "All keys of the machine" }
            div.scroll {
                table.sortable.narrow {
                    thead { tr { th { "key" } th { "value" } } }
                    tbody {
                        @for (key, value) in machine.values() { tr { td.name { (key.path) } td { (value) } } }
                    }
                }
            }
        }
    }
}

/// The busy share of each pipe over time, as an SVG.
fn busy(trace: &Trace<'_>, cycles: u64) -> Markup {
    let mut bins = vec![[0.0f64; BINS]; Pipe::VECTOR.len()];
    let width = cycles.max(1) as f64 / BINS as f64;
    for interval in trace.intervals() {
        if let Some(row) = row(interval.pipe) {
            add_busy(&mut bins[row], interval.issue.0 as f64 / width, interval.pipe_free.0 as f64 / width);
        }
    }
    let rows: Vec<(String, [f64; BINS])> =
        Pipe::VECTOR.iter().map(|pipe| pipe.label().to_owned()).zip(bins).collect();
    busy_chart(&rows, ["cycle 0".to_owned(), cycles.to_string()])
}

/// Adds an interval, in columns of the chart, to the busy shares of a row.
fn add_busy(shares: &mut [f64; BINS], from: f64, to: f64) {
    let columns = to.ceil() as usize - from as usize;
    for (bin, share) in shares.iter_mut().enumerate().skip(from as usize).take(columns) {
        let start = bin as f64;
        *share += (to.min(start + 1.0) - from.max(start)).max(0.0);
    }
}

/// Rows of busy shares over time, with names of the beginning and the end.
pub(super) fn busy_chart(rows: &[(String, [f64; BINS])], [begin, end]: [String; 2]) -> Markup {
    html! {
        svg viewBox=(format!("0 0 {} {}", BINS * 3 + 90, rows.len() * HEIGHT + 20)) role="img" {
            @for (i, (name, shares)) in rows.iter().enumerate() {
                @let base = (i + 1) * HEIGHT;
                text x="0" y=(base - 12) font-size="12" font-family="sans-serif" fill="currentColor" { (name) }
                @for (bin, share) in shares.iter().enumerate().filter(|(_, share)| **share > 0.0) {
                    @let height = share.min(1.0) * (HEIGHT - 8) as f64;
                    rect x=(90 + bin * 3) y=(format!("{:.1}", base as f64 - height)) width="3" height=(format!("{height:.1}")) fill="var(--c0)" {}
                }
            }
            text x="90" y=(rows.len() * HEIGHT + 16) font-size="12" font-family="sans-serif" fill="currentColor" { (begin) }
            text x=(90 + BINS * 3) y=(rows.len() * HEIGHT + 16) font-size="12" font-family="sans-serif" fill="currentColor" text-anchor="end" { (end) }
        }
    }
}

#[cfg(test)]
mod tests;
