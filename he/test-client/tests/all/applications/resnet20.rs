//! The first layers of ResNet-20 on encrypted images, beside the network in the clear.

use num_complex::Complex64;
use programs::{Definition, Generated, Options, ParameterSet, find_program, generate_defined};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use runtime::{Keys, Runtime};
use sim::Machine;
use test_client::ckks::decode;
use test_client::resnet20::{self, Image, Outcome, Trained, class};
use test_client::{Ciphertext, Client};

/// Maps of one channel each.
type Maps = Vec<Vec<f64>>;

/// Weights of windows of 3 x 3 pixels from each channel to each channel, and biases.
struct Layer {
    weights: Vec<Vec<[f64; 9]>>,
    bias: Vec<f64>,
}

const SIDE: usize = 4;
const CHANNELS: usize = 16;

impl Layer {
    /// Results of numbers from -1 to 1 are from -1 to 1.
    fn random(from: usize, rng: &mut impl rand::Rng) -> Self {
        let mut weight = || (2.0 * rng.random::<f64>() - 1.0) / (5 * from) as f64;
        let weights =
            (0..CHANNELS).map(|_| (0..from).map(|_| std::array::from_fn(|_| weight())).collect()).collect();
        Self { weights, bias: (0..CHANNELS).map(|channel| (channel as f64 - 8.0) / 64.0).collect() }
    }

    /// The pixel of a window, or none beyond the border.
    fn window(pixel: usize, tap: usize) -> Option<usize> {
        let (y, x) = (pixel / SIDE + tap / 3, pixel % SIDE + tap % 3);
        let is_inside = |at: usize| (1..=SIDE).contains(&at);
        (is_inside(y) && is_inside(x)).then(|| (y - 1) * SIDE + x - 1)
    }

    fn apply(&self, maps: &Maps) -> Maps {
        let pixel = |channel: usize, pixel: usize| {
            let terms = self.weights[channel].iter().zip(maps).flat_map(|(weights, map)| {
                (0..9).filter_map(move |tap| Self::window(pixel, tap).map(|at| weights[tap] * map[at]))
            });
            let sum: f64 = terms.sum::<f64>() + self.bias[channel];
            assert!(sum.abs() < 1.0);
            sum.max(0.0)
        };
        (0..CHANNELS).map(|channel| (0..SIDE * SIDE).map(|at| pixel(channel, at)).collect()).collect()
    }

    /// The slots of a plaintext of the layer, from its name without the layer: `copies` of `from` channels go
    /// to as many as `results`.
    fn plaintext(&self, name: &str, slots: usize, copies: usize, results: usize) -> Vec<f64> {
        let grid = SIDE * SIDE;
        let numbers: Vec<usize> = name.split('.').skip(1).map(|number| number.parse().unwrap()).collect();
        let mut values = vec![0.0; slots];
        match (&name[..4], &numbers[..]) {
            ("weig", &[group, tap]) => {
                for copy in (0..copies).filter(|copy| group * copies + copy < CHANNELS) {
                    for (channel, weights) in self.weights[group * copies + copy].iter().enumerate() {
                        for pixel in (0..grid).filter(|&pixel| Self::window(pixel, tap).is_some()) {
                            values[copy * (slots / copies) + channel * grid + pixel] = weights[tap];
                        }
                    }
                }
            }
            ("sele", &[channel]) => values[channel * grid..][..grid].fill(1.0),
            ("bias", &[]) => {
                for (slot, value) in values.iter_mut().enumerate() {
                    *value = self.bias[slot % (slots / results) / grid];
                }
            }
            _ => panic!("an unknown plaintext `{name}`"),
        }
        values
    }
}

fn complex(values: &[f64]) -> Vec<Complex64> {
    values.iter().map(|&value| Complex64::from(value)).collect()
}

/// The values that a plaintext's definition lacks: those of the weights.
fn weights(generated: &Generated, layers: &[Layer], slots: usize) -> Vec<(String, Vec<f64>)> {
    let free = generated.inputs.iter().filter(|input| matches!(input.definition, Definition::Given { .. }));
    let plaintext = |name: &str| match name.strip_prefix("first.") {
        Some(local) => layers[0].plaintext(local, slots, slots / (4 * SIDE * SIDE), 2),
        None => layers[1].plaintext(name.strip_prefix("stage1.block1.a.").unwrap(), slots, 2, 2),
    };
    free.map(|input| (input.name.clone(), plaintext(&input.name))).collect()
}

