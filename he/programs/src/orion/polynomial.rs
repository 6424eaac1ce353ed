//! `polynomial`: an activation, by powers or by Chebyshev polynomials.

use super::evaluate::{Evaluation, Row};
use super::header::Node;
use crate::circuit::Ciphertext;
use diagnostic::Diagnostic;
use serde::Deserialize;
use std::borrow::Cow;

/// The most coefficients, so that the evaluation ends; assumed.
const MOST_COEFFICIENTS: usize = 1 << 12;

/// A polynomial of each slot.
pub(super) const POLYNOMIAL: Row = Row::new("polynomial", 1, evaluate);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Config<'t> {
    /// From the constant on.
    coeffs: Vec<f64>,
    #[serde(borrow)]
    basis: Cow<'t, str>,
    /// A factor and a summand before the polynomial.
    prescale: f64,
    constant: f64,
    /// A factor after it.
    postscale: f64,
}

fn evaluate(
    e: &mut Evaluation<'_, '_>,
    node: &Node<'_>,
    operands: &[Vec<Ciphertext>],
) -> Result<Vec<Ciphertext>, Diagnostic> {
    e.no_blobs(node)?;
    let config: Config<'_> = e.config(node)?;
    if config.coeffs.len() > MOST_COEFFICIENTS {
        let count = config.coeffs.len();
        let message = format!("config.coeffs: {count} coefficients, expected at most {MOST_COEFFICIENTS}");
        return Err(e.wrong(node, message));
    }
    for (key, number) in
        [("prescale", config.prescale), ("postscale", config.postscale), ("constant", config.constant)]
    {
        e.fits(node, key, &[number])?;
    }
    e.fits(node, "coeffs", &config.coeffs)?;
    e.not_zero(node, "prescale", config.prescale)?;
    e.not_zero(node, "postscale", config.postscale)?;
    let coefficients = match &*config.basis {
        "chebyshev" => config.coeffs,
        "monomial" => chebyshev(&config.coeffs),
        other => {
            let message = format!("config.basis: the basis `{}`", diagnostic::one_line(other));
            return Err(e.wrong(node, message).with_help("read are `chebyshev` and `monomial`"));
        }
    };
    if coefficients.iter().any(|coefficient| !coefficient.is_finite()) {
        return Err(e.wrong(node, "config.coeffs: too large"));
    }
    // Layers before the polynomial have its factor and its summand if the compiler fuses them.
    let fused = e.program.header.config.fuse_modules;
    let scale = e.default_scale();
    let mut results = Vec::new();
    for x in &operands[0] {
        let mut x = x.clone();
        if !fused {
            x = scaled(e, node, x, config.prescale)?;
            if config.constant != 0.0 {
                x = e.circuit.add_real(&x, config.constant);
            }
        }
        let value = e.circuit.chebyshev_to(&x, &coefficients, &scale);
        let value = e.checked(node, value)?;
        results.push(scaled(e, node, value, config.postscale)?);
    }
    Ok(results)
}

/// A product with a number, which uses up a level if it is not 1.
fn scaled(
    e: &mut Evaluation<'_, '_>,
    node: &Node<'_>,
    x: Ciphertext,
    factor: f64,
) -> Result<Ciphertext, Diagnostic> {
    if factor == 1.0 {
        return Ok(x);
    }
    let scale = x.scale().times(&e.circuit.divisor(x.level()));
    let product = e.circuit.multiply_real(&x, factor, &scale);
    let product = e.circuit.rescale(&product);
    e.checked(node, product)
}

/// The coefficients in the basis of Chebyshev polynomials, from those of powers, by x T_0 = T_1 and
/// x T_k = (T_(k+1) + T_(k-1))/2.
fn chebyshev(powers: &[f64]) -> Vec<f64> {
    let mut value: Vec<f64> = Vec::new();
    for &coefficient in powers.iter().rev() {
        let mut product = vec![0.0; value.len() + 1];
        for (k, &c) in value.iter().enumerate() {
            match k {
                0 => product[1] += c,
                k => {
                    product[k + 1] += c / 2.0;
                    product[k - 1] += c / 2.0;
                }
            }
        }
        product[0] += coefficient;
        value = product;
    }
    value
}

#[cfg(test)]
mod tests {
    use super::chebyshev;

    #[test]
    fn powers_are_sums_of_chebyshev_polynomials() {
        // x^3 = (3 T_1 + T_3)/4, x^2 = (T_0 + T_2)/2
        assert_eq!(chebyshev(&[1.0, 2.0, 4.0, 8.0]), [3.0, 8.0, 2.0, 2.0]);
        assert_eq!(chebyshev(&[5.0]), [5.0]);
    }
}
