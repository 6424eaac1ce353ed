//! The effect of each reading of the paper on its claims: `reports/paper-setting.md`.

use super::leave_out::{claims, meets, standing};
use super::setting::{Choice, Space, plain};
use super::table::significant;
use super::trials::{Trial, Trials, simulated, training_claims};
use std::fmt::Write;

/// The key of the reading whose effect is shown number by number.
const DETAILED: &str = "frontend.cycles_per_instruction";

/// The trials with one value of a choice.
fn with(trials: &Trials, choice: usize, pick: usize) -> Trials {
    Trials { all: trials.all.iter().filter(|trial| trial.picks[choice] == pick).cloned().collect() }
}

/// The content of `reports/paper-setting.md`; `None` without the detailed choice.
pub fn page(space: &Space, trials: &Trials) -> Option<String> {
    let (index, detailed) = space.choice.iter().enumerate().find(|(_, choice)| choice.key == DETAILED)?;
    let mut text = format!(
        "# Readings of the paper, and its claims\n\n\
         <!-- Generated from lab/reproduction/data/paper-setting.csv: `cargo run -p studies -- paper-setting`. -->\n\n\
         {} of the {} candidates in [`configs/paper-setting.toml`](../configs/paper-setting.toml) agree with C1, the time at 64K; \
         `rpu fit --setting` simulated them in full. The [claims](paper/claims.md) and the rule, which chooses a candidate by {}, are \
         those of `rpu reproduce`. All numbers are simulated.\n\n\
         ## One reading at a time\n\n\
         Each row leaves only the candidates with one value. The rule then chooses among them.\n\n\
         | reading | candidates that agree with C1 | training claims met | of the claims held out agree | missed |\n\
         |---|--:|--:|--:|---|\n",
        trials.all.len(),
        space.size(),
        training_claims(space).join(" and "),
    );
    for (index, choice) in space.choice.iter().enumerate() {
        for pick in 0..choice.values.len() {
            let _ = writeln!(text, "{}", reading(space, trials, index, pick, choice));
        }
    }
    let choices: Vec<Trials> = (0..detailed.values.len())
        .map(|pick| with(trials, index, pick))
        .filter(|t| !t.all.is_empty())
        .collect();
    let chosen: Vec<&Trial> =
        choices.iter().filter_map(|trials| trials.choose(&training_claims(space))).collect();
    let heads: String =
        chosen.iter().map(|trial| format!(" {} |", plain(&detailed.values[trial.picks[index]]))).collect();
    let _ = write!(
        text,
        "\n## `{DETAILED}`\n\n{}.\n\nThe numbers of the best candidate with each value; those in bold agree with the paper.\n\n\
         | claim | number | paper |{heads}\n|---|---|--:|{}\n",
        detailed.why,
        "--:|".repeat(chosen.len()),
    );
    for (number, (claim, part)) in simulated().enumerate() {
        let cell = |trial: &&Trial| {
            let ours = trial.numbers[number];
            let mark = if part.paper.holds(ours) { "**" } else { "" };
            format!(" {mark}{}{mark} |", significant(ours, 4))
        };
        let cells: String = chosen.iter().map(cell).collect();
        let unit = if part.unit.is_empty() { String::new() } else { format!(", {}", part.unit) };
        let _ = writeln!(text, "| {} | {}{unit} | {} |{cells}", claim.id, part.quantity, part.paper.text());
    }
    text += "\nOf all candidates with each value that agree with C1, this share meets a claim:\n\n";
    let _ = writeln!(text, "| claim |{heads}\n|---|{}", "--:|".repeat(chosen.len()));
    for id in claims().into_iter().skip(1) {
        let share = |trials: &Trials| {
            let count = trials.all.iter().filter(|trial| meets(trial, id)).count();
            format!(" {}% |", significant(100.0 * count as f64 / trials.all.len() as f64, 2))
        };
        let _ = writeln!(text, "| {id} |{}", choices.iter().map(share).collect::<String>());
    }
    text += "\nThe candidates:\n\n";
    for trial in &chosen {
        let _ = writeln!(text, "* {}", space.describe(&trial.picks));
    }
    Some(text)
}

/// The row of a value of a choice.
fn reading(space: &Space, trials: &Trials, index: usize, pick: usize, choice: &Choice) -> String {
    let name = format!("`{} = {}`", choice.key, choice.values[pick]);
    let trials = with(trials, index, pick);
    let count = trials.all.len();
    let Some(own) = standing(&trials, &training_claims(space)) else {
        return format!("| {name} | {count} | | | |");
    };
    let (agree, held_out) = (own.agree.len(), own.held_out.len());
    let trained = format!("{} of {}", own.trained_agree, own.training.len());
    format!("| {name} | {count} | {trained} | {agree} of {held_out} | {} |", own.missed().join(", "))
}
