//! How the predictions fare that other training sets would have made: what a setting that was chosen
//! by some claims says of all others.

use super::claims::{Expected, Origin};
use super::setting::{Space, Trial, Trials, simulated};
use super::table::{Table, significant};
use std::fmt::Write;

/// The claim that is in every training set: candidates that miss it were not simulated in full.
const ALWAYS: &str = "C1";
/// The claims that a training set has besides, at most.
const MOST: usize = 3;

/// What a training set leads to.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Standing<'t> {
    /// The training claims.
    pub training: Vec<&'static str>,
    /// What the rule chooses by them.
    pub chosen: &'t Trial,
    /// The training claims that it meets.
    pub trained_agree: usize,
    /// The claims held out, with none of whose numbers it was chosen.
    pub held_out: Vec<&'static str>,
    /// Those of them that it meets.
    pub agree: Vec<&'static str>,
}

/// The claims with numbers that depend on the setting.
fn claims() -> Vec<&'static str> {
    let mut ids: Vec<&str> = simulated().map(|(claim, _)| claim.id).collect();
    ids.dedup();
    ids
}

/// The numbers of a claim that depend on the setting, with ours.
fn numbers<'t>(trial: &'t Trial, id: &'t str) -> impl Iterator<Item = (Expected, f64)> + 't {
    let numbers = simulated().zip(&trial.numbers);
    numbers.filter(move |((claim, _), _)| claim.id == id).map(|((_, part), &ours)| (part.paper, ours))
}

/// Whether a candidate meets a claim, as far as the setting has a part in it.
fn meets(trial: &Trial, id: &str) -> bool {
    numbers(trial, id).all(|(expected, ours)| expected.holds(ours))
}

/// Whether the setting has been fitted to a number of the claim.
fn is_fitted(id: &str, training: &[&str]) -> bool {
    let mut parts = simulated().filter(|(claim, _)| claim.id == id);
    parts.any(|(_, part)| part.basis.origin(id, training) == Origin::Fitted)
}

/// What a training set leads to; none where there are no trials.
pub(super) fn standing<'t>(trials: &'t Trials, training: &[&'static str]) -> Option<Standing<'t>> {
    let chosen = trials.choose(training)?;
    let held_out: Vec<&str> = claims().into_iter().filter(|id| !is_fitted(id, training)).collect();
    let agree = held_out.iter().copied().filter(|id| meets(chosen, id)).collect();
    let trained_agree = training.iter().filter(|id| meets(chosen, id)).count();
    Some(Standing { training: training.to_vec(), chosen, trained_agree, held_out, agree })
}

/// The training sets of C1 and up to three others, smaller ones first.
fn training_sets() -> Vec<Vec<&'static str>> {
    let others: Vec<&str> = claims().into_iter().filter(|&id| !is_fitted(id, &[ALWAYS])).collect();
    let mut sets: Vec<Vec<&str>> = (0u32..1 << others.len())
        .filter(|set| set.count_ones() as usize <= MOST)
        .map(|set| {
            let chosen = others.iter().enumerate().filter(|(bit, _)| set >> bit & 1 != 0).map(|(_, &id)| id);
            std::iter::once(ALWAYS).chain(chosen).collect()
        })
        .collect();
    sets.sort_by_key(Vec::len);
    sets
}

/// `leave-out.csv`: a row for each training set.
pub(super) fn table(space: &Space, trials: &Trials) -> Table {
    let header = vec!["training_claims", "held_out_claims", "of_these_agree", "missed", "chosen"];
    let row = |standing: Standing<'_>| {
        let missed = standing.held_out.iter().filter(|id| !standing.agree.contains(id));
        vec![
            standing.training.join(" "),
            standing.held_out.len().to_string(),
            standing.agree.len().to_string(),
            missed.copied().collect::<Vec<_>>().join(" "),
            space.describe(&standing.chosen.picks),
        ]
    };
    let rows = training_sets().iter().filter_map(|training| standing(trials, training)).map(row).collect();
    Table { header, rows }
}

