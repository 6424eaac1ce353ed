//! `resnet20`: the network ResNet-20 for one image, by the multiplexed parallel convolutions of Lee et al.
//! (FHE-MP-CNN).
//!
//! Maps of h x h pixels are interleaved: k x k maps share a grid of k h x k h slots, t grids follow each
//! other, and all of it occurs p times. A step of two pixels doubles k and halves h.
//!
//! ```text
//! convolution   9 rotations of the operand, for the windows of 3 x 3 pixels
//!               for each p channels: their sum with weights, and its sum over the k x k t channels of the operand, by rotations
//!               for each channel: a rotation to its place, and a mask
//!               p copies, by rotations; a bias
//! ReLU          x (1 + sign(x))/2, sign by polynomials of degree 15, 15 and 27
//! block         convolution, bootstrap, ReLU, convolution, sum with the operand of the block, bootstrap, ReLU
//! ```
//!
//! If a block's maps are smaller than its operand, the sum takes every second pixel of the operand, or a
//! projection: a convolution of single pixels. With projections the other sums have a factor, so that each
//! layer has its own unit.
//!
//! Weights, masks, biases and factors are inputs. Values are from -1 to 1.

use super::Generator;
use crate::Error;
use crate::circuit::{
    BootstrapOptions, Bootstrapping, Ciphertext, Circuit, Plaintext, Plaintexts, polynomial,
};
use crate::definition::Definition;
use crate::maps::Maps;
use crate::option::{LAYERS, Names, OptionKind, OptionSpec, Options, definitions};
use crate::scale::Scale;
use crate::sign;

/// A network with 18 bootstraps.
pub(super) const RESNET_20: Generator = Generator {
    name: "resnet20",
    definition: "logits.0, logits.1 has the ten results of ResNet-20 for the image of ct.0, ct.1 in its first slots; with the keys and plaintexts of \
        bootstraps, and LAYER.weights.Q.TAP, LAYER.select.CHANNEL, LAYER.bias of each layer. With fewer layers, maps.0, maps.1 has the last maps",
    options: &[&LAYERS, &SHORTCUT],
    defaults: &[],
    emit,
};

/// What a block adds to its result.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Shortcut {
    #[default]
    Identity,
    Projection,
}

const SHORTCUTS: &Names<Shortcut> = &[
    (
        "identity",
        "The operand; at every second pixel, in the middle of twice as many channels, where maps shrink",
        Shortcut::Identity,
    ),
    (
        "projection",
        "A convolution of single pixels where maps shrink, and the operand times a factor elsewhere",
        Shortcut::Projection,
    ),
];

const SHORTCUT: OptionSpec = OptionSpec {
    name: "shortcut",
    kind: OptionKind::Choice(|| definitions(SHORTCUTS)),
    doc: "What a block of a network adds to its result",
    default: "identity",
    identifies: true,
};

/// The moduli that a convolution uses up, and a ReLU.
const CONVOLUTION: usize = 2;
const RELU: usize = 14;

/// The level after a bootstrap, from which ReLU and the next convolution lead to level 1.
const LEVEL: usize = RELU + CONVOLUTION + 1;

/// The channels of the three stages, each of three blocks.
const CHANNELS: [usize; 3] = [Maps::FEWEST, 32, 64];
const BLOCKS: usize = 3;
const CLASSES: usize = 10;

/// The convolutions.
const CONVOLUTIONS: usize = 1 + 2 * BLOCKS * CHANNELS.len();

/// The fewest slots: for images of 4 x 4 pixels.
const LEAST_SLOTS: usize = 2 * 16 * CHANNELS[0];

