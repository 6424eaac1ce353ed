//! `linear_transform`: a matrix of blocks, each by its diagonals, and a bias.

use super::container::Rest;
use super::evaluate::{Evaluation, Row, numbered};
use super::header::Node;
use crate::Hoisting;
use crate::circuit::{Ciphertext, Diagonals};
use diagnostic::Diagnostic;
use num_complex::Complex64;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// Dense layers and convolutions.
pub(super) const LINEAR_TRANSFORM: Row =
    Row { width: Some(width), ..Row::new("linear_transform", 1, transform) };

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    /// Giant steps per baby step in Lattigo. Ours are chosen by the number of diagonals.
    bsgs_ratio: f64,
    /// Sums of the results with themselves, rotated by 1/2, 1/4, .. of the slots.
    output_rotations: u32,
    num_input_cts: usize,
    num_output_cts: usize,
}

/// The ciphertexts that a layer takes. Each has a blob, so that a short file is no large input.
fn width(node: &Node<'_>) -> usize {
    let config = node.config.and_then(|config| serde_json::from_str::<Config>(config.get()).ok());
    let most = node.blob_refs.as_ref().map_or(0, BTreeMap::len);
    config.map_or(1, |config| config.num_input_cts.min(most).max(1))
}

fn transform(
    e: &mut Evaluation<'_, '_>,
    node: &Node<'_>,
    operands: &[Vec<Ciphertext>],
) -> Result<Vec<Ciphertext>, Diagnostic> {
    let config: Config = e.config(node)?;
    let (inputs, rows, columns) = (&operands[0], config.num_output_cts, config.num_input_cts);
    if inputs.len() != columns || rows == 0 {
        let message = format!("a matrix of {rows} x {columns} blocks, and {} ciphertexts", inputs.len());
        return Err(e.wrong(node, message));
    }
    if config.bsgs_ratio.is_nan() || config.bsgs_ratio <= 0.0 {
        let message = format!("config.bsgs_ratio is {}, expected a number above 0", config.bsgs_ratio);
        return Err(e.wrong(node, message));
    }
    let slots = e.program.slots();
    if config.output_rotations > slots.ilog2() {
        let rotations = config.output_rotations;
        let message = format!("config.output_rotations is {rotations}, and there are {slots} slots");
        return Err(e.wrong(node, message));
    }
    // The level at which the matrix is encoded.
    let mut lowered = Vec::new();
    for input in inputs {
        if input.level() <= node.level {
            let message =
                format!("its operand has the level {}, and its own is {}", input.level() - 1, node.level);
            return Err(e.wrong(node, message));
        }
        let input = e.circuit.at(input, node.level + 1);
        lowered.push(e.checked(node, input)?);
    }
    let (mut results, mut read) = (Vec::new(), BTreeSet::new());
    for row in 0..rows {
        let mut sum: Option<Ciphertext> = None;
        for (column, input) in lowered.iter().enumerate() {
            let product = block(e, node, input, (row, column, rows.saturating_mul(columns)))?;
            read.insert(format!("diag_{row}_{column}"));
            sum = Some(match sum {
                None => product,
                Some(sum) => {
                    let sum = e.circuit.add(&sum, &product);
                    e.checked(node, sum)?
                }
            });
        }
        let mut result = biased(e, node, sum.expect("a matrix has a column"), (row, rows))?;
        read.insert(format!("bias_{row}"));
        for step in 1..=config.output_rotations {
            let rotated = e.circuit.rotate(&result, (slots >> step) as i64);
            let rotated = e.checked(node, rotated)?;
            let sum = e.circuit.add(&result, &rotated);
            result = e.checked(node, sum)?;
        }
        results.push(result);
    }
    match node.blob_refs.iter().flatten().find(|(name, _)| !read.contains(*name)) {
        None => Ok(results),
        Some((name, _)) => {
            let name = diagnostic::one_line(name);
            Err(e.wrong(node, format!("blob_refs: unknown blob `{name}`")))
        }
    }
}

/// The product with one of several blocks.
fn block(
    e: &mut Evaluation<'_, '_>,
    node: &Node<'_>,
    input: &Ciphertext,
    (row, column, count): (usize, usize, usize),
) -> Result<Ciphertext, Diagnostic> {
    let name = format!("diag_{row}_{column}");
    let Some(blob) = e.blob(node, &name)? else {
        return Err(e.wrong(node, format!("blob_refs lacks `{name}`")));
    };
    let diagonals = diagonals(blob, e.program.slots());
    let diagonals = diagonals.map_err(|reason| e.wrong(node, format!("blob_refs.{name}: {reason}")))?;
    let numbers = diagonals.values().flatten().map(|slot| slot.re);
    e.room(node, &format!("blob_refs.{name}"), (numbers, input.level(), input.scale()))?;
    let name = if count == 1 { node.name.clone() } else { format!("{}_{row}_{column}", node.name) };
    let product = e.circuit.linear_transform(&name, input, &diagonals, Hoisting::Double);
    e.checked(node, product)
}

/// The sum with the bias of a row, if it has one. The bias has the scale of the row.
fn biased(
    e: &mut Evaluation<'_, '_>,
    node: &Node<'_>,
    sum: Ciphertext,
    (row, rows): (usize, usize),
) -> Result<Ciphertext, Diagnostic> {
    let name = format!("bias_{row}");
    let Some(blob) = e.blob(node, &name)? else { return Ok(sum) };
    let slots = e.program.slots();
    let bias = slots_of(&mut Rest { bytes: blob, at: 0 }, slots).filter(|_| blob.len() == 8 * slots);
    let bias = bias.ok_or_else(|| {
        let message = format!("blob_refs.{name}: {} bytes, expected {slots} finite numbers", blob.len());
        e.wrong(node, message)
    })?;
    let numbers = bias.iter().map(|slot| slot.re);
    e.room(node, &format!("blob_refs.{name}"), (numbers, sum.level(), sum.scale()))?;
    let name = numbered(&format!("{}.bias", node.name), row, rows);
    let bias = e.circuit.summand(&name, &sum, Some(bias));
    let sum = e.circuit.add_plaintext(&sum, &bias);
    e.checked(node, sum)
}

/// The diagonals of a block: their number, their indices, and their slots.
fn diagonals(blob: &[u8], slots: usize) -> Result<Diagonals, String> {
    let mut rest = Rest { bytes: blob, at: 0 };
    let count: u32 = rest.number().ok_or("it lacks the number of diagonals")?;
    let size = 4 + u64::from(count) * (4 + 8 * slots as u64);
    if blob.len() as u64 != size {
        return Err(format!("{} bytes, and {count} diagonals of {slots} slots have {size}", blob.len()));
    }
    let indices: Vec<i32> = (0..count).filter_map(|_| rest.number()).collect();
    let mut diagonals = Diagonals::new();
    for index in indices {
        let values = slots_of(&mut rest, slots)
            .ok_or_else(|| format!("the diagonal {index} has a number that is not finite"))?;
        if diagonals.insert(i64::from(index), values).is_some() {
            return Err(format!("a second diagonal {index}"));
        }
    }
    Ok(diagonals)
}

/// Finite numbers.
fn slots_of(rest: &mut Rest<'_>, slots: usize) -> Option<Vec<Complex64>> {
    let number = |_| rest.number().filter(|number: &f64| number.is_finite()).map(Complex64::from);
    (0..slots).map(number).collect()
}
