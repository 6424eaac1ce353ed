//! `hoisted-rotations`: several rotations of one ciphertext, whose digits are raised once.

use super::Generator;
use crate::Error;
use crate::circuit::Circuit;
use crate::definition::SwitchingKey;
use crate::option::{Options, ROTATIONS, distinct_rotations};
use crate::scale::Scale;

/// The rotations, unless some are given.
pub(super) const EIGHT: [i64; 8] = [1, 2, 3, 4, 5, 6, 7, 8];

/// Several rotations of one ciphertext.
pub(super) const HOISTED_ROTATIONS: Generator = Generator {
    name: "hoisted-rotations",
    definition: "rotR.0, rotR.1 is ct.0, ct.1 rotated by R, as hrot does it with the key evkR.b.J, evkR.a.J; digits are raised once",
    options: &[&ROTATIONS],
    defaults: &[],
    emit,
};

fn emit(c: &mut Circuit, options: &Options) -> Result<(), Error> {
    let rotations = rotations(c, options)?;
    let ciphertext = c.input_at("ct", c.level(), Scale::one())?;
    let exponents = declare_keys(c, &rotations)?;
    for (rotation, rotated) in rotations.iter().zip(c.automorphisms(&ciphertext, &exponents)) {
        c.output(&format!("rot{rotation}"), &rotated)?;
    }
    Ok(())
}

/// The rotations of a program, each once.
pub(super) fn rotations(c: &Circuit, options: &Options) -> Result<Vec<i64>, Error> {
    let given = options.rotations(ROTATIONS.name).unwrap_or(EIGHT.to_vec());
    given.iter().try_for_each(|&rotation| c.exponent(rotation).map(drop))?;
    Ok(distinct_rotations(&given, c.set().degree()).0)
}

/// Declares the keys `evkR.b.J`, `evkR.a.J` of some rotations R, and returns the exponents of their
/// automorphisms.
pub(super) fn declare_keys(c: &mut Circuit, rotations: &[i64]) -> Result<Vec<u32>, Error> {
    let mut exponents = Vec::new();
    for &rotation in rotations {
        let exponent = c.exponent(rotation)?;
        c.declare_key(SwitchingKey::Galois(exponent), &format!("evk{rotation}"));
        exponents.push(exponent);
    }
    Ok(exponents)
}
