//! A report as text: where the cycles go, at a glance.

use crate::page_parts::{amount, cause_label, part_label};
use crate::stages::{Stage, stages};
use crate::{Bottleneck, Claim, OffChip, RunReport, StreamReport};
use b512_asm::Pipe;
use diagnostic::counted;
use runtime::limit;
use runtime::report::{Cost, Hbm};
use sim::machine::VbarArea;
use sim::timing::Cause;
use sim::{Area, Clock, Machine};
use std::fmt::{self, Write};

/// Width of a full bar in characters.
const BAR: usize = 32;
/// Width of the names next to bars.
const NAME: usize = 34;

/// The most stages of a table.
const MOST_STAGES: usize = 24;

/// The report as some 30 lines of text without colour.
pub fn table(report: &RunReport) -> String {
    let mut text = String::new();
    write(&mut text, report).expect("writing to a string does not fail");
    text
}

fn write(f: &mut String, report: &RunReport) -> fmt::Result {
    writeln!(f, "{}", title(report))?;
    for claim in &report.computes {
        let Claim { outputs, expressions, settings, .. } = claim;
        write!(f, "  {} = {}", outputs.join(", "), expressions.join(", "))?;
        for (name, value) in settings {
            match value.as_str() {
                Some(text) => write!(f, ", {name} = {text}")?,
                None => write!(f, ", {name} = {value}")?,
            }
        }
        writeln!(f)?;
    }
    let changes = overrides(report);
    if !changes.is_empty() {
        writeln!(f, "  not as in rpu-128x128: {}", changes.join(", "))?;
    }
    let keys = report.keys.map(|keys| format!(", keys {}", keys.name()));
    if let Some(n) = report.n {
        writeln!(f, "  ring degree {n}{}", keys.unwrap_or_default())?;
    }
    if let Some(parameters) = &report.parameters {
        writeln!(f, "  set {}: {parameters}", parameters.set)?;
    }
    if !report.expected.is_empty() {
        let outputs = report.expected.join("`, `");
        let rest = if report.checked { "" } else { "; other outputs were not compared" };
        writeln!(f, "  compared: `{outputs}` as expected{rest}")?;
    } else if report.checked {
        let witness = if report.n.is_some() { "big integers" } else { "the golden model" };
        writeln!(f, "  checked: every coefficient agrees with {witness}")?;
    }
    writeln!(f)?;
    write_timing(f, report)?;
    write_total(f, "area", report.area_mm2, "mm²", &report.area_breakdown_mm2.components())?;
    write_area_notes(f, report)?;
    write_total(f, "energy", report.energy_uj, "µJ", &report.energy_parts_uj())?;
    if let Some(power_w) = report.power_w {
        writeln!(f, "  {:<18}{power_w:>9.2} W", "power")?;
    }
    write_cycles(f, report)?;
    match &report.hbm {
        Some(OffChip::Stream(stream)) => write_stream(f, stream, &report.machine),
        Some(OffChip::Ring(hbm)) => write_ring(f, report, hbm),
        None => Ok(()),
    }
}

