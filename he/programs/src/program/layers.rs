//! `layers`: linear transforms of slots and squares in turn, as in a bootstrap. It makes large programs.

use super::{Generator, Options, hmult, hoisted_rotations, rescale};
use crate::Error;
use crate::emitter::Emitter;
use crate::switch::Key;
use ring_program::Limb;

/// Linear transforms of slots and squares in turn.
pub(super) const LAYERS: Generator = Generator {
    name: "layers",
    definition: "out.0, out.1 is ct.0, ct.1 after layers I = 0, 1, ..: the sum of ptI.R times the rotations by R = 0 and by each of the \
        rotations, with the keys evkR.b.J, evkR.a.J, rescaled; then its square with the key evk.b.J, evk.a.J, rescaled",
    options: &["rotations", "layers"],
    emit,
};

/// The moduli that a layer drops: one after the linear transform, and one with the square.
const LEVELS: usize = 2;

fn emit(e: &mut Emitter, options: &Options) -> Result<(), Error> {
    let rotations = options.rotations.as_deref().unwrap_or(&hoisted_rotations::ROTATIONS);
    let most = (e.base().level() - 1) / LEVELS;
    let layers = options.layers.unwrap_or(most);
    if layers == 0 || layers > most {
        return Err(Error::Layers { layers, level: e.base().level(), most });
    }
    let mut ciphertext = ["ct.0", "ct.1"].map(|name| e.polynomial(name));
    let rotation_keys = hoisted_rotations::keys(e, rotations)?;
    let square_key = Key::input(e, "evk");
    for layer in 0..layers {
        let mut rotated = vec![ciphertext.clone()];
        rotated.extend(hoisted_rotations::rotated(e, ciphertext, rotation_keys.clone(), options));
        let shifts = std::iter::once(0).chain(rotations.iter().copied());
        let terms = shifts.zip(rotated).map(|(shift, limbs)| (format!("pt{layer}.{shift}"), limbs));
        let sum = weighted_sum(e, terms);
        let [c0, c1] = sum.map(|limbs| rescale::rescaled(e, &limbs));
        e.drop_last();
        let square = [[c0.clone(), c1.clone()], [c0, c1]];
        ciphertext = hmult::product(e, square, square_key.clone(), true, options);
        e.drop_last();
    }
    for (component, limbs) in ciphertext.into_iter().enumerate() {
        e.output(format!("out.{component}"), limbs);
    }
    Ok(())
}

/// The sum of ciphertexts, each times an input with the given name.
fn weighted_sum(e: &mut Emitter, terms: impl Iterator<Item = (String, [Vec<Limb>; 2])>) -> [Vec<Limb>; 2] {
    let towers = e.base().q();
    let mut sums = [vec![None; towers.len()], vec![None; towers.len()]];
    for (name, ciphertext) in terms {
        let weight = e.polynomial(name);
        for (sum, limbs) in sums.iter_mut().zip(ciphertext) {
            for &tower in &towers {
                let product = e.multiply(limbs[tower.0], weight[tower.0], tower);
                sum[tower.0] = Some(e.accumulate(sum[tower.0], product, tower));
            }
        }
    }
    sums.map(|sum| sum.into_iter().map(|limb| limb.expect("a sum has at least one term")).collect())
}
