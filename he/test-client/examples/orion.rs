//! A network of Orion on encrypted images of digits: a line of its moduli, then one of logits for each image.
//!
//! ```sh
//! cargo run --release -p rpu-test-client --example orion -- he/programs/tests/orion/perceptron.orion 20
//! ```
//!
//! The arguments are an `.orion` file and the number of images, the first ones of the test set.
//! `tests/orion/check.sh` compares the logits with those of Lattigo.

use programs::orion::Program;
use test_client::Client;
use test_client::digits::{CLASSES, test_images};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("expected an .orion file and a number of images")?;
    let count: usize = arguments.next().ok_or("expected a number of images")?.parse()?;
    let bytes = std::fs::read(&file)?;
    let program = Program::read(&file, &bytes)?;
    let import = program.import()?;
    let set = &import.generated.set;
    let moduli: Vec<String> = set.q().into_iter().chain(set.p()).map(|modulus| modulus.to_string()).collect();
    println!("{}", moduli.join(" "));
    let mut client = Client::new(import.generated.set.clone(), 1)?;
    for image in test_images().iter().take(count) {
        let output = test_client::orion::infer(&mut client, &program, &import, &image.pixels)?;
        let logits = output.first().and_then(|slots| slots.get(..CLASSES)).ok_or("fewer than ten results")?;
        println!("{}", logits.iter().map(f64::to_string).collect::<Vec<_>>().join(" "));
    }
    Ok(())
}