/// The parts of a ring program's run.
fn write_ring(f: &mut String, report: &RunReport, hbm: &Hbm) -> fmt::Result {
    let effect = |count: Option<u64>, what: &str| {
        count
            .filter(|count| *count > 0)
            .map_or_else(String::new, |count| format!(", {} {what}", grouped(count)))
    };
    let lifted = effect(report.lifted_operations, "fused or renamed");
    let unused = effect(report.unused_operations, "without effect on an output");
    let operations = grouped(report.operations.unwrap_or_default());
    writeln!(f, "  {:<18}{operations:>9}{lifted}{unused}", "operations")?;
    if let (Some(mapping), Some(tried)) = (report.mapping, report.schedules_tried) {
        let tried = if tried > 1 { format!(", the best of {tried} schedules") } else { String::new() };
        writeln!(f, "  {:<18}{mapping}{tried}", "mapping")?;
    }
    writeln!(f, "  {:<18}{:>9} bytes of off-chip memory needed", "capacity", grouped(hbm.needed_bytes))?;
    writeln!(f, "\nWhat limits the time")?;
    for (resource, share) in report.binds.iter().flatten() {
        share_row(f, limit(resource), *share, "")?;
    }
    if let Some(compute) = &report.compute {
        let ratio = compute.bound_ratio.map(|ratio| format!(", {ratio:.2} times the bounds"));
        writeln!(f, "\nShare of the time in which kernels and transfers run")?;
        share_row(f, "kernels", compute.busy, &ratio.unwrap_or_default())?;
        share_row(f, "off-chip transfers", hbm.busy, "")?;
    }
    write_stages(f, report)?;
    let costs = || report.costs.iter().flatten();
    // The sum of no numbers would be -0.
    let total = costs().fold(0.0, |total, (_, cost)| total + cost.time_us);
    writeln!(f, "\nTime of the kernels, {} in all", ascii(total, "µs"))?;
    for (name, Cost { launches, operations, time_us, energy_uj, .. }) in costs() {
        let launches = counted(*launches as usize, "launch", "launches");
        let operations = counted(*operations as usize, "operation", "operations");
        let (time, energy) = (ascii(*time_us, "µs"), ascii(*energy_uj, "µJ"));
        let rest = format!("  {time}, {energy}: {launches} for {operations}");
        share_row(f, name, time_us / total.max(f64::MIN_POSITIVE), &rest)?;
    }
    let bytes: u64 = hbm.bytes_by_kind.values().sum();
    let least = grouped(report.least_bytes.unwrap_or(0));
    writeln!(f, "\nOff-chip transfers, {} bytes in all, {least} of them compulsory", grouped(bytes))?;
    for (kind, part) in hbm.bytes_by_kind.iter().filter(|(_, part)| **part > 0) {
        share_row(f, kind, *part as f64 / bytes as f64, &format!("  {} bytes", grouped(*part)))?;
    }
    Ok(())
}

/// The stages of a program that names some, the largest of them if they are many.
fn write_stages(f: &mut String, report: &RunReport) -> fmt::Result {
    let stages = report.profile.as_ref().map(stages).unwrap_or_default();
    let whole: u64 = stages.iter().map(|stage| stage.time_ps).sum();
    let mut longest: Vec<u64> = stages.iter().map(|stage| stage.time_ps).collect();
    longest.sort_unstable_by_key(|&time_ps| std::cmp::Reverse(time_ps));
    let least = longest.get(MOST_STAGES).map_or(0, |&time_ps| time_ps + 1);
    let (shown, others): (Vec<&Stage>, Vec<&Stage>) = stages.iter().partition(|stage| stage.time_ps >= least);
    if !shown.is_empty() {
        writeln!(f, "\nTime by stage, waits for transfers included")?;
    }
    for stage in shown {
        let (time, energy) = (ascii(stage.time_ps as f64 / 1e6, "µs"), ascii(stage.energy_uj, "µJ"));
        let rest = format!(
            "  {time}, {:.0} % waiting, {energy}, {} bytes",
            100.0 * stage.waiting(),
            grouped(stage.bytes())
        );
        share_row(f, &stage.name, stage.time_ps as f64 / whole.max(1) as f64, &rest)?;
    }
    if !others.is_empty() {
        let time_ps: u64 = others.iter().map(|stage| stage.time_ps).sum();
        let name = format!("{} others", others.len());
        let time = ascii(time_ps as f64 / 1e6, "µs");
        share_row(f, &name, time_ps as f64 / whole.max(1) as f64, &format!("  {time}"))?;
    }
    Ok(())
}

/// A share as a bar, with what follows it.
fn share_row(f: &mut String, name: &str, share: f64, rest: &str) -> fmt::Result {
    writeln!(f, "  {name:<NAME$} {} {:>5.1} %{rest}", bar(share, BAR), share * 100.0)
}

