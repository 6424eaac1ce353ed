//! The claims of the paper, compared with our results. A claim is data and functions that measure;
//! the verdict is computed.

mod list;

pub(super) use list::CLAIMS;

use super::evaluation::Evaluation;
use super::table::significant;
use serde::Serialize;

/// A claim of the paper.
#[derive(Debug)]
pub(super) struct Claim {
    /// Its number in this project.
    pub(super) id: &'static str,
    /// The claim in one sentence.
    pub(super) sentence: &'static str,
    /// The section of the paper.
    pub(super) place: &'static str,
    /// The numbers of the claim; empty if nothing of ours is comparable.
    pub(super) parts: &'static [Number],
    /// The reason for a miss.
    pub(super) reason: &'static str,
    /// A remark needed to read the comparison, if the evaluation has its data.
    pub(super) remark: Option<fn(&Evaluation) -> Option<String>>,
}

/// A number of a claim.
#[derive(Debug)]
pub(super) struct Number {
    /// The quantity.
    pub(super) quantity: &'static str,
    /// Its unit; empty for ratios and counts.
    pub(super) unit: &'static str,
    /// The paper's value.
    pub(super) paper: Expected,
    /// The basis of our number.
    pub(super) basis: Basis,
    /// Measures the quantity.
    pub(super) ours: fn(&Evaluation) -> f64,
}

/// The paper's value, with its tolerance.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Expected {
    /// This value, within 5%.
    Value(f64),
    /// About this value: within 10%.
    About(f64),
    /// This share or change in percent, within 2 points.
    Percent(f64),
    /// A share or change in percent between these bounds, with a tolerance of 2 points.
    PercentBetween(f64, f64),
    /// A value between these bounds, with a tolerance of 5%.
    Between(f64, f64),
    /// Exactly this value.
    Exactly(f64),
    /// More than this value.
    MoreThan(f64),
    /// Less than this value.
    LessThan(f64),
}

/// Relative tolerance of a value.
const VALUE: f64 = 0.05;
/// Relative tolerance of an "about" value.
const ABOUT: f64 = 0.10;
/// Tolerance of a share, in points.
const POINTS: f64 = 2.0;

/// The basis of a number of ours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Basis {
    /// A constant of area or energy that was fitted to this number, or the shape of such a model.
    Fitted,
    /// Only printed values.
    Derived,
    /// Models in which nothing was chosen for this number, or for a number that implies it.
    Predicted,
    /// Only cycles, in the setting of the paper's program: see [`trials`](crate::trials).
    Setting {
        /// Other claims with the same number under another name: fitting one fits both.
        shares: &'static [&'static str],
    },
}

impl Basis {
    /// The setting, for a number without another name.
    pub(super) const SETTING: Self = Self::Setting { shares: &[] };

    /// The origin of a claim's number if the claims `training` chose the setting.
    pub(super) fn origin(self, id: &str, training: &[&str]) -> Provenance {
        match self {
            Self::Fitted => Provenance::Fitted,
            Self::Derived => Provenance::Derived,
            Self::Predicted => Provenance::Predicted,
            Self::Setting { shares } => {
                if training.iter().any(|claim| *claim == id || shares.contains(claim)) {
                    Provenance::Fitted
                } else {
                    Provenance::Predicted
                }
            }
        }
    }
}

/// The origin of a number of ours.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Provenance {
    /// Fitted: a constant or a setting of the models was chosen for this number.
    Fitted,
    /// Derived: it follows from printed values without any freedom: a count of the algorithm, or
    /// arithmetic on printed numbers.
    Derived,
    /// Predicted: it follows from the model; nothing was chosen for it.
    Predicted,
}

impl Provenance {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fitted => "fitted",
            Self::Derived => "derived",
            Self::Predicted => "predicted",
        }
    }
}

/// The verdict of a comparison.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Within the tolerance in every part.
    Agrees,
    /// Outside the tolerance.
    Miss,
    /// Nothing of ours is comparable.
    NotComparable,
}

impl Verdict {
    /// The words for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Agrees => "agrees",
            Self::Miss => "miss",
            Self::NotComparable => "not comparable",
        }
    }
}

