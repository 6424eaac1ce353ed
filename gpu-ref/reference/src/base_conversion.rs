//! Base conversion of coefficients in 32-bit words, as in Cheddar.
//!
//! For moduli `p_0 .. p_(a-1)` with product P, a column `x_0 .. x_(a-1)` of residues represents the
//! integer `sum_j (x_j (P / p_j)^-1 mod p_j) P / p_j`. It is congruent to each `x_j` and less than
//! `a P`. Conversion reduces it modulo each target.

use crate::batch::check_residues;
use crate::device::{Kernel, Launch};
use crate::field::Field;
use crate::number::{mul_mod, pow_mod, shift_mod};
use crate::recipe::{Recipe, Strategy};
use crate::{Batch, Device, Error, Modulus, source};

/// Conversion of coefficients between sets of moduli (Cheddar's BConv).
///
/// Data are `polynomials x limbs x N` words, in that order, on both sides. The order of the N
/// columns is irrelevant.
pub struct BaseConversion {
    device: Device,
    from: Vec<Modulus<u32>>,
    to: Vec<Modulus<u32>>,
    convert: Kernel,
    scale: Kernel,
    matrix: Batch<u32>,
    factors: Batch<u32>,
    from_constants: Batch<u32>,
    to_constants: Batch<u32>,
    /// Number of products whose sum fits 64 bits.
    terms: u32,
}

/// Threads of a block.
const THREADS: u32 = 256;
/// Target limbs and neighbouring columns of a thread: Cheddar's choice.
const THREAD_LIMBS: u32 = 3;
const THREAD_COLUMNS: u32 = 4;

/// Bytes of shared memory: the block's rows of the matrix, for `from` source limbs.
fn shared_bytes(from: usize) -> u32 {
    4 * THREAD_LIMBS * from as u32
}

impl BaseConversion {
    /// Creates a conversion from one or more distinct primes to one or more moduli. All are below
    /// 2^30 and have roots for the same N, from 2^10 to 2^17.
    ///
    /// # Errors
    /// Returns [`Error::Modulus`] naming the first invalid modulus, and [`Error::Dimension`] if N is out of
    /// range.
    pub fn new(device: &Device, from: &[Modulus<u32>], to: &[Modulus<u32>]) -> Result<Self, Error> {
        let factors = factors(from)?;
        let n = from[0].n();
        let field = Field::new(&Recipe::new(Strategy::Cheddar, 32, n.checked_ilog2().unwrap_or(0))?);
        if to.is_empty() {
            return Err(Error::Modulus { q: 0, reason: "expected at least one target modulus".into() });
        }
        from.iter().chain(to).try_for_each(|modulus| field.check(modulus, n))?;

        let longest = from.iter().map(Modulus::q).max().unwrap_or(1);
        let matrix: Vec<u32> = to
            .iter()
            .flat_map(|to| (0..from.len()).map(move |j| (to, j)))
            .map(|(to, j)| {
                let q = u128::from(to.q());
                let entry = shift_mod(others(from, j, q), 32, q);
                // The residue of least magnitude, in two's complement.
                if entry > q / 2 { (entry as u32).wrapping_sub(to.q()) } else { entry as u32 }
            })
            .collect();
        let scaled: Vec<u32> =
            factors.iter().zip(from).map(|(&f, m)| shift_mod(f, 32, m.q().into()) as u32).collect();
        let constants = |moduli: &[Modulus<u32>]| {
            Batch::upload(device, &moduli.iter().flat_map(|m| field.constants(m)).collect::<Vec<u32>>())
        };
        let module = device.compile("base_conversion.cu", &source::for_words("base_conversion.cu", 32))?;
        Ok(Self {
            convert: module.kernel("convert", shared_bytes(from.len()))?,
            scale: module.kernel("scale", 0)?,
            matrix: Batch::upload(device, &matrix)?,
            factors: Batch::upload(device, &scaled)?,
            from_constants: constants(from)?,
            to_constants: constants(to)?,
            terms: u32::MAX / longest,
            device: device.clone(),
            from: from.to_vec(),
            to: to.to_vec(),
        })
    }

