//! `rescale`: the division of a ciphertext by its last modulus.

use super::Generator;
use crate::Error;
use crate::circuit::Circuit;
use crate::option::Options;
use crate::scale::Scale;

/// The division of a ciphertext by its last modulus: CKKS's rescale, BGV's modulus switch.
pub(super) const RESCALE: Generator = Generator {
    name: "rescale",
    definition: "rescaled.0, rescaled.1 is ct.0, ct.1 divided by its last modulus, rounded; in BGV to a multiple of t",
    options: &[],
    defaults: &[],
    emit,
};

fn emit(c: &mut Circuit, _: &Options) -> Result<(), Error> {
    let ciphertext = c.input_at("ct", c.level(), Scale::one())?;
    let rescaled = c.rescale(&ciphertext)?;
    c.output("rescaled", &rescaled)
}
