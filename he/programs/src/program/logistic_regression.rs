//! `logistic-regression` and `helr`: training by gradient descent, with a bootstrap after every few
//! iterations.
//!
//! Slot F i + j has the feature j of F of row i, and the weight j for all rows i. So weights are messages of
//! F slots, which sparse bootstraps can have.
//!
//! ```text
//! margins     z w: a product, the sum of F rotations, a mask for the first feature, and F rotations back
//! sigmoid     s_0 + v (v^2 + c), v the margin times the cube root of s_3, which is in the mask; or a Chebyshev series of the margin
//!             over 16
//! gradient    a product with the rows, and the sum over all rows by rotations
//! update      the gradient has the scale that makes it a step; the point gets the same
//! ```
//!
//! With Nesterov's momentum the weights w and those before, u, are bootstrapped as w + i u.

use super::{Generator, no_effect};
use crate::Error;
use crate::circuit::{BootstrapOptions, Bootstrapping, Ciphertext, Circuit, Plaintexts, scaled_polynomial};
use crate::definition::Definition;
use crate::logistic::{
    self, AHEAD, BETWEEN, BLOCKS, CUBIC, FEATURES, INVERSE_RATE, ITERATIONS, LARGEST, MOMENTUM, Momentum,
    PLACES, SIGMOID, Sigmoid,
};
use crate::matrix::{Periodic, Slots};
use crate::option::{HOISTING, MESSAGE_RATIO, OptionSpec, Options, RESCALE, SLOTS};
use crate::scale::Scale;
use num_bigint::BigInt;

/// Training on encrypted data.
pub(super) const LOGISTIC_REGRESSION: Generator = Generator {
    name: "logistic-regression",
    definition: "trained.0, trained.1 has the weights of weights.0, weights.1 after iterations of gradient descent on the rows of data.0, data.1, \
        or of dataB.0, dataB.1 for each block B: slot F I + J is the feature J of F of row I, or the weight J; with the keys and \
        plaintexts of a bootstrap, and the plaintext mask",
    options: OPTIONS,
    defaults: &[],
    emit,
};

/// The training on which accelerators are compared (K. Han et al., Logistic Regression on Homomorphic
/// Encrypted Data at Scale, AAAI 2019), in Cheddar's form: 1,024 rows of 256 places at n = 65,536.
pub(super) const HELR: Generator = Generator {
    name: "helr",
    definition: "as logistic-regression, in the form in which accelerators are compared: 32 iterations with Nesterov's momentum, a \
        bootstrap of 256 slots after every second one, and 8 blocks of rows with 256 places, dataB.0, dataB.1",
    options: OPTIONS,
    defaults: &[
        "iterations=32",
        "between=2",
        "features=256",
        "blocks=8",
        "momentum=nesterov",
        "slots=256",
        "message_ratio=10",
    ],
    emit,
};

const OPTIONS: &[&OptionSpec] = &[
    &ITERATIONS,
    &BETWEEN,
    &PLACES,
    &BLOCKS,
    &MOMENTUM,
    &SIGMOID,
    &RESCALE,
    &HOISTING,
    &SLOTS,
    &MESSAGE_RATIO,
];