/// A claim with its verdict.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Assessment {
    /// The claim's number.
    pub id: &'static str,
    /// The claim in one sentence.
    pub sentence: &'static str,
    /// The section of the paper.
    pub place: &'static str,
    /// Fitted if a part is; predicted if no part is fitted and at least one is predicted; derived
    /// if all parts are.
    pub origin: Option<Provenance>,
    /// Whether all parts agree.
    pub verdict: Verdict,
    /// The parts.
    pub parts: Vec<Comparison>,
    /// The reason for a miss.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
    /// The remark.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remark: Option<String>,
}

/// A number of the paper, and ours.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Comparison {
    /// The quantity.
    pub quantity: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// The paper's value as text: `6.7`, `10 to 24`, `more than 2`.
    pub paper: String,
    /// Our value.
    #[serde(serialize_with = "four_digits")]
    pub ours: f64,
    /// The deviation as text: `+1.2%`, `-0.3 points`, `within`.
    pub deviation: String,
    /// The origin of ours.
    pub origin: Provenance,
    /// Whether it is within the tolerance.
    pub verdict: Verdict,
}

/// The value as displayed, so that a document does not depend on the last bit.
fn four_digits<S: serde::Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    let rounded: f64 = significant(*value, 4).parse().unwrap_or(*value);
    serializer.serialize_f64(rounded)
}

impl Expected {
    /// Whether a value of ours agrees.
    pub(super) fn holds(self, ours: f64) -> bool {
        let within = |low: f64, high: f64| (low..=high).contains(&ours);
        match self {
            Self::Value(paper) => (ours - paper).abs() <= VALUE * paper.abs(),
            Self::About(paper) => (ours - paper).abs() <= ABOUT * paper.abs(),
            Self::Percent(paper) => (ours - paper).abs() <= POINTS,
            Self::PercentBetween(low, high) => within(low - POINTS, high + POINTS),
            Self::Between(low, high) => within(low * (1.0 - VALUE), high * (1.0 + VALUE)),
            Self::Exactly(paper) => ours == paper,
            Self::MoreThan(paper) => ours > paper,
            Self::LessThan(paper) => ours < paper,
        }
    }

    /// The deviation of a value of ours, relative to the tolerance: zero within printed bounds.
    pub(super) fn misfit(self, ours: f64) -> f64 {
        let outside = |low: f64, high: f64| (ours - ours.clamp(low, high)).abs();
        match self {
            Self::Value(paper) => (ours - paper).abs() / (VALUE * paper.abs()),
            Self::About(paper) => (ours - paper).abs() / (ABOUT * paper.abs()),
            Self::Percent(paper) => (ours - paper).abs() / POINTS,
            Self::PercentBetween(low, high) => outside(low, high) / POINTS,
            Self::Between(low, high) => {
                outside(low, high) / (VALUE * if ours < low { low.abs() } else { high.abs() })
            }
            Self::Exactly(paper) => (ours - paper).abs(),
            Self::MoreThan(paper) => (paper - ours).max(0.0) / (VALUE * paper.abs()),
            Self::LessThan(paper) => (ours - paper).max(0.0) / (VALUE * paper.abs()),
        }
    }

    /// A value in perfect agreement.
    #[cfg(test)]
    pub(super) fn example(self) -> f64 {
        match self {
            Self::Value(paper) | Self::About(paper) | Self::Percent(paper) | Self::Exactly(paper) => paper,
            Self::PercentBetween(low, _) | Self::Between(low, _) => low,
            Self::MoreThan(paper) => paper + 1.0,
            Self::LessThan(paper) => paper - 0.5,
        }
    }

    /// The paper's value as text.
    pub(super) fn text(self) -> String {
        match self {
            Self::Value(paper) | Self::Percent(paper) | Self::Exactly(paper) => significant(paper, 4),
            Self::About(paper) => format!("about {paper}"),
            Self::PercentBetween(low, high) | Self::Between(low, high) => format!("{low} to {high}"),
            Self::MoreThan(paper) => format!("more than {paper}"),
            Self::LessThan(paper) => format!("less than {paper}"),
        }
    }

