//! What a manifest states of its parameter set, held against the program.

use crate::security::{self, Security};
use crate::set::ParameterSet;
use ring_program::{Parameters, RingProgram};

/// Three numbers of bits with two decimals, each at most 0.005 away, and their sum in floating point.
const ROUNDING: f64 = 0.016;

/// The least log2 of the noise of a key switch: the rounding by P alone has a variance of at least 1/12.
const LEAST_NOISE: f64 = -2.0;

/// Holds what a manifest states against the program and the named set: reports repeat it. Of a built-in set
/// all is computed again, with the levels that its bootstrap leaves, or fewer. Of another, the moduli of the
/// program bound log2 QP from below, the degree and log2 QP bound the security from above, and no key switch
/// is without noise.
///
/// # Errors
/// Returns the first statement that cannot be true.
pub fn check_stated(stated: &Parameters, program: &RingProgram) -> Result<(), String> {
    let degree = program.degree();
    if let Some(Ok(set)) = ParameterSet::built_in(&stated.set, Some(degree.get())) {
        let of = |set: &ParameterSet| Parameters { slot_levels: stated.slot_levels, ..set.parameters() };
        let own = of(&set);
        // A bootstrap may leave fewer levels than those of the set.
        let mut less = (1..set.levels()).filter_map(|left| set.leaving(left).ok());
        return match own == *stated || less.any(|less| of(&less) == *stated) {
            true => Ok(()),
            false => Err(format!("the set `{}` has other values at n = {}: {own}", stated.set, degree.get())),
        };
    }
    let &Parameters { log2_q, log2_p, log2_qp, key_switch_noise_bits, .. } = stated;
    let numbers = [log2_q, log2_p, log2_qp, key_switch_noise_bits];
    if numbers.iter().any(|number| !number.is_finite()) || log2_q < 0.0 || log2_p < 0.0 {
        return Err("a size is no number of bits".to_owned());
    }
    if (log2_q + log2_p - log2_qp).abs() > ROUNDING {
        return Err(format!(
            "`log2_qp` is {log2_qp}, but `log2_q` and `log2_p` add up to {:.2}",
            log2_q + log2_p
        ));
    }
    let bits: f64 = program.moduli().iter().map(|(_, modulus)| (modulus as f64).log2()).sum();
    if bits > log2_qp + ROUNDING {
        return Err(format!("`log2_qp` is {log2_qp}, but the moduli of the program have {bits:.2} bits"));
    }
    if key_switch_noise_bits < LEAST_NOISE {
        return Err(format!(
            "`key_switch_noise_bits` is {key_switch_noise_bits}, below the rounding of any key switch"
        ));
    }
    let largest = security::class(degree, log2_qp).filter(|_| security::is_tabulated(degree));
    let is_possible = match (stated.security.as_str(), largest) {
        ("none", _) => true,
        ("unclassified", _) => security::class(degree, log2_qp).is_some(),
        (stated, Some(Security::Bits(most))) => {
            [128, 192, 256].iter().any(|bits| bits.to_string() == stated && *bits <= most)
        }
        (_, Some(Security::Unclassified | Security::None) | None) => false,
    };
    if !is_possible {
        let most = largest.map_or("none".to_owned(), |class| class.to_string());
        let (n, stated) = (degree.get(), &stated.security);
        return Err(format!("`security` is {stated}, but log2 QP = {log2_qp} at n = {n} has at most {most}"));
    }
    Ok(())
}
