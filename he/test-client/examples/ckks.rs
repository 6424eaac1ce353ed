//! A product of CKKS ciphertexts on the simulated RPU, rescaled and rotated.
//!
//! ```sh
//! cargo run -p rpu-test-client --example ckks
//! ```

use sim::Machine;
use test_client::{NOT_SECURE, ckks::correct_bits, scenario};

fn main() -> Result<(), test_client::RpuError> {
    println!("CKKS, n = 8192, 4096 slots, scale 2^45: {NOT_SECURE}");
    let outcome = scenario::ckks(Machine::rpu_128x128())?;
    for (name, step) in &outcome.steps {
        println!("{name:<8} {:8.1} us simulated, equal to the executor on big integers", step.report.time_us);
    }
    let [found, expected] = &outcome.rotated;
    println!(
        "product, rescale, rotation: {:.1} correct bits in the worst slot",
        correct_bits(found, expected)
    );
    let [found, expected] = &outcome.merged;
    println!(
        "product with merged rescale: {:.1} correct bits in the worst slot",
        correct_bits(found, expected)
    );
    Ok(())
}
