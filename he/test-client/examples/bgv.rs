//! A product of BGV ciphertexts on the simulated RPU, switched to a smaller modulus and rotated.
//!
//! ```sh
//! cargo run -p rpu-test-client --example bgv
//! ```

use sim::Machine;
use test_client::{NOT_SECURE, scenario};

fn main() -> Result<(), test_client::RpuError> {
    println!("BGV, n = 8192, 8192 slots modulo 65537: {NOT_SECURE}");
    let outcome = scenario::bgv(Machine::rpu_128x128())?;
    for (name, step) in &outcome.steps {
        println!("{name:<8} {:8.1} us simulated, equal to the executor on big integers", step.report.time_us);
    }
    let exact = |[found, expected]: &[Vec<u128>; 2]| {
        let exact = found.iter().zip(expected).filter(|(found, expected)| found == expected).count();
        format!("{exact} of {} slots are exact", expected.len())
    };
    println!("product, modulus switch, rotation: {}", exact(&outcome.rotated));
    println!("product with merged switch: {}", exact(&outcome.merged));
    Ok(())
}
