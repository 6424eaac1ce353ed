//! Bootstraps: a ciphertext of one modulus to one of many, with the same message.
//!
//! ```text
//! scale down    the message to q_0/2^r
//! mod-raise     the same integers modulo all q: the phase gains I q_0
//! CoeffToSlot   coefficients to slots, divided by q_0 K
//! EvalMod       t to t - I in each slot, by a polynomial of the cosine and double angles
//! SlotToCoeff   slots to coefficients
//! ```
//!
//! SlotToCoeff may also come first: then the coefficients are the slots of the message, and so are the
//! results of EvalMod.

mod eval_mod;
mod plan;

pub(super) use plan::babies;

use super::{Ciphertext, Circuit, LinearTransform, ModDowns};
use crate::bootstrap::{Bootstrap, Fault, Steps};
use crate::definition::Definition;
use crate::matrix::{Diagonal, Matrix, Packing, Slots};
use crate::option::{Options, Order};
use crate::scale::Scale;
use crate::sine::Sine;
use crate::{Error, Hoisting, Rescale};
use num_bigint::BigInt;
use std::sync::Arc;

/// What a user chooses of a bootstrap.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct BootstrapOptions {
    /// The slots of the message, a power of two; n/2 by default.
    pub slots: Option<usize>,
    /// Whether mod-downs divide by the last modulus too.
    pub merged: bool,
    /// The rotations of linear transforms.
    pub hoisting: Hoisting,
    /// The place of SlotToCoeff.
    pub order: Order,
    /// log2 of q_0 over the scale of messages before the mod-raise; as in the set by default.
    pub message_ratio: Option<u32>,
    /// log2 of the factor of the error that a second bootstrap takes off.
    pub meta_bits: Option<u32>,
    /// Whether the ciphertexts between the stages are outputs too.
    pub intermediates: bool,
}

impl BootstrapOptions {
    /// Those among the options of a program.
    pub fn of(options: &Options) -> Self {
        Self {
            slots: options.slots(),
            merged: options.rescale() == Some(Rescale::Merged),
            hoisting: options.hoisting().unwrap_or_default(),
            order: options.order().unwrap_or_default(),
            message_ratio: options.message_ratio(),
            meta_bits: options.meta_bits(),
            intermediates: options.intermediates(),
        }
    }
}

/// The bootstraps of a circuit, of one form.
#[derive(Clone, Debug)]
pub struct Bootstrapping {
    options: BootstrapOptions,
    settings: Bootstrap,
    /// The slots of the message.
    slots: usize,
    /// Whether they are fewer than n/2.
    is_sparse: bool,
    /// The scale of messages.
    scale: Scale,
    sine: Arc<Sine>,
}

impl Bootstrapping {
    /// Bootstraps with the parameters of the circuit's set.
    ///
    /// # Errors
    /// Returns an error if the set has no bootstrap or is one of BGV, the slots are no power of two in its
    /// range, or the options leave nothing of a message.
    pub fn new(c: &Circuit, options: BootstrapOptions) -> Result<Self, Error> {
        c.needs_ckks()?;
        let settings = c.set.bootstrap().cloned();
        let mut settings = settings.ok_or_else(|| Error::NoBootstrap { set: c.set.name().to_owned() })?;
        settings.message_ratio_bits = options.message_ratio.unwrap_or(settings.message_ratio_bits);
        let most = c.set.degree().len() / 2;
        let slots = options.slots.unwrap_or(most);
        let least = settings.least_slots();
        if !slots.is_power_of_two() || slots < least || slots > most {
            return Err(Error::PackedSlots { slots, least, most });
        }
        let refused = |Fault { key, message, help }| {
            let set = c.set.name().to_owned();
            let option = if key == "meta_bits" { key } else { "message_ratio" };
            Error::Bootstrap { set, option, reason: message.into(), remedy: help.into() }
        };
        c.set.check_messages(&settings).map_err(refused)?;
        settings.check_meta_bits(options.meta_bits, c.set.rounding()).map_err(refused)?;
        let weight = c.set.raised_weight();
        let sine = Arc::new(Sine::new(&settings, weight));
        sine.check(&settings, weight).map_err(refused)?;
        let scale = Scale::power_of_two(settings.scale_bits);
        Ok(Self { options, settings, slots, is_sparse: slots < most, scale, sine })
    }

    /// The scale of messages.
    pub fn scale(&self) -> &Scale {
        &self.scale
    }

    /// The slots of messages.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// The moduli of a ciphertext to bootstrap.
    pub fn level_before(&self) -> usize {
        match self.options.order {
            Order::SlotToCoeffLast => 1,
            Order::SlotToCoeffFirst => 1 + self.settings.slot_to_coeff,
        }
    }

    /// The moduli of the program that the result of a bootstrap lacks.
    pub fn depth(&self) -> usize {
        match self.options.order {
            Order::SlotToCoeffLast => self.settings.depth(),
            // Real and imaginary parts that are side by side are joined after EvalMod.
            Order::SlotToCoeffFirst => {
                self.settings.depth() - self.settings.slot_to_coeff + usize::from(self.is_sparse)
            }
        }
    }

