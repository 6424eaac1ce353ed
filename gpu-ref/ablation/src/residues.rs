//! Conversion of long integers to residues and back, as in the first and last phase of HE-Booster.

use crate::measure::sample_launch;
use gpu_ref::device::{Argument, Kernel, Launch};
use gpu_ref::number::{mul_mod, pow_mod};
use gpu_ref::{Batch, Device, Error, Modulus, Timing, Word, barrett_constants, check_residues, source};
use num_bigint::BigUint;
use num_traits::ToPrimitive;

/// Access to the words of long integers in global memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Access {
    /// Neighbouring threads access neighbouring words and transpose them in shared memory.
    Transposed,
    /// Each thread accesses the consecutive words of its own integer.
    Strided,
}

/// The kernels of [`Residues`] for words of 32 or 64 bits: `decompose`, `garner`, `direct`.
pub fn kernels(word_bits: u32, access: Access) -> String {
    source::assemble("residues.cu", include_str!("../cuda/residues.cu"), word_bits)
        + &format!("RESIDUE_KERNELS({})\n", access == Access::Transposed)
}

/// Algorithm for the reconstruction of an integer from its residues.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Reconstruction {
    /// Garner's algorithm: mixed-radix digits first, modulo single words.
    Garner,
    /// The sum of the Chinese remainder theorem, modulo the product of all moduli.
    Direct,
}

/// Polynomials with long coefficients, and their residues modulo several word-sized moduli.
///
/// Coefficients are laid out `[polynomial][N][words]`, least significant word first. Residues are
/// laid out `[polynomial][limb][N]`, as in [`gpu_ref::Plan`]. `words` is the length of the product Q
/// of all moduli.
pub struct Residues<W> {
    device: Device,
    moduli: Vec<Modulus<W>>,
    access: Access,
    words: usize,
    decompose: Kernel,
    garner: Kernel,
    direct: Kernel,
    constants: Batch<W>,
    /// 2^bits modulo each limb.
    radices: Batch<W>,
    /// For Garner: the inverse of modulus j modulo modulus i, at i limbs + j.
    mixed_inverses: Batch<W>,
    /// For the direct sum: the inverses of Q / q, and Q followed by all Q / q.
    inverses: Batch<W>,
    multiples: Batch<W>,
}

const THREADS: usize = 128;