#[test]
#[ignore = "long: `.ci/long` runs it"]
fn the_first_layers_equal_those_in_the_clear() {
    let n = 1024;
    let set = ParameterSet::built_in("resnet20", Some(n)).unwrap().unwrap();
    let options = Options::of([("layers", "2")]);
    let generated = generate_defined(&find_program("resnet20").unwrap(), &set, &options).unwrap();
    let half = n as usize / 2;
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let image: Maps =
        (0..3).map(|_| (0..SIDE * SIDE).map(|_| 2.0 * rng.random::<f64>() - 1.0).collect()).collect();
    let layers = [Layer::random(3, &mut rng), Layer::random(CHANNELS, &mut rng)];
    let expected = layers[1].apply(&layers[0].apply(&image));

    // Four grids, of which one is empty, again and again.
    let grid: Vec<f64> = image.concat().into_iter().chain([0.0; SIDE * SIDE]).collect();
    let packed: Vec<f64> = grid.iter().copied().cycle().take(half).collect();
    let mut client = Client::new(set, 1).unwrap();
    let ciphertext: Ciphertext = client.encrypt_input(&generated, "ct", &complex(&packed));
    let mut inputs = client.inputs(&generated, &[("ct", &ciphertext)]).unwrap();
    for (name, values) in weights(&generated, &layers, half) {
        inputs.set(&name, client.encode_input(&generated, &name, &complex(&values))).unwrap();
    }
    let machine = Machine::rpu_128x128();
    let runtime = Runtime::new(&generated.program, &machine, Keys::Streamed).unwrap();
    let outputs = runtime.execute(&inputs).unwrap();
    let maps: Ciphertext = [outputs[0].clone(), outputs[1].clone()];
    let found = decode(&client.phase(&maps), generated.scales["maps"].to_f64());
    let mut worst: f64 = 0.0;
    for (channel, map) in expected.iter().enumerate() {
        for (pixel, value) in map.iter().enumerate() {
            worst = worst.max((found[channel * SIDE * SIDE + pixel].re - value).abs());
        }
    }
    println!("worst error 2^{:.1}", worst.log2());
    // The sign of numbers below 2^-9 is not known.
    assert!(worst < (-9_f64).exp2(), "{worst}");
}

/// With projections, which the other test has not: 19 convolutions, 18 bootstraps, the pool and the
/// classifier.
#[test]
#[ignore = "a minute or more; `.ci/long` runs it"]
fn the_whole_network_has_the_logits_of_that_in_the_clear() {
    let set = ParameterSet::built_in("resnet20", Some(1024)).unwrap().unwrap();
    let generated = resnet20::program(&set).unwrap();
    let image = Image::random(1, resnet20::side(&set));
    let trained = Trained::random(2, &image);
    let mut client = Client::new(set, 1).unwrap();
    let (network, machine) = ((&generated, &trained), Machine::rpu_128x128());
    let mut outcomes = Vec::new();
    let classified =
        resnet20::classify(&mut client, &machine, network, &[image], |_, outcome| outcomes.push(outcome));
    classified.unwrap();
    let [Outcome { found, clear, polynomial }] = &outcomes[..] else { panic!("one image") };
    let size = clear.logits.iter().fold(0.0_f64, |size, logit| size.max(logit.abs()));
    let [of_clear, of_polynomial] =
        [clear, polynomial].map(|of| resnet20::distance(found, &of.logits) / size);
    println!("errors of logits 2^{:.1}, beside polynomials 2^{:.1}", of_clear.log2(), of_polynomial.log2());
    assert!(clear.reach < 1.0 && polynomial.reach < 1.0);
    // The errors of 18 bootstraps grow from layer to layer, and numbers below 2^-9 have no sure sign.
    assert!(of_polynomial < (-10_f64).exp2(), "{found:?} {polynomial:?}");
    assert!(of_clear < (-6_f64).exp2(), "{found:?} {clear:?}");
    assert_eq!(class(found), class(&clear.logits));
}
