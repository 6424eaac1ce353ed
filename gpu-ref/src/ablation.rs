//! What the four papers say that their optimisations gain, each as two variants whose times can be compared on one card.
//!
//! A [`Claim`] is a value; `examples/ablation.rs` measures all of them.

use crate::base_conversion::Tile;
use crate::inner_product::Fusion;
use crate::program::Execution;
use crate::recipe::{Barrett, Product, Recipe, Strategy, Sync};
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
            Paper::Cheddar => "Cheddar",
            Paper::HeBooster => "HE-Booster",
            Paper::Shivdikar => "Shivdikar et al.",
            Paper::Caramel => "Caramel",
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
            Subject::Transforms(variant) => &variant.label,
            Subject::Scheme(scheme) => &scheme.label,
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
            Verdict::Reproduced => "reproduced",
            Verdict::Weaker => "weaker",
            Verdict::Refuted => "refuted",
        })
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
    Ok([cheddar()?, he_booster()?, shivdikar()?, caramel()?].concat())
}

/// Enough polynomials to fill a card.
const FULL: usize = 512;

fn cheddar() -> Result<Vec<Claim>, Error> {
    const LIMBS: usize = 54;
    let claim = |what: &str, gain, baseline: Variant, optimised: Variant| Claim {
        paper: Paper::Cheddar,
        what: format!("{what} ({} limbs, N = 2^16)", optimised.limbs),
        gain,
        card: "A100",
        baseline: baseline.into(),
        optimised: optimised.into(),
    };
    let variant = |label: &str, recipe: Recipe| Variant::new(label, recipe).limbs(LIMBS);
    let parameters =
        |column_log, points_log, columns_log| Recipe::cheddar(16, column_log, points_log, columns_log);
    let own = parameters(7, [4, 3], 4)?;
    let published = || variant("128 x 512, G = 16 and 8, 16 columns", own.clone());
    let arithmetic = |strategy| {
        Ok::<_, Error>(Recipe {
            passes: own.passes.clone(),
            overlap: false,
            ..Recipe::new(strategy, 32, 16)?
        })
    };

    let mut claims = vec![
        claim(
            "signed Montgomery instead of Barrett",
            None,
            variant(
                "Barrett, Algorithm 4 of Shivdikar et al.",
                arithmetic(Strategy::Shivdikar(Barrett::Proposed))?,
            ),
            variant("signed Montgomery", own.clone()),
        ),
        claim(
            "signed Montgomery instead of Shoup, whose table is twice as long",
            None,
            variant("lazy Shoup", arithmetic(Strategy::Best)?),
            variant("signed Montgomery", own.clone()),
        ),
        claim(
            "two limbs in 32-bit words instead of one in 64-bit words",
            Some(1.81),
            variant("27 limbs of 62 bits, lazy Shoup", Recipe::new(Strategy::Best, 64, 16)?).limbs(LIMBS / 2),
            variant("54 limbs of 30 bits, signed Montgomery", Recipe::new(Strategy::Cheddar, 32, 16)?),
        ),
    ];
    for (limbs, gain) in [(LIMBS, 1.185), (28, 1.145)] {
        let on_the_fly = Recipe { on_the_fly: true, ..own.clone() };
        let baseline = Variant { limbs, ..published() };
        let optimised = variant("roots on the fly in the second kernel", on_the_fly).limbs(limbs);
        let what = "roots on the fly instead of from a table";
        claims.push(Claim { card: "RTX 4090", ..claim(what, Some(gain), baseline, optimised) });
    }
    for to in [LIMBS, 28] {
        // The paper's special moduli: 14 below 2^32 / 14, so that a sum needs one reduction.
        let conversion = |tile: Tile| Scheme {
            label: format!(
                "{} limbs x {} columns a thread, {} x {} threads",
                tile.thread_limbs, tile.thread_columns, tile.block_limbs, tile.block_columns
            ),
            word_bits: 32,
            log_n: 16,
            limbs: 14,
            modulus_bits: 28,
            operation: Operation::Conversion { to, tile },
        };
        let own = Tile::default();
        for (what, other) in [
            ("3 limbs a thread instead of 1", Tile { thread_limbs: 1, ..own }),
            ("4 columns a thread instead of 1", Tile { thread_columns: 1, ..own }),
            ("4 columns a thread instead of 2", Tile { thread_columns: 2, ..own }),
            (
                "3 limbs and 4 columns a thread instead of 1",
                Tile { thread_limbs: 1, thread_columns: 1, ..own },
            ),
            ("one row of threads a block instead of 2", Tile { block_limbs: 2, block_columns: 128, ..own }),
            ("one row of threads a block instead of 4", Tile { block_limbs: 4, block_columns: 64, ..own }),
        ] {
            claims.push(Claim {
                paper: Paper::Cheddar,
                what: format!("conversion of 14 limbs to {to}: {what} (N = 2^16)"),
                gain: None,
                card: "A100",
                baseline: conversion(other).into(),
                optimised: conversion(own).into(),
            });
        }
    }
    for column_log in [6, 8, 9] {
        let other = format!("{} x {}", 1 << column_log, 1 << (16 - column_log));
        claims.push(claim(
            "kernels of 128 and 512 points instead of others",
            None,
            variant(&other, parameters(column_log, [4, 3], 4)?),
            published(),
        ));
    }
    for points_log in [[3, 3], [3, 4], [4, 4], [2, 2]] {
        let other = format!("G = {} and {}", 1 << points_log[0], 1 << points_log[1]);
        claims.push(claim(
            "16 and 8 points a thread instead of others",
            None,
            variant(&other, parameters(7, points_log, 4)?),
            published(),
        ));
    }
    for columns_log in [2, 3, 5] {
        let other = format!("{} columns", 1 << columns_log);
        claims.push(claim(
            "16 columns a block instead of others",
            None,
            variant(&other, parameters(7, [4, 3], columns_log)?),
            published(),
        ));
    }
    Ok(claims)
}

