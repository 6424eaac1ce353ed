//! `keyswitch`: the switch of one polynomial to another key.

use super::{Generator, Options, switch};
use crate::Error;
use crate::emitter::Emitter;
use crate::polynomial::Polynomial;
use crate::switch::Key;

/// The switch of one polynomial to another key.
pub(super) const KEY_SWITCH: Generator = Generator {
    name: "keyswitch",
    definition: "ks0 + ks1 s' is d s plus an error: d with the key evk.b.J, evk.a.J of s for s'",
    options: &[],
    emit,
};

fn emit(e: &mut Emitter, options: &Options) -> Result<(), Error> {
    let input = Polynomial::Limbs(e.polynomial("d"));
    let key = Key::input(e, "evk");
    for [first, second] in switch(e, input, vec![key], false, options) {
        e.output("ks0", first);
        e.output("ks1", second);
    }
    Ok(())
}