/// A total, and its parts with their shares, the largest first.
fn write_total(
    f: &mut String,
    name: &str,
    total: f64,
    unit: &str,
    components: &[(&'static str, f64)],
) -> fmt::Result {
    let mut parts: Vec<_> = components.iter().filter(|(_, part)| *part > 0.0).collect();
    parts.sort_by(|a, b| b.1.total_cmp(&a.1));
    let part = |(name, part): &&(&'static str, f64)| {
        format!("{} {:.0}%", part_label(name), 100.0 * part / total.max(f64::MIN_POSITIVE))
    };
    let parts: Vec<String> = parts.iter().map(part).collect();
    let total = ascii(total, unit);
    let (number, unit) = total.split_once(' ').unwrap_or((&total, ""));
    writeln!(f, "  {name:<18}{number:>9} {unit}: {}", parts.join(", "))
}

/// What the area leaves unsaid: the size of the vector crossbar by its logic where the paper's claim is below
/// it, and a chip that no single exposure makes.
fn write_area_notes(f: &mut String, report: &RunReport) -> fmt::Result {
    let (machine, claimed) = (&report.machine, report.area_breakdown_mm2.vbar);
    if machine.technology.vbar_area == VbarArea::Claim {
        let logic = ascii(Area::vbar_by_structure(machine), "mm²");
        writeln!(
            f,
            "  {:<18}vector crossbar {} by the paper's claim, {logic} by its logic",
            "",
            ascii(claimed, "mm²")
        )?;
    }
    if report.beyond_reticle {
        writeln!(f, "  {:<18}beyond a reticle: one exposure makes {} mm2 at most", "", Area::RETICLE_MM2)?;
    }
    Ok(())
}

/// A value of four digits in the unit that fits it, for a terminal.
fn ascii(value: f64, unit: &str) -> String {
    amount(value, unit).replace('µ', "u").replace('²', "2")
}

fn write_stream(f: &mut String, stream: &StreamReport, machine: &Machine) -> fmt::Result {
    let StreamReport { runs, words_per_run: words, .. } = stream;
    let at_once = match machine.hbm.buffers {
        0 => "as many as there is space for".to_owned(),
        buffers => format!("those of {buffers}"),
    };
    let runs = counted(*runs, "run", "runs");
    writeln!(f, "\nA stream of {runs}, the words of {at_once} at once in the VDM")?;
    writeln!(f, "  {:<18}{:>9.3} us", "total", stream.total_us)?;
    writeln!(f, "  {:<18}{:>9.3} us", "compute per run", stream.compute_us_per_run)?;
    writeln!(
        f,
        "  {:<18}{:>9.3} us: {} words of inputs, {} of tables, {} of outputs",
        "transfers per run",
        stream.transfer_us_per_run,
        grouped(words.inputs),
        grouped(words.tables),
        grouped(words.outputs)
    )?;
    for (side, which, share) in [
        ("compute", Bottleneck::Compute, stream.compute_utilisation),
        ("off-chip memory", Bottleneck::Hbm, stream.hbm_utilisation),
    ] {
        let bottleneck = if stream.bottleneck == which { "  the bottleneck" } else { "" };
        writeln!(f, "  {side:<17} {} {:>5.1} %{bottleneck}", bar(share, BAR), share * 100.0)?;
    }
    Ok(())
}

/// The keys in which the machine differs from the paper's, as overrides, the technology included.
pub(super) fn overrides(report: &RunReport) -> Vec<String> {
    let machine = &report.machine;
    let changes = machine.changes_from(&Machine::rpu_128x128()).into_iter();
    let (technology, others): (Vec<_>, Vec<_>) = changes
        .filter(|change| change.key != "name")
        .partition(|change| change.key.starts_with("technology."));
    let technology = technology.first().map(|_| format!("technology = {}", machine.technology_label()));
    technology
        .into_iter()
        .chain(others.iter().map(|change| format!("{} = {}", change.key, change.to)))
        .collect()
}

/// The clock of a machine for people: in GHz, with at most three decimals.
pub fn ghz(machine: &Machine) -> String {
    let text = format!("{:.3}", Clock::of(machine).ghz());
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A part that binds the clock, for people.
fn clock_part(name: &str) -> &str {
    match name {
        "vdm" => "a bank of the VDM",
        "vrf" => "an SRAM of the VRF",
        "multiplier" => "a stage of the multiplier",
        "adder" => "a stage of the adder",
        "vbar" => "a stage of the vector crossbar",
        "sbar" => "a stage of the shuffle crossbar",
        "front_end" => "the front end",
        other => other,
    }
}

/// The size and the clock of a machine: `128 HPLEs, 128 VDM banks, 1.68 GHz`.
pub fn size_and_clock(machine: &Machine) -> String {
    let hples = counted(machine.hple.count as usize, "HPLE", "HPLEs");
    let banks = counted(machine.vdm.banks as usize, "VDM bank", "VDM banks");
    format!("{hples}, {banks}, {} GHz", ghz(machine))
}

/// Program and machine in one line.
pub(super) fn title(report: &RunReport) -> String {
    let program = if report.program.is_empty() { "the program" } else { &report.program };
    format!("{program} on {}: {}", report.machine.name, size_and_clock(&report.machine))
}

fn write_timing(f: &mut String, report: &RunReport) -> fmt::Result {
    let Some((time_us, cycles)) = report.duration() else { return Ok(()) };
    writeln!(f, "  {:<18}{:>9} cycles, {}", "time", grouped(cycles), ascii(time_us, "µs"))?;
    if let Some(part) = &report.clock_binds {
        let bound = if part == "clock.ghz" {
            "as set by clock.ghz".to_owned()
        } else {
            format!("bound by {}", clock_part(part))
        };
        writeln!(f, "  {:<18}{:>9} GHz, {bound}", "clock", ghz(&report.machine))?;
    }
    let Some(bounds) = &report.bounds else { return Ok(()) };
    for (name, bound) in [("resource", bounds.resource_cycles), ("dependence", bounds.dependence_cycles)] {
        // A program without vector instructions has none.
        if bound > 0 {
            let distance = cycles as f64 / bound as f64;
            let name = format!("{name} bound");
            writeln!(f, "  {name:<18}{:>9} cycles; the run takes {distance:.2} times that", grouped(bound))?;
        }
    }
    Ok(())
}

fn write_cycles(f: &mut String, report: &RunReport) -> fmt::Result {
    let Some((cycles, stalls)) = report.cycles.zip(report.stalls.as_ref()) else { return Ok(()) };
    let all = cycles.max(1) as f64;
    writeln!(f, "\nWhere the cycles of the front end go")?;
    let spent = |cause: Cause| (cause_label(cause), stalls.get(cause.name()).copied().unwrap_or(0));
    let mut causes: Vec<_> = Cause::all().map(spent).filter(|&(_, cycles)| cycles > 0).collect();
    causes.sort_by_key(|(name, cycles)| (std::cmp::Reverse(*cycles), name.clone()));
    for (cause, spent) in causes {
        row(f, &cause, spent as f64 / all, spent, ["cycle", "cycles"])?;
    }
    if let Some((utilisation, instructions)) = report.utilisation.as_ref().zip(report.instructions.as_ref()) {
        writeln!(f, "\nShare of the cycles in which each pipe is occupied")?;
        for pipe in Pipe::VECTOR {
            let (share, count) = (utilisation.pipes[pipe], instructions.pipes[pipe]);
            row(f, pipe.label(), share, count, ["instruction", "instructions"])?;
        }
    }
    let Some(waits) = &report.waits else { return Ok(()) };
    let ports: u64 = waits.vrf_ports.values().sum();
    if ports + waits.bank_conflict_cycles > 0 {
        writeln!(f, "\nDelays after dispatch, in overlapping cycles")?;
        writeln!(f, "  {:<18}{:>9}", "VRF ports", grouped(ports))?;
        writeln!(f, "  {:<18}{:>9}", "VDM bank conflicts", grouped(waits.bank_conflict_cycles))?;
    }
    Ok(())
}

fn row(f: &mut String, name: &str, share: f64, count: u64, [one, many]: [&str; 2]) -> fmt::Result {
    let of = if count == 1 { one } else { many };
    share_row(f, name, share, &format!("  {:>9} {of}", grouped(count)))
}

/// A bar of at most `width` characters, filled to `share` in eighths of a character.
pub(super) fn bar(share: f64, width: usize) -> String {
    const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (share.clamp(0.0, 1.0) * (width * 8) as f64).round() as usize;
    let bar = format!("{}{}", "█".repeat(eighths / 8), PARTS[eighths % 8]);
    format!("{bar:<width$}")
}

/// The number with a comma between groups of three digits.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests;
