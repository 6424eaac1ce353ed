//! Weights and images, and the network in the clear.

use programs::relu;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::BTreeMap;

/// The classes.
pub const CLASSES: usize = 10;

/// The channels of an image, and of the stages.
pub(super) const COLOURS: usize = 3;
pub(super) const CHANNELS: [usize; 3] = [16, 32, 64];
pub(super) const BLOCKS: usize = 3;

/// The unit of pixels: those that are normalised are below 3.
pub(super) const IMAGE_UNIT: f64 = 4.0;

/// A layer's unit over its largest input of ReLU in the profile, for other images, and for the errors of
/// bootstraps.
const MARGIN: f64 = 1.25;

/// Maps of one channel each, of rows of pixels.
pub(super) type Maps = Vec<Vec<f64>>;

/// A convolution with its batch norm, or the classifier.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Layer {
    /// The largest size of an input of its ReLU, 0 if it has none.
    pub(super) largest: f64,
    /// The channels of its operand.
    pub(super) from: usize,
    /// The pixels of a side of its windows.
    pub(super) window: usize,
    /// One for each channel.
    pub(super) bias: Vec<f64>,
    /// By channel, channel of the operand, row and column.
    pub(super) weights: Vec<f64>,
}

impl Layer {
    /// The weight of a window's pixel.
    pub(super) fn weight(&self, to: usize, from: usize, tap: usize) -> f64 {
        self.weights[(to * self.from + from) * self.window * self.window + tap]
    }

    /// The pixel of a window around another one, or none beyond the border.
    pub(super) fn pixel(&self, (y, x): (usize, usize), tap: usize, side: usize) -> Option<usize> {
        let edge = self.window / 2;
        let (y, x) = (y + tap / self.window, x + tap % self.window);
        let is_inside = |at: usize| (edge..side + edge).contains(&at);
        (is_inside(y) && is_inside(x)).then(|| (y - edge) * side + x - edge)
    }

    /// The sums at every pixel or at every second one.
    fn apply(&self, maps: &Maps, side: usize, stride: usize) -> Maps {
        let pixel = |to: usize, at: (usize, usize)| {
            let mut sum = self.bias[to];
            for (from, map) in maps.iter().enumerate() {
                for tap in 0..self.window * self.window {
                    if let Some(pixel) = self.pixel(at, tap, side) {
                        sum += self.weight(to, from, tap) * map[pixel];
                    }
                }
            }
            sum
        };
        let of_side = || (0..side).step_by(stride);
        let map = |to: usize| {
            of_side().flat_map(|y| of_side().map(move |x| (y, x))).map(|at| pixel(to, at)).collect()
        };
        (0..self.bias.len()).map(map).collect()
    }
}

/// An image.
#[derive(Clone, PartialEq, Debug)]
pub struct Image {
    /// Its class.
    pub class: usize,
    /// Its logits by another program, if they are known.
    pub logits: Option<[f64; CLASSES]>,
    /// The pixels of each colour by rows, normalised.
    pub(super) maps: Maps,
}

/// What takes the place of ReLU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Activation {
    /// ReLU itself.
    Exact,
    /// The polynomials of the ring program, in the unit of the layer.
    Polynomial,
}

/// The network in the clear on an image.
#[derive(Clone, Copy, Debug)]
pub struct Clear {
    /// The results.
    pub logits: [f64; CLASSES],
    /// The largest input of ReLU over the unit of its layer: at most 1, or the polynomials have no meaning.
    pub reach: f64,
}

/// A trained network, its batch norms folded into the convolutions.
#[derive(Clone, PartialEq, Debug)]
pub struct Trained {
    /// By name.
    pub(super) layers: BTreeMap<String, Layer>,
}

/// The names of the two layers of each block, in order, and that of its sum.
pub(super) fn blocks() -> impl Iterator<Item = (usize, usize, String)> {
    (0..CHANNELS.len()).flat_map(|stage| {
        (0..BLOCKS).map(move |block| (stage, block, format!("stage{}.block{}", stage + 1, block + 1)))
    })
}

