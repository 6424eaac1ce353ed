//! Sums, products, and what does nothing to ciphertexts.

use super::evaluate::{Evaluation, Row};
use super::header::Node;
use crate::circuit::Ciphertext;
use crate::foreign::summand;
use diagnostic::Diagnostic;
use serde::Deserialize;

/// A layout of a tensor as a vector, which its ciphertexts have already.
pub(super) const FLATTEN: Row = Row::new("flatten", 1, flatten);

/// The square.
pub(super) const QUAD: Row = Row::new("quad", 1, square);

/// The sum of two layers.
pub(super) const ADD: Row = Row::new("add", 2, add);

/// The product of two layers.
pub(super) const MULT: Row = Row::new("mult", 2, multiply);

/// The settings of an operation that has none.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

fn plain(e: &Evaluation<'_, '_>, node: &Node<'_>) -> Result<(), Diagnostic> {
    e.no_blobs(node)?;
    e.config::<Nothing>(node).map(|_| ())
}

fn flatten(
    e: &mut Evaluation<'_, '_>,
    node: &Node<'_>,
    operands: &[Vec<Ciphertext>],
) -> Result<Vec<Ciphertext>, Diagnostic> {
    plain(e, node)?;
    Ok(operands[0].clone())
}

fn square(
    e: &mut Evaluation<'_, '_>,
    node: &Node<'_>,
    operands: &[Vec<Ciphertext>],
) -> Result<Vec<Ciphertext>, Diagnostic> {
    plain(e, node)?;
    let mut squares = Vec::new();
    for x in &operands[0] {
        let product = e.circuit.product(x, x);
        squares.push(e.checked(node, product)?);
    }
    Ok(squares)
}

/// The ciphertexts of two operands, side by side.
fn pairs<'o>(
    e: &Evaluation<'_, '_>,
    node: &Node<'_>,
    operands: &'o [Vec<Ciphertext>],
) -> Result<Vec<(&'o Ciphertext, &'o Ciphertext)>, Diagnostic> {
    plain(e, node)?;
    let [a, b] = [&operands[0], &operands[1]];
    if a.len() != b.len() {
        let message = format!("operands of {} and {} ciphertexts", a.len(), b.len());
        return Err(e.wrong(node, message));
    }
    Ok(a.iter().zip(b).collect())
}

/// The sum: the operand of the higher level takes the other one's scale.
fn add(
    e: &mut Evaluation<'_, '_>,
    node: &Node<'_>,
    operands: &[Vec<Ciphertext>],
) -> Result<Vec<Ciphertext>, Diagnostic> {
    let mut sums = Vec::new();
    for (a, b) in pairs(e, node, operands)? {
        let mut b = b.clone();
        if let Some((read, difference)) = summand(a, b.clone()) {
            b = read;
            e.worst_sum = e.worst_sum.max(difference);
        }
        let sum = e.circuit.add(a, &b);
        sums.push(e.checked(node, sum)?);
    }
    Ok(sums)
}

fn multiply(
    e: &mut Evaluation<'_, '_>,
    node: &Node<'_>,
    operands: &[Vec<Ciphertext>],
) -> Result<Vec<Ciphertext>, Diagnostic> {
    let mut products = Vec::new();
    for (a, b) in pairs(e, node, operands)? {
        let product = e.circuit.product(a, b);
        products.push(e.checked(node, product)?);
    }
    Ok(products)
}
