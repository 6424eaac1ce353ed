//! The conversions of a key switch, each for itself, on one device and host data.

use super::{Basis, Node, THREADS, number, plan};
use crate::batch::store;
use crate::device::Device;
use crate::{Batch, Direction, Error, Word};

/// Extends polynomials from each digit of the ciphertext's limbs to the special limbs.
///
/// Input: `[limb][N]`. Output: `[digit][special limb][N]`. Both are transformed, in bit-reversed order.
/// The values of a digit are those of an integer congruent to them, less than the product of its limbs
/// times their number; see [`crate::base_conversion`].
///
/// # Errors
/// Returns [`Error::Length`] unless there are [`Basis::polynomial_words`] words, [`Error::Range`] naming
/// the first word not below its modulus, and any device error.
pub fn mod_up<W: Word>(device: &Device, basis: &Basis<W>, polynomial: &[W]) -> Result<Vec<W>, Error> {
    let (n, limbs, extended, digits) = (basis.n(), basis.limbs(), basis.extended(), basis.digits());
    require(polynomial, basis.polynomial_words())?;
    let (source, target) = (plan(device, &basis.moduli[..limbs])?, plan(device, &basis.moduli[limbs..])?);
    let mut coefficients = source.upload(polynomial)?;
    source.transform(Direction::Inverse, &mut coefficients)?;
    let special = extended - limbs;
    let mut raised = Batch::zeroed(device, digits * special * n)?;
    let shared_words = limbs.div_ceil(digits);
    let node = Node::new(device, &basis.moduli, shared_words)?;
    let [inverses, factors] = basis.up();
    let (inverses, factors) = (store(device, &inverses)?, store(device, &factors)?);
    let mut arguments = vec![coefficients.pointer(), raised.pointer(), inverses.pointer(), factors.pointer()];
    arguments.push(node.constants_from(0));
    let (first, step, others) = (0, 1, 0);
    let numbers = [limbs, extended, n, digits, first, step, limbs, special, others, special];
    arguments.extend(numbers.map(number));
    let shared = shared_words * THREADS * size_of::<W>();
    // SAFETY: the arguments match the parameters of `mod_up`, and the batches have that many columns,
    // limbs and digits.
    unsafe { node.launch(&node.mod_up, n, [1, digits], shared, arguments) }?;
    target.transform(Direction::Forward, &mut raised)?;
    target.download(&raised)
}

/// Divides a polynomial by the product of the special limbs.
///
/// Input: `[limb][N]` for the ciphertext's limbs, then the special ones. Output: `[limb][N]`. Both are
/// transformed, in bit-reversed order. What is subtracted before the division is an integer congruent to
/// the special limbs, as in [`mod_up`].
///
/// # Errors
/// Returns [`Error::Length`] unless there are N words for each limb, [`Error::Range`] naming the first
/// word not below its modulus, and any device error.
pub fn mod_down<W: Word>(device: &Device, basis: &Basis<W>, polynomial: &[W]) -> Result<Vec<W>, Error> {
    let (n, limbs, extended) = (basis.n(), basis.limbs(), basis.extended());
    require(polynomial, extended * n)?;
    let (all, target) = (plan(device, &basis.moduli)?, plan(device, &basis.moduli[..limbs])?);
    let mut coefficients = all.upload(polynomial)?;
    all.transform(Direction::Inverse, &mut coefficients)?;
    let mut lowered = Batch::zeroed(device, limbs * n)?;
    let special = extended - limbs;
    let node = Node::new(device, &basis.moduli, special)?;
    let tables = basis.down().iter().map(|table| store(device, table)).collect::<Result<Vec<_>, _>>()?;
    let mut arguments = vec![coefficients.pointer(), lowered.pointer()];
    arguments.extend(tables.iter().map(|table| table.pointer()));
    arguments.push(node.constants_from(0));
    arguments.extend([limbs, extended, n].map(number));
    let shared = special * THREADS * size_of::<W>();
    // SAFETY: the arguments match the parameters of `mod_down`, and the batches have that many columns and
    // limbs.
    unsafe { node.launch(&node.mod_down, n, [1, 1], shared, arguments) }?;
    target.transform(Direction::Forward, &mut lowered)?;
    target.download(&lowered)
}

fn require<W>(polynomial: &[W], unit: usize) -> Result<(), Error> {
    if polynomial.len() == unit { Ok(()) } else { Err(Error::Length { unit, got: polynomial.len() }) }
}
