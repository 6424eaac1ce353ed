//! The claims as text: for a terminal, and as Markdown.

use super::Reproduction;
use super::claims::{Comparison, Verdict};
use super::inconsistencies;
use super::leave_out::Account;
use super::table::significant;
use std::fmt::Write;

/// The summary of the verdicts, in sentences.
pub(super) fn tally(reproduction: &Reproduction) -> String {
    let tally = reproduction.tally;
    format!(
        "{} of {} claims agree, {} are missed, and {} cannot be compared. {} claims are predictions; {} of these agree. Of the \
         individual numbers, {} of {} agree, and {} of the {} predicted ones.",
        tally.agree,
        tally.claims,
        tally.missed,
        tally.not_comparable,
        tally.predicted,
        tally.agree_predicted,
        tally.numbers_agree,
        tally.numbers,
        tally.numbers_agree_predicted,
        tally.numbers_predicted,
    )
}

/// The rules of comparison, in sentences.
pub(super) const METHOD: &str = "A number agrees within 5%, a share or a change in percent within 2 points, an \"about\" \
    within 10%, a count exactly. A claim agrees if all its numbers agree. Fitted: a constant or a setting of the models was chosen \
    for this number, or for the same number under another name; the files in `configs` name them. Derived: it follows from printed \
    numbers alone. Predicted: it follows from the models, and nothing in them was fitted to it. A claim is a prediction if none of its \
    numbers is fitted and at least one is predicted. The paper's program is `--plan paper` on the machine `rpu-128x128-paper`: a reading \
    of the paper that a rule chose by a few of the claims. Our fastest program is `--plan best` on the machine `rpu-128x128`, which \
    models the described hardware literally, including VRF ports and bank conflicts. All times and cycles of the RPU are simulated; \
    areas and energies are modelled.";

/// A number of the paper with its unit.
pub(super) fn with_unit(value: &str, unit: &str) -> String {
    match unit {
        "" => value.to_owned(),
        "%" => format!("{value}%"),
        unit => format!("{value}\u{a0}{unit}"),
    }
}

/// Our number with its unit.
pub(super) fn ours(part: &Comparison) -> String {
    with_unit(&significant(part.ours, 4), part.unit)
}

/// One line per claim, for a terminal.
pub(super) fn summary(reproduction: &Reproduction) -> String {
    let mut text = String::new();
    for claim in &reproduction.claims {
        let origin = claim.origin.map_or("", |origin| origin.name());
        let worst = claim.parts.iter().find(|part| part.verdict == Verdict::Miss).or(claim.parts.first());
        let detail = worst.map_or_else(String::new, |part| {
            let paper = with_unit(&part.paper, part.unit);
            format!("{}: paper {paper}, ours {} ({})", part.quantity, ours(part), part.deviation)
        });
        let _ = writeln!(text, "{:<4} {:<15} {origin:<10} {detail}", claim.id, claim.verdict.name());
    }
    text.replace('µ', "u").replace('²', "2").replace('\u{a0}', " ") + &tally(reproduction) + "\n"
}

/// Escapes column separators of Markdown.
fn escape(text: &str) -> String {
    text.replace('|', "\\|")
}

/// The choice of the setting.
fn setting(account: &Account) -> String {
    let [what, caveat] = &account.method;
    let mut text = format!("\n## Choice of the setting of the paper's program\n\n{what}\n\n{caveat}\n\n");
    let _ = writeln!(text, "| {} |\n|---|--:|---|", Account::CLAIMS.join(" | "));
    for row in &account.claims {
        let _ = writeln!(text, "| {} |", row.join(" | "));
    }
    let _ = writeln!(text, "\n| {} |\n|---|--:|--:|---|", Account::SETS.join(" | "));
    for row in &account.sets {
        let _ = writeln!(text, "| {} |", row.join(" | "));
    }
    text.push('\n');
    for line in &account.summary {
        let _ = writeln!(text, "* {line}");
    }
    text + "\n[All sets](leave-out.csv) of C1 and up to three other claims, with the setting that each chooses.\n"
}

/// The content of `claims.md`.
pub(super) fn markdown(reproduction: &Reproduction) -> String {
    let mut text = format!(
        "# The paper's claims compared with our results\n\nWritten by `rpu reproduce`.\n\n{}\n\n{METHOD}\n\n\
         | id | claim | verdict | our result is |\n|---|---|---|---|\n",
        tally(reproduction)
    );
    for claim in &reproduction.claims {
        let verdict = match claim.verdict {
            Verdict::Miss => "**miss**",
            verdict @ (Verdict::Agrees | Verdict::NotComparable) => verdict.name(),
        };
        let origin = claim.origin.map_or("", |origin| origin.name());
        let _ = writeln!(
            text,
            "| {} | {} ({}) | {verdict} | {origin} |",
            claim.id,
            escape(claim.sentence),
            claim.place
        );
    }
    text += "\n## Number by number\n\n| claim | number | paper | ours | deviation | our result is | verdict |\n|---|---|---|---|---|---|---|\n";
    for claim in &reproduction.claims {
        for part in &claim.parts {
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} | {} | {} | {} |",
                claim.id,
                escape(part.quantity),
                with_unit(&part.paper, part.unit),
                ours(part),
                part.deviation,
                part.origin.name(),
                match part.verdict {
                    Verdict::Miss => "**miss**",
                    verdict @ (Verdict::Agrees | Verdict::NotComparable) => verdict.name(),
                }
            );
        }
    }
    if let Some(account) = &reproduction.account {
        text += &setting(account);
    }
    text += "\n## Misses\n\n";
    for claim in &reproduction.claims {
        if let Some(reason) = claim.reason {
            let _ = writeln!(text, "* **{}** {reason}", claim.id);
        }
    }
    text += "\n## Remarks\n\n";
    for claim in &reproduction.claims {
        if let Some(remark) = &claim.remark {
            let _ = writeln!(text, "* **{}** {remark}", claim.id);
        }
    }
    text += "\n## Other machines\n\nTimes in microseconds per transform. The source of each time is marked: printed, measured or simulated.\n\n\
             | machine | transform | µs | mm² | source of the time | reference |\n|---|---|---|---|---|---|\n";
    for row in &reproduction.others {
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} |",
            row.machine,
            row.transform,
            row.time_us,
            row.area_mm2,
            row.source.name(),
            row.reference
        );
    }
    text += "\n## Contradictions in the paper\n\n";
    for sentence in inconsistencies::list() {
        let _ = writeln!(text, "* {sentence}");
    }
    text += "\n## Figures\n\n";
    for figure in &reproduction.figures {
        let name = figure.name();
        let _ =
            writeln!(text, "* [Fig. {}]({name}.svg) ([data]({name}.csv)): {}", figure.number, figure.caption);
    }
    text += "* [CPU transforms measured on the current machine](cpu.svg) ([data](cpu.csv)), beside the simulated RPU; \
             they differ between runs.\n";
    text
}
