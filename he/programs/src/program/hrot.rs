//! `hrot`: the rotation of a ciphertext's slots.

use super::Generator;
use crate::Error;
use crate::circuit::Circuit;
use crate::definition::SwitchingKey;
use crate::option::{Options, ROTATIONS};
use crate::scale::Scale;

/// The rotation of a ciphertext's slots: key switch, then automorphism.
pub(super) const ROTATION: Generator = Generator {
    name: "hrot",
    definition: "rot.0, rot.1 is ct.0, ct.1 with X^g for X, g = 5^rotation, with the key evk.b.J, evk.a.J of s for s(X^(1/g))",
    options: &[&ROTATIONS],
    defaults: &[],
    emit,
};

fn emit(c: &mut Circuit, options: &Options) -> Result<(), Error> {
    let rotations = options.rotations(ROTATIONS.name);
    let rotation = match rotations.as_deref() {
        None => 1,
        Some(&[rotation]) => rotation,
        Some(rotations) => {
            return Err(Error::OneRotation { program: ROTATION.name.to_owned(), count: rotations.len() });
        }
    };
    let exponent = c.exponent(rotation)?;
    let ciphertext = c.input_at("ct", c.level(), Scale::one())?;
    c.declare_key(SwitchingKey::Galois(exponent), "evk");
    for rotated in c.automorphisms(&ciphertext, &[exponent]) {
        c.output("rot", &rotated)?;
    }
    Ok(())
}
