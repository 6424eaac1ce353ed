//! `bootstrap`: a ciphertext of one modulus to one of many, with the same message.
//!
//! ```text
//! scale down    the message to q_0/2^r
//! mod-raise     the same integers modulo all q: the phase gains I q_0
//! CoeffToSlot   coefficients to slots, divided by q_0 K
//! EvalMod       t to t - I in each slot, by a polynomial of the cosine and double angles
//! SlotToCoeff   slots to coefficients
//! ```

mod eval_mod;
mod plan;

pub(super) use eval_mod::polynomial;

use super::Generator;
use crate::bootstrap::{Bootstrap, Steps};
use crate::circuit::{Ciphertext, Circuit, LinearTransform, ModDowns};
use crate::matrix::{Matrix, Packing};
use crate::scale::Scale;
use crate::sine::Sine;
use crate::{Error, Hoisting, ParameterSet, Rescale};
use std::sync::Arc;

/// A bootstrap of all slots, or of fewer that repeat.
pub(super) const BOOTSTRAP: Generator = Generator {
    name: "bootstrap",
    definition: "boot.0, boot.1 has the message of ct.0, ct.1, which has one modulus, and more moduli; with the keys relin, galois.G, \
        switch.dense-sparse, switch.sparse-dense (.b.J and .a.J of the digit J) and the plaintexts STAGE.MATRIX.GIANT.BABY",
    options: &["rescale", "hoisting", "slots", "intermediates"],
    emit,
};

fn emit(c: &mut Circuit<'_>) -> Result<(), Error> {
    let settings = settings(c.set)?;
    c.needs_levels(settings.depth(), 1)?;
    if c.options.rescale == Some(Rescale::None) {
        return Err(Error::NeedsRescales { program: BOOTSTRAP.name });
    }
    let ciphertext = c.input_at("ct", 1, Scale::power_of_two(settings.scale_bits));
    let result = bootstrap(c, &ciphertext, c.options.slots)?;
    c.output("boot", &result);
    Ok(())
}

/// The parameters of a set's bootstrap.
pub(super) fn settings(set: &ParameterSet) -> Result<&Bootstrap, Error> {
    set.bootstrap().ok_or_else(|| Error::NoBootstrap { set: set.name().to_owned() })
}

/// A ciphertext with the message of one of one modulus, and all moduli of the program that a bootstrap leaves. Its scale is next
/// to the set's scale of messages. The message has this number of slots, or n/2.
pub(super) fn bootstrap(
    c: &mut Circuit<'_>,
    ciphertext: &Ciphertext,
    slots: Option<usize>,
) -> Result<Ciphertext, Error> {
    let settings = settings(c.set)?;
    let most = c.set.degree().len() / 2;
    let slots = slots.unwrap_or(most);
    let least = 1 << settings.coeff_to_slot.max(settings.slot_to_coeff_matrices);
    if !slots.is_power_of_two() || slots < least || slots > most {
        return Err(Error::PackedSlots { slots, least, most });
    }
    let bootstrapping = Bootstrapping {
        settings,
        merged: c.options.rescale == Some(Rescale::Merged),
        hoisting: c.options.hoisting.unwrap_or_default(),
        slots,
        is_sparse: slots < most,
        scale: Scale::power_of_two(settings.scale_bits),
    };
    bootstrapping.emit(c, ciphertext)
}

struct Bootstrapping<'b> {
    settings: &'b Bootstrap,
    /// Whether mod-downs divide by the last modulus too.
    merged: bool,
    hoisting: Hoisting,
    /// The slots of the message.
    slots: usize,
    /// Whether they are fewer than n/2.
    is_sparse: bool,
    /// The scale of messages.
    scale: Scale,
}

