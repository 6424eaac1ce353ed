//! Samples of tumours, and the program `logistic-regression` on some of them, encrypted.

use crate::{Client, NOT_SECURE, Rpu, RpuError, Step, ckks};
use num_complex::Complex64;
use programs::logistic::{self, FEATURES, margin};
use programs::{Generated, Options, ParameterSet, find_program, generate_defined};
use sim::Machine;
use std::fmt::Write;

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

/// Encrypts samples in order, n/32 in each of the blocks of some options, and trains weights on them, which
/// begin with 0.
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
    let blocks = options.count("blocks").unwrap_or(1);
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
    let expected = logistic::train(samples, options);
    let expected = std::array::from_fn(|feature| expected[feature]);
    Ok(Outcome { generated, step: run, found: std::array::from_fn(|feature| found[feature].re), expected })
}

/// Trains weights on as many samples as a set has room for, the first ones; the result says in lines of text
/// what came out.
///
/// # Errors
/// As [`train`].
///
/// # Panics
/// As [`train`], and if a modulus of the set has no transform.
pub fn demonstrate(set: ParameterSet, options: &Options, machine: Machine) -> Result<String, RpuError> {
    let n = set.degree().len();
    let mut text = format!("{}, n = {n}: {NOT_SECURE}\n", set.name());
    if let Some(failure) = set.bootstrap_failure() {
        let _ = writeln!(text, "{failure}");
    }
    let samples = samples();
    let mut client = Client::new(set, 1).expect("its moduli have transforms");
    let outcome = train(&mut client, &Rpu::new(machine), &samples, options)?;
    text += &outcome.generated.ledger.to_string();
    let rows = options.count("blocks").unwrap_or(1) * n / (2 * FEATURES);
    for (name, weights) in [("encrypted", &outcome.found), ("in the clear", &outcome.expected)] {
        let [of_rows, of_all] =
            [&samples[..rows], &samples].map(|samples| 100.0 * accuracy(weights, samples));
        let all = samples.len();
        let _ = writeln!(
            text,
            "{name}: {of_rows:.2}% of the {rows} training samples are right, {of_all:.2}% of all {all}"
        );
    }
    let _ = writeln!(text, "the largest error of a weight is {:.1e}", outcome.error());
    let _ = writeln!(text, "{}", outcome.step);
    Ok(text)
}
