//! The network of the program `digits`, and its results in the clear.

use serde::Deserialize;
use std::sync::LazyLock;

/// The side of an image.
pub(crate) const SIDE: usize = 8;
/// The pixels of an image.
pub(crate) const PIXELS: usize = SIDE * SIDE;
/// The channels of the convolution.
pub(crate) const CHANNELS: usize = 4;
/// The results of the hidden layer.
pub(crate) const HIDDEN: usize = 16;
/// The classes.
pub(crate) const CLASSES: usize = 10;
/// The weights of a window of 3 x 3 pixels.
pub(crate) const TAPS: usize = 9;

/// A network for images of digits, 8 x 8 pixels: a convolution of windows of 3 x 3 pixels to four channels, a
/// layer of 16 and one of 10 results, with squares between them.
///
/// Weights are integers, in units of 1/100.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct Network {
    convolution: [[i32; TAPS]; CHANNELS],
    convolution_bias: [i32; CHANNELS],
    hidden: [Vec<i32>; HIDDEN],
    hidden_bias: [i32; HIDDEN],
    output: [[i32; HIDDEN]; CLASSES],
    output_bias: [i32; CLASSES],
}

/// The trained network.
static NETWORK: LazyLock<Network> = LazyLock::new(|| {
    toml::from_str(include_str!("../data/digits.toml")).expect("a file of the trained network")
});

fn number(units: i32) -> f64 {
    f64::from(units) / 100.0
}

impl Network {
    /// The trained network. `he/programs/data/digits.py` trains it.
    pub fn trained() -> &'static Self {
        &NETWORK
    }

    /// The pixel of a window, or none beyond the border.
    fn pixel(pixel: usize, tap: usize) -> Option<usize> {
        let (y, x) = (pixel / SIDE + tap / 3, pixel % SIDE + tap % 3);
        let inside = |at: usize| (1..=SIDE).contains(&at);
        (inside(y) && inside(x)).then(|| (y - 1) * SIDE + x - 1)
    }

    /// The weight of a window's pixel for a channel's pixel; 0 beyond the border.
    pub(crate) fn convolution(&self, (channel, pixel): (usize, usize), tap: usize) -> f64 {
        Self::pixel(pixel, tap).map_or(0.0, |_| number(self.convolution[channel][tap]))
    }

    pub(crate) fn convolution_bias(&self, channel: usize) -> f64 {
        number(self.convolution_bias[channel])
    }

    /// The weight of a channel's pixel.
    pub(crate) fn hidden(&self, result: usize, place: usize) -> f64 {
        number(self.hidden[result][place])
    }

    pub(crate) fn hidden_bias(&self, result: usize) -> f64 {
        number(self.hidden_bias[result])
    }

    /// The weight of a hidden result; 0 for a class beyond the last.
    pub(crate) fn output(&self, class: usize, hidden: usize) -> f64 {
        self.output.get(class).map_or(0.0, |weights| number(weights[hidden]))
    }

    /// 0 for a class beyond the last.
    pub(crate) fn output_bias(&self, class: usize) -> f64 {
        self.output_bias.get(class).map_or(0.0, |&bias| number(bias))
    }

    /// The network's results for an image with pixels from 0 to 1, in the clear: one for each digit.
    pub fn logits(&self, image: &[f64; PIXELS]) -> [f64; CLASSES] {
        let square = |x: f64| x * x;
        let map = |place: usize| {
            let (channel, pixel) = (place / PIXELS, place % PIXELS);
            let terms = (0..TAPS).filter_map(|tap| {
                Self::pixel(pixel, tap).map(|at| image[at] * number(self.convolution[channel][tap]))
            });
            square(self.convolution_bias(channel) + terms.sum::<f64>())
        };
        let maps: Vec<f64> = (0..CHANNELS * PIXELS).map(map).collect();
        let hidden: [f64; HIDDEN] = std::array::from_fn(|result| {
            let sum: f64 = maps.iter().enumerate().map(|(place, x)| x * self.hidden(result, place)).sum();
            square(self.hidden_bias(result) + sum)
        });
        std::array::from_fn(|class| {
            let sum: f64 = hidden.iter().enumerate().map(|(at, x)| x * self.output(class, at)).sum();
            self.output_bias(class) + sum
        })
    }
}
