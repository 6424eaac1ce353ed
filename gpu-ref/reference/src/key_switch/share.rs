//! One device's share of a key switch by limbs from start to end.

use super::{Basis, Digits, Kernels, part, plan};
use crate::device::Argument;
use crate::{Batch, Device, Direction, Error, Plan, Word};
use std::ops::Range;

/// A device's limbs in a key switch. The device keeps its limbs of all polynomials from start to end.
///
/// A conversion needs all limbs of its source, but only the device's own limbs of its target. So the devices
/// give each other two things: the coefficients of the input, while they extend the digits that they have,
/// and the coefficients of the sums' special limbs.
pub struct Share<W> {
    basis: Basis<W>,
    kernels: Kernels<W>,
    /// The device's limbs of the ciphertext and of the special ones, which follow the former in all its
    /// polynomials.
    own: Range<usize>,
    special: Range<usize>,
    /// Transforms of the limbs of the ciphertext, of the special ones, and of both.
    plans: [Plan<W>; 2],
    extended: Plan<W>,
    key: Batch<W>,
    input: Batch<W>,
    /// Digits extended to the device's limbs.
    raised: Batch<W>,
    /// Sums of the products: for each part, the limbs of the ciphertext, and separately the special ones.
    sums: Batch<W>,
    rests: Batch<W>,
    output: Batch<W>,
}

impl<W: Word> Share<W> {
    /// A device's limbs `own` of the ciphertext and `special` of the special ones, with its rows of the key.
    ///
    /// # Errors
    /// Returns the errors of [`Basis::check_key`].
    pub fn new(
        device: &Device,
        basis: &Basis<W>,
        own: Range<usize>,
        special: Range<usize>,
        key: &[W],
    ) -> Result<Self, Error> {
        basis.check_key(key)?;
        let n = basis.n();
        let moduli = [&basis.moduli()[own.clone()], &basis.moduli()[special.clone()]];
        let rows = |polynomial: &[W]| {
            [&polynomial[own.start * n..own.end * n], &polynomial[special.start * n..special.end * n]]
                .concat()
        };
        let key: Vec<W> = key.chunks(basis.extended() * n).flat_map(rows).collect();
        let batch = |rows: usize| Batch::zeroed(device, rows * n);
        Ok(Self {
            basis: basis.clone(),
            kernels: Kernels::new(device, basis)?,
            plans: [plan(device, moduli[0])?, plan(device, moduli[1])?],
            extended: plan(device, &moduli.concat())?,
            key: Batch::upload(device, &key)?,
            input: batch(own.len())?,
            raised: batch(basis.digits() * (own.len() + special.len()))?,
            sums: batch(2 * own.len())?,
            rests: batch(2 * special.len())?,
            output: batch(2 * own.len())?,
            own,
            special,
        })
    }

    /// The limbs of the ciphertext.
    pub fn own(&self) -> Range<usize> {
        self.own.clone()
    }

    /// The special limbs, counted after the ciphertext's.
    pub fn special(&self) -> Range<usize> {
        self.special.clone()
    }

    /// The polynomial to switch, `[own limb][N]`.
    pub fn input(&self) -> &Batch<W> {
        &self.input
    }

    /// The special limbs of the sums, `[2][special limb][N]`.
    pub fn rests(&self) -> &Batch<W> {
        &self.rests
    }

    /// The result, `[2][own limb][N]`.
    pub fn output(&self) -> &Batch<W> {
        &self.output
    }

    /// The input becomes coefficients.
    pub fn invert(&mut self) -> Result<(), Error> {
        self.plans[0].transform(Direction::Inverse, &mut self.input)
    }

    /// Extends the digits whose limbs the device has itself.
    pub fn raise_own(&mut self) -> Result<(), Error> {
        // As if the input had all limbs, and began earlier.
        let missing = (self.own.start * self.basis.n() * size_of::<W>()) as u64;
        self.raise(Argument::address(self.input.address().wrapping_sub(missing)), true)
    }