fn emit(c: &mut Circuit, options: &Options) -> Result<(), Error> {
    c.needs_ckks()?;
    let iterations = options.count(ITERATIONS.name).unwrap_or(1);
    let between = options.count(BETWEEN.name).unwrap_or(1);
    if iterations <= between {
        let program = if c.program() == HELR.name { &HELR } else { &LOGISTIC_REGRESSION };
        let of_bootstraps = [&SLOTS, &MESSAGE_RATIO, &HOISTING, &RESCALE];
        no_effect(program, options, &of_bootstraps, "has no bootstrap in so few iterations")?;
        if between > iterations {
            no_effect(program, options, &[&BETWEEN], "has fewer iterations")?;
        }
    }
    let between = between.min(iterations);
    let features = options.count(PLACES.name).unwrap_or(FEATURES);
    let slots = c.slots(features)?;
    if !features.is_power_of_two() {
        return Err(Error::Features { features, most: slots });
    }
    let sigmoid = Sigmoid::of(options);
    // The last iteration leaves one modulus, for the next bootstrap.
    let level = between * depth(sigmoid) + 1;
    c.needs_levels(level - 1, 1)?;
    if options.rescale() == Some(crate::Rescale::None) {
        return Err(Error::NeedsRescales { program: c.program().to_owned() });
    }
    let scale = c.divisor(level);
    let of_weights = match c.set.bootstrap() {
        Some(settings) => Scale::power_of_two(settings.scale_bits),
        None => scale.clone(),
    };
    let blocks = options.count(BLOCKS.name).unwrap_or(1);
    let name = |block: usize| if blocks == 1 { "data".to_owned() } else { format!("data{block}") };
    let data = (0..blocks).map(|block| c.input_at(&name(block), level, scale.clone()));
    let data = data.collect::<Result<Vec<_>, _>>()?;
    let weights = c.input_at("weights", level, of_weights.clone())?;
    let momentum = Momentum::of(options);
    let (before, masks) = (weights.clone(), Vec::new());
    let mut training = Training { data, features, slots, momentum, sigmoid, weights, before, masks };
    let bootstrapping =
        if iterations > between { Some(Bootstrapping::new(c, BootstrapOptions::of(options))?) } else { None };
    if let Some(bootstrapping) = &bootstrapping {
        // Weights repeat after each row. A bootstrap adds up the slots that are as many apart as it has.
        let (program, slots) = (c.program().to_owned(), bootstrapping.slots());
        if slots < features {
            return Err(Error::FewSlots { program, slots, features });
        }
        c.needs_levels(bootstrapping.depth(), level)?;
    }
    for iteration in 0..iterations {
        if let Some(bootstrapping) =
            bootstrapping.as_ref().filter(|_| iteration > 0 && iteration % between == 0)
        {
            let stage = format!("bootstrap {}", iteration / between);
            c.in_stage(stage, |c| training.bootstrap(c, bootstrapping, (level, &of_weights)))?;
        }
        c.in_stage(format!("iteration {}", iteration + 1), |c| training.iterate(c))?;
    }
    c.output("trained", &training.weights)
}

/// The moduli that an iteration uses up: two for the margins, those of the sigmoid, and one for the gradient.
fn depth(sigmoid: Sigmoid) -> usize {
    match sigmoid {
        Sigmoid::Cubic => 5,
        Sigmoid::Chebyshev => 9,
    }
}

struct Training {
    /// Rows, in ciphertexts of equal scales.
    data: Vec<Ciphertext>,
    /// The places of a row.
    features: usize,
    slots: usize,
    momentum: Momentum,
    sigmoid: Sigmoid,
    weights: Ciphertext,
    /// The weights before the last iteration, with the scale of the weights.
    before: Ciphertext,
    /// The levels and the scales of the masks.
    masks: Vec<(usize, Scale)>,
}

impl Training {
    /// Takes weights of one modulus to those of a level.
    fn bootstrap(
        &mut self,
        c: &mut Circuit,
        bootstrapping: &Bootstrapping,
        (level, scale): (usize, &Scale),
    ) -> Result<(), Error> {
        // The scale is next to the scale of messages. With exact scales it would be a longer fraction after
        // each iteration.
        if self.momentum == Momentum::None {
            self.weights = c.call("bootstrap", Plaintexts::Shared(""), &[&self.weights], |c, weights| {
                let weights = bootstrapping.bootstrap(c, &weights[0])?;
                Ok(c.at(&weights, level)?.with_scale(scale.clone()))
            })?;
            return Ok(());
        }
        let operands = [&self.weights, &self.before];
        [self.weights, self.before] =
            c.call_with("bootstrap", Plaintexts::Shared(""), &operands, |c, operands| {
                c.stage("packing", operands[0].level());
                let before = c.multiply_i(&operands[1]);
                let packed = c.add(&operands[0], &before)?;
                let packed = bootstrapping.bootstrap(c, &packed)?;
                let packed = c.at(&packed, level)?;
                let conjugate = c.conjugate(&packed);
                let twice = scale.times(&Scale::integer(2));
                let weights = c.add(&packed, &conjugate)?.with_scale(twice.clone());
                let imaginary = c.subtract(&conjugate, &packed)?;
                Ok([weights, c.multiply_i(&imaginary).with_scale(twice)])
            })?;
        Ok(())
    }

    /// The point whose gradient an iteration takes.
    fn point(&self, c: &mut Circuit, [weights, before]: [&Ciphertext; 2]) -> Result<Ciphertext, Error> {
        if self.momentum == Momentum::None {
            return Ok(weights.clone());
        }
        let [of_weights, of_before, _] = AHEAD.map(BigInt::from);
        let weights = c.multiply_integer(weights, &of_weights);
        let before = c.multiply_integer(before, &of_before);
        let ahead = c.subtract(&weights, &before)?;
        let scale = ahead.scale.times(&Scale::integer(u128::from(AHEAD[2])));
        Ok(ahead.with_scale(scale))
    }