impl Bootstrapping<'_> {
    fn emit(&self, c: &mut Circuit<'_>, ciphertext: &Ciphertext) -> Result<Ciphertext, Error> {
        let Bootstrap { ephemeral_weight, message_ratio_bits, .. } = *self.settings;
        let q0 = Scale::integer(c.modulus(0));
        c.stage("mod-raise", 1);
        let scaled = c.scale_up(ciphertext, &q0.over(&Scale::power_of_two(message_ratio_bits)));
        let message = scaled.scale.clone();
        let raised = match ephemeral_weight {
            Some(_) => {
                let encapsulated = c.encapsulate(&scaled);
                c.mod_raise(&encapsulated, true)
            }
            None => c.mod_raise(&scaled, false),
        };
        let traced = self.trace(c, &raised)?;
        let parts = self.coeff_to_slot(c, &traced)?;
        if c.options.intermediates {
            c.output("raised", &raised);
            let names: &[&str] = if self.is_sparse { &["packed"] } else { &["real", "imaginary"] };
            names.iter().zip(&parts).for_each(|(name, part)| c.output(name, part));
        }
        c.stage("eval-mod", parts[0].level());
        let sine = Sine::new(self.settings, c.set.raised_weight());
        let parts = parts.iter().map(|part| self.eval_mod(c, part, &sine)).collect::<Result<Vec<_>, _>>()?;
        let reduced = if let [real, imaginary] = &parts[..] {
            let imaginary = c.multiply_i(imaginary)?;
            c.add(real, &imaginary)?
        } else {
            parts[0].clone()
        };
        if c.options.intermediates {
            c.output("reduced", &reduced);
        }
        // A slot is the message's coefficient over q_0, times the scale before the mod-raise.
        let scale = reduced.scale.times(&message).over(&q0);
        let reduced = reduced.with_scale(scale);
        c.stage("slot-to-coeff", reduced.level());
        self.slot_to_coeff(c, &reduced)
    }

    /// The products of stages, with the factor of each.
    fn matrices(&self, count: usize, inverse: bool, factor: f64) -> Vec<Arc<Matrix>> {
        let slots = self.slots;
        let log = slots.ilog2() as usize;
        let order: Vec<u32> =
            if inverse { (0..log as u32).rev().collect() } else { (0..log as u32).collect() };
        let mut order = order.into_iter();
        let sizes = plan::split(self.settings.steps, log, count, inverse);
        let packed = if inverse { sizes.len() - 1 } else { 0 };
        let matrix = |(index, size): (usize, usize)| {
            let stages = order.by_ref().take(size).collect();
            let packing = match inverse {
                _ if !self.is_sparse || index != packed => Packing::None,
                true => Packing::Split,
                false => Packing::Join,
            };
            Arc::new(Matrix { slots, stages, inverse, factor, packing })
        };
        sizes.into_iter().enumerate().map(matrix).collect()
    }

    /// The product of a matrix and slots. Of the matrices before, a rotation may be left to do; so it may of this one.
    fn transform(
        &self,
        c: &mut Circuit<'_>,
        (x, left): (&Ciphertext, &mut i64),
        (name, matrix): (String, &Arc<Matrix>),
        scale: Scale,
        rescales: bool,
    ) -> Result<Ciphertext, Error> {
        let plan;
        if self.hoisting.is_nested() {
            (plan, *left) = plan::nested(matrix, *left);
        } else {
            plan = plan::steps(self.settings.steps, matrix);
        }
        let mod_downs = match self.settings.steps {
            Steps::OpenFhe if self.hoisting == Hoisting::Double => ModDowns::EachStep,
            Steps::Lattigo | Steps::OpenFhe => ModDowns::Once,
        };
        let merged = rescales && self.merged && self.hoisting.is_extended() && mod_downs == ModDowns::Once;
        let hoisting = self.hoisting;
        let transform = LinearTransform { name, plan: &plan, scale, mod_downs, hoisting, rescales: merged };
        let mut product = c.transform(x, &transform)?;
        if rescales && !merged {
            product = c.rescale(&product)?;
        }
        if matrix.packing == Packing::Join {
            let other = c.rotated(product.clone(), self.slots as i64)?;
            product = c.add(&product, &other)?;
        }
        Ok(product)
    }

    /// The sum of the rotations by multiples of the slots: n/2 over the slots times the coefficients of the message, and zeros
    /// between them.
    fn trace(&self, c: &mut Circuit<'_>, raised: &Ciphertext) -> Result<Ciphertext, Error> {
        let mut x = raised.clone();
        if self.is_sparse {
            c.stage("trace", x.level());
        }
        let mut rotation = self.slots;
        while rotation < c.set.degree().len() / 2 {
            let rotated = c.rotated(x.clone(), rotation as i64)?;
            x = c.add(&x, &rotated)?;
            rotation *= 2;
        }
        Ok(x)
    }

    /// The coefficients of the lower and of the upper half in slots, in bit-reversed order, divided by K: in two ciphertexts, or
    /// side by side in one.
    fn coeff_to_slot(&self, c: &mut Circuit<'_>, raised: &Ciphertext) -> Result<Vec<Ciphertext>, Error> {
        let Bootstrap { coeff_to_slot, normalisation, range, .. } = *self.settings;
        let slots = c.set.degree().get() as f64 / 2.0;
        // Real and imaginary part are halves of sums. The trace has multiplied coefficients by n/2 over the slots of the message.
        let factor = (0.5 / (slots * f64::from(range))).powf(1.0 / (coeff_to_slot + normalisation) as f64);
        // EvalMod needs a scale as large as its moduli.
        let top = raised.level() - coeff_to_slot - normalisation;
        let mut x = c.scale_up(raised, &c.last_modulus(top));
        for _ in 0..normalisation {
            c.stage("normalisation", x.level());
            let scale = x.scale.times(&c.last_modulus(x.level()));
            let product = c.multiply_real(&x, factor, &scale);
            x = c.rescale(&product)?;
        }
        c.stage("coeff-to-slot", x.level());
        let matrices = self.matrices(coeff_to_slot, true, factor);
        let mut left = 0;
        let late = self.settings.steps == Steps::OpenFhe;
        for (index, matrix) in matrices.iter().enumerate() {
            let rescales = !(late && index + 1 == matrices.len());
            let (name, scale) = (format!("coeff-to-slot.{index}"), c.last_modulus(x.level()));
            x = self.transform(c, (&x, &mut left), (name, matrix), scale, rescales)?;
        }
        x = c.rotated(x, left)?;
        let conjugate = c.conjugate(&x);
        let mut parts = vec![c.add(&x, &conjugate)?];
        if !self.is_sparse {
            let imaginary = c.subtract(&conjugate, &x)?;
            parts.push(c.multiply_i(&imaginary)?);
        }
        if late { parts.iter().map(|part| c.rescale(part)).collect() } else { Ok(parts) }
    }

    /// The message of slots that are its coefficients in bit-reversed order.
    fn slot_to_coeff(&self, c: &mut Circuit<'_>, x: &Ciphertext) -> Result<Ciphertext, Error> {
        let Bootstrap { slot_to_coeff: moduli, slot_to_coeff_matrices: count, .. } = *self.settings;
        let each = count / moduli;
        // What is left to do to the scale, for each modulus.
        let correction = self.scale.over(&x.scale).to_f64().powf(1.0 / moduli as f64);
        let (mut x, mut left) = (x.clone(), 0);
        for (index, matrix) in self.matrices(count, false, 1.0).iter().enumerate() {
            let scale = c.last_modulus(x.level()).to_f64() * correction;
            let scale = Scale::integer(scale.powf(1.0 / each as f64).round() as u128);
            let rescales = (index + 1) % each == 0;
            let name = format!("slot-to-coeff.{index}");
            x = self.transform(c, (&x, &mut left), (name, matrix), scale, rescales)?;
        }
        c.rotated(x, left)
    }
}