fn emit(c: &mut Circuit, options: &Options) -> Result<(), Error> {
    c.needs_ckks()?;
    let slots = c.slots(LEAST_SLOTS)?;
    let bootstrapping = Bootstrapping::new(c, BootstrapOptions::default())?;
    c.needs_levels(bootstrapping.depth(), LEVEL)?;
    let scale = bootstrapping.scale().clone();
    let network = Network { slots, scale: scale.clone() };
    let image = c.input_at("ct", LEVEL + CONVOLUTION, scale)?;
    let mut maps = Maps::of_image(slots);
    let shortcut = options.choice(SHORTCUT.name, SHORTCUTS).unwrap_or_default();
    let layers = options.count(LAYERS.name).unwrap_or(CONVOLUTIONS);
    if layers == 0 || layers > CONVOLUTIONS {
        return Err(Error::Convolutions { layers, most: CONVOLUTIONS });
    }
    let (mut x, first) = c.in_stage("first", |c| {
        let (x, maps) = network.convolution(c, "first", &image, maps, Window::of(CHANNELS[0], 1))?;
        Ok((relu(c, &x)?, maps))
    })?;
    // The operand of the block, for the sum at its end.
    let mut operand = None;
    maps = first;
    for layer in 1..layers {
        let (stage, block) = ((layer - 1) / (2 * BLOCKS), (layer - 1) / 2 % BLOCKS);
        let name = format!("stage{}.block{}", stage + 1, block + 1);
        let stride = if stage > 0 && block == 0 { 2 } else { 1 };
        let layer = if operand.is_none() { format!("{name}.a") } else { format!("{name}.b") };
        (x, maps, operand) = c.in_stage(layer.clone(), |c| {
            let stride = if operand.is_none() { stride } else { 1 };
            let window = Window::of(CHANNELS[stage], stride);
            let (mut y, inner) = network.convolution(c, &layer, &x, maps, window)?;
            let operand = match operand {
                None => Some((x, maps)),
                Some(operand) => {
                    y = network.add_shortcut(c, &format!("{name}.skip"), (&y, inner), operand, shortcut)?;
                    None
                }
            };
            let y = network.bootstrap(c, &y, inner)?;
            Ok::<_, Error>((relu(c, &y)?, inner, operand))
        })?;
    }
    if layers < CONVOLUTIONS {
        c.output("maps", &x)?;
        return Ok(());
    }
    let logits = c.in_stage("classification", |c| {
        let pooled = network.pool(c, &x, maps)?;
        network.classify(c, &pooled)
    })?;
    c.output("logits", &logits)
}

/// A kind of convolution.
#[derive(Clone, Copy)]
struct Window {
    /// The channels of the result.
    channels: usize,
    /// 1, or 2 for every second pixel.
    stride: usize,
    /// The pixels of a side: 3 or 1.
    side: usize,
}

impl Window {
    /// Of 3 x 3 pixels.
    fn of(channels: usize, stride: usize) -> Self {
        Self { channels, stride, side: 3 }
    }

    fn name(self) -> &'static str {
        if self.side == 1 { "projection" } else { "convolution" }
    }

    /// The rotations of the operand.
    fn taps(self, maps: Maps) -> Vec<i64> {
        let from = -(self.side as i64 / 2);
        let steps = || from..from + self.side as i64;
        let (row, gap) = (maps.pixel_row() as i64, maps.gap as i64);
        steps().flat_map(|y| steps().map(move |x| row * y + gap * x)).collect()
    }
}

struct Network {
    slots: usize,
    scale: Scale,
}

/// x (1 + sign(x))/2 at a level that leaves a convolution.
fn relu(c: &mut Circuit, x: &Ciphertext) -> Result<Ciphertext, Error> {
    c.call("relu", Plaintexts::Shared(""), &[x], |c, x| {
        let x = &x[0];
        c.stage("relu", x.level());
        let polynomials = sign::polynomials();
        let last = polynomials.len() - 1;
        let mut sign = x.clone();
        for (index, mut series) in polynomials.into_iter().enumerate() {
            if index == last {
                series.iter_mut().for_each(|coefficient| *coefficient /= 2.0);
            }
            sign = polynomial(c, sign, &series, true)?;
        }
        let factor = c.add_real(&sign, 0.5);
        c.product(x, &factor)
    })
}

impl Network {
    /// A plaintext that takes a product with `a` to this scale after its rescale. The user gives its slots.
    fn weights(&self, c: &mut Circuit, name: String, a: &Ciphertext, scale: &Scale) -> Plaintext {
        let scale = scale.times(&c.divisor(a.level())).over(&a.scale);
        let definition = Definition::Given { scale: scale.clone() };
        c.plaintext(name, (a.level(), false), scale, definition)
    }

