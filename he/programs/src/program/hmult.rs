//! `hmult`: the product of two ciphertexts.

use super::Generator;
use crate::circuit::Circuit;
use crate::definition::SwitchingKey;
use crate::scale::Scale;
use crate::{Error, Rescale};

/// The product of two ciphertexts, under the key of both.
pub(super) const PRODUCT: Generator = Generator {
    name: "hmult",
    definition: "prod.0, prod.1 is the product of ct1.0, ct1.1 and ct2.0, ct2.1 with the key evk.b.J, evk.a.J of s^2 for s",
    options: &["rescale"],
    defaults: &[],
    emit,
};

fn emit(c: &mut Circuit<'_>) -> Result<(), Error> {
    let rescales = c.options.rescale.unwrap_or_default();
    if rescales != Rescale::None && c.level() == 1 {
        return Err(Error::NothingToDrop { program: PRODUCT.name });
    }
    let [a, b] = ["ct1", "ct2"].map(|name| c.input(name, Scale::one()));
    c.declare_key(SwitchingKey::Relinearisation, "evk");
    let product = c.multiply(&a, &b);
    match rescales {
        Rescale::Merged => {
            let product = c.relinearise_and_rescale(&product)?;
            c.output("prod", &product);
        }
        Rescale::Separate => {
            let product = c.relinearised(product);
            c.output("prod", &product);
            let rescaled = c.rescale(&product)?;
            c.output("rescaled", &rescaled);
        }
        Rescale::None => {
            let product = c.relinearised(product);
            c.output("prod", &product);
        }
    }
    Ok(())
}
