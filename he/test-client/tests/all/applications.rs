//! Whole applications on encrypted data give the results of the same algorithms in the clear.

mod resnet20;

use programs::{Network, Options, ParameterSet, Security};
use sim::Machine;
use test_client::logistic_regression::{Outcome, accuracy, samples, train};
use test_client::{Client, Rpu, digits};

fn built_in(name: &str, n: Option<u64>) -> ParameterSet {
    ParameterSet::built_in(name, n).unwrap().unwrap()
}

#[test]
fn the_network_has_the_accuracy_of_its_training() {
    let images = digits::test_images();
    let right = images
        .iter()
        .filter(|image| digits::class(&Network::trained().logits(&image.pixels)) == image.class)
        .count();
    // As `he/programs/data/digits.py` prints it.
    assert_eq!((right, images.len()), (336, 360));
}

#[test]
fn encrypted_digits_have_the_logits_of_the_clear_network() {
    let set = built_in("digits", Some(1024));
    let mut client = Client::new(set, 1).unwrap();
    let images = digits::test_images();
    let rpu = Rpu::new(Machine::rpu_128x128());
    let outcome = digits::classify(&mut client, &rpu, &images[..2], true).unwrap();
    println!("largest error of a logit: {:.4}", outcome.error());
    assert!(outcome.error() < 0.01, "{}", outcome.error());
    assert!(outcome.expected.iter().flatten().any(|logit| logit.abs() > 10.0));
    for (found, expected) in outcome.found.iter().zip(&outcome.expected) {
        assert_eq!(digits::class(found), digits::class(expected));
    }
}

#[test]
fn the_set_of_the_digits_is_secure() {
    assert_eq!(built_in("digits", None).security(), Security::Bits(128));
}

fn trained(set: &str, options: &Options) -> Outcome {
    let set = built_in(set, Some(512));
    let mut client = Client::new(set, 1).unwrap();
    let rpu = Rpu::new(Machine::rpu_128x128());
    let outcome = train(&mut client, &rpu, &samples(), options).unwrap();
    println!("largest error of a weight: {:.1e}", outcome.error());
    assert!(outcome.expected.iter().any(|weight| weight.abs() > 0.05));
    outcome
}

#[test]
#[ignore = "long: `.ci/long` runs it"]
fn two_iterations_with_a_bootstrap_train_the_weights_of_the_clear_ones() {
    let outcome = trained("lattigo-n16qp1546", &Options::of([("iterations", "2")]));
    assert!(outcome.error() < 1e-5, "{:?} {:?}", outcome.found, outcome.expected);
}

/// As HELR in Cheddar's form, but for the number of features and of rows: Nesterov's momentum, data in
/// several ciphertexts, and two iterations for each bootstrap, which has only as many slots as there are
/// weights.
#[test]
#[ignore = "long: `.ci/long` runs it"]
fn nesterovs_momentum_with_sparse_bootstraps_trains_the_weights_of_the_clear_run() {
    let options = Options::of([
        ("iterations", "4"),
        ("between", "2"),
        ("blocks", "2"),
        ("momentum", "nesterov"),
        ("slots", "16"),
        ("message_ratio", "10"),
    ]);
    let outcome = trained("cheddar-40", &options);
    assert!(outcome.error() < 1e-3, "{:?} {:?}", outcome.found, outcome.expected);
    let all = samples();
    let [found, expected] = [&outcome.found, &outcome.expected].map(|weights| accuracy(weights, &all));
    println!("accuracy {found} and {expected} in the clear");
    assert!((found - expected).abs() < 0.005 && expected > 0.8);
}

/// DPRIVE's form: Nesterov's momentum, a sigmoid of degree 59, and bootstraps of 128 slots.
#[test]
#[ignore = "long: `.ci/long` runs it"]
fn a_sigmoid_of_degree_59_trains_the_weights_of_the_clear_run() {
    let options = Options::of([
        ("iterations", "2"),
        ("momentum", "nesterov"),
        ("sigmoid", "chebyshev"),
        ("slots", "128"),
    ]);
    let outcome = trained("dprive-n17-64", &options);
    assert!(outcome.error() < 1e-5, "{:?} {:?}", outcome.found, outcome.expected);
}
