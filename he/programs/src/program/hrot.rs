//! `hrot`: the rotation of a ciphertext's slots.

use super::{Generator, Options, exponent, switch};
use crate::Error;
use crate::emitter::Emitter;
use crate::polynomial::Polynomial;
use crate::switch::Key;

/// The rotation of a ciphertext's slots: key switch, then automorphism.
pub(super) const ROTATION: Generator = Generator {
    name: "hrot",
    definition: "rot.0, rot.1 is ct.0, ct.1 with X^g for X, g = 5^rotation, with the key evk.b.J, evk.a.J of s for s(X^(1/g))",
    options: &["rotations"],
    emit,
};

fn emit(e: &mut Emitter, options: &Options) -> Result<(), Error> {
    let rotation = match options.rotations.as_deref() {
        None => 1,
        Some(&[rotation]) => rotation,
        Some(rotations) => {
            return Err(Error::OneRotation { program: ROTATION.name, count: rotations.len() });
        }
    };
    let exponent = exponent(e, rotation)?;
    let [c0, c1] = ["ct.0", "ct.1"].map(|name| Polynomial::Limbs(e.polynomial(name)));
    let mut key = Key::input(e, "evk");
    key.addends = [Some(c0), None];
    key.exponent = Some(exponent);
    for [first, second] in switch(e, c1, vec![key], false, options) {
        e.output("rot.0", first);
        e.output("rot.1", second);
    }
    Ok(())
}
