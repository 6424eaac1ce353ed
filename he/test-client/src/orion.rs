//! Networks of Orion on encrypted data, executed on big integers.

use crate::{Ciphertext, Client, ckks};
use num_complex::Complex64;
use programs::orion::{Import, Program};
use ring_program::data::Words;
use ring_program::execute;

/// Encrypts the numbers of an input, executes the network, and decrypts: the slots of each ciphertext of its
/// output.
///
/// # Errors
/// Returns an error for numbers that do not fit, or if the program does not run.
pub fn infer(
    client: &mut Client,
    program: &Program<'_>,
    import: &Import,
    numbers: &[f64],
) -> Result<Vec<Vec<f64>>, Box<dyn std::error::Error>> {
    let generated = &import.generated;
    let encrypt = |(name, slots): (&String, Vec<f64>)| {
        let slots: Vec<Complex64> = slots.into_iter().map(Complex64::from).collect();
        client.encrypt_input(generated, name, &slots)
    };
    let packed = program.pack(numbers)?;
    let encrypted: Vec<Ciphertext> = import.inputs.iter().zip(packed).map(encrypt).collect();
    let named: Vec<(&str, &Ciphertext)> = import.inputs.iter().map(|name| &**name).zip(&encrypted).collect();
    let outputs = execute(&client.inputs(generated, &named)?)?;
    let decrypt = |(name, ciphertext): (&String, &[Vec<Words>])| {
        let ciphertext = [0, 1].map(|component| ciphertext[component].clone());
        let slots = ckks::decode(&client.phase(&ciphertext), generated.scales[name].to_f64());
        slots.into_iter().map(|slot| slot.re).collect()
    };
    Ok(import.outputs.iter().zip(outputs.chunks(2)).map(decrypt).collect())
}
