//! The parts of the pages of runs and sweeps: one file each, without a network, readable without its
//! script.
//!
//! A short script draws the charts and the timeline as SVG (`page_parts/html/page.js`). A charting library
//! such as Vega-Lite would be many times as long, in every page, and brings neither the timeline nor the
//! tables; uPlot is for series over time.

use b512_asm::Pipe;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde_json::{Value, json};
use sim::timing::Cause;
use sim::trace::{Interval, Trace};

const STYLE: &str = include_str!("page_parts/html/style.css");
const SCRIPT: &str =
    concat!(include_str!("page_parts/html/condition.js"), include_str!("page_parts/html/page.js"));

/// A page with its data for the script.
pub fn shell(title: &str, body: &Markup, data: Option<&Value>) -> Markup {
    // Within a script element, only `<` could end it.
    let data = data.map(|data| data.to_string().replace('<', "\\u003c"));
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                // No request for an icon.
                link rel="icon" href="data:,";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                main { (body) }
                @if let Some(data) = data { script id="data" type="application/json" { (PreEscaped(data)) } }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    }
}

/// Units, each a thousand times the one before it.
const PREFIXES: [&[&str]; 2] = [&["ps", "ns", "µs", "ms", "s"], &["pJ", "nJ", "µJ", "mJ", "J"]];

/// The unit in which a value has one to three digits before the point, and the factor by which numbers
/// change. `None` if `unit` has no prefixes, or the value is not positive.
pub fn fitting(unit: &str, value: f64) -> Option<(&'static str, f64)> {
    let units = PREFIXES.iter().find(|units| units.contains(&unit)).filter(|_| value > 0.0)?;
    let from = units.iter().position(|known| *known == unit)?;
    let to = from.saturating_add_signed((value.log10() / 3.0).floor() as isize).min(units.len() - 1);
    Some((units[to], 1000f64.powi(from as i32 - to as i32)))
}

/// A value of four digits: `346.8`, `0.995`.
pub fn four_digits(value: f64) -> String {
    let digits = [(1000.0, 0), (100.0, 1), (10.0, 2)].into_iter().find(|(least, _)| value.abs() >= *least);
    format!("{value:.*}", digits.map_or(3, |(_, digits)| digits))
}

/// A value in its unit, or in a larger one if it has more than three digits before the point: `1.948 ms`.
pub fn amount(value: f64, unit: &str) -> String {
    let (unit, factor) = fitting(unit, value).filter(|(_, factor)| *factor < 1.0).unwrap_or((unit, 1.0));
    format!("{} {unit}", four_digits(value * factor))
}

/// The colours of a stack, in the order of their use.
const COLOURS: usize = 8;

/// A part of a stack.
pub struct StackPart {
    /// The name.
    pub name: String,
    /// The size.
    pub size: f64,
}

/// The names of the parts that any of some stacks has, the largest first.
pub fn names<'p>(stacks: impl Iterator<Item = &'p [StackPart]>) -> Vec<&'p str> {
    let mut sums: Vec<(&str, f64)> = Vec::new();
    for part in stacks.flatten().filter(|part| part.size > 0.0) {
        match sums.iter_mut().find(|(name, _)| *name == part.name) {
            Some((_, sum)) => *sum += part.size,
            None => sums.push((&part.name, part.size)),
        }
    }
    sums.sort_by(|a, b| b.1.total_cmp(&a.1));
    sums.into_iter().map(|(name, _)| name).collect()
}

/// The colour of a part: the rest shares the last one.
fn colour_of(names: &[&str], name: &str) -> String {
    let index = names.iter().position(|known| *known == name).unwrap_or(COLOURS);
    format!("c{}", index.min(COLOURS - 1))
}

/// A colour by number, again and again, without the last one.
pub fn colour(number: usize) -> String {
    format!("c{}", number % (COLOURS - 1))
}

/// A stacked bar whose full width is `whole`.
pub fn stack(parts: &[StackPart], names: &[&str], whole: f64) -> Markup {
    html! {
        div.stack {
            @for name in names {
                @for part in parts.iter().filter(|part| part.name == *name && part.size > 0.0) {
                    @let share = 100.0 * part.size / whole.max(f64::MIN_POSITIVE);
                    i class=(colour_of(names, name)) style=(format!("width:{share:.2}%")) title=(format!("{name}: {share:.1}%")) {}
                }
            }
        }
    }
}

/// The key of some stacks.
pub fn key(names: &[&str]) -> Markup {
    html! {
        p {
            @for name in names.iter().take(COLOURS - 1) {
                span.key { i class=(colour_of(names, name)) {} (name) }
            }
            @if names.len() >= COLOURS {
                span.key { i class=(colour_of(names, "")) {} (names[COLOURS - 1..].join(", ")) }
            }
        }
    }
}

/// The key of one stack whose full width is `whole`, with the share of each part.
pub fn shares(parts: &[StackPart], names: &[&str], whole: f64) -> Markup {
    let share = |name: &&str| {
        let size: f64 = parts.iter().filter(|part| part.name == **name).map(|part| part.size).sum();
        format!("{name} {:.1} %", 100.0 * size / whole.max(f64::MIN_POSITIVE))
    };
    html! {
        p {
            @for name in names {
                span.key { i class=(colour_of(names, name)) {} (share(name)) }
            }
        }
    }
}

/// The name of a cause for people: what the front end does in its cycles.
pub fn cause_label(cause: Cause) -> String {
    match cause {
        Cause::Issue => "dispatching".to_owned(),
        Cause::Busy(pipe) => format!("waits for {}'s registers", pipe.label()),
        Cause::Queue(pipe) => format!("waits for {}'s full queue", pipe.label()),
        Cause::Scalar => "waits for scalar loads".to_owned(),
        Cause::Fetch => "first fetch and decode".to_owned(),
        Cause::Drain => "last results".to_owned(),
    }
}

