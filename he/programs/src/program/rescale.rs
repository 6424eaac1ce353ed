//! `rescale`: the division of a ciphertext by its last modulus.

use super::{Generator, Options};
use crate::Error;
use crate::base::Tower;
use crate::emitter::Emitter;
use ring_program::Limb;

/// The division of a ciphertext by its last modulus: CKKS's rescale, BGV's modulus switch.
pub(super) const RESCALE: Generator = Generator {
    name: "rescale",
    definition: "rescaled.0, rescaled.1 is ct.0, ct.1 divided by its last modulus, rounded; in BGV to a multiple of t",
    options: &[],
    emit,
};

fn emit(e: &mut Emitter, _options: &Options) -> Result<(), Error> {
    if e.base().level() == 1 {
        return Err(Error::NothingToDrop { program: RESCALE.name });
    }
    let inputs = [0, 1].map(|component| e.polynomial(format!("ct.{component}")));
    for (component, limbs) in inputs.iter().enumerate() {
        let limbs = rescaled(e, limbs);
        e.output(format!("rescaled.{component}"), limbs);
    }
    Ok(())
}

/// A polynomial divided by its last modulus q_l, limb by limb:
///
/// ```text
/// r = [t^-1 x_l] mod q_l, from -(q_l - 1)/2 to (q_l - 1)/2
/// out_i = (x_i - t r) q_l^-1 mod q_i
/// ```
///
/// With t = 1 this is x/q_l, rounded to the nearest integer.
pub(super) fn rescaled(e: &mut Emitter, limbs: &[Limb]) -> Vec<Limb> {
    let base = e.base().clone();
    let (t, last) = (base.t, Tower(limbs.len() - 1));
    let modulus = base.ring(last).q();
    let half = (modulus - 1) / 2;
    let mut residues = e.intt(limbs[last.0], last);
    if t > 1 {
        residues = e.multiply_scalar(residues, base.inverse(last, t), last);
    }
    // From 0 to q_l - 1, and half more than the centred residue.
    let shifted = e.add_scalar(residues, half, last);
    let divide = |tower: Tower| {
        let reduced = e.multiply_scalar(shifted, t % base.ring(tower).q(), tower);
        let remainder = e.subtract_scalar(reduced, base.product(tower, half, t), tower);
        let remainder = e.ntt(remainder, tower);
        let multiple = e.subtract(limbs[tower.0], remainder, tower);
        e.multiply_scalar(multiple, base.inverse(tower, modulus), tower)
    };
    (0..last.0).map(Tower).map(divide).collect()
}