    /// The sum with a bias.
    fn with_bias(&self, c: &mut Circuit, a: &Ciphertext) -> Result<Ciphertext, Error> {
        let definition = Definition::Given { scale: a.scale.clone() };
        let bias = c.plaintext("bias".to_owned(), (a.level(), false), a.scale.clone(), definition);
        c.add_plaintext(a, &bias)
    }

    /// Rotations of a ciphertext, whose digits are raised once.
    fn rotations(&self, c: &mut Circuit, x: &Ciphertext, by: &[i64]) -> Result<Vec<Ciphertext>, Error> {
        let slots = self.slots as i64;
        let by: Vec<i64> = by.iter().map(|by| by.rem_euclid(slots)).collect();
        let mut distinct: Vec<i64> = by.iter().copied().filter(|&by| by != 0).collect();
        distinct.sort_unstable();
        distinct.dedup();
        let exponents = distinct.iter().map(|&by| c.exponent(by)).collect::<Result<Vec<_>, _>>()?;
        let rotated = if exponents.is_empty() { Vec::new() } else { c.automorphisms(x, &exponents) };
        let of =
            |by: &i64| distinct.binary_search(by).map_or_else(|_| x.clone(), |index| rotated[index].clone());
        Ok(by.iter().map(of).collect())
    }

    /// The sum of some rotations of a ciphertext.
    fn sum_of(&self, c: &mut Circuit, x: &Ciphertext, by: &[i64]) -> Result<Ciphertext, Error> {
        let mut rotated = self.rotations(c, x, by)?.into_iter();
        let first = rotated.next().expect("a rotation");
        rotated.try_fold(first, |sum, rotated| c.add(&sum, &rotated))
    }

    /// A convolution at every pixel or at every second one, in either direction. The result has level 1 less
    /// the levels above, and the scale of messages.
    fn convolution(
        &self,
        c: &mut Circuit,
        name: &str,
        x: &Ciphertext,
        maps: Maps,
        window: Window,
    ) -> Result<(Ciphertext, Maps), Error> {
        let Window { channels, stride, .. } = window;
        let Maps { gap, grids, copies, .. } = maps;
        let result = maps.result(self.slots, channels, stride);
        let function = format!("{}.{gap}.{grids}.{channels}.{stride}", window.name());
        let y = c.call(&function, Plaintexts::Own(&format!("{name}.")), &[x], |c, x| {
            let x = &x[0];
            c.stage(window.name(), x.level());
            let windows = self.rotations(c, x, &window.taps(maps))?;
            let mut sum: Option<Ciphertext> = None;
            for first in (0..channels).step_by(copies) {
                let mut products = None;
                for (tap, window) in windows.iter().enumerate() {
                    let name = format!("weights.{}.{tap}", first / copies);
                    let weights = self.weights(c, name, window, &self.scale);
                    products = Some(c.multiply_add(products, window, &weights)?);
                }
                let products = c.rescale(&products.expect("a window has pixels"))?;
                let channel = self.sum_of_channels(c, &products, maps)?;
                let of_copy = first..(first + copies).min(channels);
                let places: Vec<i64> = of_copy
                    .clone()
                    .map(|to| (self.slots / copies * (to % copies)) as i64 - result.place(to) as i64)
                    .collect();
                let placed = self.rotations(c, &channel, &places)?;
                for (to, placed) in of_copy.zip(placed) {
                    let mask = self.weights(c, format!("select.{to}"), &placed, &self.scale);
                    sum = Some(c.multiply_add(sum, &placed, &mask)?);
                }
            }
            let sum = c.rescale(&sum.expect("a convolution has channels"))?;
            let sum = self.copied(c, &sum, result)?;
            self.with_bias(c, &sum)
        })?;
        Ok((y, result))
    }