    /// A ciphertext with the message of one of [`level_before`](Self::level_before) moduli, and all moduli of
    /// the program that a bootstrap leaves. Its scale is next to the set's scale of messages.
    ///
    /// # Errors
    /// Returns an error if the circuit has too few moduli.
    pub fn bootstrap(&self, c: &mut Circuit, x: &Ciphertext) -> Result<Ciphertext, Error> {
        let first = self.once(c, x, self.options.intermediates)?;
        let Some(bits) = self.options.meta_bits else { return Ok(first) };
        if self.options.intermediates {
            c.output("first", &first)?;
        }
        c.stage("meta-bootstrap", first.level());
        let lowered = c.lowered(&first, x.level() + 1);
        let scale = x.scale.times(&c.divisor(lowered.level()));
        let lowered = c.multiply_real(&lowered, 1.0, &scale);
        let lowered = c.rescale(&lowered)?;
        let error = c.subtract(&lowered, x)?;
        let error = c.multiply_integer(&error, &(BigInt::from(1) << bits));
        let error = self.once(c, &error, false)?;
        c.stage("meta-bootstrap", first.level());
        let scale = first.scale.times(&c.divisor(first.level()));
        let [first, error] = [(first, 1.0), (error, (-f64::from(bits)).exp2())]
            .map(|(x, factor)| c.multiply_real(&x, factor, &scale));
        let corrected = c.subtract(&first, &error)?;
        c.rescale(&corrected)
    }

    /// One bootstrap.
    fn once(
        &self,
        c: &mut Circuit,
        ciphertext: &Ciphertext,
        intermediates: bool,
    ) -> Result<Ciphertext, Error> {
        let Bootstrap { ephemeral_weight, message_ratio_bits, .. } = self.settings;
        let q0 = c.modulus(1);
        let lowered = match self.options.order {
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
            if self.options.order == Order::SlotToCoeffFirst {
                c.output("lowered", &lowered)?;
            }
            c.output("raised", &raised)?;
            let names: &[&str] = if self.is_sparse { &["packed"] } else { &["real", "imaginary"] };
            names.iter().zip(&parts).try_for_each(|(name, part)| c.output(name, part))?;
        }
        c.stage("eval-mod", parts[0].level());
        // SlotToCoeff brings the result to the scale of messages; if it came first, EvalMod does.
        let target = match self.options.order {
            Order::SlotToCoeffLast => None,
            Order::SlotToCoeffFirst => Some(self.scale.over(&message)),
        };
        let parts = parts.iter().map(|part| self.eval_mod(c, part, target.as_ref()));
        let parts = parts.collect::<Result<Vec<_>, _>>()?;
        let reduced = if let [real, imaginary] = &parts[..] {
            let imaginary = c.multiply_i(imaginary);
            c.add(real, &imaginary)?
        } else {
            parts[0].clone()
        };
        if intermediates {
            c.output("reduced", &reduced)?;
        }
        let scale = reduced.scale.times(&message);
        let reduced = reduced.with_scale(scale);
        match self.options.order {
            Order::SlotToCoeffLast => self.slot_to_coeff(c, &reduced),
            Order::SlotToCoeffFirst if self.is_sparse => self.joined(c, &reduced),
            Order::SlotToCoeffFirst => Ok(reduced),
        }
    }

