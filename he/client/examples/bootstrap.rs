//! A bootstrap of all slots on the simulated RPU, with Lattigo's chain N16QP1546 or a set of a file.
//!
//! ```sh
//! cargo run --release -p client --example bootstrap -- 2048
//! ```
//!
//! The argument is the ring degree, from 512 to 65536, or a TOML file; Lattigo's set is secure at 65536 only.

use client::ckks::{decode, encode};
use client::{Client, NOT_SECURE};
use num_complex::Complex64;
use programs::{Options, ParameterSet, find_program, generate_defined};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use runtime::{Keys, Runtime};
use sim::Machine;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let argument = std::env::args().nth(1).unwrap_or_else(|| "2048".to_owned());
    let set = if argument.ends_with(".toml") {
        ParameterSet::parse("file", &argument, &std::fs::read_to_string(&argument)?, None)?
    } else {
        ParameterSet::built_in("lattigo-n16qp1546", Some(argument.parse()?)).expect("a built-in set")?
    };
    let (n, settings) = (set.degree().len(), set.bootstrap().ok_or("the set has no bootstrap")?);
    let scale = f64::from(settings.scale_bits).exp2();
    println!("{}, n = {n}: {NOT_SECURE}", set.name());
    println!("{}", set.bootstrap_failure().expect("the set has a bootstrap"));
    let program = find_program("bootstrap").expect("a program");
    let generated = generate_defined(&program, &set, &Options::default())?;
    print!("{}", generated.ledger);

    let mut client = Client::new(set, 1)?;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
    let mut part = || random.random_range(-1.0..1.0);
    let slots: Vec<Complex64> = (0..n / 2).map(|_| Complex64::new(part(), part())).collect();
    let ciphertext = client.encrypt(&encode(&slots, scale)).map(|limbs| limbs[..1].to_vec());

    let inputs = client.inputs(&generated, &[("ct", &ciphertext)])?;
    let machine = Machine::rpu_128x128();
    let runtime = Runtime::new(&generated.program, &machine, Keys::Streamed)?;
    let outputs = runtime.execute(&inputs)?;
    let [c0, c1] = &outputs[..] else { unreachable!("a bootstrap has one ciphertext as its result") };
    let found = decode(&client.phase(&[c0.clone(), c1.clone()]), generated.scales["boot"].to_f64());
    let errors = slots.iter().zip(&found).map(|(a, b)| (a - b).norm());
    let mean = errors.clone().sum::<f64>() / slots.len() as f64;
    let worst = errors.fold(0.0, f64::max);
    println!(
        "{} moduli after it; {:.1} bits of slots in the mean, {:.1} in the worst slot",
        c0.len(),
        -mean.log2(),
        -worst.log2()
    );
    Ok(())
}