fn he_booster() -> Result<Vec<Claim>, Error> {
    let claim = |what: String, gain, baseline: Variant, optimised: Variant| Claim {
        paper: Paper::HeBooster,
        what,
        gain,
        card: "RTX 3070",
        baseline: baseline.into(),
        optimised: optimised.into(),
    };
    let mut claims = Vec::new();
    for (bits, log_n, barrier, hybrid) in
        [(32, 15, 1.2, Some(1.7)), (64, 15, 1.3, Some(1.9)), (32, 16, 1.2, None)]
    {
        let variant = |label: &str, sync| {
            Ok::<_, Error>(Variant::new(label, Recipe::new(Strategy::HeBooster(sync), bits, log_n)?))
        };
        let local = variant("trigger bits", Sync::Local)?;
        let setting = format!("N = 2^{log_n}, {bits}-bit words");
        claims.push(claim(
            format!("local synchronisation instead of a barrier across the grid ({setting})"),
            Some(barrier),
            variant("barrier", Sync::Barrier)?,
            local.clone(),
        ));
        claims.push(claim(
            format!("local synchronisation instead of a launch for each stage ({setting})"),
            None,
            variant("launches", Sync::Launches)?,
            local.clone(),
        ));
        claims.push(claim(
            format!("local synchronisation instead of launches, then blocks of 2^11 points ({setting})"),
            hybrid,
            Variant::new("hybrid", Recipe::hybrid(bits, log_n)?),
            local,
        ));
    }
    let limbs = |label: &str, bits, limbs| {
        Ok::<_, Error>(Variant::new(label, Recipe::hybrid(bits, 15)?).limbs(limbs))
    };
    let (single, double) = (limbs("32 limbs of 30 bits", 32, 32)?, limbs("16 limbs of 62 bits", 64, 16)?);
    claims.push(claim(
        "double words: half as many limbs, one after the other (N = 2^15)".into(),
        Some(1.4),
        single.clone().one_limb_a_launch(Execution::Launches),
        double.clone().one_limb_a_launch(Execution::Launches),
    ));
    claims.push(claim(
        "double words: half as many limbs, all in one launch (N = 2^15)".into(),
        None,
        single.clone(),
        double,
    ));
    // The share of transforms in a product falls from 84.1% to 56.7%: 84.1/15.9 against 56.7/43.3.
    claims.push(claim(
        "all limbs in one launch instead of one after the other (N = 2^15, 32-bit words)".into(),
        Some(4.0),
        Variant { label: "a launch for each".into(), ..single.clone() }
            .one_limb_a_launch(Execution::Launches),
        Variant { label: "one launch".into(), execution: Execution::Launches, ..single },
    ));
    claims.extend(he_booster_schemes());
    Ok(claims)
}

