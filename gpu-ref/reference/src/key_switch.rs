//! Key switching, and its conversions each for itself, on one device and host data.
//!
//! A polynomial is a table with a row for each limb and a column for each coefficient or evaluation
//! point. It is switched in the transformed domain, in bit-reversed order: `[limb][N]`. Its digits are
//! extended to all limbs and multiplied by the key, `[digit][2][all limbs][N]`. The two sums of products
//! are divided by the special limbs: `[2][limb][N]`. Sums of several devices are in the crate `gpu-multi`.

mod basis;
mod kernels;
mod share;

pub use basis::Basis;
pub use kernels::{Digits, Kernels};
pub use share::Share;

use crate::recipe::Strategy;
use crate::{Batch, Device, Direction, Error, Modulus, Plan, Word};
use std::ops::Range;

/// Part number `number` of `0..total` divided evenly into `parts`.
pub fn part(total: usize, parts: usize, number: usize) -> Range<usize> {
    number * total / parts..(number + 1) * total / parts
}

/// The fastest transforms for some limbs.
///
/// # Errors
/// Returns the errors of [`Plan::new`].
pub fn plan<W: Word>(device: &Device, moduli: &[Modulus<W>]) -> Result<Plan<W>, Error> {
    Plan::new(device, Strategy::Best, moduli)
}

/// The division of the sums by the special limbs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Division {
    /// Of coefficients, column by column, as HE-Booster and Caramel do.
    Columns,
    /// In the transformed domain, row by row: see [`Share`].
    Rows,
}

/// Switches a polynomial.
///
/// # Errors
/// Returns [`Error::Length`] unless polynomial and key have [`Basis::polynomial_words`] and
/// [`Basis::key_words`] words, [`Error::Range`] naming the first word not below its modulus.
pub fn switch<W: Word>(
    device: &Device,
    basis: &Basis<W>,
    division: Division,
    key: &[W],
    polynomial: &[W],
) -> Result<Vec<W>, Error> {
    match division {
        Division::Columns => by_columns(device, basis, key, polynomial),
        Division::Rows => {
            let (limbs, extended) = (basis.limbs(), basis.extended());
            Share::new(device, basis, 0..limbs, limbs..extended, key)?.switch(polynomial)
        }
    }
}

fn by_columns<W: Word>(
    device: &Device,
    basis: &Basis<W>,
    key: &[W],
    polynomial: &[W],
) -> Result<Vec<W>, Error> {
    let (n, limbs, extended) = (basis.n(), basis.limbs(), basis.extended());
    basis.check_polynomial(polynomial)?;
    basis.check_key(key)?;
    let kernels = Kernels::new(device, basis)?;
    let [own, all] = [&basis.moduli()[..limbs], basis.moduli()].map(|moduli| plan(device, moduli));
    let (own, all, key) = (own?, all?, Batch::upload(device, key)?);
    let mut coefficients = own.upload(polynomial)?;
    let batch = |rows: usize| Batch::zeroed(device, rows * n);
    let (mut raised, mut sums) = (batch(basis.digits() * extended)?, batch(2 * extended)?);
    let mut lowered = batch(2 * limbs)?;
    own.transform(Direction::Inverse, &mut coefficients)?;
    // SAFETY: the batches have that many rows of N columns, for all digits.
    unsafe {
        kernels.raise(
            coefficients.pointer(),
            raised.pointer(),
            n,
            basis.all_digits(),
            [0..extended, 0..0],
        )?;
        all.transform(Direction::Forward, &mut raised)?;
        let [from, key, to] = [&raised, &key, &sums].map(Batch::pointer);
        kernels.multiply([from, key, to], 0..extended, extended, n, basis.digits())?;
        all.transform(Direction::Inverse, &mut sums)?;
        kernels.lower(sums.pointer(), lowered.pointer(), n, 2)?;
    }
    own.transform(Direction::Forward, &mut lowered)?;
    lowered.download()
}

/// Extends polynomials from each digit of the ciphertext's limbs to the special limbs.
///
/// Input: `[limb][N]`. Output: `[digit][special limb][N]`. Both are transformed, in bit-reversed order. The
/// values of a digit belong to an integer that is congruent to it and less than the product of its limbs
/// times their number; see [`crate::base_conversion`].
///
/// # Errors
/// Returns [`Error::Length`] unless there are [`Basis::polynomial_words`] words, and [`Error::Range`] naming
/// the first word not below its modulus.
pub fn mod_up<W: Word>(device: &Device, basis: &Basis<W>, polynomial: &[W]) -> Result<Vec<W>, Error> {
    let (n, limbs, extended) = (basis.n(), basis.limbs(), basis.extended());
    basis.check_polynomial(polynomial)?;
    let (source, special) = basis.moduli().split_at(limbs);
    let (source, target) = (plan(device, source)?, plan(device, special)?);
    let mut coefficients = source.upload(polynomial)?;
    source.transform(Direction::Inverse, &mut coefficients)?;
    let mut raised = Batch::zeroed(device, basis.digits() * (extended - limbs) * n)?;
    let kernels = Kernels::new(device, basis)?;
    let (from, to) = (coefficients.pointer(), raised.pointer());
    // SAFETY: the batches have the rows of these limbs, for all digits.
    unsafe { kernels.raise(from, to, n, basis.all_digits(), [limbs..extended, 0..0]) }?;
    target.transform(Direction::Forward, &mut raised)?;
    raised.download()
}

/// Divides a polynomial by the product of the special limbs.
///
/// Input: `[limb][N]` for the ciphertext's limbs, then the special ones. Output: `[limb][N]`. Both are
/// transformed, in bit-reversed order. What is subtracted before the division is an integer congruent to
/// the special limbs, as in [`mod_up`].
///
/// # Errors
/// Returns [`Error::Length`] unless there are N words for each limb, and [`Error::Range`] naming the first
/// word not below its modulus.
pub fn mod_down<W: Word>(device: &Device, basis: &Basis<W>, polynomial: &[W]) -> Result<Vec<W>, Error> {
    let (n, limbs) = (basis.n(), basis.limbs());
    basis.check_words(basis.moduli(), 1, polynomial)?;
    let (all, target) = (plan(device, basis.moduli())?, plan(device, &basis.moduli()[..limbs])?);
    let mut coefficients = all.upload(polynomial)?;
    all.transform(Direction::Inverse, &mut coefficients)?;
    let mut lowered = Batch::zeroed(device, limbs * n)?;
    // SAFETY: one batch has the rows of all limbs, the other the rows of the ciphertext's.
    unsafe { Kernels::new(device, basis)?.lower(coefficients.pointer(), lowered.pointer(), n, 1) }?;
    target.transform(Direction::Forward, &mut lowered)?;
    lowered.download()
}