impl<W: Word> Residues<W> {
    /// Creates conversions in words of 32 or 64 bits, for one or more distinct primes of the same
    /// length, from `W::BITS / 2` to `W::BITS - 2` bits, with roots for the same N of at least
    /// 2^10.
    ///
    /// # Errors
    /// Returns [`Error::Modulus`] naming the first invalid modulus, [`Error::Dimension`] if N is
    /// out of range, [`Error::Unsupported`] for 128-bit words or if the moduli exceed a block's
    /// shared memory, and [`Error::Compile`] or [`Error::Driver`] if the device fails.
    pub fn new(device: &Device, moduli: &[Modulus<W>], access: Access) -> Result<Self, Error> {
        let constants = barrett_constants(moduli)?;
        let q = |limb: usize| moduli[limb].q().widen();
        let bits = 128 - q(0).leading_zeros();
        for limb in 0..moduli.len() {
            let length = 128 - q(limb).leading_zeros();
            if length != bits || length < W::BITS / 2 {
                let reason = format!(
                    "all moduli must have the length of the first, {bits} bits, and at least {}",
                    W::BITS / 2
                );
                return Err(Error::Modulus { q: q(limb), reason });
            }
            if moduli[..limb].iter().any(|other| other.q() == moduli[limb].q()) {
                return Err(Error::Modulus { q: q(limb), reason: "duplicate modulus".into() });
            }
        }
        let inverse = |x: u128, q: u128| {
            let inverse = pow_mod(x, q - 2, q);
            if mul_mod(x % q, inverse, q) == 1 { Ok(W::narrow(inverse)) } else { Err(composite(q)) }
        };
        let limbs = moduli.len();
        let mut mixed = vec![W::zeroed(); limbs * limbs];
        for i in 0..limbs {
            for j in 0..i {
                mixed[i * limbs + j] = inverse(q(j), q(i))?;
            }
        }
        let product: BigUint = (0..limbs).map(|limb| BigUint::from(q(limb))).product();
        let words = product.bits().div_ceil(W::BITS.into()) as usize;
        let mut multiples = split(&product, words);
        let mut inverses = Vec::with_capacity(limbs);
        for limb in 0..limbs {
            let others = &product / q(limb);
            let rest = (&others % q(limb)).to_u128().expect("a remainder is below its 128-bit modulus");
            inverses.push(inverse(rest, q(limb))?);
            multiples.extend(split::<W>(&others, words));
        }
        let radices: Vec<W> = (0..limbs).map(|limb| W::narrow((1 << W::BITS) % q(limb))).collect();

        let module = device.compile("residues.cu", &kernels(W::BITS, access))?;
        let (coefficients, digits) = Self::shared_bytes(access, words, limbs);
        if coefficients + digits > 227 * 1024 {
            return Err(Error::Unsupported {
                what: format!("long integers of {limbs} moduli"),
                instead: "use fewer moduli: a block holds a word of 128 integers for each modulus and word in 227 KiB".into(),
            });
        }
        Ok(Self {
            decompose: module.kernel("decompose", coefficients as u32)?,
            garner: module.kernel("garner", (coefficients + digits) as u32)?,
            direct: module.kernel("direct", coefficients as u32)?,
            constants: Batch::upload(device, &constants)?,
            radices: Batch::upload(device, &radices)?,
            mixed_inverses: Batch::upload(device, &mixed)?,
            inverses: Batch::upload(device, &inverses)?,
            multiples: Batch::upload(device, &multiples)?,
            device: device.clone(),
            moduli: moduli.to_vec(),
            access,
            words,
        })
    }

    /// Bytes of shared memory for a block's coefficients and for their digits.
    fn shared_bytes(access: Access, words: usize, limbs: usize) -> (usize, usize) {
        let coefficients = if access == Access::Transposed { words * (THREADS + 1) } else { 0 };
        (coefficients * size_of::<W>(), limbs * THREADS * size_of::<W>())
    }

    /// Words per coefficient.
    pub fn words(&self) -> usize {
        self.words
    }

    fn n(&self) -> usize {
        self.moduli[0].n()
    }