/// What HE-Booster claims for the first, the last and the middle phase of its operations. Products of the moduli are as long as
/// in the paper, L limbs of 56 bits or 2 L of 28.
fn he_booster_schemes() -> Vec<Claim> {
    let scheme = |label: &str, word_bits: u32, log_n, limbs: usize, operation| Scheme {
        label: label.into(),
        word_bits,
        log_n,
        limbs: limbs * (64 / word_bits as usize),
        modulus_bits: word_bits - word_bits / 8,
        operation,
    };
    let claim = |what: String, gain, baseline: Scheme, optimised: Scheme| Claim {
        paper: Paper::HeBooster,
        what,
        gain,
        card: "RTX 3070",
        baseline: baseline.into(),
        optimised: optimised.into(),
    };
    let mut claims = Vec::new();
    let (decompose, garner) = (
        Operation::Decompose(Access::Transposed),
        Operation::Reconstruct(Access::Transposed, Reconstruction::Garner),
    );
    for (log_n, limbs) in [(13, 4), (14, 8), (15, 16)] {
        for bits in [32, 64] {
            let setting = format!("N = 2^{log_n}, {} bits, {bits}-bit words", 56 * limbs);
            let of = |label: &str, operation| scheme(label, bits, log_n, limbs, operation);
            claims.push(claim(
                format!("residues: words transposed in shared memory ({setting})"),
                None,
                of("strided", Operation::Decompose(Access::Strided)),
                of("transposed", decompose),
            ));
            claims.push(claim(
                format!("integers from residues: words transposed in shared memory ({setting})"),
                None,
                of("strided", Operation::Reconstruct(Access::Strided, Reconstruction::Garner)),
                of("transposed", garner),
            ));
            claims.push(claim(
                format!("Garner's algorithm instead of a long sum ({setting})"),
                None,
                of("long sum", Operation::Reconstruct(Access::Transposed, Reconstruction::Direct)),
                of("Garner", garner),
            ));
        }
        for (what, operation) in [("residues", decompose), ("integers from residues", garner)] {
            let (single, double) =
                (format!("{} moduli of 28 bits", 2 * limbs), format!("{limbs} of 56 bits"));
            claims.push(claim(
                format!("{what}: double words (N = 2^{log_n}, {} bits)", 56 * limbs),
                None,
                scheme(&single, 32, log_n, limbs, operation),
                scheme(&double, 64, log_n, limbs, operation),
            ));
        }
    }
    // Table 1: log2 of the radix that the polynomial is decomposed in, and the gains for the first two parameter sets.
    for (log_radix, gains) in
        [(1, [4.3, 3.0]), (5, [3.7, 2.9]), (10, [3.2, 2.8]), (20, [2.6, 2.5]), (30, [2.3, 2.4])]
    {
        for ((log_n, bits, limbs), gain) in [(13, 224usize, 4), (14, 448, 8)].into_iter().zip(gains) {
            let terms = bits.div_ceil(log_radix);
            let product = |label: &str, fusion| {
                scheme(label, 64, log_n, limbs, Operation::InnerProduct { terms, fusion })
            };
            claims.push(claim(
                format!("inner product of {terms} terms in one kernel (N = 2^{log_n}, {limbs} limbs, 64-bit words)"),
                Some(gain),
                product("a kernel for each product and sum", Fusion::Separate),
                product("one kernel", Fusion::Fused),
            ));
        }
    }
    claims
}

