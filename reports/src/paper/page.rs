//! `index.html`: everything on one page.

use super::claims::{Assessment, Verdict};
use super::cpu::Measurements;
use super::document::{METHOD, ours, tally, with_unit};
use super::table::{Table, significant};
use super::{Reproduction, inconsistencies};
use maud::{DOCTYPE, Markup, PreEscaped, html};

const STYLE: &str = "
:root { --line: #d0d0d0; --muted: #595959; --miss: #fdeceb; --none: #f3f3f3; }
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 74rem; margin: 1.5rem auto; padding: 0 1rem; color: #1c1c1c;
  background: #fff; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .5rem; }
h2 { font-size: 1.2rem; margin: 2.25rem 0 .5rem; }
p { margin: .5rem 0; max-width: 62rem; }
.muted, figcaption a, footer { color: var(--muted); }
figure { margin: 1.25rem 0; break-inside: avoid; }
figure .draw { border: 1px solid var(--line); border-radius: 6px; padding: .25rem; overflow-x: auto; }
figure svg { width: 100%; min-width: 46rem; height: auto; display: block; }
figcaption { margin: .4rem 0 0; max-width: 62rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .5rem; text-align: left; border-bottom: 1px solid var(--line); vertical-align: top; }
th { font-weight: 600; border-bottom: 2px solid #999; }
td.number { white-space: nowrap; text-align: right; }
tr.first td { border-top: 1px solid #777; }
td.miss { background: var(--miss); font-weight: 600; }
td.none { background: var(--none); }
.claim { min-width: 17rem; }
li { margin: .35rem 0; max-width: 62rem; }
@media print { body { font-size: 9.5pt; max-width: none; margin: 0; } .scroll, figure .draw { overflow: visible; }
  figure svg { min-width: 0; } table { font-size: 7.5pt; } tr { break-inside: avoid; } }
";

/// Around what was measured on the machine at hand.
const MEASURED: [&str; 2] = ["<!-- measured on this machine -->", "<!-- end of measurements -->"];

/// A page without its section of measurements.
pub(super) fn unmeasured(page: &[u8]) -> String {
    let page = String::from_utf8_lossy(page);
    let [begin, end] = MEASURED;
    match (page.split_once(begin), page.split_once(end)) {
        (Some((before, _)), Some((_, after))) => format!("{before}{after}"),
        _ => page.into_owned(),
    }
}

/// The page, with the drawings of the figures in their order, and that of the measurements last.
pub(super) fn page(
    reproduction: &Reproduction,
    svgs: &[String],
    measured: Option<(&Measurements, &Table)>,
) -> String {
    let title = "The RPU paper, reproduced";
    let [begin, end] = MEASURED;
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 { (title) }
                p {
                    "\u{201c}RPU: The Ring Processing Unit\u{201d} (ISPASS 2023) by the models of this project. Written by "
                    code { "rpu reproduce" } "."
                }
                p { strong { (tally(reproduction)) } }
                h2 { "Claims" }
                p.muted { (METHOD.replace('`', "")) }
                (claims(&reproduction.claims))
                h2 { "Why claims are missed" }
                ul {
                    @for claim in &reproduction.claims {
                        @if let Some(reason) = claim.reason { li { strong { (claim.id) } " " (reason) } }
                    }
                }
                h2 { "Remarks" }
                ul {
                    @for claim in &reproduction.claims {
                        @if let Some(remark) = &claim.remark { li { strong { (claim.id) } " " (remark) } }
                    }
                }
                h2 { "Figures" }
                @for (figure, svg) in reproduction.figures.iter().zip(svgs) {
                    figure id=(figure.name()) {
                        div.draw { (PreEscaped(svg)) }
                        figcaption {
                            strong { "Fig. " (figure.number) "." } " " (figure.caption) " "
                            a href={ (figure.name()) ".csv" } { "Data as CSV" }
                        }
                    }
                }
                h2 { "Other machines" }
                p { "Microseconds a transform; each line says whether its time is printed, measured or simulated." }
                div.scroll {
                    table {
                        thead {
                            tr {
                                th { "machine" } th { "transform" } th { "µs" } th { "mm²" } th { "the time is" } th { "where" }
                            }
                        }
                        tbody {
                            @for row in &reproduction.others {
                                tr {
                                    td { (row.machine) } td { (row.transform) } td.number { (row.time_us) }
                                    td.number { (row.area_mm2) } td { (row.source.name()) } td { (row.reference) }
                                }
                            }
                        }
                    }
                }
                h2 { "Where the paper does not fit itself" }
                ul { @for sentence in inconsistencies::list() { li { (sentence) } } }
                (PreEscaped(begin))
                @if let Some((measurements, table)) = measured {
                    (measurements_section(measurements, table, svgs.last().map_or("", String::as_str)))
                }
                (PreEscaped(end))
            }
        }
    };
    markup.into_string()
}

fn claims(claims: &[Assessment]) -> Markup {
    html! {
        div.scroll {
            table {
                thead {
                    tr {
                        th {} th.claim { "claim" } th { "number" } th { "paper" } th { "ours" } th { "deviation" }
                        th { "ours is" } th { "verdict" }
                    }
                }
                tbody {
                    @for claim in claims {
                        @if claim.parts.is_empty() {
                            tr.first {
                                td { strong { (claim.id) } }
                                td { (claim.sentence) " " span.muted { "(" (claim.place) ")" } }
                                td colspan="5" { "see the remark" }
                                td.none { (claim.verdict.name()) }
                            }
                        }
                        @for (number, part) in claim.parts.iter().enumerate() {
                            tr.first[number == 0] {
                                @if number == 0 {
                                    td rowspan=(claim.parts.len()) { strong { (claim.id) } }
                                    td rowspan=(claim.parts.len()) {
                                        (claim.sentence) " " span.muted { "(" (claim.place) ")" }
                                    }
                                }
                                td { (part.quantity) }
                                td.number { (with_unit(&part.paper, part.unit)) }
                                td.number { (ours(part)) }
                                td.number { (part.deviation) }
                                td { (part.origin.name()) }
                                td.miss[part.verdict == Verdict::Miss] { (part.verdict.name()) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn measurements_section(measurements: &Measurements, table: &Table, svg: &str) -> Markup {
    html! {
        h2 { "CPU transforms, measured on this machine" }
        p {
            "This project's own transform on " (measurements.processor) ", measured when this page was written: these numbers \
             differ from machine to machine and from run to run. With several threads each runs transforms of its own, and the \
             time is a throughput. The RPU's times in the same rows are simulated."
        }
        figure {
            div.draw { (PreEscaped(svg)) }
            figcaption { a href="cpu.csv" { "Data as CSV" } }
        }
        div.scroll {
            table {
                thead { tr { @for name in &table.header { th { (name.replace('_', " ")) } } } }
                tbody {
                    @for row in &table.rows {
                        tr {
                            @for cell in row {
                                td.number { (cell.parse().map_or(cell.clone(), |value: f64| significant(value, 3))) }
                            }
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
    fn measurements_can_be_left_out() {
        let [begin, end] = MEASURED;
        let page = |inner: &str| format!("<p>a</p>{begin}{inner}{end}<p>b</p>").into_bytes();
        assert_eq!(unmeasured(&page("1 us")), unmeasured(&page("")));
        assert_eq!(unmeasured(&page("1 us")), "<p>a</p><p>b</p>");
        assert_eq!(unmeasured(b"<p>a</p>"), "<p>a</p>");
    }
}
