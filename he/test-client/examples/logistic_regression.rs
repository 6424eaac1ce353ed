//! Logistic regression, trained on encrypted data on the simulated RPU, with a bootstrap between two
//! iterations.
//!
//! ```sh
//! cargo run --release -p rpu-test-client --example logistic_regression -- 16384 10
//! ```
//!
//! The arguments are the ring degree, from 512 to 16384, the iterations, and a parameter set with a
//! bootstrap: by default Lattigo's N16QP1546, which is secure at 65536 only. After them come options of the
//! program, such as `momentum=nesterov slots=16`.

use programs::{Options, ParameterSet};
use sim::Machine;
use test_client::logistic_regression::demonstrate;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let n: u64 = arguments.next().map_or(Ok(16384), |text| text.parse())?;
    let iterations = arguments.next().unwrap_or_else(|| "10".to_owned());
    let name = arguments.next().unwrap_or_else(|| "lattigo-n16qp1546".to_owned());
    let set = ParameterSet::built_in(&name, Some(n)).ok_or("no built-in set has this name")??;
    let options = Options::of_assignments([format!("iterations={iterations}")].into_iter().chain(arguments))?;
    print!("{}", demonstrate(set, &options, Machine::rpu_128x128())?);
    Ok(())
}
