//! A convolutional network on ten encrypted images of digits, on the simulated RPU.
//!
//! ```sh
//! cargo run --release -p rpu-test-client --example digits
//! ```
//!
//! The images are the first ten of the test set. The parameter set has 128 bits of security; the client's
//! keys have not.

use sim::Machine;

fn main() -> Result<(), test_client::RpuError> {
    print!("{}", test_client::digits::demonstrate(Machine::rpu_128x128())?);
    Ok(())
}