    fn decomposition(&self, coefficients: &Batch<W>, residues: &Batch<W>) -> Launch<'_> {
        let (shared, _) = Self::shared_bytes(self.access, self.words, self.moduli.len());
        let data = vec![coefficients.pointer(), residues.pointer(), self.radices.pointer()];
        self.launch(&self.decompose, residues, shared, data)
    }

    fn reconstruction(
        &self,
        how: Reconstruction,
        residues: &Batch<W>,
        coefficients: &Batch<W>,
    ) -> Launch<'_> {
        let (own, digits) = Self::shared_bytes(self.access, self.words, self.moduli.len());
        let mut data = vec![residues.pointer(), coefficients.pointer()];
        let (kernel, shared) = match how {
            Reconstruction::Garner => {
                data.push(self.mixed_inverses.pointer());
                (&self.garner, own + digits)
            }
            Reconstruction::Direct => {
                data.extend([self.inverses.pointer(), self.multiples.pointer()]);
                (&self.direct, own)
            }
        };
        self.launch(kernel, residues, shared, data)
    }

    /// The launch of a kernel for as many polynomials as a batch of residues has. Its arguments begin with
    /// `data`.
    fn launch<'a>(
        &self,
        kernel: &'a Kernel,
        residues: &Batch<W>,
        shared: usize,
        data: Vec<Argument>,
    ) -> Launch<'a> {
        let mut arguments = data;
        arguments.push(self.constants.pointer());
        arguments.extend([self.moduli.len(), self.words, self.n()].map(|x| Argument::from(x as u32)));
        let polynomials = residues.words() / (self.moduli.len() * self.n());
        let grid = [(self.n() / THREADS) as u32, 1, polynomials as u32];
        Launch::ordered(kernel, grid, THREADS as u32, shared as u32, arguments)
    }

    /// The residues of coefficients, which may be any integers of [`Self::words`] words.
    ///
    /// # Errors
    /// Returns [`Error::Length`] unless there are one or more polynomials, and [`Error::Driver`] if a
    /// driver call fails.
    pub fn decompose(&self, coefficients: &[W]) -> Result<Vec<W>, Error> {
        let (from, to) = self.for_decompose(coefficients)?;
        // SAFETY: the arguments match the kernel's parameters, and the batches have as many polynomials.
        unsafe { self.device.launch(&self.decomposition(&from, &to)) }?;
        to.download()
    }

    /// The coefficients below Q with these residues.
    ///
    /// # Errors
    /// Returns the errors of [`Self::decompose`], and [`Error::Range`] naming the first residue
    /// not below its modulus.
    pub fn reconstruct(&self, how: Reconstruction, residues: &[W]) -> Result<Vec<W>, Error> {
        let (from, to) = self.for_reconstruct(residues)?;
        // SAFETY: as above.
        unsafe { self.device.launch(&self.reconstruction(how, &from, &to)) }?;
        to.download()
    }

    /// Device time of [`Self::decompose`].
    ///
    /// # Errors
    /// Returns the errors of [`Self::decompose`], and [`Error::Unsupported`] on an emulated device.
    pub fn time_decompose(&self, coefficients: &[W]) -> Result<Timing, Error> {
        let (from, to) = self.for_decompose(coefficients)?;
        sample_launch(&self.device, &self.decomposition(&from, &to))
    }

    /// Device time of [`Self::reconstruct`], which depends on the data.
    ///
    /// # Errors
    /// Returns the errors of [`Self::reconstruct`], and [`Error::Unsupported`] on an emulated device.
    pub fn time_reconstruct(&self, how: Reconstruction, residues: &[W]) -> Result<Timing, Error> {
        let (from, to) = self.for_reconstruct(residues)?;
        sample_launch(&self.device, &self.reconstruction(how, &from, &to))
    }

    /// Uploads coefficients, and allocates their residues.
    fn for_decompose(&self, coefficients: &[W]) -> Result<(Batch<W>, Batch<W>), Error> {
        self.beside(coefficients, self.words, self.moduli.len())
    }

    /// Uploads residues, and allocates the coefficients.
    fn for_reconstruct(&self, residues: &[W]) -> Result<(Batch<W>, Batch<W>), Error> {
        check_residues(&self.moduli, residues)?;
        self.beside(residues, self.moduli.len(), self.words)
    }

    /// Uploads polynomials of `from` rows, and allocates as many of `to` rows.
    fn beside(&self, words: &[W], from: usize, to: usize) -> Result<(Batch<W>, Batch<W>), Error> {
        let unit = from * self.n();
        if words.is_empty() || !words.len().is_multiple_of(unit) {
            return Err(Error::Length { unit, got: words.len() });
        }
        Ok((Batch::upload(&self.device, words)?, Batch::zeroed(&self.device, words.len() / from * to)?))
    }
}

/// The words of a number, least significant first.
fn split<W: Word>(number: &BigUint, words: usize) -> Vec<W> {
    let word = |k: usize| {
        let mask = (BigUint::from(1u32) << W::BITS) - 1u32;
        W::narrow(((number >> (k * W::BITS as usize)) & mask).to_u128().expect("a word has at most 128 bits"))
    };
    (0..words).map(word).collect()
}

fn composite(q: u128) -> Error {
    Error::Modulus { q, reason: "moduli must be distinct primes".into() }
}