fn shivdikar() -> Result<Vec<Claim>, Error> {
    const N: u32 = 16;
    const BITS: u32 = 64;
    let mut claims = Vec::new();
    for polynomials in [1, FULL] {
        let mut claim = |what: &str, gain, baseline: Variant, optimised: Variant| {
            let (log_n, bits) = (optimised.recipe.log_n, optimised.recipe.word_bits);
            claims.push(Claim {
                paper: Paper::Shivdikar,
                what: format!("{what} (N = 2^{log_n}, {bits}-bit words, batch {polynomials})"),
                gain,
                card: "V100",
                baseline: baseline.polynomials(polynomials).into(),
                optimised: optimised.polynomials(polynomials).into(),
            });
        };
        let lom =
            |label: &str, barrett| Ok::<_, Error>(Variant::new(label, Recipe::lom(barrett, BITS, N, 1, 1)?));
        let los = |label: &str, barrett, radix| {
            Ok::<_, Error>(Variant::new(label, Recipe::los(barrett, BITS, 11, radix)?))
        };
        let without = |variant: Variant| Variant {
            recipe: variant.recipe.without_shared_memory(),
            label: "global memory only".into(),
            ..variant
        };
        let proposed = Barrett::Proposed;

        // Table III, each step on top of the ones before it.
        let remainder = lom("shared memory", Barrett::Remainder)?;
        claim("shared memory", Some(1.2), without(remainder.clone()), remainder);
        let remainder = los("shared memory", Barrett::Remainder, 1)?;
        claim("shared memory in LOS", Some(1.25), without(remainder.clone()), remainder);
        for (log_n, gain) in [(16, 1.72), (11, 1.72)] {
            let with =
                |label, barrett| if log_n == 16 { lom(label, barrett) } else { los(label, barrett, 1) };
            claim(
                "Barrett, Algorithm 4, instead of the built-in remainder",
                Some(gain),
                with("remainder", Barrett::Remainder)?,
                with("Algorithm 4", proposed)?,
            );
        }
        for bits in [32, BITS] {
            let tuned = |label: &str, barrett| {
                Ok::<_, Error>(Variant::new(label, Recipe::new(Strategy::Shivdikar(barrett), bits, N)?))
            };
            claim(
                "one correction (Algorithm 4) instead of two (Algorithm 2)",
                Some(1.85),
                tuned("Algorithm 2", Barrett::Classical)?,
                tuned("Algorithm 4", proposed)?,
            );
            claim(
                "Algorithm 4 is as fast as Algorithm 3, for moduli two bits longer",
                Some(1.0),
                tuned("Algorithm 3", Barrett::DhemQuisquater)?,
                tuned("Algorithm 4", proposed)?,
            );
        }
        for radix_log in 2..=4 {
            claim(
                &format!("radix {} instead of 2 in one block", 1 << radix_log),
                None,
                los("radix 2", proposed, 1)?,
                los(&format!("radix {}", 1 << radix_log), proposed, radix_log)?,
            );
            claim(
                &format!("radix {} in the blocks of LOM, 16 between them, instead of 2", 1 << radix_log),
                None,
                lom("radix 2", proposed)?,
                Variant::new(
                    format!("radix {}", 1 << radix_log),
                    Recipe::lom(proposed, BITS, N, radix_log, 4)?,
                ),
            );
        }
        let square = |label: &str, radix_log, columns_log, pipelined| {
            let recipe = Recipe::two_dimensional(proposed, BITS, N, radix_log, columns_log, pipelined)?;
            Ok::<_, Error>(Variant::new(label, recipe))
        };
        claim(
            "two dimensions, one column a block as published, instead of radix-2 LOM",
            Some(2.91),
            lom("LOM, radix 2", proposed)?,
            square("256 x 256, pipelined", 1, 0, true)?,
        );
        claim(
            "two dimensions, radix 16 and 16 columns a block, instead of radix-2 LOM",
            Some(2.91),
            lom("LOM, radix 2", proposed)?,
            square("256 x 256, radix 16, pipelined", 4, 4, true)?,
        );
        claim(
            "rows pipelined with columns",
            None,
            square("serial", 4, 4, false)?,
            square("pipelined", 4, 4, true)?,
        );
        for (variant, gain) in [
            (los("", proposed, 1)?, 1.061),
            (square("", 1, 0, true)?, 1.024),
            (square("", 4, 4, true)?, 1.024),
        ] {
            let product = |label: &str, separate, truncated| Variant {
                label: label.into(),
                ..variant.clone().product(separate, truncated)
            };
            let radix = 1 << variant.recipe.passes[0].points_log;
            let what = |what: &str| format!("{what}, radix {radix}");
            claim(
                &what("Hadamard product fused with its butterflies (Algorithm 8)"),
                Some(gain),
                product("transforms and products", true, false),
                product("truncated transforms and Algorithm 7", true, true),
            );
            claim(
                &what("the same, in one kernel with the last and the first pass"),
                None,
                product("fused passes and products", false, false),
                product("fused truncated passes and Algorithm 7", false, true),
            );
            claim(
                &what("one kernel for last pass, products and first pass"),
                None,
                product("separate", true, false),
                product("fused", false, false),
            );
        }
        if polynomials == FULL {
            claim(
                "TOM: polynomials interleaved, instead of one after the other",
                None,
                square("256 x 256, radix 16, 32 columns", 4, 5, false)?,
                Variant::new("TOM, 32 polynomials interleaved", Recipe::tom(proposed, BITS, N, 5)?),
            );
        }
    }
    Ok(claims)
}

