//! Samples of tumours, and the program `logistic-regression` on some of them, encrypted.

use crate::{Client, Rpu, RpuError, Step, ckks};
use num_complex::Complex64;
use programs::logistic::{self, FEATURES, margin};
use programs::{Generated, Options, find_program, generate_defined};

/// A sample: its features and a 1, times its class, 1 or -1.
pub type Sample = [f64; FEATURES];

/// Weights, trained twice.
#[derive(Debug)]
pub struct Outcome {
    /// The program.
    pub generated: Generated,
    /// Its run.
    pub step: Step,
    /// The decrypted weights.
    pub found: Sample,
    /// Those of the same iterations in the clear.
    pub expected: Sample,
}

impl Outcome {
    /// The largest error of a weight.
    pub fn error(&self) -> f64 {
        let pairs = self.found.iter().zip(&self.expected);
        pairs.map(|(found, expected)| (found - expected).abs()).fold(0.0, f64::max)
    }
}

/// All samples, in order.
pub fn samples() -> Vec<Sample> {
    let lines = include_str!("../data/cancer.csv").lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let numbers: Vec<f64> = line.split(',').map(|number| number.parse().expect("a number")).collect();
            let (class, features) = (numbers[0], &numbers[1..]);
            let mut sample = [0.0; FEATURES];
            sample.iter_mut().zip(features).for_each(|(z, feature)| *z = class * feature / 100.0);
            sample[features.len()] = class;
            sample
        })
        .collect()
}

/// The part of the samples whose class the weights give.
pub fn accuracy(weights: &Sample, samples: &[Sample]) -> f64 {
    samples.iter().filter(|sample| margin(weights, *sample) > 0.0).count() as f64 / samples.len() as f64
}

/// Encrypts samples in order, n/32 in each of the blocks of some options, and trains weights on them, which begin with 0.
///
/// # Errors
/// Returns an error if the program cannot be generated for the client's set, or does not run.
///
/// # Panics
/// Panics if there are too few samples.
pub fn train(
    client: &mut Client,
    rpu: &Rpu,
    samples: &[Sample],
    options: &Options,
) -> Result<Outcome, RpuError> {
    let program = find_program("logistic-regression").expect("a program");
    let generated = generate_defined(&program, client.set(), options).map_err(RpuError::Program)?;
    let slots = client.set().degree().len() / 2;
    let blocks = options.blocks.unwrap_or(1);
    let samples = &samples[..blocks * slots / FEATURES];
    let mut inputs = Vec::new();
    for (block, rows) in samples.chunks(slots / FEATURES).enumerate() {
        let name = if blocks == 1 { "data".to_owned() } else { format!("data{block}") };
        let values: Vec<Complex64> = rows.iter().flatten().map(|&z| z.into()).collect();
        let ciphertext = client.encrypt_input(&generated, &name, &values);
        inputs.push((name, ciphertext));
    }
    let weights = client.encrypt_input(&generated, "weights", &vec![Complex64::ZERO; slots]);
    inputs.push(("weights".to_owned(), weights));
    let ciphertexts: Vec<_> = inputs.iter().map(|(name, ciphertext)| (name.as_str(), ciphertext)).collect();
    let run = rpu.run_generated(client, &generated, &ciphertexts, false)?;
    let scale = generated.scales["trained"].to_f64();
    let found = ckks::decode(&client.phase(&run.ciphertext("trained")), scale);
    let (iterations, momentum) = (options.iterations.unwrap_or(1), options.momentum.unwrap_or_default());
    let expected = logistic::train(samples, iterations, momentum);
    let expected = std::array::from_fn(|feature| expected[feature]);
    Ok(Outcome { generated, step: run, found: std::array::from_fn(|feature| found[feature].re), expected })
}
