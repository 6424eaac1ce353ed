//! Conversion of long integers to residues and back, as in the first and last phase of HE-Booster.

use crate::batch::{check_residues, store};
use crate::device::{Argument, Buffer, Kernel, Launch};
use crate::field::barrett_constants;
pub use crate::mapping::Access;
use crate::number::{mul_mod, pow_mod};
use crate::timing::{Timing, sample_launch};
use crate::{Batch, Device, Error, Modulus, Word, source};
use num_bigint::BigUint;
use num_traits::ToPrimitive;

/// Algorithm for the reconstruction of an integer from its residues.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reconstruction {
    /// Garner's algorithm: mixed-radix digits first, modulo single words.
    Garner,
    /// The sum of the Chinese remainder theorem, modulo the product of all moduli.
    Direct,
}

/// Polynomials with long coefficients, and their residues modulo several word-sized moduli.
///
/// Coefficients are laid out `[polynomial][N][words]`, least significant word first. Residues are
/// laid out `[polynomial][limb][N]`, as in [`crate::Plan`]. `words` is the length of the product Q
/// of all moduli.
pub struct Residues<W> {
    device: Device,
    moduli: Vec<Modulus<W>>,
    access: Access,
    words: usize,
    decompose: Kernel,
    garner: Kernel,
    direct: Kernel,
    constants: Buffer,
    /// 2^bits modulo each limb.
    radices: Buffer,
    /// For Garner: the inverse of modulus j modulo modulus i, at i limbs + j.
    mixed_inverses: Buffer,
    /// For the direct sum: the inverses of Q / q, and Q followed by all Q / q.
    inverses: Buffer,
    multiples: Buffer,
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

        let module = device.compile("residues.cu", &source::residues(W::BITS, access))?;
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
            constants: store(device, &constants)?,
            radices: store(device, &radices)?,
            mixed_inverses: store(device, &mixed)?,
            inverses: store(device, &inverses)?,
            multiples: store(device, &multiples)?,
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

    /// Number of polynomials in both batches.
    fn polynomials(&self, coefficients: &Batch<W>, residues: &Batch<W>) -> Result<usize, Error> {
        self.device.require(coefficients.device())?;
        self.device.require(residues.device())?;
        let unit = self.n() * self.words;
        if coefficients.words() == 0 || !coefficients.words().is_multiple_of(unit) {
            return Err(Error::Length { unit, got: coefficients.words() });
        }
        let polynomials = coefficients.words() / unit;
        let wanted = polynomials * self.moduli.len() * self.n();
        if residues.words() != wanted {
            return Err(Error::Length { unit: wanted, got: residues.words() });
        }
        Ok(polynomials)
    }

    /// Computes the residues of coefficients, which may be any integers of [`Self::words`] words.
    /// On a GPU the call returns before the work is done.
    ///
    /// # Errors
    /// Returns [`Error::Length`] unless `coefficients` holds one or more polynomials and `residues`
    /// the same number, [`Error::Unsupported`] if a batch is on another device, and
    /// [`Error::Driver`] if a driver call fails.
    pub fn decompose(&self, coefficients: &Batch<W>, residues: &mut Batch<W>) -> Result<(), Error> {
        // SAFETY: `residues` is borrowed exclusively.
        unsafe { self.device.launch(&self.decomposition(coefficients, residues)?) }
    }

    /// Computes the coefficients below Q with the given residues. On a GPU the call returns before
    /// the work is done.
    ///
    /// # Errors
    /// Returns the errors of [`Self::decompose`].
    pub fn reconstruct(
        &self,
        how: Reconstruction,
        residues: &Batch<W>,
        coefficients: &mut Batch<W>,
    ) -> Result<(), Error> {
        // SAFETY: `coefficients` is borrowed exclusively.
        unsafe { self.device.launch(&self.reconstruction(how, residues, coefficients)?) }
    }

