//! Images of digits, and the program `digits` on some of them, encrypted.

use crate::{Client, NOT_SECURE, Rpu, RpuError, Step, ckks};
use num_complex::Complex64;
use programs::{Generated, Network, Options, ParameterSet, find_program, generate_defined};
use sim::Machine;
use std::fmt::Write;

/// The pixels of an image.
const PIXELS: usize = 64;
/// The copies of an image in a ciphertext: the channels of the network.
const COPIES: usize = 4;
/// The digits.
pub const CLASSES: usize = 10;

/// An image of 8 x 8 pixels.
#[derive(Clone, PartialEq, Debug)]
pub struct Image {
    /// Its digit.
    pub class: usize,
    /// From 0 to 1.
    pub pixels: [f64; PIXELS],
}

/// The logits of encrypted images.
#[derive(Debug)]
pub struct Outcome {
    /// The program.
    pub generated: Generated,
    /// Its run.
    pub step: Step,
    /// The decrypted logits of each image.
    pub found: Vec<[f64; CLASSES]>,
    /// Those of the network in the clear.
    pub expected: Vec<[f64; CLASSES]>,
}

impl Outcome {
    /// The largest error of a logit.
    pub fn error(&self) -> f64 {
        let pairs = self.found.iter().flatten().zip(self.expected.iter().flatten());
        pairs.map(|(found, expected)| (found - expected).abs()).fold(0.0, f64::max)
    }
}

/// The images that did not train the network, in order.
pub fn test_images() -> Vec<Image> {
    let lines = include_str!("../data/digits.txt").lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let mut digits = line.chars().filter_map(|digit| digit.to_digit(17));
            let class = digits.next().expect("a class") as usize;
            let pixels = std::array::from_fn(|_| f64::from(digits.next().expect("a pixel")) / 16.0);
            Image { class, pixels }
        })
        .collect()
}

/// The digit with the largest logit.
pub fn class(logits: &[f64; CLASSES]) -> usize {
    (0..CLASSES).max_by(|&a, &b| logits[a].total_cmp(&logits[b])).expect("ten digits")
}

/// Encrypts images, all in one ciphertext, and runs the network on it. `is_checked` asks for a comparison
/// with the executor on big integers.
///
/// # Errors
/// Returns an error if the program cannot be generated for the client's set, or does not run.
///
/// # Panics
/// Panics if there are more than n/512 images.
pub fn classify(
    client: &mut Client,
    rpu: &Rpu,
    images: &[Image],
    is_checked: bool,
) -> Result<Outcome, RpuError> {
    let program = find_program("digits").expect("a program");
    let generated =
        generate_defined(&program, client.set(), &Options::default()).map_err(RpuError::Program)?;
    let slots = client.set().degree().len() / 2;
    let most = slots / (PIXELS * COPIES);
    assert!(images.len() <= most, "{} images, but n has place for {most}", images.len());
    let mut values = vec![Complex64::ZERO; slots];
    for (index, image) in images.iter().enumerate() {
        for place in 0..PIXELS * COPIES {
            values[place * most + index] = image.pixels[place % PIXELS].into();
        }
    }
    let ciphertext = client.encrypt_input(&generated, "ct", &values);
    let step = rpu.run_generated(client, &generated, &[("ct", &ciphertext)], is_checked)?;
    let scale = generated.scales["logits"].to_f64();
    let found = ckks::decode(&client.phase(&step.ciphertext("logits")), scale);
    let logits = |index: usize| std::array::from_fn(|class| found[class * most + index].re);
    let found = (0..images.len()).map(logits).collect();
    let expected = images.iter().map(|image| Network::trained().logits(&image.pixels)).collect();
    Ok(Outcome { generated, step, found, expected })
}

/// Classifies the first ten test images with the set `digits`; the result says in lines of text what came
/// out.
///
/// # Errors
/// Returns an error if the program does not run.
pub fn demonstrate(machine: Machine) -> Result<String, RpuError> {
    let set = ParameterSet::built_in("digits", None).expect("a built-in set").expect("a valid set");
    let (name, n, parameters) = (set.name(), set.degree().get(), set.parameters());
    let mut text = format!("{name}, n = {n}: {parameters}; keys from a seed: {NOT_SECURE}\n");
    let images = test_images();
    let network = Network::trained();
    let right = images.iter().filter(|image| class(&network.logits(&image.pixels)) == image.class).count();
    let _ = writeln!(text, "in the clear: {right} of {} test images are right", images.len());

    let mut client = Client::new(set, 1).expect("its moduli have transforms");
    let outcome = classify(&mut client, &Rpu::new(machine), &images[..10], false)?;
    text += &outcome.generated.ledger.to_string();
    let mut equal = 0;
    for (image, (found, expected)) in images.iter().zip(outcome.found.iter().zip(&outcome.expected)) {
        let [found, expected] = [found, expected].map(class);
        let _ = writeln!(text, "a {}: {found} encrypted, {expected} in the clear", image.class);
        equal += usize::from(found == expected);
    }
    let error = outcome.error();
    let _ = writeln!(
        text,
        "{equal} of 10 classes equal those in the clear; the largest error of a logit is {error:.4}"
    );
    let _ = writeln!(text, "{}", outcome.step);
    Ok(text)
}