/// How the setting was chosen, in Markdown.
pub(super) fn markdown(space: &Space, trials: &Trials, training: &[&'static str]) -> String {
    let mut text = String::new();
    let Some(own) = standing(trials, training) else { return text };
    let all = trials.all.len();
    let percent = |part: usize, whole: usize| significant(100.0 * part as f64 / whole as f64, 2);
    let _ = write!(
        text,
        "\n## How the setting of the paper's program was chosen\n\n\
         The paper prints neither latencies nor a scheduler. `configs/paper-setting.toml` has {} choices with the values that a \
         reader may find in the text, {} candidates together. {all} of them take the printed time at 64K (C1); `rpu fit --setting` \
         simulates these in full (`reports/paper-setting.csv`). A fixed rule takes the one that meets the *training claims* best: fewest \
         missed, then least squares of deviation over tolerance, then the simplest. The training claims are {}. The rule chose: {}. \
         It meets {} of the {} training claims, and of the {} claims held out {}.\n\n\
         The values of the choices, and these training claims among others, were picked with all claims in sight. What follows shows how much hangs on \
         that: how many candidates meet each claim anyway, and what other training claims would have chosen.\n\n",
        space.choice.len(),
        space.size(),
        training.join(", "),
        space.describe(&own.chosen.picks),
        own.trained_agree,
        training.len(),
        own.held_out.len(),
        own.agree.len(),
    );
    text += "| claim | candidates that meet it | |\n|---|--:|---|\n";
    for id in claims().into_iter().filter(|&id| !is_fitted(id, &[ALWAYS])) {
        let count = trials.all.iter().filter(|trial| meets(trial, id)).count();
        let role = if training.contains(&id) {
            "training"
        } else if own.agree.contains(&id) {
            "held out, agrees"
        } else if own.held_out.contains(&id) {
            "held out, **missed**"
        } else {
            "shares a number with a training claim"
        };
        let _ = writeln!(text, "| {id} | {}% | {role} |", percent(count, all));
    }
    text += "\n| training claims | held out | of these agree | missed |\n|---|--:|--:|---|\n";
    let sets = training_sets();
    let singles = sets.iter().filter(|set| set.len() <= 2);
    for set in singles.map(Vec::as_slice).chain(std::iter::once(training)) {
        let Some(standing) = standing(trials, set) else { continue };
        let missed: Vec<&str> =
            standing.held_out.iter().copied().filter(|id| !standing.agree.contains(id)).collect();
        let mark = if set == training { "**" } else { "" };
        let _ = writeln!(
            text,
            "| {mark}{}{mark} | {} | {} | {} |",
            set.join(", "),
            standing.held_out.len(),
            standing.agree.len(),
            missed.join(", ")
        );
    }
    text.push('\n');
    for size in 1..=MOST + 1 {
        let standings: Vec<Standing<'_>> =
            sets.iter().filter(|set| set.len() == size).filter_map(|set| standing(trials, set)).collect();
        let agree: usize = standings.iter().map(|standing| standing.agree.len()).sum();
        let held_out: usize = standings.iter().map(|standing| standing.held_out.len()).sum();
        let missed = |standing: &Standing<'_>| standing.held_out.len() - standing.agree.len();
        let fewest = standings.iter().map(missed).min().unwrap_or(0);
        let best = standings.iter().filter(|standing| missed(standing) == fewest).count();
        let sets = if standings.len() == 1 { "set" } else { "sets" };
        let _ = writeln!(
            text,
            "* Of {} training {sets} of {size}: {}% of the claims held out agree; {best} {} the fewest, {fewest}.",
            standings.len(),
            percent(agree, held_out),
            if best == 1 { "misses" } else { "miss" }
        );
    }
    let random: usize =
        trials.all.iter().map(|trial| own.held_out.iter().filter(|id| meets(trial, id)).count()).sum();
    let _ = writeln!(
        text,
        "* Of the claims that our training set holds out, a candidate that meets C1 meets {} on average, ours {}.\n\n\
         [Every set](leave-out.csv) of C1 and up to {MOST} other claims, with what it chooses.",
        significant(random as f64 / all.max(1) as f64, 2),
        own.agree.len()
    );
    text
}
