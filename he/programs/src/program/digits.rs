//! `digits`: a convolutional network for images of 8 x 8 pixels, all of a ciphertext at once.
//!
//! Slot k B + i has place k of image i, B = n/512 images. So a rotation by a multiple of B rotates the places
//! of all images.
//!
//! ```text
//! place     64 c + p: pixel p of channel c; the images come in all channels
//! conv      windows of 3 x 3 pixels to four channels: nine diagonals, and a bias
//! hidden    256 places to 16 results, which repeat: 16 diagonals, the sum of 16 rotations, and a bias
//! output    16 results to a logit for each digit: 16 diagonals, and a bias
//! ```
//!
//! Squares are between them.

use super::Generator;
use crate::circuit::{Ciphertext, Circuit, LinearTransform, ModDowns, Plan};
use crate::definition::Definition;
use crate::matrix::{Periodic, Slots};
use crate::network::{CHANNELS, HIDDEN, Network, PIXELS, SIDE, TAPS};
use crate::option::Options;
use crate::{Error, Hoisting};
use std::collections::BTreeMap;

/// A network on encrypted images.
pub(super) const DIGITS: Generator = Generator {
    name: "digits",
    definition: "logits.0, logits.1 has the results of a convolutional network for the images of ct.0, ct.1: slot J n/512 + I has that of image \
        I for the digit J; with the keys relin and galois.G and the plaintexts conv, hidden, output, the first ones as STAGE.GIANT.BABY",
    options: &[],
    defaults: &[],
    emit,
};

/// The places of an image.
const PLACES: usize = CHANNELS * PIXELS;

/// The moduli that the network uses up: one for each product.
const DEPTH: usize = 5;

/// The baby steps of the dense layers.
const BABIES: usize = 4;

fn emit(c: &mut Circuit, _: &Options) -> Result<(), Error> {
    c.needs_ckks()?;
    let images = c.slots(PLACES)? / PLACES;
    c.needs_levels(DEPTH, 1)?;
    let network = Network::trained();
    let layers = Layers { images };

    let ciphertext = c.input_at("ct", c.level(), c.divisor(c.level()))?;
    c.stage("convolution", c.level());
    let tap = |tap: usize| {
        let offset = (tap / 3 * SIDE + tap % 3) as i64 - (SIDE + 1) as i64;
        let weight = |place: usize| network.convolution((place / PIXELS, place % PIXELS), tap);
        (offset.rem_euclid(PLACES as i64) as usize, (0..PLACES).map(weight).collect())
    };
    let plan = layers.plan((0..TAPS).map(tap), PLACES);
    let bias = (0..PLACES).map(|place| network.convolution_bias(place / PIXELS)).collect();
    let maps = layers.linear(c, &ciphertext, ("conv", &plan))?;
    let maps = layers.with_bias(c, &maps, ("conv", bias))?;
    let squares = c.product(&maps, &maps)?;

    c.stage("hidden layer", squares.level());
    let diagonal = |offset: usize| {
        let weight = |place: usize| network.hidden(place % HIDDEN, (place + offset) % PLACES);
        (offset, (0..PLACES).map(weight).collect())
    };
    let plan = layers.plan((0..HIDDEN).map(diagonal), BABIES);
    let parts = layers.linear(c, &squares, ("hidden", &plan))?;
    let sums = c.sum_of_rotations(&parts, (HIDDEN * images) as i64, (PLACES * images) as i64)?;
    let bias = (0..HIDDEN).map(|result| network.hidden_bias(result)).collect();
    let hidden = layers.with_bias(c, &sums, ("hidden", bias))?;
    let squares = c.product(&hidden, &hidden)?;

    c.stage("output layer", squares.level());
    let diagonal = |offset: usize| {
        let weight = |class: usize| network.output(class, (class + offset) % HIDDEN);
        (offset, (0..HIDDEN).map(weight).collect())
    };
    let plan = layers.plan((0..HIDDEN).map(diagonal), BABIES);
    let logits = layers.linear(c, &squares, ("output", &plan))?;
    let bias = (0..HIDDEN).map(|class| network.output_bias(class)).collect();
    let logits = layers.with_bias(c, &logits, ("output", bias))?;
    c.output("logits", &logits)
}

struct Layers {
    images: usize,
}

impl Layers {
    /// The same values for all images.
    fn slots(&self, values: Vec<f64>) -> Slots {
        Slots::Periodic(Periodic { values, run: self.images, slots: PLACES * self.images })
    }

    /// Giant steps at multiples of `babies`, for diagonals with offsets in places.
    fn plan(&self, diagonals: impl Iterator<Item = (usize, Vec<f64>)>, babies: usize) -> Plan {
        let mut giants: BTreeMap<usize, Vec<(usize, Slots)>> = BTreeMap::new();
        for (offset, mut values) in diagonals {
            let (giant, baby) = (offset / babies * babies, offset % babies);
            let length = values.len();
            values.rotate_right(giant % length);
            giants.entry(giant * self.images).or_default().push((baby * self.images, self.slots(values)));
        }
        giants.into_iter().collect()
    }

    /// The product with a matrix, of the same scale.
    fn linear(
        &self,
        c: &mut Circuit,
        x: &Ciphertext,
        (name, plan): (&str, &Plan),
    ) -> Result<Ciphertext, Error> {
        let scale = c.divisor(x.level());
        let name = name.to_owned();
        let (mod_downs, hoisting) = (ModDowns::Once, Hoisting::Double);
        c.transform(x, &LinearTransform { name, plan, scale, mod_downs, hoisting, rescales: true })
    }

    fn with_bias(
        &self,
        c: &mut Circuit,
        x: &Ciphertext,
        (name, bias): (&str, Vec<f64>),
    ) -> Result<Ciphertext, Error> {
        let scale = x.scale.clone();
        let definition = Definition::Plaintext { slots: self.slots(bias), scale: scale.clone() };
        let bias = c.plaintext(format!("{name}.bias"), (x.level(), false), scale, definition);
        c.add_plaintext(x, &bias)
    }
}