/// Each layer's name, channels, channels of its operand, and pixels of a window's side.
fn shapes() -> Vec<(String, [usize; 3])> {
    let mut shapes = vec![("first".to_owned(), [CHANNELS[0], COLOURS, 3])];
    let mut from = CHANNELS[0];
    for (stage, _, name) in blocks() {
        let channels = CHANNELS[stage];
        shapes.push((format!("{name}.a"), [channels, from, 3]));
        shapes.push((format!("{name}.b"), [channels, channels, 3]));
        if channels != from {
            shapes.push((format!("{name}.skip"), [channels, from, 1]));
        }
        from = channels;
    }
    shapes.push(("classifier".to_owned(), [CLASSES, from, 1]));
    shapes
}

/// The numbers of a line.
fn numbers(line: &str) -> Result<Vec<f64>, String> {
    let number = |text: &str| text.parse().map_err(|_| format!("`{text}` is not a number"));
    line.split_ascii_whitespace().map(number).collect()
}

/// The lines that are no comments.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    (1..).zip(text.lines()).filter(|(_, line)| !line.starts_with('#'))
}

impl Trained {
    /// Reads the weights that `he/test-client/data/resnet20.py` writes.
    ///
    /// # Errors
    /// Returns an error for text of another form, or if a layer is missing or has another shape.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut layers = BTreeMap::new();
        for (number, line) in lines(text) {
            let in_line = |error: String| format!("line {number}: {error}");
            let (name, rest) = line.split_once(' ').unwrap_or((line, ""));
            let all = numbers(rest).map_err(in_line)?;
            let known = shapes().into_iter().find(|(known, _)| known == name);
            let (_, shape) = known.ok_or_else(|| in_line(format!("the network has no layer `{name}`")))?;
            let [channels, from, window] = shape;
            let (found, values) = all.split_at_checked(4).unwrap_or((&all, &[]));
            let expected = [channels, from, window * window].map(|count| count as f64);
            let count = channels * (from * window * window + 1);
            if found.get(1..) != Some(&expected) || values.len() != count {
                return Err(in_line(format!(
                    "`{name}` has another shape than {channels} channels of {from} with windows of {window} x {window}"
                )));
            }
            let (bias, weights) = values.split_at(channels);
            let (bias, weights) = (bias.to_vec(), weights.to_vec());
            layers.insert(name.to_owned(), Layer { largest: found[0], from, window, bias, weights });
        }
        match shapes().into_iter().find(|(name, _)| !layers.contains_key(name)) {
            Some((name, _)) => Err(format!("the layer `{name}` is missing")),
            None => Ok(Self { layers }),
        }
    }

    /// A network of random weights of the usual sizes, whose ranges are those of an image.
    pub fn random(seed: u64, image: &Image) -> Self {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut layer = |[channels, from, window]: [usize; 3]| {
            // Sums of as many terms with this spread have the variance of the operand.
            let spread = (6.0 / (from * window * window) as f64).sqrt();
            let mut draw = |spread: f64| spread * (2.0 * rng.random::<f64>() - 1.0);
            let weights = (0..channels * from * window * window).map(|_| draw(spread)).collect();
            let bias = (0..channels).map(|_| draw(0.5)).collect();
            Layer { largest: 0.0, from, window, bias, weights }
        };
        let layers = shapes().into_iter().map(|(name, shape)| (name, layer(shape))).collect();
        let mut network = Self { layers };
        let mut largest = BTreeMap::new();
        network.run(image, |name, x| {
            let size = x.iter().flatten().fold(0.0_f64, |size, x| size.max(x.abs()));
            largest.insert(name.to_owned(), size);
            relu_of(x, |x| x.max(0.0))
        });
        for (name, largest) in largest {
            network.layers.get_mut(&name).expect("a layer with ReLU").largest = largest;
        }
        network
    }

    pub(super) fn layer(&self, name: &str) -> &Layer {
        &self.layers[name]
    }

    /// The unit of the maps that a layer leads to: with it they are from -1 to 1.
    pub(super) fn unit(&self, name: &str) -> f64 {
        MARGIN * self.layer(name).largest
    }

    /// The network on an image.
    pub fn clear(&self, image: &Image, activation: Activation) -> Clear {
        let mut reach: f64 = 0.0;
        let logits = self.run(image, |name, maps| {
            let unit = self.unit(name);
            let size = maps.iter().flatten().fold(0.0_f64, |size, x| size.max(x.abs()));
            reach = reach.max(size / unit);
            match activation {
                Activation::Exact => relu_of(maps, |x| x.max(0.0)),
                Activation::Polynomial => relu_of(maps, |x| unit * relu(x / unit)),
            }
        });
        Clear { logits, reach }
    }

    /// The logits of an image, by a function for the ReLU of each layer.
    fn run(&self, image: &Image, mut relu: impl FnMut(&str, Maps) -> Maps) -> [f64; CLASSES] {
        let mut side = image.side();
        let mut x = relu("first", self.layer("first").apply(&image.maps, side, 1));
        for (_, _, name) in blocks() {
            let [a, b, skip] = ["a", "b", "skip"].map(|part| format!("{name}.{part}"));
            let projection = self.layers.get(&skip);
            let stride = if projection.is_some() { 2 } else { 1 };
            let y = relu(&a, self.layer(&a).apply(&x, side, stride));
            if let Some(projection) = projection {
                x = projection.apply(&x, side, stride);
                side /= stride;
            }
            let mut sum = self.layer(&b).apply(&y, side, 1);
            sum.iter_mut().flatten().zip(x.iter().flatten()).for_each(|(sum, x)| *sum += x);
            x = relu(&b, sum);
        }
        let means: Maps = x.iter().map(|map| vec![map.iter().sum::<f64>() / map.len() as f64]).collect();
        let logits = self.layer("classifier").apply(&means, 1, 1);
        std::array::from_fn(|class| logits[class][0])
    }
}