    /// Slots whose real and imaginary parts were side by side.
    fn joined(&self, c: &mut Circuit, x: &Ciphertext) -> Result<Ciphertext, Error> {
        let (slots, stages) = (self.slots, Vec::new());
        let matrix = Matrix { slots, stages, inverse: false, factor: 1.0, packing: Packing::Join };
        let diagonal = Diagonal { matrix: Arc::new(matrix), offsets: vec![0], rotation: 0, column: 0 };
        let scale = c.divisor(x.level());
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
                false if self.options.order == Order::SlotToCoeffFirst => Packing::None,
                true => Packing::Split,
                false => Packing::Join,
            };
            Arc::new(Matrix { slots, stages, inverse, factor, packing })
        };
        sizes.into_iter().enumerate().map(matrix).collect()
    }

    /// The product of a matrix and slots. Of the matrices before, a rotation may be left to do; so it may of
    /// this one.
    fn transform(
        &self,
        c: &mut Circuit,
        (x, left): (&Ciphertext, &mut i64),
        (stage, index, matrix): (&str, usize, &Arc<Matrix>),
        scale: Scale,
        rescales: bool,
    ) -> Result<Ciphertext, Error> {
        let plan;
        (plan, *left) = plan::steps(self.settings.steps, self.options.hoisting.is_nested(), matrix, *left);
        let mod_downs = match self.settings.steps {
            Steps::OpenFhe if self.options.hoisting == Hoisting::Double => ModDowns::EachStep,
            Steps::Lattigo | Steps::OpenFhe | Steps::Cheddar => ModDowns::Once,
        };
        let merged = rescales
            && self.options.merged
            && self.options.hoisting.is_extended()
            && mod_downs == ModDowns::Once;
        let hoisting = self.options.hoisting;
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

    /// The sum of the rotations by multiples of the slots: n/2 over the slots times the coefficients of the
    /// message, and zeros between them.
    fn trace(&self, c: &mut Circuit, raised: &Ciphertext) -> Result<Ciphertext, Error> {
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

    /// The coefficients of the lower and of the upper half in slots, in bit-reversed order, divided by K: in
    /// two ciphertexts, or side by side in one.
    fn coeff_to_slot(&self, c: &mut Circuit, raised: &Ciphertext) -> Result<Vec<Ciphertext>, Error> {
        let Bootstrap { coeff_to_slot, normalisation, range, .. } = self.settings;
        let slots = c.set.degree().get() as f64 / 2.0;
        // Real and imaginary part are halves of sums. The trace has multiplied coefficients by n/2 over the
        // slots of the message.
        let factor = 0.5_f64 / (slots * f64::from(range));
        let factor = factor.powf(1.0 / (coeff_to_slot + normalisation) as f64);
        // EvalMod needs a scale as large as its moduli.
        let top = raised.level() - coeff_to_slot - normalisation;
        let mut x = c.scale_up(raised, &c.divisor(top));
        for _ in 0..normalisation {
            c.stage("normalisation", x.level());
            let scale = x.scale.times(&c.divisor(x.level()));
            let product = c.multiply_real(&x, factor, &scale);
            x = c.rescale(&product)?;
        }
        c.stage("coeff-to-slot", x.level());
        let matrices = self.matrices(coeff_to_slot, true, factor);
        let mut left = 0;
        let late = self.settings.steps == Steps::OpenFhe;
        for (index, matrix) in matrices.iter().enumerate() {
            let rescales = !(late && index + 1 == matrices.len());
            let scale = c.divisor(x.level());
            x = self.transform(c, (&x, &mut left), ("coeff-to-slot", index, matrix), scale, rescales)?;
        }
        x = c.rotated(x, left)?;
        let conjugate = c.conjugate(&x);
        let mut parts = vec![c.add(&x, &conjugate)?];
        if !self.is_sparse {
            let imaginary = c.subtract(&conjugate, &x)?;
            parts.push(c.multiply_i(&imaginary));
        }
        if late { parts.iter().map(|part| c.rescale(part)).collect() } else { Ok(parts) }
    }

    /// A ciphertext whose coefficients are the slots of another one in bit-reversed order, with the scale of
    /// messages.
    fn slot_to_coeff(&self, c: &mut Circuit, x: &Ciphertext) -> Result<Ciphertext, Error> {
        let Bootstrap { slot_to_coeff: moduli, slot_to_coeff_matrices: count, .. } = self.settings;
        c.stage("slot-to-coeff", x.level());
        let each = count / moduli;
        // What is left to do to the scale, for each modulus.
        let correction = self.scale.over(&x.scale).to_f64().powf(1.0 / moduli as f64);
        let (mut x, mut left) = (x.clone(), 0);
        for (index, matrix) in self.matrices(count, false, 1.0).iter().enumerate() {
            let scale = c.divisor(x.level()).to_f64() * correction;
            let scale = Scale::integer(scale.powf(1.0 / each as f64).round() as u128);
            let rescales = (index + 1) % each == 0;
            x = self.transform(c, (&x, &mut left), ("slot-to-coeff", index, matrix), scale, rescales)?;
        }
        c.rotated(x, left)
    }
}

impl Circuit {
    /// A bootstrap of a message whose scale is next to the set's: the result has the level that a bootstrap
    /// leaves. Moduli that the bootstrap does not need are dropped before.
    ///
    /// # Errors
    /// Returns an error if the set has no bootstrap or too few moduli, the slots do not fit, or the scale is
    /// another one.
    pub fn bootstrap(&mut self, x: &Ciphertext, options: BootstrapOptions) -> Result<Ciphertext, Error> {
        let bootstrapping = Bootstrapping::new(self, options)?;
        let level = bootstrapping.level_before();
        self.needs_levels(bootstrapping.depth(), level)?;
        let scale = bootstrapping.scale();
        // As far as moduli are from powers of two.
        if (x.scale.log2() - scale.log2()).abs() > 0.5 {
            let (scales, program) = (Box::new([x.scale.clone(), scale.clone()]), self.program.to_string());
            return Err(Error::BootstrapScale { program, scales });
        }
        if x.level() < level {
            let program = self.program.to_string();
            return Err(Error::TooLow { program, operation: "bootstrap", level: x.level(), needed: level });
        }
        let x = self.lowered(x, level);
        let x = self.relinearised(x);
        self.in_stage("bootstrap", |c| bootstrapping.bootstrap(c, &x))
    }
}
