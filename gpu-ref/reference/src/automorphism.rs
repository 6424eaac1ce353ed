//! Automorphisms `X -> X^power` of transformed polynomials, as in Cheddar.

use crate::device::{Kernel, Launch};
use crate::recipe::LOG_N;
use crate::{Batch, Device, Error, Word, source};
use std::marker::PhantomData;

/// The maps `X -> X^power` on transformed polynomials in bit-reversed order, for odd powers and a
/// fixed N.
///
/// In the transformed domain they only permute words, so moduli are irrelevant: the data are rows
/// of N words.
pub struct Automorphism<W> {
    device: Device,
    kernel: Kernel,
    n: usize,
    word: PhantomData<W>,
}

const THREADS: u32 = 256;

impl<W: Word> Automorphism<W> {
    /// Creates the automorphisms for polynomials of `n` coefficients, a power of two from 2^10 to
    /// 2^17.
    ///
    /// # Errors
    /// Returns [`Error::Dimension`] if `n` is out of range.
    pub fn new(device: &Device, n: usize) -> Result<Self, Error> {
        let (min, max) = (1 << LOG_N.start(), 1 << LOG_N.end());
        if !n.is_power_of_two() || !(min..=max).contains(&n) {
            return Err(Error::Dimension { n, min, max });
        }
        let module = device.compile("automorphism.cu", &source::for_words("automorphism.cu", W::BITS))?;
        Ok(Self { kernel: module.kernel("automorphism", 0)?, device: device.clone(), n, word: PhantomData })
    }

    /// Maps rows in host memory.
    ///
    /// # Errors
    /// Returns [`Error::Unsupported`] if the power is even, and [`Error::Length`] unless there are 1 to
    /// 65,535 rows.
    pub fn run(&self, power: u32, words: &[W]) -> Result<Vec<W>, Error> {
        if power.is_multiple_of(2) {
            return Err(Error::Unsupported {
                what: format!("the map X -> X^{power}"),
                instead: "use an odd power, which permutes the roots of X^N + 1".into(),
            });
        }
        let rows = words.len() / self.n;
        if rows == 0 || rows > 65_535 || !words.len().is_multiple_of(self.n) {
            return Err(Error::Length { unit: self.n, got: words.len() });
        }
        let from = Batch::upload(&self.device, words)?;
        let to = Batch::zeroed(&self.device, words.len())?;
        let arguments = vec![from.pointer(), to.pointer(), self.n.ilog2().into(), power.into()];
        let grid = [self.n as u32 / THREADS, rows as u32, 1];
        // SAFETY: the arguments match the parameters of `automorphism`, and both batches have that many
        // rows.
        unsafe { self.device.launch(&Launch::ordered(&self.kernel, grid, THREADS, 0, arguments)) }?;
        to.download()
    }
}