fn relu_of(mut maps: Maps, relu: impl Fn(f64) -> f64) -> Maps {
    maps.iter_mut().flatten().for_each(|x| *x = relu(*x));
    maps
}

impl Image {
    /// Reads the images that `he/test-client/data/resnet20.py` writes.
    ///
    /// # Errors
    /// Returns an error for text of another form.
    pub fn parse_all(text: &str) -> Result<Vec<Self>, String> {
        let image = |(number, line): (usize, &str)| {
            let all = numbers(line).map_err(|error| format!("line {number}: {error}"))?;
            let side = (all.len().saturating_sub(1 + CLASSES) / COLOURS).isqrt();
            if side == 0 || all.len() != 1 + CLASSES + COLOURS * side * side {
                return Err(format!(
                    "line {number}: not a class, {CLASSES} logits and {COLOURS} square maps"
                ));
            }
            let (head, pixels) = all.split_at(1 + CLASSES);
            let maps = pixels.chunks(side * side).map(<[f64]>::to_vec).collect();
            let logits = Some(std::array::from_fn(|class| head[1 + class]));
            Ok(Self { class: head[0] as usize, logits, maps })
        };
        lines(text).map(image).collect()
    }

    /// An image of random pixels.
    pub fn random(seed: u64, side: usize) -> Self {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut map = || (0..side * side).map(|_| 4.0 * rng.random::<f64>() - 2.0).collect();
        Self { class: 0, logits: None, maps: (0..COLOURS).map(|_| map()).collect() }
    }

    /// The image of fewer pixels, each the mean of a square of them. Its class is no longer sure.
    ///
    /// # Panics
    /// Panics if `side` does not divide its side.
    pub fn shrunk(&self, side: usize) -> Self {
        let (from, step) = (self.side(), self.side() / side);
        assert_eq!(side * step, from, "squares of pixels");
        let mean = |map: &Vec<f64>, at: usize| {
            let (y, x) = (at / side * step, at % side * step);
            let row = |y: usize| map[y * from + x..][..step].iter().sum::<f64>();
            (y..y + step).map(row).sum::<f64>() / (step * step) as f64
        };
        let map = |map: &Vec<f64>| (0..side * side).map(|at| mean(map, at)).collect();
        let logits = self.logits.filter(|_| step == 1);
        Self { class: self.class, logits, maps: self.maps.iter().map(map).collect() }
    }

    /// The pixels of a side.
    pub fn side(&self) -> usize {
        self.maps[0].len().isqrt()
    }
}

/// The class with the largest logit.
pub fn class(logits: &[f64; CLASSES]) -> usize {
    (0..CLASSES).max_by(|&a, &b| logits[a].total_cmp(&logits[b])).expect("ten classes")
}