    /// Extends all other digits, from the coefficients of all limbs of the ciphertext.
    ///
    /// # Errors
    /// Returns [`Error::Length`] unless there are [`Basis::polynomial_words`] words.
    pub fn raise_others(&mut self, coefficients: &Batch<W>) -> Result<(), Error> {
        require(coefficients, self.basis.polynomial_words())?;
        self.raise(coefficients.pointer(), false)
    }

    fn raise(&mut self, from: Argument, present: bool) -> Result<(), Error> {
        let (n, limbs, digits) = (self.basis.n(), self.basis.limbs(), self.basis.digits());
        let has = |digit| {
            let digit = part(limbs, digits, digit);
            self.own.start <= digit.start && digit.end <= self.own.end
        };
        let wanted: Vec<usize> = (0..digits).filter(|&digit| has(digit) == present).collect();
        let rows = self.own.len() + self.special.len();
        // The others are not neighbours if the device has digits in the middle.
        for run in wanted.chunk_by(|a, b| a + 1 == *b) {
            let to = self.raised.pointer_at(run[0] * rows * n);
            let digits = Digits { first: run[0], step: 1, count: run.len() };
            // SAFETY: the source has the limbs of these digits, and the target that many rows of each.
            unsafe { self.kernels.raise(from, to, n, digits, [self.own(), self.special()]) }?;
        }
        Ok(())
    }

    /// Transforms the extended digits.
    pub fn transform(&mut self) -> Result<(), Error> {
        self.extended.transform(Direction::Forward, &mut self.raised)
    }

    /// Multiplies the digits by the key, and adds the products.
    pub fn multiply(&mut self) -> Result<(), Error> {
        let (n, rows) = (self.basis.n(), self.own.len() + self.special.len());
        for (first, limbs, sums) in
            [(0, self.own(), &self.sums), (self.own.len(), self.special(), &self.rests)]
        {
            let addresses =
                [self.raised.pointer_at(first * n), self.key.pointer_at(first * n), sums.pointer()];
            // SAFETY: the batches have that many rows and digits.
            unsafe { self.kernels.multiply(addresses, limbs, rows, n, self.basis.digits()) }?;
        }
        Ok(())
    }

    /// The special limbs of the sums become coefficients.
    pub fn invert_rests(&mut self) -> Result<(), Error> {
        self.plans[1].transform(Direction::Inverse, &mut self.rests)
    }

    /// Converts the coefficients of all special limbs, `[2][special limb][N]`; without them, the device's
    /// own are all.
    ///
    /// # Errors
    /// Returns [`Error::Length`] unless there are as many words.
    pub fn convert(&mut self, all_rests: Option<&Batch<W>>) -> Result<(), Error> {
        let rests = all_rests.unwrap_or(&self.rests);
        require(rests, 2 * (self.basis.extended() - self.basis.limbs()) * self.basis.n())?;
        // SAFETY: the batches have two polynomials of that many rows.
        unsafe { self.kernels.convert_rests(rests.pointer(), self.output.pointer(), self.own()) }
    }

    /// Transforms the converted rests.
    pub fn transform_rests(&mut self) -> Result<(), Error> {
        self.plans[0].transform(Direction::Forward, &mut self.output)
    }

    /// Divides by the product of the special limbs, in the transformed domain.
    pub fn divide(&mut self) -> Result<(), Error> {
        // SAFETY: both batches have two polynomials of that many rows.
        unsafe { self.kernels.divide_rows(self.sums.pointer(), self.output.pointer(), self.own()) }
    }

    /// All steps, for a device with all limbs.
    pub(super) fn switch(mut self, polynomial: &[W]) -> Result<Vec<W>, Error> {
        self.basis.check_polynomial(polynomial)?;
        self.input = self.plans[0].upload(polynomial)?;
        self.invert()?;
        self.raise_own()?;
        self.transform()?;
        self.multiply()?;
        self.invert_rests()?;
        self.convert(None)?;
        self.transform_rests()?;
        self.divide()?;
        self.output.download()
    }
}

fn require<W>(batch: &Batch<W>, unit: usize) -> Result<(), Error> {
    if batch.words() == unit { Ok(()) } else { Err(Error::Length { unit, got: batch.words() }) }
}
