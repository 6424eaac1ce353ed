//! One call for each thing that a cross-check compares: 128-bit transforms of one polynomial, word for word with the RPU.

use crate::{Device, Direction, Error, Modulus, Plan, Strategy};

/// The forward transform of `input`, `n` coefficients in natural order, all below `modulus`, an odd number below 2^128; `root` is
/// a root of `x^n + 1`. The result is in bit-reversed order: `out[j] = sum_i input[i] root^(i (2 bitrev(j) + 1))`.
///
/// On [`Device::emulated`] the same kernels run on the CPU.
///
/// # Errors
/// As [`Modulus::new`], [`Plan::new`] (n from 2^10 to 2^17) and [`Plan::upload`].
pub fn forward_wide(
    device: &Device,
    n: usize,
    modulus: u128,
    root: u128,
    input: &[u128],
) -> Result<Vec<u128>, Error> {
    wide(device, n, modulus, root, Direction::Forward, input)
}

/// The inverse of [`forward_wide`]: bit-reversed order in, natural order out.
///
/// # Errors
/// As [`forward_wide`].
pub fn inverse_wide(
    device: &Device,
    n: usize,
    modulus: u128,
    root: u128,
    input: &[u128],
) -> Result<Vec<u128>, Error> {
    wide(device, n, modulus, root, Direction::Inverse, input)
}

fn wide(
    device: &Device,
    n: usize,
    modulus: u128,
    root: u128,
    direction: Direction,
    input: &[u128],
) -> Result<Vec<u128>, Error> {
    let modulus = Modulus::new(modulus, root, n)?;
    Plan::new(device, Strategy::Wide, &[modulus])?.run(direction, input)
}