    /// The sum of all channels, in the places of the first one.
    fn sum_of_channels(&self, c: &mut Circuit, x: &Ciphertext, maps: Maps) -> Result<Ciphertext, Error> {
        let Maps { gap, grids, .. } = maps;
        let (row, grid) = (maps.row() as i64, maps.grid() as i64);
        let mut sum = c.sum_of_rotations(x, 1, gap as i64)?;
        sum = c.sum_of_rotations(&sum, row, gap as i64 * row)?;
        if grids.is_power_of_two() {
            return c.sum_of_rotations(&sum, grid, grids as i64 * grid);
        }
        let by: Vec<i64> = (0..grids as i64).map(|index| index * grid).collect();
        self.sum_of(c, &sum, &by)
    }

    /// Maps that occur once, as often as they should.
    fn copied(&self, c: &mut Circuit, x: &Ciphertext, maps: Maps) -> Result<Ciphertext, Error> {
        let by: Vec<i64> =
            (0..maps.copies).map(|copy| -((copy * (self.slots / maps.copies)) as i64)).collect();
        self.sum_of(c, x, &by)
    }

    /// A bootstrap of maps that repeat.
    fn bootstrap(&self, c: &mut Circuit, x: &Ciphertext, maps: Maps) -> Result<Ciphertext, Error> {
        let slots = self.slots / maps.copies;
        let name = format!("bootstrap-{slots}");
        let options = BootstrapOptions { slots: Some(slots), ..BootstrapOptions::default() };
        c.call(&name, Plaintexts::Shared(&format!("{name}.")), &[x], |c, x| {
            let bootstrapped = Bootstrapping::new(c, options)?.bootstrap(c, &x[0])?;
            let bootstrapped = c.at(&bootstrapped, LEVEL)?;
            // The scale is next to the scale of messages. With the exact one, each layer would need lines of
            // its own.
            Ok(bootstrapped.with_scale(self.scale.clone()))
        })
    }

    /// The ciphertext at level 1, with the scale of messages.
    fn lowered(&self, c: &mut Circuit, x: &Ciphertext) -> Result<Ciphertext, Error> {
        let x = c.at(x, 2)?;
        let scale = self.scale.times(&c.divisor(2));
        let x = c.multiply_real(&x, 1.0, &scale);
        c.rescale(&x)
    }

    /// The sum of a block's result and its operand.
    fn add_shortcut(
        &self,
        c: &mut Circuit,
        name: &str,
        (y, inner): (&Ciphertext, Maps),
        (x, of_x): (Ciphertext, Maps),
        shortcut: Shortcut,
    ) -> Result<Ciphertext, Error> {
        match shortcut {
            Shortcut::Identity if of_x == inner => self.add(c, y, &x),
            Shortcut::Identity => self.add_downsampled(c, name, [y, &x], (of_x, inner)),
            Shortcut::Projection if of_x == inner => self.add_scaled(c, name, y, &x),
            Shortcut::Projection => {
                let channels = inner.grids * inner.gap * inner.gap;
                let window = Window { channels, stride: of_x.side / inner.side, side: 1 };
                let (projected, _) = self.convolution(c, name, &x, of_x, window)?;
                c.call("add-projection", Plaintexts::Shared(""), &[y, &projected], |c, operands| {
                    c.stage("sum", operands[0].level());
                    c.add(&operands[0], &operands[1])
                })
            }
        }
    }

    /// The sum of a block's result and its operand.
    fn add(&self, c: &mut Circuit, y: &Ciphertext, x: &Ciphertext) -> Result<Ciphertext, Error> {
        c.call("add", Plaintexts::Shared(""), &[y, x], |c, operands| {
            c.stage("sum", operands[0].level());
            let x = self.lowered(c, &operands[1])?;
            c.add(&operands[0], &x)
        })
    }

    /// The sum of a block's result and its operand times a factor.
    fn add_scaled(
        &self,
        c: &mut Circuit,
        name: &str,
        y: &Ciphertext,
        x: &Ciphertext,
    ) -> Result<Ciphertext, Error> {
        c.call("add-scaled", Plaintexts::Own(&format!("{name}.")), &[y, x], |c, operands| {
            c.stage("sum", operands[0].level());
            let x = c.at(&operands[1], 2)?;
            let factor = self.weights(c, "factor".to_owned(), &x, &self.scale);
            let product = c.multiply_add(None, &x, &factor)?;
            let x = c.rescale(&product)?;
            c.add(&operands[0], &x)
        })
    }

