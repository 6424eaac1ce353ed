//! `bootstrap`: a ciphertext of one modulus to one of many, with the same message.
//!
//! ```text
//! scale down    the message to q_0/2^r
//! mod-raise     the same integers modulo all q: the phase gains I q_0
//! CoeffToSlot   coefficients to slots, divided by q_0 K
//! EvalMod       t to t - I in each slot, by a polynomial of the cosine and double angles
//! SlotToCoeff   slots to coefficients
//! ```
//!
//! SlotToCoeff may also come first: then the coefficients are the slots of the message, and so are the results of EvalMod.

mod eval_mod;
mod plan;

pub(super) use eval_mod::{polynomial, scaled_polynomial};

use super::Generator;
use crate::bootstrap::{Bootstrap, Steps};
use crate::circuit::{Ciphertext, Circuit, LinearTransform, ModDowns};
use crate::definition::Definition;
use crate::matrix::{Diagonal, Matrix, Packing, Slots};
use crate::option::Order;
use crate::scale::Scale;
use crate::sine::Sine;
use crate::{Error, Hoisting, Rescale};
use num_bigint::BigInt;
use std::sync::Arc;

/// A bootstrap of all slots, or of fewer that repeat.
pub(super) const BOOTSTRAP: Generator = Generator {
    name: "bootstrap",
    definition: "boot.0, boot.1 has the message of ct.0, ct.1, which has one modulus or those of SlotToCoeff too, and more moduli; with the keys relin, galois.G, \
        switch.dense-sparse, switch.sparse-dense (.b.J and .a.J of the digit J) and the plaintexts STAGE.MATRIX.GIANT.BABY",
    options: &[
        "rescale",
        "hoisting",
        "slots",
        "message-ratio",
        "slot-to-coeff",
        "meta-bits",
        "intermediates",
    ],
    defaults: &[],
    emit,
};

fn emit(c: &mut Circuit<'_>) -> Result<(), Error> {
    let bootstrapping = Bootstrapping::new(c, c.options.slots)?;
    if c.options.rescale == Some(Rescale::None) {
        return Err(Error::NeedsRescales { program: BOOTSTRAP.name });
    }
    let level = bootstrapping.level_before();
    let left = if c.options.meta_bits.is_some() { level + 1 } else { level };
    c.needs_levels(bootstrapping.depth(), left)?;
    let ciphertext = c.input_at("ct", level, bootstrapping.scale.clone());
    let result = bootstrapping.bootstrap(c, &ciphertext)?;
    c.declare_slot_levels(bootstrapping.slots * (result.level() - level));
    c.output("boot", &result);
    Ok(())
}

/// The bootstraps of a program.
pub(super) struct Bootstrapping {
    settings: Bootstrap,
    /// Whether mod-downs divide by the last modulus too.
    merged: bool,
    hoisting: Hoisting,
    order: Order,
    /// The slots of the message.
    slots: usize,
    /// Whether they are fewer than n/2.
    is_sparse: bool,
    /// The scale of messages.
    pub(super) scale: Scale,
}

impl Bootstrapping {
    /// Bootstraps of messages with this number of slots, or n/2, with the parameters of the program's set and options.
    pub(super) fn new(c: &Circuit<'_>, slots: Option<usize>) -> Result<Self, Error> {
        let settings = c.set.bootstrap_with(c.options);
        let settings = settings.ok_or_else(|| Error::NoBootstrap { set: c.set.name().to_owned() })?;
        let most = c.set.degree().len() / 2;
        let slots = slots.unwrap_or(most);
        let least = 1 << settings.coeff_to_slot.max(settings.slot_to_coeff_matrices);
        if !slots.is_power_of_two() || slots < least || slots > most {
            return Err(Error::PackedSlots { slots, least, most });
        }
        Ok(Self {
            merged: c.options.rescale == Some(Rescale::Merged),
            hoisting: c.options.hoisting.unwrap_or_default(),
            order: c.options.order.unwrap_or_default(),
            slots,
            is_sparse: slots < most,
            scale: Scale::power_of_two(settings.scale_bits),
            settings,
        })
    }

    /// The moduli of a ciphertext to bootstrap.
    pub(super) fn level_before(&self) -> usize {
        match self.order {
            Order::SlotToCoeffLast => 1,
            Order::SlotToCoeffFirst => 1 + self.settings.slot_to_coeff,
        }
    }

