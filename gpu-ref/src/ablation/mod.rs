//! What the four papers say that their optimisations gain, each as two variants whose times can be compared on one card.
//!
//! A [`Claim`] is a value; `examples/ablation.rs` measures all of them.

mod caramel;
mod cheddar;
mod he_booster;
mod shivdikar;

use crate::base_conversion::Tile;
use crate::inner_product::Fusion;
use crate::program::Execution;
use crate::recipe::{Product, Recipe};
use crate::residues::{Access, Reconstruction};
use crate::{Direction, Error, Work};

/// The four papers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Paper {
    /// Kim et al., "Cheddar: A Swift Fully Homomorphic Encryption Library for CUDA GPUs".
    Cheddar,
    /// Wang et al., "HE-Booster: An Efficient Polynomial Arithmetic Acceleration on GPUs for Fully Homomorphic Encryption".
    HeBooster,
    /// Shivdikar et al., "Accelerating Polynomial Multiplication for Homomorphic Encryption on GPUs".
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

/// Something whose time can be measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// Transforms or products.
    Transforms(Variant),
    /// What schemes do besides.
    Scheme(Scheme),
}

impl Subject {
    /// What it is called in a table.
    pub fn label(&self) -> &str {
        match self {
            Self::Transforms(variant) => &variant.label,
            Self::Scheme(scheme) => &scheme.label,
        }
    }

    /// Whether two are the same but for their labels.
    pub fn same_work(&self, other: &Self) -> bool {
        let mut other = other.clone();
        match &mut other {
            Subject::Transforms(variant) => variant.label = self.label().to_owned(),
            Subject::Scheme(scheme) => scheme.label = self.label().to_owned(),
        }
        *self == other
    }
}

impl From<Variant> for Subject {
    fn from(variant: Variant) -> Self {
        Subject::Transforms(variant)
    }
}

impl From<Scheme> for Subject {
    fn from(scheme: Scheme) -> Self {
        Subject::Scheme(scheme)
    }
}

/// An operation besides transforms, on polynomials of one N and set of moduli.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scheme {
    /// What it is called in a table.
    pub label: String,
    /// 32 or 64.
    pub word_bits: u32,
    /// N is 2^`log_n`.
    pub log_n: u32,
    /// The number of moduli, for conversions of those that are converted from,
    pub limbs: usize,
    /// and their length.
    pub modulus_bits: u32,
    /// What is done.
    pub operation: Operation,
}

/// What schemes do besides transforms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// The product of matrices in [`crate::base_conversion::BaseConversion`] of one polynomial, to so many moduli.
    Conversion {
        /// How many.
        to: usize,
        /// How blocks and threads share it.
        tile: Tile,
    },
    /// [`crate::residues::Residues::decompose`] of one polynomial.
    Decompose(Access),
    /// [`crate::residues::Residues::reconstruct`] of one polynomial.
    Reconstruct(Access, Reconstruction),
    /// One [`crate::inner_product::InnerProduct`].
    InnerProduct {
        /// Of how many polynomials.
        terms: usize,
        /// How it is put together.
        fusion: Fusion,
    },
}

/// Work on a batch of RNS polynomials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variant {
    /// What it is called in a table.
    pub label: String,
    /// How a transform is done. Moduli are as long as it allows.
    pub recipe: Recipe,
    /// The number of moduli.
    pub limbs: usize,
    /// The number of polynomials, each with all limbs.
    pub polynomials: usize,
    /// What is done to each polynomial and limb. A product takes two batches.
    pub work: Work,
    /// Whether a launch works on all limbs. If not, each limb has launches of its own.
    pub limbs_together: bool,
    /// How the launches reach the device.
    pub execution: Execution,
}

impl Variant {
    /// The forward transform of one polynomial of one limb, from a graph.
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

    /// A product, put together as told.
    fn product(self, separate: bool, truncated: bool) -> Self {
        let recipe = Recipe { product: Product { separate, truncated }, ..self.recipe };
        Self { work: Work::Product, recipe, ..self }
    }

    fn one_limb_a_launch(self, execution: Execution) -> Self {
        Self { limbs_together: false, execution, ..self }
    }
}

/// One optimisation of a paper.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    /// Whose.
    pub paper: Paper,
    /// What is done, and in which setting.
    pub what: String,
    /// How many times as fast the paper says it gets; below 1 for what it reports to have cost time, 1 for what it says makes no
    /// difference. `None` if it gives no number.
    pub gain: Option<f64>,
    /// The card of the paper's measurement.
    pub card: &'static str,
    /// Without it.
    pub baseline: Subject,
    /// With it.
    pub optimised: Subject,
}