    /// The sum of a block's result and its operand at every second pixel. Its channels are in the middle of
    /// twice as many.
    fn add_downsampled(
        &self,
        c: &mut Circuit,
        name: &str,
        operands: [&Ciphertext; 2],
        (from, to): (Maps, Maps),
    ) -> Result<Ciphertext, Error> {
        let function = format!("downsampling.{}", from.gap);
        c.call(&function, Plaintexts::Own(&format!("{name}.")), &operands, |c, operands| {
            c.stage("downsampling", 2);
            let x = c.at(&operands[1], 2)?;
            // Rows of channels move together.
            let row = from.gap;
            let channels = row * row * from.grids;
            let mut sum: Option<Ciphertext> = None;
            for (index, first) in (0..channels).step_by(row).enumerate() {
                let mask = self.weights(c, format!("select.{index}"), &x, &self.scale);
                let product = c.multiply_add(None, &x, &mask)?;
                let by = from.place(first) as i64 - to.place(first + channels / 2) as i64;
                let rotated = self.rotations(c, &product, &[by])?.remove(0);
                sum = Some(match sum {
                    None => rotated,
                    Some(sum) => c.add(&sum, &rotated)?,
                });
            }
            let sum = c.rescale(&sum.expect("maps have channels"))?;
            let sum = self.copied(c, &sum, to)?;
            c.add(&operands[0], &sum)
        })
    }

    /// The mean of each channel, in consecutive slots. The division is in the masks.
    fn pool(&self, c: &mut Circuit, x: &Ciphertext, maps: Maps) -> Result<Ciphertext, Error> {
        c.call("pool", Plaintexts::Own("pool."), &[x], |c, x| {
            c.stage("average pool", x[0].level());
            let Maps { gap, side, grids, .. } = maps;
            let (row, gap_row) = (maps.row() as i64, maps.pixel_row() as i64);
            let mut sums = c.sum_of_rotations(&x[0], gap as i64, row)?;
            sums = c.sum_of_rotations(&sums, gap_row, side as i64 * gap_row)?;
            let mut pooled: Option<Ciphertext> = None;
            for (index, first) in (0..gap * gap * grids).step_by(gap).enumerate() {
                let by = maps.place(first) as i64 - first as i64;
                let rotated = self.rotations(c, &sums, &[by])?.remove(0);
                let mask = self.weights(c, format!("select.{index}"), &rotated, &self.scale);
                pooled = Some(c.multiply_add(pooled, &rotated, &mask)?);
            }
            c.rescale(&pooled.expect("maps have channels"))
        })
    }

    /// The fully connected layer: a product with a matrix, by its diagonals.
    fn classify(&self, c: &mut Circuit, x: &Ciphertext) -> Result<Ciphertext, Error> {
        c.call("classifier", Plaintexts::Own("classifier."), &[x], |c, x| {
            c.stage("classifier", x[0].level());
            let features = CHANNELS[2] as i64;
            // The row i has its entry for the feature j in the diagonal j - i.
            let (first, babies) = (-(CLASSES as i64) + 1, Maps::BABIES);
            let by: Vec<i64> = (0..babies).collect();
            let rotated = self.rotations(c, &x[0], &by)?;
            let mut sum: Option<Ciphertext> = None;
            for giant in (first.div_euclid(babies) * babies..features).step_by(babies as usize) {
                let mut inner = None;
                for (baby, rotated) in by.iter().zip(&rotated) {
                    if (first..features).contains(&(giant + baby)) {
                        let name = format!("weights.{}", giant + baby - first);
                        let weights = self.weights(c, name, rotated, &self.scale);
                        inner = Some(c.multiply_add(inner, rotated, &weights)?);
                    }
                }
                let inner = inner.expect("a giant step has diagonals");
                let outer = self.rotations(c, &inner, &[giant])?.remove(0);
                sum = Some(match sum {
                    None => outer,
                    Some(sum) => c.add(&sum, &outer)?,
                });
            }
            let logits = c.rescale(&sum.expect("a matrix has diagonals"))?;
            self.with_bias(c, &logits)
        })
    }
}
