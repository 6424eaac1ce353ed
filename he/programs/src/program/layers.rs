//! `layers`: linear transforms of slots and squares in turn, as in a bootstrap. It makes large programs.

use super::{Generator, hoisted_rotations};
use crate::Error;
use crate::circuit::{Ciphertext, Circuit};
use crate::definition::{Definition, SwitchingKey};
use crate::option::{LAYERS, Options, ROTATIONS};
use crate::scale::Scale;

/// Linear transforms of slots and squares in turn.
pub(super) const LAYERS_OF_MATRICES: Generator = Generator {
    name: "layers",
    definition: "out.0, out.1 is ct.0, ct.1 after layers I = 0, 1, ..: the sum of ptI.R times the rotations by R = 0 and by each of the \
        rotations, with the keys evkR.b.J, evkR.a.J, rescaled; then its square with the key evk.b.J, evk.a.J, rescaled",
    options: &[&ROTATIONS, &LAYERS],
    defaults: &[],
    emit,
};

/// The moduli that a layer drops: one after the linear transform, and one with the square.
const LEVELS: usize = 2;

fn emit(c: &mut Circuit, options: &Options) -> Result<(), Error> {
    let rotations = hoisted_rotations::rotations(c, options)?;
    let most = (c.level() - 1) / LEVELS;
    let layers = options.count(LAYERS.name).unwrap_or(most);
    if layers == 0 || layers > most {
        return Err(Error::Layers { layers, level: c.level(), most });
    }
    let mut ciphertext = c.input_at("ct", c.level(), Scale::one())?;
    let exponents = hoisted_rotations::declare_keys(c, &rotations)?;
    c.declare_key(SwitchingKey::Relinearisation, "evk");
    for layer in 0..layers {
        ciphertext = c.in_stage(format!("layer {layer}"), |c| {
            self::layer(c, &ciphertext, layer, (&rotations, &exponents))
        })?;
    }
    c.output("out", &ciphertext)
}

/// The layer with an index.
fn layer(
    c: &mut Circuit,
    ciphertext: &Ciphertext,
    layer: usize,
    (rotations, exponents): (&[i64], &[u32]),
) -> Result<Ciphertext, Error> {
    let mut rotated = vec![ciphertext.clone()];
    rotated.extend(c.automorphisms(ciphertext, exponents));
    // With this scale the sum has the scale 1 after its rescale. Under equal scales of all layers, the exact
    // scale of the result would have twice the digits after each square.
    let scale = c.divisor(ciphertext.level()).over(&ciphertext.scale);
    let shifts = std::iter::once(0).chain(rotations.iter().copied());
    let mut sum = None;
    for (shift, rotated) in shifts.zip(rotated) {
        let (name, level) = (format!("pt{layer}.{shift}"), (rotated.level(), false));
        let weight = c.plaintext(name, level, scale.clone(), Definition::Free);
        sum = Some(c.multiply_add(sum, &rotated, &weight)?);
    }
    let sum = sum.expect("the rotation by 0 is a term");
    let sum = c.rescale(&sum)?;
    c.product(&sum, &sum)
}
