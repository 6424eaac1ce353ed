//! `hoisted-rotations`: several rotations of one ciphertext, whose digits are raised once.

use super::{Options, Program, exponent, switch};
use crate::Error;
use crate::emitter::Emitter;
use crate::polynomial::Polynomial;
use crate::switch::Key;

/// The rotations, unless some are given.
const ROTATIONS: [i64; 8] = [1, 2, 3, 4, 5, 6, 7, 8];

/// Several rotations of one ciphertext.
pub(super) const HOISTED_ROTATIONS: Program = Program {
    name: "hoisted-rotations",
    definition: "rotR.0, rotR.1 is ct.0, ct.1 rotated by R, as hrot does it with the key evkR.b.J, evkR.a.J; digits are raised once",
    rotates: true,
    rescales_products: false,
    emit,
};

fn emit(e: &mut Emitter, options: &Options) -> Result<(), Error> {
    let rotations = options.rotations.as_deref().unwrap_or(&ROTATIONS);
    let [c0, c1] = ["ct.0", "ct.1"].map(|name| Polynomial::Limbs(e.polynomial(name)));
    let mut keys = Vec::new();
    for (place, &rotation) in rotations.iter().enumerate() {
        if rotations[..place].contains(&rotation) {
            return Err(Error::DuplicateRotation(rotation));
        }
        let exponent = exponent(e, rotation)?;
        let mut key = Key::input(e, &format!("evk{rotation}"));
        key.addends = [Some(c0.clone()), None];
        key.exponent = Some(exponent);
        keys.push(key);
    }
    for (rotation, results) in rotations.iter().zip(switch(e, c1, keys, false, options)) {
        for (component, limbs) in results.into_iter().enumerate() {
            e.output(format!("rot{rotation}.{component}"), limbs);
        }
    }
    Ok(())
}