    /// The deviation of a value of ours as text.
    fn deviation(self, ours: f64) -> String {
        let relative = |paper: f64| {
            let percent = (ours / paper - 1.0) * 100.0;
            if percent.abs() < 0.05 { "0%".to_owned() } else { format!("{percent:+.1}%") }
        };
        let points = |paper: f64| {
            let points = ours - paper;
            if points.abs() < 0.05 { "0 points".to_owned() } else { format!("{points:+.1} points") }
        };
        match self {
            Self::Value(paper) | Self::About(paper) => relative(paper),
            Self::Exactly(paper) if paper == ours => "equal".to_owned(),
            Self::Exactly(paper) => format!("{:+}", ours - paper),
            Self::Percent(paper) => points(paper),
            Self::Between(low, high) | Self::PercentBetween(low, high) if (low..=high).contains(&ours) => {
                "within".to_owned()
            }
            Self::PercentBetween(low, high) => points(if ours < low { low } else { high }),
            Self::Between(low, high) => relative(if ours < low { low } else { high }),
            Self::MoreThan(_) | Self::LessThan(_) => {
                if self.holds(ours) {
                    "holds".to_owned()
                } else {
                    "fails".to_owned()
                }
            }
        }
    }
}

impl Claim {
    /// Compares the claim with the simulations, for a setting chosen by the claims `training`.
    pub(super) fn assess(&self, evaluation: &Evaluation, training: &[&str]) -> Assessment {
        let compare = |part: &Number| {
            let ours = (part.ours)(evaluation);
            let verdict = if part.paper.holds(ours) { Verdict::Agrees } else { Verdict::Miss };
            Comparison {
                quantity: part.quantity,
                unit: part.unit,
                paper: part.paper.text(),
                ours,
                deviation: part.paper.deviation(ours),
                origin: part.basis.origin(self.id, training),
                verdict,
            }
        };
        let parts: Vec<Comparison> = self.parts.iter().map(compare).collect();
        let verdict = if parts.is_empty() {
            Verdict::NotComparable
        } else if parts.iter().all(|part| part.verdict == Verdict::Agrees) {
            Verdict::Agrees
        } else {
            Verdict::Miss
        };
        Assessment {
            id: self.id,
            sentence: self.sentence,
            place: self.place,
            origin: origin(parts.iter().map(|part| part.origin)),
            verdict,
            reason: (verdict == Verdict::Miss).then_some(self.reason),
            remark: self.remark.and_then(|remark| remark(evaluation)),
            parts,
        }
    }
}

/// The origin of a claim, from the origins of its numbers; `None` without numbers.
fn origin(parts: impl Iterator<Item = Provenance> + Clone) -> Option<Provenance> {
    let has = |origin| parts.clone().any(|part| part == origin);
    [Provenance::Fitted, Provenance::Predicted, Provenance::Derived].into_iter().find(|&origin| has(origin))
}

/// A summary of all comparisons.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Tally {
    /// Claims.
    pub claims: usize,
    /// Claims that agree.
    pub agree: usize,
    /// Claims that agree and are predictions: no part was fitted, and at least one is not derived.
    pub agree_predicted: usize,
    /// Claims that are predictions.
    pub predicted: usize,
    /// Claims that are missed.
    pub missed: usize,
    /// Claims without comparable results.
    pub not_comparable: usize,
    /// Numbers in all claims.
    pub numbers: usize,
    /// Numbers that agree.
    pub numbers_agree: usize,
    /// Numbers that are predictions.
    pub numbers_predicted: usize,
    /// Predicted numbers that agree.
    pub numbers_agree_predicted: usize,
}

