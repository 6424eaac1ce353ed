//! Speedups claimed by the four papers, each as a pair of variants to compare on one card.
//!
//! A [`SpeedupClaim`] is a value. `examples/ablation.rs` measures all of them.

mod caramel;
mod cheddar;
mod he_booster;
mod shivdikar;

use crate::measure::Work;
use crate::sequence::Execution;
use gpu_ref::inner_product::Fusion;
use gpu_ref::{Direction, Error, Product, Recipe, Timing};

/// The four papers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Paper {
    /// Kim et al., "Cheddar: A Swift Fully Homomorphic Encryption Library for CUDA GPUs".
    Cheddar,
    /// Wang et al., "HE-Booster: An Efficient Polynomial Arithmetic Acceleration on GPUs for Fully
    /// Homomorphic Encryption".
    HeBooster,
    /// Shivdikar et al., "Accelerating Polynomial Multiplication for Homomorphic Encryption on
    /// GPUs".
    Shivdikar,
    /// J. Kim, "Towards a Scalable Multi-GPU System for Encrypted AI".
    Caramel,
}

impl std::fmt::Display for Paper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Cheddar => "Cheddar",
            Self::HeBooster => "HE-Booster",
            Self::Shivdikar => "Shivdikar et al.",
            Self::Caramel => "Caramel",
        })
    }
}

/// A workload to be timed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Subject {
    /// Transforms or products.
    Transforms(Variant),
    /// Inner products of key switching.
    InnerProducts(InnerProducts),
}

impl Subject {
    /// Label in a table.
    pub fn label(&self) -> &str {
        match self {
            Self::Transforms(variant) => &variant.label,
            Self::InnerProducts(products) => &products.label,
        }
    }

    /// Returns true if the two are equal except for their labels.
    pub fn same_work(&self, other: &Self) -> bool {
        let mut other = other.clone();
        match &mut other {
            Self::Transforms(variant) => variant.label = self.label().to_owned(),
            Self::InnerProducts(products) => products.label = self.label().to_owned(),
        }
        *self == other
    }
}

impl From<Variant> for Subject {
    fn from(variant: Variant) -> Self {
        Self::Transforms(variant)
    }
}

impl From<InnerProducts> for Subject {
    fn from(products: InnerProducts) -> Self {
        Self::InnerProducts(products)
    }
}

/// One [`gpu_ref::inner_product::InnerProduct`] in words of 64 bits, with moduli of 56 bits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InnerProducts {
    /// Label in a table.
    pub label: String,
    /// N is 2^`log_n`.
    pub log_n: u32,
    /// Number of moduli.
    pub limbs: usize,
    /// Number of polynomials.
    pub terms: usize,
    /// Number of kernels.
    pub fusion: Fusion,
}

/// Work on a batch of RNS polynomials.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Variant {
    /// Label in a table.
    pub label: String,
    /// The recipe of the transforms. The moduli are as long as it allows.
    pub recipe: Recipe,
    /// Number of moduli.
    pub limbs: usize,
    /// Number of polynomials, each with all limbs.
    pub polynomials: usize,
    /// Operation on each polynomial and limb. A product needs two batches.
    pub work: Work,
    /// If true, a launch covers all limbs. If false, each limb has its own launches.
    pub limbs_together: bool,
    /// Submission of the launches to the device.
    pub execution: Execution,
}

impl Variant {
    /// The forward transform of one polynomial with one limb, replayed from a graph.
    fn new(label: impl Into<String>, recipe: Recipe) -> Self {
        Self {
            label: label.into(),
            recipe,
            limbs: 1,
            polynomials: 1,
            work: Work::Transform(Direction::Forward),
            limbs_together: true,
            execution: Execution::SequentialGraph,
        }
    }

    fn limbs(self, limbs: usize) -> Self {
        Self { limbs, ..self }
    }

    fn polynomials(self, polynomials: usize) -> Self {
        Self { polynomials, ..self }
    }

    /// A product with the given fusion.
    fn product(self, separate: bool, truncated: bool) -> Result<Self, Error> {
        let recipe = self.recipe.with_product(Product { separate, truncated, ..Product::default() })?;
        Ok(Self { work: Work::Product, recipe, ..self })
    }

    fn one_limb_a_launch(self, execution: Execution) -> Self {
        Self { limbs_together: false, execution, ..self }
    }
}

/// One optimisation of a paper.
#[derive(Clone, PartialEq, Debug)]
pub struct SpeedupClaim {
    /// The paper.
    pub paper: Paper,
    /// The optimisation and its setting.
    pub what: String,
    /// The claimed speedup: below 1 for a reported slowdown, 1 for a claim of no difference, and
    /// `None` if the paper gives no number.
    pub gain: Option<f64>,
    /// The card used by the paper.
    pub card: &'static str,
    /// The variant without the optimisation.
    pub baseline: Subject,
    /// The variant with the optimisation.
    pub optimised: Subject,
}

/// Outcome of several runs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Verdict {
    /// At least half of the claimed difference, and more than the spread of the runs. Without a
    /// claimed number, any gain above the spread. For a claim of no difference, no loss above it.
    Reproduced,
    /// A difference in the claimed direction, above the spread, but less than half of the claim.
    Weaker,
    /// No difference above the spread, or the opposite.
    Refuted,
}

/// A measured gain, baseline time divided by optimised time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Gain {
    /// The ratio of the medians.
    pub median: f64,
    /// The ratio of the shortest baseline time of any run to the longest optimised one.
    pub low: f64,
    /// The reverse.
    pub high: f64,
}

