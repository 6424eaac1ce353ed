//! Key switching on one device.
//!
//! A polynomial is a table with a row for each limb and a column for each coefficient or evaluation
//! point. It is switched in the transformed domain, in bit-reversed order: `[limb][N]`. Its digits are
//! extended to all limbs and multiplied by the key, `[digit][2][all limbs][N]`. The two sums of products
//! are divided by the special limbs: `[2][limb][N]`. Sums of several devices are in `gpu-experiments`.

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
        kernels.lower(sums.pointer(), lowered.pointer(), n)?;
    }
    own.transform(Direction::Forward, &mut lowered)?;
    lowered.download()
}
