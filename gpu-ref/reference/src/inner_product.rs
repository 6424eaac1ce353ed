//! Inner products of key switching, as in HE-Booster: fused into one kernel, or a kernel for each
//! product and sum.

use crate::batch::check_residues;
use crate::device::{Argument, Kernel, Launch};
use crate::field::barrett_constants;
use crate::{Batch, Device, Error, Modulus, Word, source};

/// Number of kernels of an inner product.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fusion {
    /// One kernel, which reads each polynomial once for both parts of its key (the paper's FMAC).
    Fused,
    /// A kernel for each product and each sum, `4 terms - 2` in total (SMAC).
    Separate,
}

/// Inner products of `terms` polynomials with as many keys of two polynomials each.
///
/// All data are in the transformed domain. The layouts are `[term][limb][N]` for polynomials,
/// `[term][2][limb][N]` for keys, and `[2][limb][N]` for results.
pub struct InnerProduct<W> {
    device: Device,
    moduli: Vec<Modulus<W>>,
    terms: usize,
    fusion: Fusion,
    inner_product: Kernel,
    multiply: Kernel,
    add: Kernel,
    constants: Batch<W>,
    /// For separate kernels: the products of one term.
    products: Batch<W>,
}

const THREADS: usize = 128;

impl<W: Word> InnerProduct<W> {
    /// Creates inner products of `terms` polynomials in words of 32 or 64 bits. The moduli have at
    /// most `W::BITS - 2` bits and roots for the same N of at least 2^10.
    ///
    /// # Errors
    /// Returns [`Error::Modulus`] naming the first invalid modulus, [`Error::Dimension`] if N is out of
    /// range, and [`Error::Unsupported`] for 128-bit words or no terms.
    pub fn new(device: &Device, moduli: &[Modulus<W>], terms: usize, fusion: Fusion) -> Result<Self, Error> {
        if terms == 0 {
            return Err(Error::Unsupported {
                what: "an inner product of 0 terms".into(),
                instead: "use one or more terms".into(),
            });
        }
        let constants = barrett_constants(moduli)?;
        let module = device.compile("inner_product.cu", &source::for_words("inner_product.cu", W::BITS))?;
        Ok(Self {
            inner_product: module.kernel("inner_product", 0)?,
            multiply: module.kernel("multiply", 0)?,
            add: module.kernel("add", 0)?,
            constants: Batch::upload(device, &constants)?,
            products: Batch::zeroed(device, moduli.len() * moduli[0].n())?,
            device: device.clone(),
            moduli: moduli.to_vec(),
            terms,
            fusion,
        })
    }

    fn polynomial_words(&self) -> usize {
        self.moduli.len() * self.moduli[0].n()
    }

    /// Computes the two sums of polynomials and keys, in the last batch. On a GPU the call returns before the
    /// work is done.
    ///
    /// # Errors
    /// Returns [`Error::Length`] unless the batches have the lengths of the layouts above, and
    /// [`Error::Unsupported`] if a batch is on another device.
    pub fn apply(&mut self, [polynomials, keys, out]: &mut [Batch<W>; 3]) -> Result<(), Error> {
        let words = self.polynomial_words();
        let lengths = [self.terms * words, 2 * self.terms * words, 2 * words];
        for (batch, unit) in [&*polynomials, keys, out].into_iter().zip(lengths) {
            self.device.require(batch.device())?;
            if batch.words() != unit {
                return Err(Error::Length { unit, got: batch.words() });
            }
        }
        if self.fusion == Fusion::Fused {
            let pointers = [polynomials.pointer(), keys.pointer(), out.pointer()];
            // SAFETY: the batches have that many terms, and `out` is borrowed exclusively.
            return unsafe { self.start(&self.inner_product, pointers, Some(self.terms)) };
        }
        for term in 0..self.terms {
            for part in 0..2 {
                let (x, key) =
                    (polynomials.pointer_at(term * words), keys.pointer_at((2 * term + part) * words));
                let (sum, product) = (out.pointer_at(part * words), self.products.pointer());
                // SAFETY: all polynomials are inside their batches; `out` and the products are
                // borrowed exclusively.
                unsafe {
                    if term == 0 {
                        self.start(&self.multiply, [x, key, sum], None)?;
                    } else {
                        self.start(&self.multiply, [x, key, product], None)?;
                        self.start(&self.add, [sum, product, sum], None)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Launches a kernel on whole polynomials.
    ///
    /// # Safety
    /// See [`Device::launch`].
    unsafe fn start(&self, kernel: &Kernel, data: [Argument; 3], terms: Option<usize>) -> Result<(), Error> {
        let (limbs, n) = (self.moduli.len(), self.moduli[0].n());
        let mut arguments = data.to_vec();
        arguments.extend([self.constants.pointer(), (limbs as u32).into(), (n as u32).into()]);
        // All rows of a polynomial have sums.
        arguments
            .extend(terms.into_iter().flat_map(|terms| [terms, limbs]).map(|x| Argument::from(x as u32)));
        let grid = [(n / THREADS) as u32, limbs as u32, 1];
        // SAFETY: guaranteed by the caller.
        unsafe { self.device.launch(&Launch::ordered(kernel, grid, THREADS as u32, 0, arguments)) }
    }

    /// The two sums for polynomials and keys in host memory.
    ///
    /// # Errors
    /// Returns [`Error::Length`] unless they have the lengths of the layouts above, and [`Error::Range`]
    /// naming the first word not below its modulus.
    pub fn run(&mut self, polynomials: &[W], keys: &[W]) -> Result<Vec<W>, Error> {
        let mut batches = self.batches(polynomials, keys)?;
        self.apply(&mut batches)?;
        batches[2].download()
    }

    /// Uploads polynomials and keys, and allocates the sums.
    ///
    /// # Errors
    /// Returns [`Error::Range`] naming the first word not below its modulus.
    pub fn batches(&self, polynomials: &[W], keys: &[W]) -> Result<[Batch<W>; 3], Error> {
        check_residues(&self.moduli, polynomials)?;
        check_residues(&self.moduli, keys)?;
        let upload = |words| Batch::upload(&self.device, words);
        Ok([upload(polynomials)?, upload(keys)?, Batch::zeroed(&self.device, 2 * self.polynomial_words())?])
    }
}
