//! `kernel`: linear transforms and polynomials as a whole.

use super::evaluate::{Evaluation, Row};
use super::text::Operation;
use super::value::{Matrix, Value};
use crate::Hoisting;
use diagnostic::Diagnostic;
use num_complex::Complex64;
use std::rc::Rc;

pub(super) const OPERATIONS: &[Row] = &[
    Row::encrypted("kernel.eval_chebyshev", polynomial),
    Row::clear("kernel.prepare_linear_transform", prepare),
    Row::encrypted("kernel.apply_linear_transform", apply),
];

/// Coefficients of Chebyshev polynomials on [-1, 1].
fn polynomial<'t>(e: &mut Evaluation<'_, 't>, operation: &Operation<'t>) -> Result<Vec<Value>, Diagnostic> {
    let x = e.ciphertext(operation, 0, false)?;
    let text = e.attribute(operation, "coefficients")?;
    let coefficients: Vec<f64> = e.types().numbers(text)?;
    if coefficients.iter().any(|coefficient| !coefficient.is_finite()) {
        return Err(e.source().error(text, "a coefficient that is no finite number"));
    }
    if let Some(key) = operation.attributes.keys().find(|key| key.starts_with("domain")) {
        let message = format!("unknown attribute `{key}` of `{}`", operation.name);
        return Err(e.error(operation, message).with_help("polynomials are read on [-1, 1]"));
    }
    let is = e.ciphertext_type(operation)?;
    let scale = e.scale(is.level, is.scale_bits);
    e.room(operation, coefficients.iter().copied(), (is.level, &scale))?;
    let circuit = e.circuit(operation)?;
    let value = circuit.chebyshev_to(&x, &coefficients, &scale);
    let value = value.and_then(|value| match value.level() > is.level {
        true => circuit.at(&value, is.level),
        false => Ok(value),
    });
    e.checked(operation, value)
}

/// The diagonals of a matrix: rows of a tensor, of which `source_row_indices` says which.
fn prepare<'t>(e: &mut Evaluation<'_, 't>, operation: &Operation<'t>) -> Result<Vec<Value>, Diagnostic> {
    let tensor = e.tensor(operation, 0)?;
    let indices = e.types().integers(e.attribute(operation, "diagonal_indices")?)?;
    let rows = match operation.attributes.get("source_row_indices") {
        Some(text) => e.types().integers(text)?,
        None => (0..).take(indices.len()).collect(),
    };
    let [height, width] = tensor.shape[..] else {
        return Err(e.error(operation, "the diagonals of a matrix must be a tensor of two dimensions"));
    };
    let is_row = |&row: &i64| usize::try_from(row).is_ok_and(|row| row < height);
    if rows.len() != indices.len() || !rows.iter().all(is_row) {
        let message = format!("{} diagonals in rows {rows:?} of {height}", indices.len());
        return Err(e.error(operation, message));
    }
    let reals = tensor.reals();
    let diagonals = reals.map(|reals| {
        let row = |row: i64| reals[row as usize * width..][..width].to_vec();
        indices.iter().zip(rows).map(|(&diagonal, at)| (diagonal, row(at))).collect()
    });
    let name = format!("matrix{}", e.matrices);
    e.matrices += 1;
    Ok(vec![Value::Matrix(Rc::new(Matrix { name, diagonals }))])
}

fn apply<'t>(e: &mut Evaluation<'_, 't>, operation: &Operation<'t>) -> Result<Vec<Value>, Diagnostic> {
    let x = e.ciphertext(operation, 0, false)?;
    let matrix = e.matrix(operation, 1)?;
    let Some(diagonals) = &matrix.diagonals else {
        let error =
            e.error(operation, format_args!("`{}` of a matrix that the file does not have", operation.name));
        return Err(error.with_help("give the argument, or compile without elision of constants"));
    };
    let complex = |values: &Vec<f64>| values.iter().copied().map(Complex64::from).collect();
    let diagonals = diagonals.iter().map(|(&diagonal, values)| (diagonal, complex(values))).collect();
    let is = e.ciphertext_type(operation)?;
    let scale = e.scale(is.level, is.scale_bits);
    e.room(
        operation,
        matrix.diagonals.iter().flatten().flat_map(|(_, row)| row.iter().copied()),
        (is.level, &scale),
    )?;
    let circuit = e.circuit(operation)?;
    let product = circuit.linear_transform_to(&matrix.name, &x, (&diagonals, &scale), Hoisting::Double);
    e.checked(operation, product)
}
