//! Integers of which a program has residues, taken to other moduli without an error.

use crate::base::Tower;
use crate::emitter::Emitter;
use num_bigint::BigUint;
use ring_program::Limb;

/// Coefficients modulo the product D of some moduli, as the integers from -(D - 1)/2 to (D - 1)/2.
///
/// They are kept as x + (D - 1)/2, from 0 to D - 1, in mixed radix: v_1 + v_2 d_1 + v_3 d_1 d_2 + ... With
/// one modulus, v_1 is all. A base conversion by residues, which is as long, would be wrong by a small
/// multiple of D.
#[derive(Debug)]
pub(crate) struct Centred {
    /// The moduli d_i, and the places v_i.
    places: Vec<(Tower, Limb)>,
    /// (D - 1)/2.
    half: BigUint,
}

impl Centred {
    /// The integers with these residues, of which there is at least one; the moduli are odd.
    pub(crate) fn new(e: &mut Emitter, residues: Vec<(Tower, Limb)>) -> Self {
        let base = e.base().clone();
        let towers: Vec<Tower> = residues.iter().map(|(tower, _)| *tower).collect();
        let half = (base.product_of(&towers) - 1_u32) / 2_u32;
        let mut places: Vec<(Tower, Limb)> = Vec::new();
        for (tower, residues) in residues {
            let mut rest = e.add_scalar(residues, modulo(&half, base.ring(tower).q()), tower);
            for &(below, place) in &places {
                // The place of a larger modulus is reduced.
                let place = e.multiply_scalar(place, 1, tower);
                rest = e.subtract(rest, place, tower);
                rest = e.multiply_scalar(rest, base.inverse(tower, base.ring(below).q()), tower);
            }
            places.push((tower, rest));
        }
        Self { places, half }
    }

    /// The integers times a factor, modulo a tower.
    pub(crate) fn modulo(&self, e: &mut Emitter, tower: Tower, factor: u128) -> Limb {
        let base = e.base().clone();
        let (mut weight, mut sum) = (factor, None);
        for &(of, place) in &self.places {
            let term = e.multiply_scalar(place, weight, tower);
            sum = Some(e.accumulate(sum, term, tower));
            weight = base.product(tower, weight, base.ring(of).q());
        }
        let half = base.product(tower, modulo(&self.half, base.ring(tower).q()), factor);
        e.subtract_scalar(sum.expect("there is a residue"), half, tower)
    }
}

/// A natural number modulo q.
fn modulo(x: &BigUint, q: u128) -> u128 {
    u128::try_from(x % q).expect("a residue of 128 bits")
}
