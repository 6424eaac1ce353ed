//! Caramel's claims: graphs, fusions, doubles.

use super::{Paper, SpeedupClaim, Variant};
use crate::sequence::Execution;
use crate::variants::two_stage;
use gpu_ref::{Barrett, Error, Recipe, Strategy};

pub(super) fn claims() -> Result<Vec<SpeedupClaim>, Error> {
    const LIMBS: usize = 32;
    let claim = |what: &str, gain, baseline: Variant, optimised: Variant| {
        let what = format!("{what} ({} limbs, N = 2^16)", optimised.limbs);
        Paper::CARAMEL.claim(what, gain, baseline, optimised)
    };
    let own = two_stage(16, 3)?;
    let products = |label: &str, separate| {
        Ok::<_, Error>(Variant::new(label, own.clone()).product(separate)?.limbs(LIMBS))
    };
    let (launches, sequential, dependencies) =
        (Execution::Launches, Execution::SequentialGraph, Execution::DependencyGraph);
    let transforms = |label: &str, recipe: Recipe| Variant::new(label, recipe).limbs(LIMBS);
    let integers =
        Recipe::new(Strategy::Shivdikar(Barrett::Proposed), 64, 16)?.with_passes(own.passes().to_vec())?;
    let mut claims = vec![
        claim(
            "products of limbs as a sequential graph instead of launches",
            Some(1.58),
            products("launches", true)?.one_limb_a_launch(launches),
            products("sequential graph", true)?.one_limb_a_launch(sequential),
        ),
        claim(
            "a graph of the data's dependencies instead of a sequential one",
            Some(2.3),
            products("sequential graph", true)?.one_limb_a_launch(sequential),
            products("dependency graph", true)?.one_limb_a_launch(dependencies),
        ),
        claim(
            "vertical fusion: products in the same kernel as the last and the first pass",
            None,
            products("separate", true)?.one_limb_a_launch(dependencies),
            products("fused", false)?.one_limb_a_launch(dependencies),
        ),
        claim(
            "horizontal fusion: the same stage of all limbs in one launch",
            None,
            products("one limb a launch", true)?.one_limb_a_launch(dependencies),
            products("all limbs", true)?,
        ),
        claim(
            "vertical and horizontal fusion",
            Some(1.43),
            products("separate, one limb a launch", true)?.one_limb_a_launch(dependencies),
            products("fused, all limbs", false)?,
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
            transforms(&format!("{} points", 1 << points_log), two_stage(16, points_log)?),
            transforms("8 points", own.clone()),
        ));
    }
    Ok(claims)
}