    /// The launch of [`Self::decompose`].
    fn decomposition(&self, coefficients: &Batch<W>, residues: &mut Batch<W>) -> Result<Launch<'_>, Error> {
        let polynomials = self.polynomials(coefficients, residues)?;
        let (shared, _) = Self::shared_bytes(self.access, self.words, self.moduli.len());
        let data = vec![coefficients.pointer(), residues.pointer(), self.radices.pointer()];
        Ok(self.launch(&self.decompose, polynomials, shared, data))
    }

    /// The launch of [`Self::reconstruct`].
    fn reconstruction(
        &self,
        how: Reconstruction,
        residues: &Batch<W>,
        coefficients: &mut Batch<W>,
    ) -> Result<Launch<'_>, Error> {
        let polynomials = self.polynomials(coefficients, residues)?;
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
        Ok(self.launch(kernel, polynomials, shared, data))
    }

    /// The launch of a kernel for `polynomials` polynomials. Its arguments begin with `data`.
    fn launch<'a>(
        &self,
        kernel: &'a Kernel,
        polynomials: usize,
        shared: usize,
        data: Vec<Argument>,
    ) -> Launch<'a> {
        let mut arguments = data;
        arguments.push(self.constants.pointer());
        arguments.extend([self.moduli.len(), self.words, self.n()].map(|x| Argument::from(x as u32)));
        let grid = [(self.n() / THREADS) as u32, 1, polynomials as u32];
        Launch::ordered(kernel, grid, THREADS as u32, shared as u32, arguments)
    }

    /// [`Self::decompose`] for coefficients in host memory.
    ///
    /// # Errors
    /// Returns the errors of [`Self::decompose`].
    pub fn run_decompose(&self, coefficients: &[W]) -> Result<Vec<W>, Error> {
        let (from, mut to) = self.for_decompose(coefficients)?;
        self.decompose(&from, &mut to)?;
        to.download()
    }

    /// [`Self::reconstruct`] for residues in host memory.
    ///
    /// # Errors
    /// Returns the errors of [`Self::reconstruct`], and [`Error::Range`] naming the first residue
    /// not below its modulus.
    pub fn run_reconstruct(&self, how: Reconstruction, residues: &[W]) -> Result<Vec<W>, Error> {
        let (from, mut to) = self.for_reconstruct(residues)?;
        self.reconstruct(how, &from, &mut to)?;
        to.download()
    }

    /// Device time of [`Self::decompose`] for coefficients in host memory.
    ///
    /// # Errors
    /// Returns the errors of [`Self::run_decompose`], and [`Error::Unsupported`] on an emulated
    /// device.
    pub fn time_decompose(&self, coefficients: &[W]) -> Result<Timing, Error> {
        let (from, mut to) = self.for_decompose(coefficients)?;
        sample_launch(&self.device, &self.decomposition(&from, &mut to)?)
    }

    /// Device time of [`Self::reconstruct`] for residues in host memory.
    /// The time depends on the data.
    ///
    /// # Errors
    /// Returns the errors of [`Self::run_reconstruct`], and [`Error::Unsupported`] on an emulated
    /// device.
    pub fn time_reconstruct(&self, how: Reconstruction, residues: &[W]) -> Result<Timing, Error> {
        let (from, mut to) = self.for_reconstruct(residues)?;
        sample_launch(&self.device, &self.reconstruction(how, &from, &mut to)?)
    }

    /// Uploads coefficients and allocates their residues.
    fn for_decompose(&self, coefficients: &[W]) -> Result<(Batch<W>, Batch<W>), Error> {
        let residues = coefficients.len() / self.words * self.moduli.len();
        Ok((Batch::upload(&self.device, coefficients)?, Batch::zeroed(&self.device, residues)?))
    }

    /// Uploads residues and allocates the coefficients.
    fn for_reconstruct(&self, residues: &[W]) -> Result<(Batch<W>, Batch<W>), Error> {
        check_residues(&self.moduli, residues)?;
        let coefficients = residues.len() / self.moduli.len() * self.words;
        Ok((Batch::upload(&self.device, residues)?, Batch::zeroed(&self.device, coefficients)?))
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