    /// The moduli of the program that the result of a bootstrap lacks.
    pub(super) fn depth(&self) -> usize {
        match self.order {
            Order::SlotToCoeffLast => self.settings.depth(),
            // Real and imaginary parts that are side by side are joined after EvalMod.
            Order::SlotToCoeffFirst => {
                self.settings.depth() - self.settings.slot_to_coeff + usize::from(self.is_sparse)
            }
        }
    }

    /// A ciphertext with the message of one of [`level_before`](Self::level_before) moduli, and all moduli of the program that a
    /// bootstrap leaves. Its scale is next to the set's scale of messages.
    pub(super) fn bootstrap(&self, c: &mut Circuit<'_>, x: &Ciphertext) -> Result<Ciphertext, Error> {
        let first = self.once(c, x, c.options.intermediates)?;
        let Some(bits) = c.options.meta_bits else { return Ok(first) };
        if c.options.intermediates {
            c.output("first", &first);
        }
        c.stage("meta-bootstrap", first.level());
        let lowered = first.at(x.level() + 1);
        let scale = x.scale.times(&c.last_modulus(lowered.level()));
        let lowered = c.multiply_real(&lowered, 1.0, &scale);
        let lowered = c.rescale(&lowered)?;
        let error = c.subtract(&lowered, x)?;
        let error = c.multiply_integer(&error, &(BigInt::from(1) << bits));
        let error = self.once(c, &error, false)?;
        c.stage("meta-bootstrap", first.level());
        let scale = first.scale.times(&c.last_modulus(first.level()));
        let [first, error] = [(first, 1.0), (error, (-f64::from(bits)).exp2())]
            .map(|(x, factor)| c.multiply_real(&x, factor, &scale));
        let corrected = c.subtract(&first, &error)?;
        c.rescale(&corrected)
    }

    /// One bootstrap.
    fn once(
        &self,
        c: &mut Circuit<'_>,
        ciphertext: &Ciphertext,
        intermediates: bool,
    ) -> Result<Ciphertext, Error> {
        let Bootstrap { ephemeral_weight, message_ratio_bits, .. } = self.settings;
        let q0 = Scale::integer(c.modulus(0));
        let lowered = match self.order {
            Order::SlotToCoeffLast => ciphertext.clone(),
            Order::SlotToCoeffFirst => self.slot_to_coeff(c, ciphertext)?,
        };
        c.stage("mod-raise", 1);
        let scaled = c.scale_up(&lowered, &q0.over(&Scale::power_of_two(message_ratio_bits)));
        // A slot after EvalMod is a coefficient, or a slot, of the message times this.
        let message = scaled.scale.over(&q0);
        let raised = match ephemeral_weight {
            Some(_) => {
                let encapsulated = c.encapsulate(&scaled);
                c.mod_raise(&encapsulated, true)
            }
            None => c.mod_raise(&scaled, false),
        };
        let traced = self.trace(c, &raised)?;
        let parts = self.coeff_to_slot(c, &traced)?;
        if intermediates {
            if self.order == Order::SlotToCoeffFirst {
                c.output("lowered", &lowered);
            }
            c.output("raised", &raised);
            let names: &[&str] = if self.is_sparse { &["packed"] } else { &["real", "imaginary"] };
            names.iter().zip(&parts).for_each(|(name, part)| c.output(name, part));
        }
        c.stage("eval-mod", parts[0].level());
        let sine = Sine::new(&self.settings, c.set.raised_weight());
        // SlotToCoeff brings the result to the scale of messages; if it came first, EvalMod does.
        let target = match self.order {
            Order::SlotToCoeffLast => None,
            Order::SlotToCoeffFirst => Some(self.scale.over(&message)),
        };
        let parts = parts.iter().map(|part| self.eval_mod(c, part, (&sine, target.as_ref())));
        let parts = parts.collect::<Result<Vec<_>, _>>()?;
        let reduced = if let [real, imaginary] = &parts[..] {
            let imaginary = c.multiply_i(imaginary)?;
            c.add(real, &imaginary)?
        } else {
            parts[0].clone()
        };
        if intermediates {
            c.output("reduced", &reduced);
        }
        let scale = reduced.scale.times(&message);
        let reduced = reduced.with_scale(scale);
        match self.order {
            Order::SlotToCoeffLast => self.slot_to_coeff(c, &reduced),
            Order::SlotToCoeffFirst if self.is_sparse => self.joined(c, &reduced),
            Order::SlotToCoeffFirst => Ok(reduced),
        }
    }

