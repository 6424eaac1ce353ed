//! `hoisted-rotations`: several rotations of one ciphertext, whose digits are raised once.

use super::Generator;
use crate::Error;
use crate::circuit::Circuit;
use crate::definition::SwitchingKey;
use crate::option::distinct_rotations;
use crate::scale::Scale;

/// The rotations, unless some are given.
pub(super) const ROTATIONS: [i64; 8] = [1, 2, 3, 4, 5, 6, 7, 8];

/// Several rotations of one ciphertext.
pub(super) const HOISTED_ROTATIONS: Generator = Generator {
    name: "hoisted-rotations",
    definition: "rotR.0, rotR.1 is ct.0, ct.1 rotated by R, as hrot does it with the key evkR.b.J, evkR.a.J; digits are raised once",
    options: &["rotations"],
    defaults: &[],
    emit,
};

fn emit(c: &mut Circuit<'_>) -> Result<(), Error> {
    let rotations = &rotations(c)?;
    let ciphertext = c.input("ct", Scale::one());
    let exponents = declare_keys(c, rotations)?;
    for (rotation, rotated) in rotations.iter().zip(c.automorphisms(&ciphertext, &exponents)) {
        c.output(&format!("rot{rotation}"), &rotated);
    }
    Ok(())
}

/// The rotations of a program, each once.
pub(super) fn rotations(c: &Circuit<'_>) -> Result<Vec<i64>, Error> {
    let given = c.options.rotations.as_deref().unwrap_or(&ROTATIONS);
    given.iter().try_for_each(|&rotation| c.exponent(rotation).map(drop))?;
    Ok(distinct_rotations(given, c.set.degree()).0)
}

/// Declares the keys `evkR.b.J`, `evkR.a.J` of some rotations R, and returns the exponents of their automorphisms.
pub(super) fn declare_keys(c: &mut Circuit<'_>, rotations: &[i64]) -> Result<Vec<u32>, Error> {
    let mut exponents = Vec::new();
    for &rotation in rotations {
        let exponent = c.exponent(rotation)?;
        c.declare_key(SwitchingKey::Galois(exponent), &format!("evk{rotation}"));
        exponents.push(exponent);
    }
    Ok(exponents)
}
