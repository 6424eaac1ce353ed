//! A bootstrap on the simulated RPU, by default of all slots, with Lattigo's chain N16QP1546 or a set of a
//! file.
//!
//! ```sh
//! cargo run --release -p rpu-test-client --example bootstrap -- 2048
//! ```
//!
//! The argument is the ring degree, from 512 to 65536, or a TOML file; Lattigo's set is secure at 65536 only.
//! After it come options of the program, such as `slots=256 message-ratio=12`. The exit status is 1 if the
//! slots keep fewer than 24 bits in the mean, or fewer than the float model less 1 where that has less than
//! 25.

use programs::{Options, ParameterSet};
use sim::Machine;
use std::process::ExitCode;
use test_client::NOT_SECURE;
use test_client::bootstrap::{self, Engine};

/// The bits of slots to keep, in the mean.
const LEAST: f64 = 24.0;

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let argument = arguments.next().unwrap_or_else(|| "2048".to_owned());
    let options = Options::of_assignments(arguments)?;
    let set = if argument.ends_with(".toml") {
        ParameterSet::parse("file", &argument, &std::fs::read_to_string(&argument)?, None)?
    } else {
        ParameterSet::built_in("lattigo-n16qp1546", Some(argument.parse()?)).expect("a built-in set")?
    };
    println!("{}, n = {}: {NOT_SECURE}", set.name(), set.degree().len());
    println!("{}", set.bootstrap_failure().ok_or("the set has no bootstrap")?);
    let outcome = bootstrap::run(&set, &options, Engine::Rpu(&Machine::rpu_128x128()))?;
    print!("{}", outcome.ledger);
    println!("{} moduli after it; the phase has up to {} times q_0", outcome.level, outcome.overflow);
    print!("{outcome}");
    let last = outcome.result();
    println!(
        "the result by Lattigo's measure, the mean over real and imaginary parts: {:.1} bits",
        last.left.of_parts
    );
    let least = LEAST.min(last.model.mean - 1.0);
    if last.left.mean < least {
        eprintln!("error: {:.1} bits of slots in the mean, fewer than {least:.1}", last.left.mean);
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}
