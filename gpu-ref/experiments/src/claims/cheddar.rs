//! Cheddar's claims: kernel parameters and arithmetic.

use super::{Paper, SpeedupClaim, Variant};
use crate::variants;
use gpu_ref::{Barrett, Error, Feature, Recipe, Strategy};

pub(super) fn claims() -> Result<Vec<SpeedupClaim>, Error> {
    const LIMBS: usize = 54;
    let claim = |what: &str, gain, baseline: Variant, optimised: Variant| {
        let what = format!("{what} ({} limbs, N = 2^16)", optimised.limbs);
        Paper::CHEDDAR.claim(what, gain, baseline, optimised)
    };
    let variant = |label: &str, recipe: Recipe| Variant::new(label, recipe).limbs(LIMBS);
    let parameters =
        |column_log, points_log, columns_log| variants::cheddar(16, column_log, points_log, columns_log);
    let own = parameters(7, [4, 3], 4)?;
    let published = || variant("128 x 512, G = 16 and 8, 16 columns", own.clone());
    let arithmetic = |strategy| {
        let other = Recipe::new(strategy, 32, 16)?.with_passes(own.passes().to_vec())?;
        Ok::<_, Error>(other.without(Feature::Overlap))
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
