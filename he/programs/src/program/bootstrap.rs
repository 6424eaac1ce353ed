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

use super::Generator;
use crate::bootstrap::{Bootstrap, Steps};
use crate::circuit::{Ciphertext, Circuit, LinearTransform, ModDowns};
use crate::matrix::Matrix;
use crate::scale::Scale;
use crate::sine::Sine;
use crate::{Error, ParameterSet, Rescale};
use std::sync::Arc;

/// A bootstrap of all slots.
pub(super) const BOOTSTRAP: Generator = Generator {
    name: "bootstrap",
    definition: "boot.0, boot.1 has the message of ct.0, ct.1, which has one modulus, and more moduli; with the keys relin, galois.G, \
        switch.dense-sparse, switch.sparse-dense (.b.J and .a.J of the digit J) and the plaintexts STAGE.MATRIX.GIANT.BABY",
    options: &["rescale", "intermediates"],
    emit,
};

fn emit(c: &mut Circuit<'_>) -> Result<(), Error> {
    let settings = settings(c.set)?;
    c.needs_levels(settings.depth(), 1)?;
    if c.options.rescale == Some(Rescale::None) {
        return Err(Error::NeedsRescales { program: BOOTSTRAP.name });
    }
    let ciphertext = c.input_at("ct", 1, Scale::power_of_two(settings.scale_bits));
    let result = bootstrap(c, &ciphertext)?;
    c.output("boot", &result);
    Ok(())
}

/// The parameters of a set's bootstrap.
pub(super) fn settings(set: &ParameterSet) -> Result<&Bootstrap, Error> {
    set.bootstrap().ok_or_else(|| Error::NoBootstrap { set: set.name().to_owned() })
}

/// A ciphertext with the message of one of one modulus, and all moduli of the program that a bootstrap leaves. Its scale is next
/// to the set's scale of messages.
pub(super) fn bootstrap(c: &mut Circuit<'_>, ciphertext: &Ciphertext) -> Result<Ciphertext, Error> {
    let settings = settings(c.set)?;
    let merged = c.options.rescale == Some(Rescale::Merged);
    Bootstrapping { settings, merged, scale: Scale::power_of_two(settings.scale_bits) }.emit(c, ciphertext)
}

struct Bootstrapping<'b> {
    settings: &'b Bootstrap,
    /// Whether mod-downs divide by the last modulus too.
    merged: bool,
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
        let parts = self.coeff_to_slot(c, &raised)?;
        if c.options.intermediates {
            c.output("raised", &raised);
            c.output("real", &parts[0]);
            c.output("imaginary", &parts[1]);
        }
        c.stage("eval-mod", parts[0].level());
        let sine = Sine::new(self.settings, c.set.raised_weight());
        let [real, imaginary] = parts.map(|part| self.eval_mod(c, &part, &sine));
        let imaginary = c.multiply_i(&imaginary?)?;
        let reduced = c.add(&real?, &imaginary)?;
        if c.options.intermediates {
            c.output("reduced", &reduced);
        }
        // A slot is the message's coefficient over q_0, times the scale before the mod-raise.
        let scale = reduced.scale.times(&message).over(&q0);
        let reduced = reduced.with_scale(scale);
        c.stage("slot-to-coeff", reduced.level());
        self.slot_to_coeff(c, &reduced)
    }

    fn rescale(&self, c: &mut Circuit<'_>, a: &Ciphertext) -> Result<Ciphertext, Error> {
        if self.merged { c.relinearise_and_rescale(a) } else { c.rescale(a) }
    }

    /// The products of stages, with the factor of each.
    fn matrices(&self, c: &Circuit<'_>, count: usize, inverse: bool, factor: f64) -> Vec<Arc<Matrix>> {
        let slots = c.set.degree().len() / 2;
        let log = slots.ilog2() as usize;
        let order: Vec<u32> =
            if inverse { (0..log as u32).rev().collect() } else { (0..log as u32).collect() };
        let mut order = order.into_iter();
        let sizes = plan::split(self.settings.steps, log, count, inverse);
        let matrix = |size: usize| {
            let stages = order.by_ref().take(size).collect();
            Arc::new(Matrix { slots, stages, inverse, factor })
        };
        sizes.into_iter().map(matrix).collect()
    }

    fn transform(
        &self,
        c: &mut Circuit<'_>,
        x: &Ciphertext,
        (name, matrix): (String, &Arc<Matrix>),
        scale: Scale,
        rescales: bool,
    ) -> Result<Ciphertext, Error> {
        let plan = plan::steps(self.settings.steps, matrix);
        let mod_downs = match self.settings.steps {
            Steps::Lattigo => ModDowns::Once,
            Steps::OpenFhe => ModDowns::EachStep,
        };
        let merged = rescales && self.merged && mod_downs == ModDowns::Once;
        let transform = LinearTransform { name, plan: &plan, scale, mod_downs, rescales: merged };
        let product = c.transform(x, &transform)?;
        if rescales && !merged { c.rescale(&product) } else { Ok(product) }
    }

    /// The coefficients of the lower and of the upper half in slots, in bit-reversed order, divided by K.
    fn coeff_to_slot(&self, c: &mut Circuit<'_>, raised: &Ciphertext) -> Result<[Ciphertext; 2], Error> {
        let Bootstrap { coeff_to_slot, normalisation, range, .. } = *self.settings;
        let slots = c.set.degree().get() as f64 / 2.0;
        // Real and imaginary part are halves of sums.
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
        let matrices = self.matrices(c, coeff_to_slot, true, factor);
        let late = self.settings.steps == Steps::OpenFhe;
        for (index, matrix) in matrices.iter().enumerate() {
            let rescales = !(late && index + 1 == matrices.len());
            let (name, scale) = (format!("coeff-to-slot.{index}"), c.last_modulus(x.level()));
            x = self.transform(c, &x, (name, matrix), scale, rescales)?;
        }
        let conjugate = c.conjugate(&x);
        let real = c.add(&x, &conjugate)?;
        let imaginary = c.subtract(&conjugate, &x)?;
        let imaginary = c.multiply_i(&imaginary)?;
        if late { Ok([c.rescale(&real)?, c.rescale(&imaginary)?]) } else { Ok([real, imaginary]) }
    }

    /// The message of slots that are its coefficients in bit-reversed order.
    fn slot_to_coeff(&self, c: &mut Circuit<'_>, x: &Ciphertext) -> Result<Ciphertext, Error> {
        let Bootstrap { slot_to_coeff: moduli, slot_to_coeff_matrices: count, .. } = *self.settings;
        let each = count / moduli;
        // What is left to do to the scale, for each modulus.
        let correction = self.scale.over(&x.scale).to_f64().powf(1.0 / moduli as f64);
        let mut x = x.clone();
        for (index, matrix) in self.matrices(c, count, false, 1.0).iter().enumerate() {
            let scale = c.last_modulus(x.level()).to_f64() * correction;
            let scale = Scale::integer(scale.powf(1.0 / each as f64).round() as u128);
            let rescales = (index + 1) % each == 0;
            x = self.transform(c, &x, (format!("slot-to-coeff.{index}"), matrix), scale, rescales)?;
        }
        Ok(x)
    }
}
