//! `index.html`: everything on one page.

use super::claims::{Assessment, Verdict};
use super::cpu::Measurements;
use super::document::{METHOD, ours, tally, with_unit};
use super::leave_out::Account;
use super::table::{Table, significant};
use super::{Reproduction, inconsistencies};
use maud::{DOCTYPE, Markup, PreEscaped, html};

const STYLE: &str = "
:root { color-scheme: light dark; --line: #d0d0d0; --muted: #595959; --miss: #f9d4d0; --none: #f4f4f4; --ink: #1c1c1c;
  --paper: #fff; }
@media (prefers-color-scheme: dark) { :root { --line: #444; --muted: #aaa; --miss: #5c2a26; --none: #242426; --ink: #eee;
  --paper: #121212; } }
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 74rem; margin: 1.5rem auto; padding: 0 1rem; color: var(--ink);
  background: var(--paper); }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .5rem; }
h2 { font-size: 1.2rem; margin: 2.25rem 0 .5rem; }
p { margin: .5rem 0; max-width: 62rem; }
.muted, figcaption a, footer { color: var(--muted); }
figure { margin: 1.25rem 0; break-inside: avoid; }
figure .draw { border: 1px solid var(--line); border-radius: 6px; padding: .25rem; display: flex;
  flex-wrap: wrap; }
figure svg { flex: 1 1 22rem; width: 22rem; min-width: 0; max-width: 48rem; height: auto; }
figcaption { margin: .4rem 0 0; max-width: 62rem; }
.scroll { overflow-x: auto; } .scroll + .scroll { margin-top: 1.25rem; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .5rem; text-align: left; border-bottom: 1px solid var(--line); vertical-align: top; }
th { font-weight: 600; border-bottom: 2px solid #999; }
td.number { white-space: nowrap; text-align: right; }
th.right { text-align: right; }
.claims tr.claim td { border-top: 1px solid #777; background: var(--none); padding-top: .45rem; }
.claims td.quantity { padding-left: 1.25rem; }
.claims tr.claim td.agrees { font-weight: 600; }
.claims tr.claim td.miss { background: var(--miss); font-weight: 600; }
.claims tr.claim td.none { font-style: italic; }
.claims tbody { break-inside: avoid; }
li { margin: .35rem 0; max-width: 62rem; }
@media (max-width: 40rem) { table { font-size: .75rem; } th, td { padding: .25rem .2rem; }
  td.number { white-space: normal; } .claims, .claims tbody { display: block; }
  .claims tr { display: grid; grid-template-columns: repeat(5, 1fr); } .claims th, .claims td { border: 0; text-align: left; }
  .claims tr.claim { background: var(--none); border-top: 1px solid #777; } .claims tr.claim td { border: 0; }
  .claims td[colspan], .claims td.quantity, .claims th:first-child { grid-column: 1 / -1; }
  .claims tr.claim td:last-child { grid-column: 1 / 3; } .claims td.quantity { padding: .3rem .2rem 0; color: var(--muted); } }
@media print { body { font-size: 9.5pt; max-width: none; margin: 0; } .scroll { overflow: visible; } table { font-size: 7.5pt; } tr { break-inside: avoid; } }
";

/// The largest width of a panel on the page, in points: its text is legible on a phone.
pub(super) const PANEL: u32 = 640;

/// The markers around measurements of the current machine.
const MEASURED: [&str; 2] = ["<!-- measured on this machine -->", "<!-- end of measurements -->"];

/// A page without its measurements.
pub(super) fn unmeasured(page: &[u8]) -> String {
    let page = String::from_utf8_lossy(page);
    let [begin, end] = MEASURED;
    match (page.split_once(begin), page.split_once(end)) {
        (Some((before, _)), Some((_, after))) => format!("{before}{after}"),
        _ => page.into_owned(),
    }
}

/// A page with the measurements of another page.
pub(super) fn with_measurements(page: &[u8], other: &[u8]) -> Vec<u8> {
    let (page, other) = (String::from_utf8_lossy(page), String::from_utf8_lossy(other));
    let [begin, end] = MEASURED;
    let section = other.split_once(begin).and_then(|(_, rest)| rest.split_once(end));
    match (page.split_once(begin), page.split_once(end), section) {
        (Some((before, _)), Some((_, after)), Some((section, _))) => {
            format!("{before}{begin}{section}{end}{after}").into_bytes()
        }
        _ => page.into_owned().into_bytes(),
    }
}

/// The page, with the drawings of the figures in order, and the drawing of the measurements last.
pub(super) fn page(
    reproduction: &Reproduction,
    svgs: &[Vec<String>],
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
                p.muted { (prose(METHOD)) }
                (claims(&reproduction.claims))
                @if let Some(account) = &reproduction.account { (setting(account)) }
                h2 { "Why claims are missed" }
                ul {
                    @for claim in &reproduction.claims {
                        @if let Some(reason) = claim.reason { li { strong { (claim.id) } " " (prose(reason)) } }
                    }
                }
                h2 { "Remarks" }
                ul {
                    @for claim in &reproduction.claims {
                        @if let Some(remark) = &claim.remark { li { strong { (claim.id) } " " (prose(remark)) } }
                    }
                }
                h2 { "Figures" }
                @for (figure, panels) in reproduction.figures.iter().zip(svgs) {
                    figure id=(figure.name()) {
                        (draw(panels))
                        figcaption {
                            strong { "Fig. " (figure.number) "." } " " (prose(&figure.caption)) " "
                            a href={ (figure.name()) ".csv" } { "Data as CSV" } ", "
                            a href={ (figure.name()) ".svg" } { "drawing as SVG" }
                        }
                    }
                }
                h2 { "Other machines" }
                p { "Times in microseconds per transform. The source of each time is marked: printed, measured or simulated." }
                div.scroll {
                    table {
                        thead {
                            tr {
                                th { "machine" } th { "transform" } th { "µs" } th { "mm²" } th { "source of the time" } th { "reference" }
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
                h2 { "Contradictions in the paper" }
                ul { @for sentence in inconsistencies::list() { li { (prose(&sentence)) } } }
                (PreEscaped(begin))
                @if let Some((measurements, table)) = measured {
                    (measurements_section(measurements, table, svgs.last().map_or(&[], Vec::as_slice)))
                }
                (PreEscaped(end))
            }
        }
    };
    markup.into_string()
}

/// The choice of the setting.
fn setting(account: &Account) -> Markup {
    let table = |heads: &[&str], rows: Vec<&[String]>| {
        html! {
            div.scroll {
                table {
                    thead { tr { @for head in heads { th { (head) } } } }
                    tbody { @for row in rows { tr { @for cell in row { td { (cell.replace("**", "")) } } } } }
                }
            }
        }
    };
    html! {
        h2 { "Choice of the setting of the paper\u{2019}s program" }
        @for paragraph in &account.method { p { (paragraph) } }
        (table(&Account::CLAIMS, account.claims.iter().map(|row| &row[..]).collect()))
        (table(&Account::SETS, account.sets.iter().map(|row| &row[..]).collect()))
        ul { @for line in &account.summary { li { (line) } } }
        p { a href="leave-out.csv" { "All sets of C1 and up to three other claims, as CSV" } }
    }
}

/// A row for the sentence of each claim, then one for each of its numbers: narrow enough for a
/// phone.
fn claims(claims: &[Assessment]) -> Markup {
    html! {
        div.scroll {
            table.claims {
                thead {
                    tr {
                        th { "number" } th.right { "paper" } th.right { "ours" } th.right { "deviation" } th { "our result is" }
                        th { "verdict" }
                    }
                }
                @for claim in claims {
                    tbody {
                        tr.claim {
                            td colspan="5" {
                                strong { (claim.id) } " " (claim.sentence) " " span.muted { "(" (claim.place) ")" }
                            }
                            td class=(class(claim.verdict)) { (claim.verdict.name()) }
                        }
                        @for part in &claim.parts {
                            tr {
                                td.quantity { (part.quantity) }
                                td.number { (with_unit(&part.paper, part.unit)) }
                                td.number { (ours(part)) }
                                td.number { (part.deviation) }
                                td { (part.origin.name()) }
                                td { @if part.verdict == Verdict::Miss { "miss" } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The panels of a figure, as many in a row as fit.
fn draw(panels: &[String]) -> Markup {
    html! { div.draw { @for panel in panels { (PreEscaped(panel)) } } }
}

/// A sentence whose names stand between backticks, as in the Markdown page.
fn prose(text: &str) -> Markup {
    html! {
        @for (i, part) in text.split('`').enumerate() {
            @if i % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

/// The style of the cell of a claim's verdict.
const fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Agrees => "agrees",
        Verdict::Miss => "miss",
        Verdict::NotComparable => "none",
    }
}

fn measurements_section(measurements: &Measurements, table: &Table, panels: &[String]) -> Markup {
    html! {
        h2 { "CPU transforms, measured on this machine" }
        p {
            "This project's own transform on " (measurements.processor) ", measured when this page was written: these numbers \
             differ between machines and runs. With several threads, each runs its own transforms, and the \
             time is a throughput. The RPU's times in the same rows are simulated."
        }
        figure {
            (draw(panels))
            figcaption { a href="cpu.csv" { "Data as CSV" } ", " a href="cpu.svg" { "drawing as SVG" } }
        }
        div.scroll {
            table {
                thead { tr { th { "code" } @for head in Measurements::HEADS { th.right { (head) } } } }
                tbody {
                    @for row in &table.rows {
                        tr {
                            @for cell in row {
                                @if let Ok(value) = cell.parse() { td.number { (significant(value, 3)) } } @else { td { (cell) } }
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
    fn names_between_backticks_are_code() {
        assert_eq!(prose("as `a < b` says").into_string(), "as <code>a &lt; b</code> says");
    }

    #[test]
    fn measurements_can_be_left_out() {
        let [begin, end] = MEASURED;
        let page = |inner: &str| format!("<p>a</p>{begin}{inner}{end}<p>b</p>").into_bytes();
        assert_eq!(unmeasured(&page("1 us")), unmeasured(&page("")));
        assert_eq!(unmeasured(&page("1 us")), "<p>a</p><p>b</p>");
        assert_eq!(unmeasured(b"<p>a</p>"), "<p>a</p>");
    }
}
