//! Speedups claimed by the four papers, each as a pair of variants to compare on one card.
//!
//! A [`SpeedupClaim`] is a value. `examples/ablation.rs` measures all of them.

mod caramel;
mod cheddar;
mod he_booster;
mod shivdikar;
mod subject;
mod verdict;

pub use subject::{InnerProducts, Subject, Variant};
pub use verdict::{Gain, Verdict};

use gpu_ref::Error;

/// One of the four papers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Paper {
    /// The name on a command line.
    pub name: &'static str,
    title: &'static str,
    /// The card of most of its measurements.
    card: &'static str,
}

impl std::fmt::Display for Paper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.title)
    }
}

impl Paper {
    /// Kim et al., "Cheddar: A Swift Fully Homomorphic Encryption Library for CUDA GPUs".
    pub const CHEDDAR: Self = Self { name: "cheddar", title: "Cheddar", card: "A100" };
    /// Wang et al., "HE-Booster: An Efficient Polynomial Arithmetic Acceleration on GPUs for Fully
    /// Homomorphic Encryption".
    pub const HE_BOOSTER: Self = Self { name: "he-booster", title: "HE-Booster", card: "RTX 3070" };
    /// Shivdikar et al., "Accelerating Polynomial Multiplication for Homomorphic Encryption on
    /// GPUs".
    pub const SHIVDIKAR: Self = Self { name: "shivdikar", title: "Shivdikar et al.", card: "V100" };
    /// J. Kim, "Towards a Scalable Multi-GPU System for Encrypted AI".
    pub const CARAMEL: Self = Self { name: "caramel", title: "Caramel", card: "A30" };

    /// All papers.
    pub const ALL: [Self; 4] = [Self::CHEDDAR, Self::HE_BOOSTER, Self::SHIVDIKAR, Self::CARAMEL];

    /// A claim of this paper, measured on that card.
    fn claim(
        self,
        what: impl Into<String>,
        gain: Option<f64>,
        baseline: impl Into<Subject>,
        optimised: impl Into<Subject>,
    ) -> SpeedupClaim {
        let (what, baseline, optimised) = (what.into(), baseline.into(), optimised.into());
        SpeedupClaim { paper: self, what, gain, card: self.card, baseline, optimised }
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
}
