//! One call for each operation of a cross-check: 128-bit transforms and products, compared with the
//! RPU word for word.
//!
//! `modulus` is an odd number below 2^128, and `root` a root of `x^n + 1` for n from 2^10 to 2^17.
//! Operands are one or more consecutive polynomials of n coefficients below the modulus.
//! [`Device::emulated`] runs the same kernels on the CPU.

use crate::{Device, Direction, Error, Modulus, Plan, Strategy};

/// Forward transforms of polynomials in natural order. The results are in bit-reversed order:
/// `out[j] = sum_i input[i] root^(i (2 bitrev(j) + 1))`.
///
/// # Errors
/// Returns the errors of [`Modulus::new`], [`Plan::new`] and [`Plan::upload`].
pub fn forward_wide(
    device: &Device,
    n: usize,
    modulus: u128,
    root: u128,
    input: &[u128],
) -> Result<Vec<u128>, Error> {
    plan(device, n, modulus, root)?.run(Direction::Forward, input)
}

/// Inverse of [`forward_wide`]: bit-reversed order in, natural order out, scaled by 1/n.
///
/// # Errors
/// Returns the errors of [`forward_wide`].
pub fn inverse_wide(
    device: &Device,
    n: usize,
    modulus: u128,
    root: u128,
    input: &[u128],
) -> Result<Vec<u128>, Error> {
    plan(device, n, modulus, root)?.run(Direction::Inverse, input)
}

/// Products of polynomials modulo `x^n + 1`, all in natural order.
///
/// # Errors
/// Returns the errors of [`forward_wide`], and [`Error::Length`] if the operands differ in length.
pub fn product_wide(
    device: &Device,
    n: usize,
    modulus: u128,
    root: u128,
    left: &[u128],
    right: &[u128],
) -> Result<Vec<u128>, Error> {
    let plan = plan(device, n, modulus, root)?;
    let (mut product, mut right) = (plan.upload(left)?, plan.upload(right)?);
    plan.multiply(&mut product, &mut right)?;
    plan.download(&product)
}

fn plan(device: &Device, n: usize, modulus: u128, root: u128) -> Result<Plan<u128>, Error> {
    Plan::new(device, Strategy::Wide, &[Modulus::new(modulus, root, n)?])
}