    fn n(&self) -> usize {
        self.from[0].n()
    }

    /// The multiplication of the words by `(P / p_j)^-1`, in place.
    fn scaling(&self, from: &Batch<u32>) -> Launch<'_> {
        let arguments = vec![
            from.pointer(),
            self.factors.pointer(),
            self.from_constants.pointer(),
            (self.from.len() as u32).into(),
            (self.n() as u32).into(),
        ];
        let grid = [self.n() as u32 / THREADS, (from.words() / self.n()) as u32, 1];
        Launch::ordered(&self.scale, grid, THREADS, 0, arguments)
    }

    /// The matrix product of words that are already multiplied by `(P / p_j)^-1`.
    fn multiplication(&self, from: &Batch<u32>, to: &Batch<u32>) -> Launch<'_> {
        let grid = [
            self.n() as u32 / (THREADS * THREAD_COLUMNS),
            (self.to.len() as u32).div_ceil(THREAD_LIMBS),
            (from.words() / (self.from.len() * self.n())) as u32,
        ];
        let arguments = vec![
            from.pointer(),
            to.pointer(),
            self.matrix.pointer(),
            self.to_constants.pointer(),
            (self.from.len() as u32).into(),
            (self.to.len() as u32).into(),
            (self.n() as u32).into(),
            self.terms.into(),
        ];
        Launch::ordered(&self.convert, grid, THREADS, shared_bytes(self.from.len()), arguments)
    }

    /// Converts polynomials in host memory.
    ///
    /// # Errors
    /// Returns [`Error::Length`] unless there are one or more polynomials, and [`Error::Range`] naming the
    /// first word not below its modulus.
    pub fn run(&self, words: &[u32]) -> Result<Vec<u32>, Error> {
        let unit = self.from.len() * self.n();
        if words.is_empty() || !words.len().is_multiple_of(unit) {
            return Err(Error::Length { unit, got: words.len() });
        }
        check_residues(&self.from, words)?;
        let (from, to) = (Batch::upload(&self.device, words)?, self.images(words.len())?);
        // SAFETY: the arguments match the kernels' parameters, and the batches have that many polynomials.
        unsafe {
            self.device.launch(&self.scaling(&from))?;
            self.device.launch(&self.multiplication(&from, &to))?;
        }
        to.download()
    }

    /// Room for the images of `words` words.
    fn images(&self, words: usize) -> Result<Batch<u32>, Error> {
        Batch::zeroed(&self.device, words / self.from.len() * self.to.len())
    }
}

/// Product of all moduli except number `without`, modulo `q`.
fn others(moduli: &[Modulus<u32>], without: usize, q: u128) -> u128 {
    let others = moduli.iter().enumerate().filter(|&(number, _)| number != without);
    others.fold(1, |product, (_, modulus)| mul_mod(product, modulus.q().into(), q))
}

/// `(P / p_j)^-1` modulo each `p_j`.
///
/// # Errors
/// Returns [`Error::Modulus`] if there are no moduli, or naming a modulus that is composite or repeated.
fn factors(moduli: &[Modulus<u32>]) -> Result<Vec<u128>, Error> {
    if moduli.is_empty() {
        return Err(Error::Modulus { q: 0, reason: "expected at least one source modulus".into() });
    }
    let inverse = |j: usize| {
        let q = u128::from(moduli[j].q());
        let rest = others(moduli, j, q);
        let inverse = pow_mod(rest, q - 2, q);
        if mul_mod(rest, inverse, q) == 1 {
            return Ok(inverse);
        }
        Err(Error::Modulus { q, reason: "source moduli must be distinct primes".into() })
    };
    (0..moduli.len()).map(inverse).collect()
}
