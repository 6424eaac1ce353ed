//! `hoisted-rotations`: several rotations of one ciphertext, whose digits are raised once.

use super::{Generator, Options, exponent, switch};
use crate::Error;
use crate::emitter::Emitter;
use crate::polynomial::Polynomial;
use crate::switch::Key;
use ring_program::Limb;

/// The rotations, unless some are given.
pub(super) const ROTATIONS: [i64; 8] = [1, 2, 3, 4, 5, 6, 7, 8];

/// Several rotations of one ciphertext.
pub(super) const HOISTED_ROTATIONS: Generator = Generator {
    name: "hoisted-rotations",
    definition: "rotR.0, rotR.1 is ct.0, ct.1 rotated by R, as hrot does it with the key evkR.b.J, evkR.a.J; digits are raised once",
    options: &["rotations"],
    emit,
};

fn emit(e: &mut Emitter, options: &Options) -> Result<(), Error> {
    let rotations = options.rotations.as_deref().unwrap_or(&ROTATIONS);
    let ciphertext = ["ct.0", "ct.1"].map(|name| e.polynomial(name));
    let keys = keys(e, rotations)?;
    for (rotation, results) in rotations.iter().zip(rotated(e, ciphertext, keys, options)) {
        for (component, limbs) in results.into_iter().enumerate() {
            e.output(format!("rot{rotation}.{component}"), limbs);
        }
    }
    Ok(())
}

/// Declares the keys `evkR.b.J`, `evkR.a.J` of some rotations R.
pub(super) fn keys(e: &mut Emitter, rotations: &[i64]) -> Result<Vec<Key>, Error> {
    let mut keys = Vec::new();
    for (index, &rotation) in rotations.iter().enumerate() {
        if rotations[..index].contains(&rotation) {
            return Err(Error::DuplicateRotation(rotation));
        }
        let exponent = exponent(e, rotation)?;
        let mut key = Key::input(e, &format!("evk{rotation}"));
        key.exponent = Some(exponent);
        keys.push(key);
    }
    Ok(keys)
}

/// The rotations of a ciphertext, one for each key.
pub(super) fn rotated(
    e: &mut Emitter,
    [c0, c1]: [Vec<Limb>; 2],
    mut keys: Vec<Key>,
    options: &Options,
) -> Vec<[Vec<Limb>; 2]> {
    for key in &mut keys {
        key.addends = [Some(Polynomial::Limbs(c0.clone())), None];
    }
    switch(e, Polynomial::Limbs(c1), keys, false, options)
}