fn caramel() -> Result<Vec<Claim>, Error> {
    const LIMBS: usize = 32;
    let claim = |what: &str, gain, baseline: Variant, optimised: Variant| Claim {
        paper: Paper::Caramel,
        what: format!("{what} ({} limbs, N = 2^16)", optimised.limbs),
        gain,
        card: "A30",
        baseline: baseline.into(),
        optimised: optimised.into(),
    };
    let own = Recipe::two_stage(16, 3)?;
    let products =
        |label: &str, separate| Variant::new(label, own.clone()).product(separate, false).limbs(LIMBS);
    let (launches, sequential, dependencies) =
        (Execution::Launches, Execution::SequentialGraph, Execution::DependencyGraph);
    let transforms = |label: &str, recipe: Recipe| Variant::new(label, recipe).limbs(LIMBS);
    let integers =
        Recipe { passes: own.passes.clone(), ..Recipe::new(Strategy::Shivdikar(Barrett::Proposed), 64, 16)? };
    let mut claims = vec![
        claim(
            "products of limbs as a sequential graph instead of launches",
            Some(1.58),
            products("launches", true).one_limb_a_launch(launches),
            products("sequential graph", true).one_limb_a_launch(sequential),
        ),
        claim(
            "a graph of the data's dependencies instead of a sequential one",
            Some(2.3),
            products("sequential graph", true).one_limb_a_launch(sequential),
            products("dependency graph", true).one_limb_a_launch(dependencies),
        ),
        claim(
            "vertical fusion: products in the same kernel as the last and the first pass",
            None,
            products("separate", true).one_limb_a_launch(dependencies),
            products("fused", false).one_limb_a_launch(dependencies),
        ),
        claim(
            "horizontal fusion: the same stage of all limbs in one launch",
            None,
            products("one limb a launch", true).one_limb_a_launch(dependencies),
            products("all limbs", true),
        ),
        claim(
            "vertical and horizontal fusion",
            Some(1.43),
            products("separate, one limb a launch", true).one_limb_a_launch(dependencies),
            products("fused, all limbs", false),
        ),
        claim(
            "cache hints on data that are used once",
            Some(1.2),
            transforms("none", own.clone()),
            transforms("evict first", Recipe { streaming: true, ..own.clone() }),
        ),
        claim(
            "doubles with conversions in every kernel, instead of 64-bit integers",
            Some(1.0 / 1.5),
            transforms("integers, Barrett", integers.clone()),
            transforms("doubles, converted", Recipe { casts: true, ..own.clone() }),
        ),
        claim(
            "doubles kept between kernels, instead of 64-bit integers",
            None,
            transforms("integers, Barrett", integers),
            transforms("doubles, kept", own.clone()),
        ),
    ];
    for points_log in [1, 2, 4, 5] {
        claims.push(claim(
            "8 points a thread instead of others",
            None,
            transforms(&format!("{} points", 1 << points_log), Recipe::two_stage(16, points_log)?),
            transforms("8 points", own.clone()),
        ));
    }
    Ok(claims)
}

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
