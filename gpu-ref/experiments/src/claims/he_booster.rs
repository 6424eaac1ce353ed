//! HE-Booster's claims: synchronisation, double words, and the phases around the transforms.

use super::{InnerProducts, Paper, SpeedupClaim, Variant};
use crate::sequence::Execution;
use crate::variants::hybrid;
use gpu_ref::inner_product::Fusion;
use gpu_ref::{Error, Recipe, Strategy, Sync};

pub(super) fn claims() -> Result<Vec<SpeedupClaim>, Error> {
    let mut claims = Vec::new();
    for (bits, log_n, barrier, over_hybrid) in
        [(32, 15, 1.2, Some(1.7)), (64, 15, 1.3, Some(1.9)), (32, 16, 1.2, None)]
    {
        let variant = |label: &str, sync| {
            Ok::<_, Error>(Variant::new(label, Recipe::new(Strategy::HeBooster(sync), bits, log_n)?))
        };
        let local = variant("trigger bits", Sync::Local)?;
        let setting = format!("N = 2^{log_n}, {bits}-bit words");
        claims.push(Paper::HE_BOOSTER.claim(
            format!("local synchronisation instead of a barrier across the grid ({setting})"),
            Some(barrier),
            variant("barrier", Sync::Barrier)?,
            local.clone(),
        ));
        claims.push(Paper::HE_BOOSTER.claim(
            format!("local synchronisation instead of a launch for each stage ({setting})"),
            None,
            variant("launches", Sync::Launches)?,
            local.clone(),
        ));
        claims.push(Paper::HE_BOOSTER.claim(
            format!("local synchronisation instead of launches, then blocks of 2^11 points ({setting})"),
            over_hybrid,
            Variant::new("hybrid", hybrid(bits, log_n)?),
            local,
        ));
    }
    let limbs =
        |label: &str, bits, limbs| Ok::<_, Error>(Variant::new(label, hybrid(bits, 15)?).limbs(limbs));
    let (single, double) = (limbs("32 limbs of 30 bits", 32, 32)?, limbs("16 limbs of 62 bits", 64, 16)?);
    claims.push(Paper::HE_BOOSTER.claim(
        "double words: half as many limbs, one after the other (N = 2^15)",
        Some(1.4),
        single.clone().one_limb_a_launch(Execution::Launches),
        double.clone().one_limb_a_launch(Execution::Launches),
    ));
    claims.push(Paper::HE_BOOSTER.claim(
        "double words: half as many limbs, all in one launch (N = 2^15)",
        None,
        single.clone(),
        double,
    ));
    // The share of transforms in a product falls from 84.1% to 56.7%: 84.1/15.9 against 56.7/43.3.
    claims.push(
        Paper::HE_BOOSTER.claim(
            "all limbs in one launch instead of one after the other (N = 2^15, 32-bit words)",
            Some(4.0),
            Variant { label: "a launch for each".into(), ..single.clone() }
                .one_limb_a_launch(Execution::Launches),
            Variant { label: "one launch".into(), execution: Execution::Launches, ..single },
        ),
    );
    claims.extend(inner_products());
    Ok(claims)
}

/// Table 1: log2 of the decomposition radix, and the gains for the first two parameter sets.
fn inner_products() -> Vec<SpeedupClaim> {
    let mut claims = Vec::new();
    for (log_radix, gains) in
        [(1, [4.3, 3.0]), (5, [3.7, 2.9]), (10, [3.2, 2.8]), (20, [2.6, 2.5]), (30, [2.3, 2.4])]
    {
        // The product of the moduli is as long as in the paper: limbs of 56 bits.
        for ((log_n, limbs), gain) in [(13, 4usize), (14, 8)].into_iter().zip(gains) {
            let terms = (56 * limbs).div_ceil(log_radix);
            let product =
                |label: &str, fusion| InnerProducts { label: label.into(), log_n, limbs, terms, fusion };
            claims.push(Paper::HE_BOOSTER.claim(
                format!("inner product of {terms} terms in one kernel (N = 2^{log_n}, {limbs} limbs, 64-bit words)"),
                Some(gain),
                product("a kernel for each product and sum", Fusion::Separate),
                product("one kernel", Fusion::Fused),
            ));
        }
    }
    claims
}
