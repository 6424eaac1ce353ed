//! A convolutional network on ten encrypted images of digits, on the simulated RPU.
//!
//! ```sh
//! cargo run --release -p client --example digits
//! ```
//!
//! The images are the first ten of the test set. The parameter set has 128 bits of security; the client's keys have not.

use client::{Client, NOT_SECURE, Rpu, digits};
use programs::{Network, ParameterSet};
use sim::Machine;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let set = ParameterSet::built_in("digits", None).expect("a built-in set")?;
    println!(
        "{}, n = {}: {}; keys from a seed: {NOT_SECURE}",
        set.name(),
        set.degree().get(),
        set.parameters()
    );
    let images = digits::test_images();
    let network = Network::trained();
    let right = images.iter().filter(|image| digits::class(&network.logits(&image.pixels)) == image.class);
    println!("in the clear: {} of {} test images are right", right.count(), images.len());

    let mut client = Client::new(set, 1)?;
    let rpu = Rpu::new(Machine::rpu_128x128());
    let outcome = digits::classify(&mut client, &rpu, &images[..10], false)?;
    print!("{}", outcome.generated.ledger);
    let mut equal = 0;
    for (image, (found, expected)) in images.iter().zip(outcome.found.iter().zip(&outcome.expected)) {
        let [found, expected] = [found, expected].map(digits::class);
        println!("a {}: {found} encrypted, {expected} in the clear", image.class);
        equal += usize::from(found == expected);
    }
    println!(
        "{equal} of 10 classes equal those in the clear; the largest error of a logit is {:.4}",
        outcome.error()
    );
    println!("{}", outcome.step);
    Ok(())
}
