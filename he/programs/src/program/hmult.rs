//! `hmult`: the product of two ciphertexts.

use super::{Generator, Options, rescale, switch};
use crate::Error;
use crate::Rescale;
use crate::emitter::Emitter;
use crate::polynomial::Polynomial;
use crate::switch::Key;
use ring_program::Limb;

/// The product of two ciphertexts, under the key of both.
pub(super) const PRODUCT: Generator = Generator {
    name: "hmult",
    definition: "prod.0, prod.1 is the product of ct1.0, ct1.1 and ct2.0, ct2.1 with the key evk.b.J, evk.a.J of s^2 for s",
    options: &["rescale"],
    emit,
};

fn emit(e: &mut Emitter, options: &Options) -> Result<(), Error> {
    let rescales = options.rescale.unwrap_or_default();
    if rescales != Rescale::None && e.base().level() == 1 {
        return Err(Error::NothingToDrop { program: PRODUCT.name });
    }
    let [a0, a1, b0, b1] = ["ct1.0", "ct1.1", "ct2.0", "ct2.1"].map(|name| e.polynomial(name));
    let key = Key::input(e, "evk");
    let merged = rescales == Rescale::Merged;
    let product = product(e, [[a0, a1], [b0, b1]], key, merged, options);
    for (component, limbs) in product.into_iter().enumerate() {
        e.output(format!("prod.{component}"), limbs.clone());
        if rescales == Rescale::Separate {
            let limbs = rescale::rescaled(e, &limbs);
            e.output(format!("rescaled.{component}"), limbs);
        }
    }
    Ok(())
}

/// The product of two ciphertexts with the key of s^2 for s. If `rescales`, it is divided by the last
/// modulus.
pub(super) fn product(
    e: &mut Emitter,
    [[a0, a1], [b0, b1]]: [[Vec<Limb>; 2]; 2],
    mut key: Key,
    rescales: bool,
    options: &Options,
) -> [Vec<Limb>; 2] {
    let input = Polynomial::Products(vec![[a1.clone(), b1.clone()]]);
    key.addends = [
        Some(Polynomial::Products(vec![[a0.clone(), b0.clone()]])),
        Some(Polynomial::Products(vec![[a0, b1], [a1, b0]])),
    ];
    let product = switch(e, input, vec![key], rescales, options).pop();
    product.expect("a switch has a result for each key")
}