impl Gain {
    /// The gain from the times of several runs.
    pub fn of(baseline: Timing, optimised: Timing) -> Self {
        Self {
            median: baseline.median / optimised.median,
            low: baseline.low / optimised.high,
            high: baseline.high / optimised.low,
        }
    }

    /// The gain of the baseline over the optimised variant.
    fn inverse(self) -> Self {
        Self { median: 1.0 / self.median, low: 1.0 / self.high, high: 1.0 / self.low }
    }
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Reproduced => "reproduced",
            Self::Weaker => "weaker",
            Self::Refuted => "refuted",
        })
    }
}

impl Paper {
    /// All papers.
    pub const ALL: [Self; 4] = [Self::Cheddar, Self::HeBooster, Self::Shivdikar, Self::Caramel];

    /// The name on a command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cheddar => "cheddar",
            Self::HeBooster => "he-booster",
            Self::Shivdikar => "shivdikar",
            Self::Caramel => "caramel",
        }
    }

    /// The card of most of the paper's measurements.
    const fn card(self) -> &'static str {
        match self {
            Self::Cheddar => "A100",
            Self::HeBooster => "RTX 3070",
            Self::Shivdikar => "V100",
            Self::Caramel => "A30",
        }
    }

    /// A claim of this paper, measured on that card.
    fn claim(
        self,
        what: impl Into<String>,
        gain: Option<f64>,
        baseline: impl Into<Subject>,
        optimised: impl Into<Subject>,
    ) -> SpeedupClaim {
        let (what, baseline, optimised) = (what.into(), baseline.into(), optimised.into());
        SpeedupClaim { paper: self, what, gain, card: self.card(), baseline, optimised }
    }
}

impl SpeedupClaim {
    /// Judges a measured gain.
    pub fn verdict(&self, measured: Gain) -> Verdict {
        // A claimed loss is judged by the inverse ratios.
        let (claimed, measured) = match self.gain {
            Some(claimed) if claimed < 1.0 => (Some(1.0 / claimed), measured.inverse()),
            claimed => (claimed, measured),
        };
        if claimed == Some(1.0) {
            if measured.high >= 1.0 { Verdict::Reproduced } else { Verdict::Refuted }
        } else if measured.low <= 1.0 {
            Verdict::Refuted
        } else if claimed.is_none_or(|claimed| measured.median - 1.0 >= (claimed - 1.0) / 2.0) {
            Verdict::Reproduced
        } else {
            Verdict::Weaker
        }
    }
}

/// All claims, paper by paper, in the papers' settings. A setting that leaves a card idle is
/// repeated with a full batch.
pub fn claims() -> Result<Vec<SpeedupClaim>, Error> {
    Ok([cheddar::claims()?, he_booster::claims()?, shivdikar::claims()?, caramel::claims()?].concat())
}

/// A batch large enough to fill a card.
const FULL: usize = 512;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_compare_sound_recipes_on_the_same_work() {
        let claims = claims().unwrap();
        for claim in &claims {
            assert_ne!(claim.baseline, claim.optimised);
            match (&claim.baseline, &claim.optimised) {
                (Subject::Transforms(baseline), Subject::Transforms(optimised)) => {
                    let work = |v: &Variant| {
                        (v.recipe.log_n(), v.polynomials, v.work, v.limbs * v.recipe.word_bits() as usize)
                    };
                    assert_eq!(work(baseline), work(optimised), "{}", claim.what);
                }
                (Subject::InnerProducts(baseline), Subject::InnerProducts(optimised)) => {
                    let work = |p: &InnerProducts| (p.log_n, p.limbs, p.terms);
                    assert_eq!(work(baseline), work(optimised), "{}", claim.what);
                }
                _ => panic!("{}: two kinds of work", claim.what),
            }
        }
        assert!(Paper::ALL.iter().all(|&paper| claims.iter().any(|claim| claim.paper == paper)));
    }

    #[test]
    fn verdicts_follow_the_claimed_direction() {
        let with = |gain| SpeedupClaim { gain, ..claims().unwrap().swap_remove(0) };
        let spread = |median| Gain { median, low: median - 0.01, high: median + 0.01 };
        let judged = |gain: Option<f64>, median| with(gain).verdict(spread(median));
        assert_eq!(judged(Some(2.0), 1.5), Verdict::Reproduced);
        assert_eq!(judged(Some(2.0), 1.4), Verdict::Weaker);
        assert_eq!(judged(Some(2.0), 1.005), Verdict::Refuted);
        assert_eq!(judged(Some(0.5), 0.6), Verdict::Reproduced);
        assert_eq!(judged(Some(0.5), 1.1), Verdict::Refuted);
        assert_eq!(judged(Some(1.0), 0.995), Verdict::Reproduced);
        assert_eq!(judged(Some(1.0), 0.9), Verdict::Refuted);
        assert_eq!(judged(None, 1.04), Verdict::Reproduced);
        assert_eq!(judged(None, 0.9), Verdict::Refuted);
        assert_eq!(judged(None, 1.005), Verdict::Refuted);
        let times = |low, median, high| Timing { median, low, high };
        let gain = Gain::of(times(9.0, 10.0, 11.0), times(4.0, 5.0, 6.0));
        assert_eq!(gain, Gain { median: 2.0, low: 1.5, high: 2.75 });
    }
}
