//! HE-Booster's claims: synchronisation, double words, and the phases around the transforms.

use super::{Operation, Paper, Scheme, SpeedupClaim, Variant};
use crate::residues::{Access, Reconstruction};
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
        claims.push(Paper::HeBooster.claim(
            format!("local synchronisation instead of a barrier across the grid ({setting})"),
            Some(barrier),
            variant("barrier", Sync::Barrier)?,
            local.clone(),
        ));
        claims.push(Paper::HeBooster.claim(
            format!("local synchronisation instead of a launch for each stage ({setting})"),
            None,
            variant("launches", Sync::Launches)?,
            local.clone(),
        ));
        claims.push(Paper::HeBooster.claim(
            format!("local synchronisation instead of launches, then blocks of 2^11 points ({setting})"),
            over_hybrid,
            Variant::new("hybrid", hybrid(bits, log_n)?),
            local,
        ));
    }
    let limbs =
        |label: &str, bits, limbs| Ok::<_, Error>(Variant::new(label, hybrid(bits, 15)?).limbs(limbs));
    let (single, double) = (limbs("32 limbs of 30 bits", 32, 32)?, limbs("16 limbs of 62 bits", 64, 16)?);
    claims.push(Paper::HeBooster.claim(
        "double words: half as many limbs, one after the other (N = 2^15)",
        Some(1.4),
        single.clone().one_limb_a_launch(Execution::Launches),
        double.clone().one_limb_a_launch(Execution::Launches),
    ));
    claims.push(Paper::HeBooster.claim(
        "double words: half as many limbs, all in one launch (N = 2^15)",
        None,
        single.clone(),
        double,
    ));
    // The share of transforms in a product falls from 84.1% to 56.7%: 84.1/15.9 against 56.7/43.3.
    claims.push(
        Paper::HeBooster.claim(
            "all limbs in one launch instead of one after the other (N = 2^15, 32-bit words)",
            Some(4.0),
            Variant { label: "a launch for each".into(), ..single.clone() }
                .one_limb_a_launch(Execution::Launches),
            Variant { label: "one launch".into(), execution: Execution::Launches, ..single },
        ),
    );
    claims.extend(schemes());
    Ok(claims)
}

/// The claims for the first, last and middle phase of the paper's operations. The product of the
/// moduli is as long as in the paper: L limbs of 56 bits or 2 L of 28.
fn schemes() -> Vec<SpeedupClaim> {
    let scheme = |label: &str, word_bits: u32, log_n, limbs: usize, operation| Scheme {
        label: label.into(),
        word_bits,
        log_n,
        limbs: limbs * (64 / word_bits as usize),
        modulus_bits: word_bits - word_bits / 8,
        operation,
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
            claims.push(Paper::HeBooster.claim(
                format!("residues: words transposed in shared memory ({setting})"),
                None,
                of("strided", Operation::Decompose(Access::Strided)),
                of("transposed", decompose),
            ));
            claims.push(Paper::HeBooster.claim(
                format!("integers from residues: words transposed in shared memory ({setting})"),
                None,
                of("strided", Operation::Reconstruct(Access::Strided, Reconstruction::Garner)),
                of("transposed", garner),
            ));
            claims.push(Paper::HeBooster.claim(
                format!("Garner's algorithm instead of a long sum ({setting})"),
                None,
                of("long sum", Operation::Reconstruct(Access::Transposed, Reconstruction::Direct)),
                of("Garner", garner),
            ));
        }
        for (what, operation) in [("residues", decompose), ("integers from residues", garner)] {
            let (single, double) =
                (format!("{} moduli of 28 bits", 2 * limbs), format!("{limbs} of 56 bits"));
            claims.push(Paper::HeBooster.claim(
                format!("{what}: double words (N = 2^{log_n}, {} bits)", 56 * limbs),
                None,
                scheme(&single, 32, log_n, limbs, operation),
                scheme(&double, 64, log_n, limbs, operation),
            ));
        }
    }
    // Table 1: log2 of the decomposition radix, and the gains for the first two parameter sets.
    for (log_radix, gains) in
        [(1, [4.3, 3.0]), (5, [3.7, 2.9]), (10, [3.2, 2.8]), (20, [2.6, 2.5]), (30, [2.3, 2.4])]
    {
        for ((log_n, bits, limbs), gain) in [(13, 224usize, 4), (14, 448, 8)].into_iter().zip(gains) {
            let terms = bits.div_ceil(log_radix);
            let product = |label: &str, fusion| {
                scheme(label, 64, log_n, limbs, Operation::InnerProduct { terms, fusion })
            };
            claims.push(Paper::HeBooster.claim(
                format!("inner product of {terms} terms in one kernel (N = 2^{log_n}, {limbs} limbs, 64-bit words)"),
                Some(gain),
                product("a kernel for each product and sum", Fusion::Separate),
                product("one kernel", Fusion::Fused),
            ));
        }
    }
    claims
}