    /// Slots whose real and imaginary parts were side by side.
    fn joined(&self, c: &mut Circuit<'_>, x: &Ciphertext) -> Result<Ciphertext, Error> {
        let (slots, stages) = (self.slots, Vec::new());
        let matrix = Matrix { slots, stages, inverse: false, factor: 1.0, packing: Packing::Join };
        let diagonal = Diagonal { matrix: Arc::new(matrix), offsets: vec![0], rotation: 0, column: 0 };
        let scale = c.last_modulus(x.level());
        let definition = Definition::Plaintext { slots: Slots::Diagonal(diagonal), scale: scale.clone() };
        let plaintext = c.plaintext("join".to_owned(), (x.level(), false), scale, definition);
        let product = c.multiply_add(None, x, &plaintext)?;
        let product = c.rescale(&product)?;
        let other = c.rotated(product.clone(), slots as i64)?;
        c.add(&product, &other)
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
                false if self.order == Order::SlotToCoeffFirst => Packing::None,
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
        (stage, index, matrix): (&str, usize, &Arc<Matrix>),
        scale: Scale,
        rescales: bool,
    ) -> Result<Ciphertext, Error> {
        let plan;
        (plan, *left) = plan::steps(self.settings.steps, self.hoisting.is_nested(), matrix, *left);
        let mod_downs = match self.settings.steps {
            Steps::OpenFhe if self.hoisting == Hoisting::Double => ModDowns::EachStep,
            Steps::Lattigo | Steps::OpenFhe | Steps::Cheddar => ModDowns::Once,
        };
        let merged = rescales && self.merged && self.hoisting.is_extended() && mod_downs == ModDowns::Once;
        let hoisting = self.hoisting;
        let name = format!("{stage}.{index}");
        let transform = LinearTransform { name, plan: &plan, scale, mod_downs, hoisting, rescales: merged };
        c.in_stage(format!("{stage} {}", index + 1), |c| {
            let mut product = c.transform(x, &transform)?;
            if rescales && !merged {
                product = c.rescale(&product)?;
            }
            if matrix.packing == Packing::Join {
                let other = c.rotated(product.clone(), self.slots as i64)?;
                product = c.add(&product, &other)?;
            }
            Ok(product)
        })
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
        let Bootstrap { coeff_to_slot, normalisation, range, .. } = self.settings;
        let slots = c.set.degree().get() as f64 / 2.0;
        // Real and imaginary part are halves of sums. The trace has multiplied coefficients by n/2 over the slots of the message.
        let factor = 0.5_f64 / (slots * f64::from(range));
        let factor = factor.powf(1.0 / (coeff_to_slot + normalisation) as f64);
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
            let scale = c.last_modulus(x.level());
            x = self.transform(c, (&x, &mut left), ("coeff-to-slot", index, matrix), scale, rescales)?;
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

    /// A ciphertext whose coefficients are the slots of another one in bit-reversed order, with the scale of messages.
    fn slot_to_coeff(&self, c: &mut Circuit<'_>, x: &Ciphertext) -> Result<Ciphertext, Error> {
        let Bootstrap { slot_to_coeff: moduli, slot_to_coeff_matrices: count, .. } = self.settings;
        c.stage("slot-to-coeff", x.level());
        let each = count / moduli;
        // What is left to do to the scale, for each modulus.
        let correction = self.scale.over(&x.scale).to_f64().powf(1.0 / moduli as f64);
        let (mut x, mut left) = (x.clone(), 0);
        for (index, matrix) in self.matrices(count, false, 1.0).iter().enumerate() {
            let scale = c.last_modulus(x.level()).to_f64() * correction;
            let scale = Scale::integer(scale.powf(1.0 / each as f64).round() as u128);
            let rescales = (index + 1) % each == 0;
            x = self.transform(c, (&x, &mut left), ("slot-to-coeff", index, matrix), scale, rescales)?;
        }
        c.rotated(x, left)
    }
}
