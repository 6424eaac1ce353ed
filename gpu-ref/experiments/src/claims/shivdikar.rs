//! The claims of Shivdikar et al.: reductions, blocks and radices, two dimensions, products.

use super::{FULL, Paper, SpeedupClaim, Variant};
use crate::variants;
use gpu_ref::{Barrett, Error, Recipe, Strategy};

pub(super) fn claims() -> Result<Vec<SpeedupClaim>, Error> {
    const N: u32 = 16;
    const BITS: u32 = 64;
    let mut claims = Vec::new();
    for polynomials in [1, FULL] {
        let mut claim = |what: &str, gain, baseline: Variant, optimised: Variant| {
            let (log_n, bits) = (optimised.recipe.log_n(), optimised.recipe.word_bits());
            let what = format!("{what} (N = 2^{log_n}, {bits}-bit words, batch {polynomials})");
            let [baseline, optimised] = [baseline, optimised].map(|variant| variant.polynomials(polynomials));
            claims.push(Paper::SHIVDIKAR.claim(what, gain, baseline, optimised));
        };
        let lom = |label: &str, barrett| {
            Ok::<_, Error>(Variant::new(label, variants::lom(barrett, BITS, N, 1, 1)?))
        };
        let los = |label: &str, barrett, radix| {
            Ok::<_, Error>(Variant::new(label, variants::los(barrett, BITS, 11, radix)?))
        };
        let proposed = Barrett::Proposed;

        // Table III: each step builds on the ones before it.
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
                    variants::lom(proposed, BITS, N, radix_log, 4)?,
                ),
            );
        }
        let square = |label: &str, radix_log, columns_log, pipelined| {
            let recipe = variants::two_dimensional(proposed, BITS, N, radix_log, columns_log, pipelined)?;
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
        for variant in [los("", proposed, 1)?, square("", 1, 0, true)?, square("", 4, 4, true)?] {
            let product = |label: &str, separate| {
                let variant = variant.clone().product(separate)?;
                Ok::<_, Error>(Variant { label: label.into(), ..variant })
            };
            let radix = 1 << variant.recipe.passes()[0].points_log;
            claim(
                &format!("one kernel for last pass, products and first pass, radix {radix}"),
                None,
                product("separate", true)?,
                product("fused", false)?,
            );
        }
    }
    Ok(claims)
}
