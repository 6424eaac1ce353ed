//! `hrot`: the rotation of a ciphertext's slots.

use super::Generator;
use crate::Error;
use crate::circuit::Circuit;
use crate::definition::SwitchingKey;
use crate::scale::Scale;

/// The rotation of a ciphertext's slots: key switch, then automorphism.
pub(super) const ROTATION: Generator = Generator {
    name: "hrot",
    definition: "rot.0, rot.1 is ct.0, ct.1 with X^g for X, g = 5^rotation, with the key evk.b.J, evk.a.J of s for s(X^(1/g))",
    options: &["rotations"],
    defaults: &[],
    emit,
};

fn emit(c: &mut Circuit<'_>) -> Result<(), Error> {
    let rotation = match c.options.rotations.as_deref() {
        None => 1,
        Some(&[rotation]) => rotation,
        Some(rotations) => {
            return Err(Error::OneRotation { program: ROTATION.name, count: rotations.len() });
        }
    };
    let exponent = c.exponent(rotation)?;
    let ciphertext = c.input("ct", Scale::one());
    c.declare_key(SwitchingKey::Galois(exponent), "evk");
    for rotated in c.automorphisms(&ciphertext, &[exponent]) {
        c.output("rot", &rotated);
    }
    Ok(())
}
