//! Whole applications on encrypted data give the results of the same algorithms in the clear.

use client::{Client, Rpu, digits, logistic_regression};
use programs::{Network, ParameterSet, Security};
use sim::Machine;

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

#[test]
fn two_iterations_with_a_bootstrap_train_the_weights_of_the_clear_ones() {
    let set = built_in("lattigo-n16qp1546", Some(512));
    let mut client = Client::new(set, 1).unwrap();
    let samples = logistic_regression::samples();
    let rpu = Rpu::new(Machine::rpu_128x128());
    let outcome = logistic_regression::train(&mut client, &rpu, &samples, 2).unwrap();
    println!("largest error of a weight: {:.1e}", outcome.error());
    assert!(outcome.error() < 1e-5, "{:?} {:?}", outcome.found, outcome.expected);
    assert!(outcome.expected.iter().any(|weight| weight.abs() > 0.05));
}