/// What a measurement says about a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// At least half of the claimed difference; for a claim without a number, any difference of more than [`NOISE`]; for a
    /// claim of no difference, no loss.
    Reproduced,
    /// A difference in the claimed direction, but less than half of it.
    Weaker,
    /// No difference of more than [`NOISE`], or the opposite.
    Refuted,
}

/// Measured gains this close to 1 count as none.
pub const NOISE: f64 = 0.01;

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
    /// The card of most of its measurements.
    const fn card(self) -> &'static str {
        match self {
            Self::Cheddar => "A100",
            Self::HeBooster => "RTX 3070",
            Self::Shivdikar => "V100",
            Self::Caramel => "A30",
        }
    }

    /// What it claims, on that card.
    fn claim(
        self,
        what: impl Into<String>,
        gain: Option<f64>,
        baseline: impl Into<Subject>,
        optimised: impl Into<Subject>,
    ) -> Claim {
        let (what, baseline, optimised) = (what.into(), baseline.into(), optimised.into());
        Claim { paper: self, what, gain, card: self.card(), baseline, optimised }
    }
}

impl Claim {
    /// Judges a measured gain: the time of the baseline divided by that of the optimised variant.
    pub fn verdict(&self, measured: f64) -> Verdict {
        // For a claimed loss, everything the other way round.
        let (claimed, measured) = match self.gain {
            Some(claimed) if claimed < 1.0 => (Some(1.0 / claimed), 1.0 / measured),
            claimed => (claimed, measured),
        };
        if claimed == Some(1.0) {
            if measured >= 1.0 - NOISE { Verdict::Reproduced } else { Verdict::Refuted }
        } else if measured <= 1.0 + NOISE {
            Verdict::Refuted
        } else if claimed.is_none_or(|claimed| measured - 1.0 >= (claimed - 1.0) / 2.0) {
            Verdict::Reproduced
        } else {
            Verdict::Weaker
        }
    }
}

/// All claims, paper by paper, in the settings of the papers and, where those leave a card empty, with a full batch too.
///
/// # Errors
/// None for the claims as they stand; the recipes are checked as they are made.
pub fn claims() -> Result<Vec<Claim>, Error> {
    Ok([cheddar::claims()?, he_booster::claims()?, shivdikar::claims()?, caramel::claims()?].concat())
}

/// Enough polynomials to fill a card.
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
                    for variant in [baseline, optimised] {
                        assert_eq!(variant.recipe.check(), Ok(()), "{}", claim.what);
                        let group = 1 << variant.recipe.interleave_log;
                        assert!(variant.polynomials.is_multiple_of(group), "{}", claim.what);
                    }
                    let work = |v: &Variant| {
                        (v.recipe.log_n, v.polynomials, v.work, v.limbs * v.recipe.word_bits as usize)
                    };
                    assert_eq!(work(baseline), work(optimised), "{}", claim.what);
                }
                (Subject::Scheme(baseline), Subject::Scheme(optimised)) => {
                    let work = |s: &Scheme| (s.log_n, s.limbs * s.modulus_bits as usize);
                    assert_eq!(work(baseline), work(optimised), "{}", claim.what);
                }
                _ => panic!("{}: two kinds of work", claim.what),
            }
        }
        let all = [Paper::Cheddar, Paper::HeBooster, Paper::Shivdikar, Paper::Caramel];
        assert!(all.iter().all(|&paper| claims.iter().any(|claim| claim.paper == paper)));
    }

    #[test]
    fn verdicts_follow_the_claimed_direction() {
        let with = |gain| Claim { gain, ..claims().unwrap().swap_remove(0) };
        let judged = |gain: Option<f64>, measured| with(gain).verdict(measured);
        assert_eq!(judged(Some(2.0), 1.5), Verdict::Reproduced);
        assert_eq!(judged(Some(2.0), 1.4), Verdict::Weaker);
        assert_eq!(judged(Some(2.0), 1.005), Verdict::Refuted);
        assert_eq!(judged(Some(0.5), 0.6), Verdict::Reproduced);
        assert_eq!(judged(Some(0.5), 1.1), Verdict::Refuted);
        assert_eq!(judged(Some(1.0), 0.995), Verdict::Reproduced);
        assert_eq!(judged(Some(1.0), 0.9), Verdict::Refuted);
        assert_eq!(judged(None, 1.04), Verdict::Reproduced);
        assert_eq!(judged(None, 0.9), Verdict::Refuted);
    }
}
