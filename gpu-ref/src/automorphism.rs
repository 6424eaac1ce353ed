//! Automorphisms `X -> X^power` of transformed polynomials, as in Cheddar.

use crate::device::{Kernel, Launch};
use crate::recipe::LOG_N;
use crate::{Batch, Device, Error, Word, source};
use std::marker::PhantomData;

/// The maps `X -> X^power` on transformed polynomials in bit-reversed order, for odd powers and one N.
///
/// In the transformed domain they only move words, so that moduli do not matter: data are rows of N words.
pub struct Automorphism<W> {
    device: Device,
    kernel: Kernel,
    n: usize,
    word: PhantomData<W>,
}

const THREADS: u32 = 256;

impl<W: Word> Automorphism<W> {
    /// The automorphisms for polynomials of `n` coefficients, a power of two from 2^10 to 2^17.
    ///
    /// # Errors
    /// [`Error::Dimension`] for another n; [`Error::Compile`] and [`Error::Driver`] from the device.
    pub fn new(device: &Device, n: usize) -> Result<Self, Error> {
        let (min, max) = (1 << LOG_N.start(), 1 << LOG_N.end());
        if !n.is_power_of_two() || !(min..=max).contains(&n) {
            return Err(Error::Dimension { n, min, max });
        }
        let module = device.compile("automorphism.cu", &source::automorphism(W::BITS))?;
        Ok(Self { kernel: module.kernel("automorphism", 0)?, device: device.clone(), n, word: PhantomData })
    }

    /// The power that rotates the slots of a CKKS ciphertext by `steps`: 5^steps modulo 2N.
    pub fn rotation(&self, steps: u32) -> u32 {
        // Powers wrap modulo 2^32, a multiple of 2N.
        5u32.wrapping_pow(steps) & (2 * self.n as u32 - 1)
    }

    /// Writes the images of the rows of `from` under `X -> X^power` to `to`. On a GPU this only starts the work.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for an even power, or if a batch lies on another device; [`Error::Length`] unless both batches
    /// have as many rows, at least one and at most 65,535; [`Error::Driver`].
    pub fn apply(&self, power: u32, from: &Batch<W>, to: &mut Batch<W>) -> Result<(), Error> {
        self.device.require(from.device())?;
        self.device.require(to.device())?;
        if power.is_multiple_of(2) {
            return Err(Error::Unsupported {
                what: format!("the map X -> X^{power}"),
                instead: "only odd powers permute the roots of X^N + 1".into(),
            });
        }
        let rows = from.words() / self.n;
        if rows == 0 || rows > 65_535 || !from.words().is_multiple_of(self.n) {
            return Err(Error::Length { unit: self.n, got: from.words() });
        }
        if to.words() != from.words() {
            return Err(Error::Length { unit: from.words(), got: to.words() });
        }
        let arguments = vec![from.pointer(), to.pointer(), self.n.ilog2().into(), power.into()];
        let grid = [self.n as u32 / THREADS, rows as u32, 1];
        // SAFETY: the arguments are those of `automorphism`, both batches have so many rows, and nothing else has `to`.
        unsafe { self.device.launch(&Launch::ordered(&self.kernel, grid, THREADS, 0, arguments)) }
    }

    /// The images of rows of the host.
    ///
    /// # Errors
    /// As [`Self::apply`].
    pub fn run(&self, power: u32, words: &[W]) -> Result<Vec<W>, Error> {
        let from = Batch::upload(&self.device, words)?;
        let mut to = Batch::zeroed(&self.device, words.len())?;
        self.apply(power, &from, &mut to)?;
        to.download()
    }
}
