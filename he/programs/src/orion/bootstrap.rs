//! `bootstrap`: messages to the range from -1 to 1, a bootstrap, and back.

use super::evaluate::{Evaluation, Row, numbered};
use super::header::Node;
use crate::circuit::{BootstrapOptions, Ciphertext};
use diagnostic::Diagnostic;
use num_bigint::BigInt;
use num_complex::Complex64;
use serde::Deserialize;

/// A ciphertext of the highest level.
pub(super) const BOOTSTRAP: Row = Row { bootstraps: true, ..Row::new("bootstrap", 1, bootstrap) };

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    #[serde(rename = "input_level")]
    _input_level: usize,
    #[serde(rename = "input_min")]
    _input_min: f64,
    #[serde(rename = "input_max")]
    _input_max: f64,
    /// A factor of the slots in use, after the summand.
    prescale: f64,
    /// Its inverse, an integer.
    postscale: f64,
    /// A summand before, which is taken away after.
    constant: f64,
    /// The slots in use; others are copies of them after the bootstrap.
    slots: usize,
}

/// Fewer slots than n/2 are those of a smaller ring, which repeat: as after Lattigo's bootstrap.
fn bootstrap(
    e: &mut Evaluation<'_, '_>,
    node: &Node<'_>,
    operands: &[Vec<Ciphertext>],
) -> Result<Vec<Ciphertext>, Diagnostic> {
    e.no_blobs(node)?;
    let Config { prescale, postscale, constant, slots, .. } = e.config(node)?;
    for (key, number) in [("prescale", prescale), ("constant", constant)] {
        e.fits(node, key, &[number])?;
    }
    e.not_zero(node, "prescale", prescale)?;
    if postscale.fract() != 0.0 || !(1.0..=f64::from(u32::MAX)).contains(&postscale) {
        let message = format!("config.postscale is {postscale}, expected an integer from 1 on");
        return Err(e.wrong(node, message));
    }
    let most = e.program.slots();
    if !slots.is_power_of_two() || slots > most {
        let message = format!("config.slots is {slots}, expected a power of two up to {most}");
        return Err(e.wrong(node, message));
    }
    let mut mask = vec![Complex64::from(prescale); slots];
    mask.resize(most, Complex64::ZERO);
    let mut results = Vec::new();
    for (index, x) in operands[0].iter().enumerate() {
        let mut x = x.clone();
        if constant != 0.0 {
            x = e.circuit.add_real(&x, constant);
        }
        let name = numbered(&format!("{}.mask", node.name), index, operands[0].len());
        let factor = e.circuit.factor(&name, &x, Some(mask.clone()));
        let product = e.circuit.multiply_plaintext(&x, &factor);
        let product = e.checked(node, product)?;
        let product = e.circuit.rescale(&product);
        let product = e.checked(node, product)?;
        // Zeros become copies, where key switches have the fewest moduli.
        let lowest = e.circuit.at(&product, 1);
        let mut message = e.checked(node, lowest)?;
        if slots < most {
            let sum = e.circuit.sum_of_rotations(&message, slots as i64, most as i64);
            message = e.checked(node, sum)?;
        }
        let least = e.circuit.set().bootstrap().map_or(1, |settings| settings.least_slots());
        let options = BootstrapOptions { slots: Some(slots.max(least)), ..BootstrapOptions::default() };
        let fresh = e.circuit.bootstrap(&message, options);
        let mut fresh = e.checked(node, fresh)?;
        e.circuit.stage(&*node.name, fresh.level());
        if postscale > 1.0 {
            fresh = e.circuit.multiply_integer(&fresh, &BigInt::from(postscale as u32));
        }
        if constant != 0.0 {
            fresh = e.circuit.add_real(&fresh, -constant);
        }
        results.push(fresh);
    }
    Ok(results)
}