/// The name of a part of area or energy for people.
pub fn part_label(name: &str) -> String {
    match name {
        "law" => "LAW engines".to_owned(),
        "sbar" => "shuffle crossbar".to_owned(),
        "vbar" => "vector crossbar".to_owned(),
        "vdm" | "vrf" => name.to_uppercase(),
        "hbm" => "off-chip memory".to_owned(),
        "hbm_phy" => "PHY of the HBM".to_owned(),
        "keys" => "keys on chip".to_owned(),
        "generator" => "generator of keys".to_owned(),
        "bus" => "wires to the HBM".to_owned(),
        "static" => "leakage and idle clocks".to_owned(),
        _ => name.replace('_', " "),
    }
}

/// The stall breakdown of a kernel, as a stack and as a table.
pub fn causes(cycles: u64, of: impl Fn(Cause) -> u64) -> Markup {
    let part = |cause: Cause| StackPart { name: cause_label(cause), size: of(cause) as f64 };
    let parts: Vec<StackPart> = Cause::all().map(part).collect();
    let names = names(std::iter::once(&parts[..]));
    html! {
        h2 { "Where the cycles go" }
        p { "Each cycle of the front end has one cause." }
        (stack(&parts, &names, cycles as f64))
        (key(&names))
        table.sortable.narrow {
            thead { tr { th { "cause" } th { "cycles" } th { "share" } } }
            tbody {
                @for name in &names {
                    @for part in parts.iter().filter(|part| part.name == *name) {
                        tr { td.name { (name) } td { (part.size) } td { (format!("{:.1} %", 100.0 * part.size / cycles.max(1) as f64)) } }
                    }
                }
            }
        }
    }
}

/// The index of a pipe's row.
pub fn row(pipe: Pipe) -> Option<usize> {
    Pipe::VECTOR.iter().position(|known| *known == pipe)
}

/// The most instructions of a timeline: more make a page too large for a browser.
const MAX_INSTRUCTIONS: usize = 30_000;

/// The place of the timeline, and how to read it.
pub fn pipeline() -> Markup {
    html! {
        p.interactive {
            "Bars are instructions in their pipes; the line below a bar is the latency of its result, the grey one its time in the queue. "
            "In the row of the front end, grey is waiting. Wheel or + and − zoom, dragging moves."
        }
        div.interactive #timeline {}
    }
}

/// The data of the timeline. Scalar instructions end at the front end; their row is that after the pipes.
pub fn timeline(trace: &Trace<'_>) -> Value {
    let causes: Vec<Cause> = Cause::all().collect();
    let instruction = |interval: Interval<'_>| {
        let wait = interval.longest_wait();
        let Interval { index, pipe, arrival, dispatch, issue, pipe_free, complete, .. } = interval;
        let wait = wait.and_then(|wait| causes.iter().position(|cause| *cause == wait));
        let pipe = row(pipe).unwrap_or(Pipe::VECTOR.len());
        json!([pipe, arrival.0, dispatch.0, issue.0, pipe_free.0, complete.0, wait, trace.text(index)])
    };
    let instructions: Vec<Value> = trace.intervals().take(MAX_INSTRUCTIONS).map(instruction).collect();
    let end = trace.intervals().take(MAX_INSTRUCTIONS).map(|interval| interval.complete.0).max().unwrap_or(0);
    let pipes = Pipe::VECTOR.iter().map(|pipe| pipe.label()).chain(["scalar"]);
    json!({ "timeline": {
        "pipes": pipes.collect::<Vec<_>>(),
        "causes": causes.iter().map(|&cause| cause_label(cause)).collect::<Vec<_>>(),
        "cycles": end.max(20),
        "first": 0,
        "instructions": instructions,
    } })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(sizes: &[f64]) -> Vec<StackPart> {
        sizes.iter().enumerate().map(|(i, &size)| StackPart { name: format!("n{i}"), size }).collect()
    }

    #[test]
    fn stacks_are_ordered_by_size_and_the_rest_shares_a_colour() {
        let parts = parts(&[1.0, 9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 0.0]);
        let names = names(std::iter::once(&parts[..]));
        assert_eq!(names[..2], ["n1", "n2"]);
        assert_eq!(names.len(), 9);
        assert_eq!(
            [colour_of(&names, "n1"), colour_of(&names, "n8"), colour_of(&names, "n0")],
            ["c0", "c7", "c7"]
        );
        assert!(stack(&parts, &names, 45.0).into_string().contains("width:20.00%"));
        assert!(shares(&parts, &names, 45.0).into_string().contains("n1 20.0 %"));
        assert!(key(&names).into_string().contains("n8, n0"));
    }

    #[test]
    fn amounts_have_four_digits_and_a_unit_that_fits() {
        let amounts = [(1948.058, "µs"), (51_866.07, "µJ"), (0.252, "µs"), (50.5, "mm²"), (1234.0, "MiB")];
        let texts = ["1.948 ms", "51.87 mJ", "0.252 µs", "50.50 mm²", "1234 MiB"];
        assert_eq!(amounts.map(|(value, unit)| amount(value, unit)), texts);
    }

    #[test]
    fn data_cannot_end_its_element() {
        let data = serde_json::json!({ "name": "</script><b>" });
        let page = shell("t", &html! {}, Some(&data)).into_string();
        assert_eq!(page.matches("</script>").count(), 2);
    }
}
