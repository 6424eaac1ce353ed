//! `logistic-regression`: training by gradient descent, with a bootstrap between two iterations.
//!
//! Slot 16 i + j has the feature j of row i, and the weight j for all rows i.
//!
//! ```text
//! margins     z w: a product, the sum of 16 rotations, a mask for the first feature, and 16 rotations back
//! sigmoid     s_0 + v (v^2 + c), v the margin times the cube root of s_3, which is in the mask
//! gradient    a product with the rows, and the sum over all rows by rotations
//! update      the gradient has the scale that makes it a step; the weights get the same
//! ```

use super::Generator;
use super::bootstrap::Bootstrapping;
use crate::Error;
use crate::circuit::{Ciphertext, Circuit, Plaintexts};
use crate::definition::Definition;
use crate::logistic::{FEATURES, INVERSE_RATE, SIGMOID};
use crate::matrix::{Periodic, Slots};
use crate::scale::Scale;

/// Training on encrypted data.
pub(super) const LOGISTIC_REGRESSION: Generator = Generator {
    name: "logistic-regression",
    definition: "trained.0, trained.1 has the weights of weights.0, weights.1 after iterations of gradient descent on the rows of data.0, data.1: \
        slot 16 I + J is the feature J of row I, or the weight J; with the keys and plaintexts of a bootstrap, and the plaintext mask",
    options: &["iterations", "rescale"],
    emit,
};

/// The moduli that an iteration uses up.
const DEPTH: usize = 5;

/// The level of an iteration: its result has one modulus, for the next bootstrap.
const LEVEL: usize = DEPTH + 1;

fn emit(c: &mut Circuit<'_>) -> Result<(), Error> {
    let iterations = c.options.iterations.unwrap_or(1);
    let slots = c.slots(FEATURES)?;
    c.needs_levels(DEPTH, 1)?;
    if c.options.rescale == Some(crate::Rescale::None) {
        return Err(Error::NeedsRescales { program: LOGISTIC_REGRESSION.name });
    }
    let scale = c.last_modulus(LEVEL);
    let of_weights = match c.set.bootstrap() {
        Some(settings) => Scale::power_of_two(settings.scale_bits),
        None => scale.clone(),
    };
    if iterations > 1 {
        c.needs_levels(Bootstrapping::new(c, None)?.depth(), LEVEL)?;
    }
    let data = c.input_at("data", LEVEL, scale.clone());
    let mut weights = c.input_at("weights", LEVEL, of_weights.clone());
    for iteration in 0..iterations {
        if iteration > 0 {
            // The scale is next to that of messages. With exact scales it would be a longer fraction after each iteration.
            weights = c.call("bootstrap", Plaintexts::Shared(""), &[&weights], |c, weights| {
                let bootstrapped = Bootstrapping::new(c, None)?.bootstrap(c, &weights[0])?.at(LEVEL);
                Ok(bootstrapped.with_scale(of_weights.clone()))
            })?;
        }
        weights = c.call("iteration", Plaintexts::Shared(""), &[&data, &weights], |c, operands| {
            self::iteration(c, &operands[0], &operands[1], slots)
        })?;
    }
    c.output("trained", &weights);
    Ok(())
}

fn iteration(
    c: &mut Circuit<'_>,
    data: &Ciphertext,
    weights: &Ciphertext,
    slots: usize,
) -> Result<Ciphertext, Error> {
    // What the sum over all rows is divided by.
    let divisor = slots / FEATURES * INVERSE_RATE as usize;
    let root = SIGMOID[2].cbrt();

    c.stage("margins", LEVEL);
    let products = c.product(data, weights)?;
    let sums = c.sum_of_rotations(&products, 1, FEATURES as i64)?;
    // The step has the scale of the sum of all rows times the divisor. A cube root of the divisor less in the margins makes
    // that next to the scale of data, and small enough for a bootstrap.
    let margin_scale = data.scale.over(&Scale::power_of_two((divisor.ilog2() + 1) / 3));
    let scale = margin_scale.times(&c.last_modulus(sums.level())).over(&sums.scale);
    let mut values = vec![0.0; FEATURES];
    values[0] = root;
    let mask = Slots::Periodic(Periodic { values, run: 1, slots });
    let definition = Definition::Plaintext { slots: mask, scale: scale.clone() };
    let mask = c.plaintext("mask".to_owned(), (sums.level(), false), scale, definition);
    let margins = c.multiply_add(None, &sums, &mask)?;
    let margins = c.rescale(&margins)?;
    let margins = c.sum_of_rotations(&margins, -1, FEATURES as i64)?;

    c.stage("sigmoid", margins.level());
    let square = c.product(&margins, &margins)?;
    let factor = c.add_real(&square, SIGMOID[1] / root);
    let cubic = c.product(&factor, &margins)?;
    let slopes = c.add_real(&cubic, SIGMOID[0]);

    c.stage("gradient", slopes.level());
    let gradients = c.product(&slopes, data)?;
    let sum = c.sum_of_rotations(&gradients, FEATURES as i64, slots as i64)?;
    let scale = sum.scale.times(&Scale::integer(divisor as u128));
    let step = sum.with_scale(scale.clone());
    let level = step.level() + 1;
    let weights = c.multiply_real(&weights.at(level), 1.0, &scale.times(&c.last_modulus(level)));
    let weights = c.rescale(&weights)?;
    c.add(&weights, &step)
}
