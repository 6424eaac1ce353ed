//! ResNet-20 on encrypted images: the program `resnet20` with trained weights, beside the network in the
//! clear.
//!
//! The network is that of `he/test-client/data/resnet20.py`: its shortcuts are projections. Each layer's maps
//! have a unit, in which they are from -1 to 1 as the program's ReLU needs: a little more than the largest
//! size that they have in the profile beside the weights.

mod packing;
mod trained;

pub use trained::{Activation, CLASSES, Clear, Image, Trained, class};

use crate::{Client, RpuError, ckks, rpu::run_error};
use num_complex::Complex64;
use packing::Packing;
use programs::{Generated, Maps, Options, ParameterSet, find_program, generate_defined};
use runtime::{Choice, Keys, Mapping, Runtime};
use sim::Machine;

/// The names of the classes of CIFAR-10.
pub const NAMES: [&str; CLASSES] =
    ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"];

/// The logits of an image.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Decrypted.
    pub found: [f64; CLASSES],
    /// The network in the clear.
    pub clear: Clear,
    /// The same with the program's polynomials in place of ReLU.
    pub polynomial: Clear,
}

/// The largest distance of two logits.
pub fn distance(a: &[f64; CLASSES], b: &[f64; CLASSES]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// The program for a set, whose shortcuts are projections.
///
/// # Errors
/// Returns an error if it cannot be generated for the set.
pub fn program(set: &ParameterSet) -> Result<Generated, RpuError> {
    let program = find_program("resnet20").expect("a program");
    generate_defined(&program, set, &Options::of([("shortcut", "projection")])).map_err(RpuError::Program)
}

/// The pixels of a side of the images of the program for a set.
pub fn side(set: &ParameterSet) -> usize {
    Maps::of_image(set.degree().len() / 2).side
}

/// Classifies encrypted images, one after the other. Each outcome is told as soon as it is there.
///
/// # Errors
/// Returns an error if the program does not run.
///
/// # Panics
/// Panics if an image has another size than those of the program for the client's set.
pub fn classify(
    client: &mut Client,
    machine: &Machine,
    (generated, trained): (&Generated, &Trained),
    images: &[Image],
    mut tell: impl FnMut(&Image, Outcome),
) -> Result<(), RpuError> {
    let packing = Packing::new(trained, client.set().degree().len() / 2);
    let choice = Choice::Given(Mapping::START);
    let runtime =
        Runtime::mapped(&generated.program, machine, (Keys::Streamed, choice)).map_err(run_error)?;
    for image in images {
        let ciphertext = client.encrypt_input(generated, "ct", &packing.image(image));
        let client = &*client;
        let slots = |name: &str| {
            let slots = packing.plaintext(name).expect("the network has the program's plaintexts");
            slots.into_iter().map(Complex64::from).collect()
        };
        let mut inputs = client.inputs(generated, &[("ct", &ciphertext)]).map_err(RpuError::Input)?;
        client.give(&mut inputs, generated, &slots).map_err(RpuError::Input)?;
        let outputs = runtime.execute(&inputs).map_err(run_error)?;
        let logits = [0, 1].map(|component: usize| outputs[component].clone());
        let slots = ckks::decode(&client.phase(&logits), generated.scales["logits"].to_f64());
        let [clear, polynomial] =
            [Activation::Exact, Activation::Polynomial].map(|activation| trained.clear(image, activation));
        let found = std::array::from_fn(|class| slots[class].re);
        tell(image, Outcome { found, clear, polynomial });
    }
    Ok(())
}
