//! Predictions from other training sets: a setting chosen by some claims, evaluated on the remaining ones.

use super::claims::{Expected, Provenance};
use super::setting::Space;
use super::table::{Table, significant};
use super::trials::{Trial, Trials, simulated, training_claims};

/// The claim that is in every training set: candidates that miss it were not simulated in full.
const ALWAYS: &str = "C1";
/// The maximum number of other claims in a training set.
const MOST: usize = 3;

/// The result of a training set.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Standing<'t> {
    /// The training claims.
    pub training: Vec<&'static str>,
    /// The candidate that the rule chooses by them.
    pub chosen: &'t Trial,
    /// The training claims that the candidate meets.
    pub trained_agree: usize,
    /// The claims held out: none of their numbers took part in the choice.
    pub held_out: Vec<&'static str>,
    /// The held-out claims that the candidate meets.
    pub agree: Vec<&'static str>,
}

impl Standing<'_> {
    /// The held-out claims that the candidate misses.
    pub(super) fn missed(&self) -> Vec<&'static str> {
        self.held_out.iter().copied().filter(|id| !self.agree.contains(id)).collect()
    }
}

/// The claims with numbers that depend on the setting.
pub(super) fn claims() -> Vec<&'static str> {
    let mut ids: Vec<&str> = simulated().map(|(claim, _)| claim.id).collect();
    ids.dedup();
    ids
}

/// The numbers of a claim that depend on the setting, with ours.
fn numbers<'t>(trial: &'t Trial, id: &'t str) -> impl Iterator<Item = (Expected, f64)> + 't {
    let numbers = simulated().zip(&trial.numbers);
    numbers.filter(move |((claim, _), _)| claim.id == id).map(|((_, part), &ours)| (part.paper, ours))
}

/// Whether a candidate meets the part of a claim that depends on the setting.
pub(super) fn meets(trial: &Trial, id: &str) -> bool {
    numbers(trial, id).all(|(expected, ours)| expected.holds(ours))
}

/// Whether the setting has been fitted to a number of the claim.
fn is_fitted(id: &str, training: &[&str]) -> bool {
    let mut parts = simulated().filter(|(claim, _)| claim.id == id);
    parts.any(|(_, part)| part.basis.origin(id, training) == Provenance::Fitted)
}

/// The result of a training set; `None` without trials.
pub(super) fn standing<'t>(trials: &'t Trials, training: &[&'static str]) -> Option<Standing<'t>> {
    let chosen = trials.choose(training)?;
    let held_out: Vec<&str> = claims().into_iter().filter(|id| !is_fitted(id, training)).collect();
    let agree = held_out.iter().copied().filter(|id| meets(chosen, id)).collect();
    let trained_agree = training.iter().filter(|id| meets(chosen, id)).count();
    Some(Standing { training: training.to_vec(), chosen, trained_agree, held_out, agree })
}

/// The training sets of C1 and up to three more claims, smaller ones first.
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
        vec![
            standing.training.join(" "),
            standing.held_out.len().to_string(),
            standing.agree.len().to_string(),
            standing.missed().join(" "),
            space.describe(&standing.chosen.picks),
        ]
    };
    let rows = training_sets().iter().filter_map(|training| standing(trials, training)).map(row).collect();
    Table { header, rows }
}

/// A report of the choice of the setting and its alternatives. Text between `**` is emphasised.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Account {
    /// The method.
    pub method: [String; 2],
    /// Claim, the share of candidates that meet it, and its part.
    pub claims: Vec<[String; 3]>,
    /// Training claims, the number held out, how many of these agree, and the ones that do not.
    pub sets: Vec<[String; 4]>,
    /// The summary of all training sets.
    pub summary: Vec<String>,
}

impl Account {
    /// The headings of [`Self::claims`].
    pub(super) const CLAIMS: [&str; 3] = ["claim", "candidates that meet it", "role"];
    /// The headings of [`Self::sets`].
    pub(super) const SETS: [&str; 4] = ["training claims", "held out", "agreeing", "missed"];

    /// Computes the report; `None` without trials.
    pub(super) fn new(space: &Space, trials: &Trials) -> Option<Self> {
        let training = training_claims(space);
        let own = standing(trials, &training)?;
        let sets = training_sets();
        let small = sets.iter().filter(|set| set.len() <= 2).cloned();
        Some(Self {
            method: method(space, trials, &own),
            claims: claims()
                .into_iter()
                .filter(|&id| !is_fitted(id, &[ALWAYS]))
                .map(|id| {
                    let count = trials.all.iter().filter(|trial| meets(trial, id)).count();
                    [
                        id.to_owned(),
                        format!("{}%", percent(count, trials.all.len())),
                        part(&own, id).to_owned(),
                    ]
                })
                .collect(),
            sets: small
                .chain((training.len() > 2).then(|| training.clone()))
                .filter_map(|set| {
                    let standing = standing(trials, &set)?;
                    let mark = if set == training { "**" } else { "" };
                    Some([
                        format!("{mark}{}{mark}", set.join(", ")),
                        standing.held_out.len().to_string(),
                        standing.agree.len().to_string(),
                        standing.missed().join(", "),
                    ])
                })
                .collect(),
            summary: summary(trials, &own, &sets),
        })
    }
}

