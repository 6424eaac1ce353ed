//! `bootstrap`: a ciphertext of one modulus to one of many, with the same message.

use super::Generator;
use crate::circuit::{BootstrapOptions, Bootstrapping, Circuit};
use crate::option::{
    HOISTING, INTERMEDIATE, LEVELS_OUT, MESSAGE_RATIO, META_BITS, Options, RESCALE, SLOT_TO_COEFF, SLOTS,
};
use crate::{Error, Rescale};

/// A bootstrap of all slots, or of fewer that repeat.
pub(super) const BOOTSTRAP: Generator = Generator {
    name: "bootstrap",
    definition: "boot.0, boot.1 has the message of ct.0, ct.1, which has one modulus or those of SlotToCoeff too, and more moduli; with the keys relin, galois.G, \
        switch.dense-sparse, switch.sparse-dense (.b.J and .a.J of the digit J) and the plaintexts STAGE.MATRIX.GIANT.BABY",
    options: &[
        &RESCALE,
        &HOISTING,
        &SLOTS,
        &MESSAGE_RATIO,
        &SLOT_TO_COEFF,
        &META_BITS,
        &LEVELS_OUT,
        &INTERMEDIATE,
    ],
    defaults: &[],
    emit,
};

fn emit(c: &mut Circuit, options: &Options) -> Result<(), Error> {
    let bootstrapping = Bootstrapping::new(c, BootstrapOptions::of(options))?;
    if options.rescale() == Some(Rescale::None) {
        return Err(Error::NeedsRescales { program: BOOTSTRAP.name.to_owned() });
    }
    let level = bootstrapping.level_before();
    let left = if options.meta_bits().is_some() { level + 1 } else { level };
    c.needs_levels(bootstrapping.depth(), left)?;
    let ciphertext = c.input_at("ct", level, bootstrapping.scale().clone())?;
    let result = bootstrapping.bootstrap(c, &ciphertext)?;
    c.declare_slot_levels(bootstrapping.slots() * (result.level() - level));
    c.output("boot", &result)
}