impl Tally {
    /// Counts.
    pub(super) fn of(assessments: &[Assessment]) -> Self {
        let agrees = |a: &&Assessment| a.verdict == Verdict::Agrees;
        let parts = || assessments.iter().flat_map(|assessment| &assessment.parts);
        let good = |part: &&Comparison| part.verdict == Verdict::Agrees;
        let predicted = |part: &&Comparison| part.origin == Provenance::Predicted;
        let with = |verdict| assessments.iter().filter(|a| a.verdict == verdict).count();
        Self {
            claims: assessments.len(),
            agree: with(Verdict::Agrees),
            agree_predicted: assessments
                .iter()
                .filter(agrees)
                .filter(|a| a.origin == Some(Provenance::Predicted))
                .count(),
            predicted: assessments.iter().filter(|a| a.origin == Some(Provenance::Predicted)).count(),
            missed: with(Verdict::Miss),
            not_comparable: with(Verdict::NotComparable),
            numbers: parts().count(),
            numbers_agree: parts().filter(good).count(),
            numbers_predicted: parts().filter(predicted).count(),
            numbers_agree_predicted: parts().filter(predicted).filter(good).count(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tolerances_are_those_of_the_kind_of_claim() {
        use Expected::*;
        for (expected, good, bad) in [
            (Value(6.7), 7.03, 7.04),
            (About(1.5), 1.36, 1.34),
            (Percent(16.0), 17.9, 18.1),
            (PercentBetween(10.0, 24.0), 8.1, 7.9),
            (Between(1.5, 2.0), 1.43, 1.42),
            (Exactly(1024.0), 1024.0, 1025.0),
            (MoreThan(2.0), 2.01, 2.0),
            (LessThan(1.0), 0.99, 1.0),
        ] {
            assert!(expected.holds(good), "{expected:?} with {good}");
            assert!(!expected.holds(bad), "{expected:?} with {bad}");
            assert!(expected.misfit(good) <= 1.0, "{expected:?} with {good}");
            assert!(expected.holds(expected.example()) && expected.misfit(expected.example()) == 0.0);
        }
        for (expected, ours, misfit) in [
            (Value(6.7), 6.7 * 1.1, 2.0),
            (About(1.5), 1.35, 1.0),
            (Percent(16.0), 19.0, 1.5),
            (PercentBetween(10.0, 24.0), 28.0, 2.0),
            (Between(1.5, 2.0), 1.35, 2.0),
            (Exactly(1.0), 3.0, 2.0),
            (MoreThan(2.0), 1.9, 1.0),
            (LessThan(1.0), 1.1, 2.0),
        ] {
            assert!((expected.misfit(ours) - misfit).abs() < 1e-9, "{expected:?} with {ours}");
        }
    }

    #[test]
    fn a_claim_is_predicted_where_nothing_was_fitted_and_not_all_is_print() {
        use Provenance::*;
        for (parts, expected) in [
            (vec![], None),
            (vec![Derived, Derived], Some(Derived)),
            (vec![Derived, Predicted], Some(Predicted)),
            (vec![Predicted, Fitted, Derived], Some(Fitted)),
        ] {
            assert_eq!(origin(parts.iter().copied()), expected, "{parts:?}");
        }
        let shared = Basis::Setting { shares: &["C4"] };
        assert_eq!(shared.origin("C17", &["C1"]), Predicted);
        assert_eq!(shared.origin("C17", &["C1", "C4"]), Fitted);
        assert_eq!(Basis::SETTING.origin("C3", &["C3"]), Fitted);
    }

    #[test]
    fn deviations_are_words() {
        use Expected::*;
        assert_eq!(Value(6.7).deviation(6.9), "+3.0%");
        assert_eq!(Value(6.7).deviation(6.7), "0%");
        assert_eq!(Percent(16.0).deviation(14.75), "-1.2 points");
        assert_eq!(Between(1.5, 2.0).deviation(1.7), "within");
        assert_eq!(Between(1.5, 2.0).deviation(1.2), "-20.0%");
        assert_eq!(MoreThan(2.0).deviation(1.0), "fails");
        assert_eq!(Exactly(1.0).deviation(3.0), "+2");
        assert_eq!(Exactly(1024.0).deviation(1024.0), "equal");
    }

    #[test]
    fn every_claim_has_what_a_reader_needs() {
        assert_eq!(CLAIMS.len(), 20);
        for (number, claim) in (1..).zip(&CLAIMS) {
            assert_eq!(claim.id, format!("C{number}"));
            assert!(claim.sentence.ends_with('.') && !claim.place.is_empty(), "{}", claim.id);
            assert!(claim.reason.is_empty() || claim.reason.ends_with('.'), "{}", claim.id);
            assert!(!claim.parts.is_empty() || claim.remark.is_some(), "{}", claim.id);
        }
    }
}
