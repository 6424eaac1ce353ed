//! `hmult`: the product of two ciphertexts.

use super::Generator;
use crate::circuit::Circuit;
use crate::definition::SwitchingKey;
use crate::option::{Options, RESCALE};
use crate::scale::Scale;
use crate::{Error, Rescale};

/// The product of two ciphertexts, under the key of both.
pub(super) const PRODUCT: Generator = Generator {
    name: "hmult",
    definition: "prod.0, prod.1 is the product of ct1.0, ct1.1 and ct2.0, ct2.1 with the key evk.b.J, evk.a.J of s^2 for s",
    options: &[&RESCALE],
    defaults: &[],
    emit,
};

fn emit(c: &mut Circuit, options: &Options) -> Result<(), Error> {
    let rescales = options.rescale().unwrap_or_default();
    if rescales != Rescale::None && c.level() == 1 {
        return Err(Error::NothingToDrop { program: PRODUCT.name.to_owned(), operation: "rescale" });
    }
    let level = c.level();
    let mut input = |name: &str| c.input_at(name, level, Scale::one());
    let (a, b) = (input("ct1")?, input("ct2")?);
    c.declare_key(SwitchingKey::Relinearisation, "evk");
    let product = c.multiply(&a, &b);
    match rescales {
        Rescale::Merged => {
            let product = c.relinearise_and_rescale(&product)?;
            c.output("prod", &product)?;
        }
        Rescale::Separate => {
            let product = c.relinearised(product);
            c.output("prod", &product)?;
            let rescaled = c.rescale(&product)?;
            c.output("rescaled", &rescaled)?;
        }
        Rescale::None => {
            let product = c.relinearised(product);
            c.output("prod", &product)?;
        }
    }
    Ok(())
}