fn percent(part: usize, whole: usize) -> String {
    significant(100.0 * part as f64 / whole.max(1) as f64, 2)
}

fn method(space: &Space, trials: &Trials, own: &Standing<'_>) -> [String; 2] {
    [
        format!(
            "The paper prints neither latencies nor a scheduler. configs/paper-setting.toml has {} choices with the values that the \
             text allows: {} candidates. {} of them agree with the printed time at 64K (C1) and were simulated in \
             full (rpu fit --setting; lab/reproduction/data/paper-setting.csv). A fixed rule selects the one that best meets the training claims: \
             fewest misses, then least squares of deviation over tolerance, then the simplest. The training claims are {}. The rule \
             chose {}. It meets {} of the {} training claims, and {} of the {} claims held out.",
            space.choice.len(),
            space.size(),
            trials.all.len(),
            own.training.join(", "),
            space.describe(&own.chosen.picks),
            own.trained_agree,
            own.training.len(),
            own.agree.len(),
            own.held_out.len(),
        ),
        "The values of the choices and the training claims were selected with knowledge of all claims. The tables show the influence \
         of this selection: the share of candidates that meet each claim anyway, and the settings that other training claims would \
         have chosen. A claim is held out if none of its numbers, under any name, is a number of a training claim. Areas are ignored \
         here."
            .to_owned(),
    ]
}

/// The part of a claim in the choice.
fn part(own: &Standing<'_>, id: &str) -> &'static str {
    if own.training.contains(&id) {
        "training"
    } else if own.agree.contains(&id) {
        "held out, agrees"
    } else if own.held_out.contains(&id) {
        "held out, **missed**"
    } else {
        "shares a number with a training claim"
    }
}

fn summary(trials: &Trials, own: &Standing<'_>, sets: &[Vec<&'static str>]) -> Vec<String> {
    let mut lines = Vec::new();
    for size in 2..=MOST + 1 {
        let standings: Vec<Standing<'_>> =
            sets.iter().filter(|set| set.len() == size).filter_map(|set| standing(trials, set)).collect();
        let agree: usize = standings.iter().map(|standing| standing.agree.len()).sum();
        let held_out: usize = standings.iter().map(|standing| standing.held_out.len()).sum();
        let missed = |standing: &Standing<'_>| standing.missed().len();
        let (fewest, most) = (standings.iter().map(missed).min(), standings.iter().map(missed).max());
        let (fewest, most) = (fewest.unwrap_or(0), most.unwrap_or(0));
        let best = standings.iter().filter(|standing| missed(standing) == fewest).count();
        let same = standings.iter().filter(|standing| standing.chosen == own.chosen).count();
        lines.push(format!(
            "With {size} training claims ({} such sets), on average {}% of the held-out claims agree; {fewest} to {most} are \
             missed, {fewest} of them by {best} of the sets, and {same} of the sets choose our setting.",
            standings.len(),
            percent(agree, held_out),
        ));
    }
    let by_chance: usize =
        trials.all.iter().map(|trial| own.held_out.iter().filter(|id| meets(trial, id)).count()).sum();
    lines.push(format!(
        "Of the {} claims held out, a candidate that meets C1 meets {} on average; the chosen one meets {}.",
        own.held_out.len(),
        significant(by_chance as f64 / trials.all.len().max(1) as f64, 2),
        own.agree.len()
    ));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn training_sets_have_c1_and_up_to_three_others() {
        let sets = training_sets();
        let others = claims().len() - 1;
        assert_eq!(
            sets.len(),
            1 + others + others * (others - 1) / 2 + others * (others - 1) * (others - 2) / 6
        );
        for set in &sets {
            assert_eq!(set[0], "C1");
            assert!(
                set[1..].iter().enumerate().all(|(i, id)| *id != "C1" && !set[1..=i].contains(id)),
                "{set:?}"
            );
        }
    }

    #[test]
    fn a_claim_is_held_out_where_none_of_its_numbers_was_trained_by_any_name() {
        let space = Space::built_in().unwrap();
        let trials = Trials::built_in(&space).unwrap();
        let held_out = |training: &[&'static str]| standing(&trials, training).unwrap().held_out;
        let all = held_out(&["C1"]);
        assert!(!all.contains(&"C1") && all.contains(&"C4") && all.contains(&"C19"), "{all:?}");
        let without_16k = held_out(&["C1", "C17"]);
        assert!(["C4", "C17", "C19"].iter().all(|id| !without_16k.contains(id)), "{without_16k:?}");
        assert_eq!(without_16k.len(), all.len() - 3);
    }

    /// The data behind the claims' page.
    #[test]
    fn the_setting_meets_its_training_claims_and_all_but_c14_of_the_others() {
        let space = Space::built_in().unwrap();
        let trials = Trials::built_in(&space).unwrap();
        let own = standing(&trials, &training_claims(&space)).unwrap();
        assert_eq!(own.trained_agree, own.training.len());
        assert_eq!(own.missed(), ["C14"]);
        let account = Account::new(&space, &trials).unwrap();
        assert_eq!(account.sets.iter().filter(|row| row[0].starts_with("**")).count(), 1);
        assert_eq!(account.claims.len(), claims().len() - 1);
    }
}