    fn iterate(&mut self, c: &mut Circuit) -> Result<(), Error> {
        let level = self.weights.level();
        let data = self.data.iter().map(|data| c.at(data, level));
        let data = data.collect::<Result<Vec<_>, _>>()?;
        let (weights, before) = (self.weights.clone(), self.before.clone());
        let operands: Vec<&Ciphertext> = [&weights, &before].into_iter().chain(&data).collect();
        [self.weights, self.before] =
            c.call_with("iteration", Plaintexts::Shared(""), &operands, |c, operands| {
                self.iteration(c, operands)
            })?;
        Ok(())
    }

    /// The weights, and those before them, of the next iteration.
    fn iteration(&mut self, c: &mut Circuit, operands: &[Ciphertext]) -> Result<[Ciphertext; 2], Error> {
        let (weights, before, data) = (&operands[0], &operands[1], &operands[2..]);
        let point = self.point(c, [weights, before])?;
        // What the sum over all rows is divided by.
        let divisor = self.slots / self.features * self.data.len() * INVERSE_RATE as usize;
        let mut gradients: Option<Ciphertext> = None;
        for data in data {
            let slopes = self.slopes(c, (data, &point), divisor)?;
            c.stage("gradient", slopes.level());
            let gradient = c.multiply(&slopes, data);
            gradients = Some(match gradients {
                None => gradient,
                Some(sum) => c.add(&sum, &gradient)?,
            });
        }
        let gradients = c.relinearise_and_rescale(&gradients.expect("there is at least one block"))?;
        let sum = c.sum_of_rotations(&gradients, self.features as i64, self.slots as i64)?;
        let scale = sum.scale.times(&Scale::integer(divisor as u128));
        let step = sum.with_scale(scale.clone());
        let level = step.level() + 1;
        let scale = scale.times(&c.divisor(level));
        let mut at_scale = |x: &Ciphertext| {
            let x = c.at(x, level)?;
            let x = c.multiply_real(&x, 1.0, &scale);
            c.rescale(&x)
        };
        let point = at_scale(&point)?;
        let before = match self.momentum {
            Momentum::None => point.clone(),
            Momentum::Nesterov => at_scale(weights)?,
        };
        Ok([c.add(&point, &step)?, before])
    }

    /// sigma(-z w) for each row z, in all its places.
    fn slopes(
        &mut self,
        c: &mut Circuit,
        (data, point): (&Ciphertext, &Ciphertext),
        divisor: usize,
    ) -> Result<Ciphertext, Error> {
        let (features, slots) = (self.features, self.slots);
        // The step has the scale of the sum of all rows times the divisor. What the margins or the sigmoid
        // lack of the scale of data makes that next to it, and small enough for a bootstrap. The cubic
        // sigmoid takes the third power.
        let root = CUBIC[2].cbrt();
        let divisor_bits = divisor.ilog2() + 1;
        let (factor, margin_scale) = match self.sigmoid {
            Sigmoid::Cubic => (root, data.scale.over(&Scale::power_of_two(divisor_bits / 3))),
            Sigmoid::Chebyshev => (1.0 / LARGEST, data.scale.clone()),
        };

        c.stage("margins", data.level());
        let products = c.product(data, point)?;
        let sums = c.sum_of_rotations(&products, 1, features as i64)?;
        let level = sums.level();
        let scale = margin_scale.times(&c.divisor(level)).over(&sums.scale);
        let mut values = vec![0.0; features];
        values[0] = factor;
        let mask = Slots::Periodic(Periodic { values, run: 1, slots });
        let definition = Definition::Plaintext { slots: mask, scale: scale.clone() };
        let known = (level, scale.clone());
        let index = self.masks.iter().position(|mask| *mask == known).unwrap_or(self.masks.len());
        if index == self.masks.len() {
            self.masks.push(known);
        }
        let name = if index == 0 { "mask".to_owned() } else { format!("mask{index}") };
        let mask = c.plaintext(name, (level, false), scale, definition);
        let margins = c.multiply_add(None, &sums, &mask)?;
        let margins = c.rescale(&margins)?;
        let margins = c.sum_of_rotations(&margins, -1, features as i64)?;

        c.stage("sigmoid", margins.level());
        match self.sigmoid {
            Sigmoid::Cubic => {
                let square = c.product(&margins, &margins)?;
                let factor = c.add_real(&square, CUBIC[1] / root);
                let cubic = c.product(&factor, &margins)?;
                Ok(c.add_real(&cubic, CUBIC[0]))
            }
            Sigmoid::Chebyshev => {
                let scale = data.scale.over(&Scale::power_of_two(divisor_bits));
                scaled_polynomial(c, margins, &logistic::chebyshev(), (true, &|_, _| scale.clone()))
            }
        }
    }
}
