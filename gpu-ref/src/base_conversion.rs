//! Base conversion in 32-bit words, as in Cheddar: of coefficients, and of transformed polynomials.
//!
//! For moduli `p_0 .. p_(a-1)` with product P, a column `x_0 .. x_(a-1)` of residues represents the
//! integer `sum_j (x_j (P / p_j)^-1 mod p_j) P / p_j`. It is congruent to each `x_j` and less than
//! `a P`. Conversion reduces it modulo each target.

use crate::batch::{check_residues, store};
use crate::device::{Buffer, Kernel, Launch};
use crate::field::Field;
pub use crate::mapping::Tile;
use crate::number::{mul_mod, pow_mod, shift_mod};
use crate::recipe::{Recipe, Strategy};
use crate::timing::{Timing, sample_launch};
use crate::{Batch, Device, Direction, Error, Modulus, Plan, source};

/// Conversion of coefficients between sets of moduli (Cheddar's BConv).
///
/// Data are `polynomials x limbs x N` words, in that order, on both sides. The order of the N
/// columns is irrelevant.
pub struct BaseConversion {
    device: Device,
    from: Vec<Modulus<u32>>,
    to: Vec<Modulus<u32>>,
    tile: Tile,
    convert: Kernel,
    scale: Kernel,
    matrix: Buffer,
    factors: Buffer,
    from_constants: Buffer,
    to_constants: Buffer,
    /// Number of products whose sum fits 64 bits.
    terms: u32,
}

impl BaseConversion {
    /// Creates a conversion from one or more distinct primes to one or more moduli. All are below
    /// 2^30 and have roots for the same N, from 2^10 to 2^17.
    ///
    /// # Errors
    /// Returns [`Error::Modulus`] naming the first invalid modulus, [`Error::Dimension`] if N is
    /// out of range, [`Error::Unsupported`] if the tile exceeds a block or N, and
    /// [`Error::Compile`] or [`Error::Driver`] if the device fails.
    pub fn new(
        device: &Device,
        from: &[Modulus<u32>],
        to: &[Modulus<u32>],
        tile: Tile,
    ) -> Result<Self, Error> {
        let factors = factors(from)?;
        let n = from[0].n();
        let field = Field::new(&Recipe::new(Strategy::Cheddar, 32, n.checked_ilog2().unwrap_or(0))?);
        if to.is_empty() {
            return Err(Error::Modulus { q: 0, reason: "expected at least one target modulus".into() });
        }
        for modulus in from.iter().chain(to) {
            field.check(modulus)?;
            if modulus.n() != n {
                let reason = format!("expected a root for N = {n}, found one for N = {}", modulus.n());
                return Err(Error::Modulus { q: modulus.q().into(), reason });
            }
        }
        tile.check(from.len(), n)?;

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
            store(device, &moduli.iter().flat_map(|m| field.constants(m, 1)).collect::<Vec<u32>>())
        };
        let shared = tile.shared_bytes(from.len()) as u32;
        let module = device.compile("base_conversion.cu", &source::base_conversion(tile))?;
        Ok(Self {
            convert: module.kernel("convert", shared)?,
            scale: module.kernel("scale", 0)?,
            matrix: store(device, &matrix)?,
            factors: store(device, &scaled)?,
            from_constants: constants(from)?,
            to_constants: constants(to)?,
            terms: u32::MAX / longest,
            device: device.clone(),
            from: from.to_vec(),
            to: to.to_vec(),
            tile,
        })
    }

    fn n(&self) -> usize {
        self.from[0].n()
    }

    /// Number of polynomials in both batches.
    fn polynomials(&self, from: &Batch<u32>, to: &Batch<u32>) -> Result<usize, Error> {
        self.device.require(from.device())?;
        self.device.require(to.device())?;
        let unit = self.from.len() * self.n();
        if from.words() == 0 || !from.words().is_multiple_of(unit) {
            return Err(Error::Length { unit, got: from.words() });
        }
        let polynomials = from.words() / unit;
        let wanted = polynomials * self.to.len() * self.n();
        if to.words() != wanted {
            return Err(Error::Length { unit: wanted, got: to.words() });
        }
        Ok(polynomials)
    }

    /// Converts a batch and overwrites `from`. On a GPU the call returns before the work is done.
    ///
    /// # Errors
    /// Returns [`Error::Length`] unless `from` holds one or more polynomials and `to` the same
    /// number, [`Error::Unsupported`] if a batch is on another device, and [`Error::Driver`] if a
    /// driver call fails.
    pub fn apply(&self, from: &mut Batch<u32>, to: &mut Batch<u32>) -> Result<(), Error> {
        let polynomials = self.polynomials(from, to)?;
        const THREADS: u32 = 256;
        let rows = polynomials * self.from.len();
        let arguments = vec![
            from.pointer(),
            self.factors.pointer(),
            self.from_constants.pointer(),
            (self.from.len() as u32).into(),
            (self.n() as u32).into(),
        ];
        let grid = [self.n() as u32 / THREADS, rows as u32, 1];
        // SAFETY: the arguments match the parameters of `scale`, and the batch is borrowed
        // exclusively.
        unsafe { self.device.launch(&Launch::ordered(&self.scale, grid, THREADS, 0, arguments)) }?;
        self.multiply(from, to, polynomials)
    }

    /// The matrix product, for words already multiplied by [`factors`].
    fn multiply(&self, from: &Batch<u32>, to: &mut Batch<u32>, polynomials: usize) -> Result<(), Error> {
        // SAFETY: the batches have that many polynomials, and `to` is borrowed exclusively.
        unsafe { self.device.launch(&self.multiplication(from, to, polynomials)) }
    }

    /// The launch of [`Self::multiply`].
    fn multiplication(&self, from: &Batch<u32>, to: &mut Batch<u32>, polynomials: usize) -> Launch<'_> {
        let Tile { thread_limbs, thread_columns, block_limbs, block_columns } = self.tile;
        let grid = [
            self.n() as u32 / (thread_columns * block_columns),
            (self.to.len() as u32).div_ceil(thread_limbs * block_limbs),
            polynomials as u32,
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
            block_columns.into(),
        ];
        let (threads, shared) = (block_limbs * block_columns, self.tile.shared_bytes(self.from.len()) as u32);
        Launch::ordered(&self.convert, grid, threads, shared, arguments)
    }

    /// Converts polynomials in host memory.
    ///
    /// # Errors
    /// Returns [`Error::Length`] unless there are one or more polynomials, [`Error::Range`] naming
    /// the first word not below its modulus, and [`Error::Driver`] if a driver call fails.
    pub fn run(&self, words: &[u32]) -> Result<Vec<u32>, Error> {
        let (mut from, mut to) = self.batches(words)?;
        self.apply(&mut from, &mut to)?;
        to.download()
    }

    /// Device time of the matrix product for polynomials in host memory. It
    /// excludes the multiplication by `(P / p_j)^-1`, which an inverse transform includes at no
    /// cost.
    ///
    /// # Errors
    /// Returns the errors of [`Self::run`], and [`Error::Unsupported`] on an emulated device.
    pub fn time(&self, words: &[u32]) -> Result<Timing, Error> {
        let (from, mut to) = self.batches(words)?;
        let polynomials = self.polynomials(&from, &to)?;
        sample_launch(&self.device, &self.multiplication(&from, &mut to, polynomials))
    }

    /// Uploads polynomials and allocates their images.
    fn batches(&self, words: &[u32]) -> Result<(Batch<u32>, Batch<u32>), Error> {
        check_residues(&self.from, words)?;
        let converted = words.len() / self.from.len() * self.to.len();
        Ok((Batch::upload(&self.device, words)?, Batch::zeroed(&self.device, converted)?))
    }
}

/// Conversion of transformed polynomials between sets of moduli (Cheddar's ModSwitch, Algorithm 1):
/// inverse transforms, which also multiply by `(P / p_j)^-1`, then [`BaseConversion`], then forward
/// transforms.
pub struct ModSwitch {
    inverse: Plan<u32>,
    conversion: BaseConversion,
    forward: Plan<u32>,
}

impl ModSwitch {
    /// Creates a switch between moduli accepted by [`BaseConversion::new`].
    ///
    /// # Errors
    /// Returns the errors of [`BaseConversion::new`] and [`Plan::new`].
    pub fn new(
        device: &Device,
        from: &[Modulus<u32>],
        to: &[Modulus<u32>],
        tile: Tile,
    ) -> Result<Self, Error> {
        let conversion = BaseConversion::new(device, from, to, tile)?;
        let recipe = Recipe::new(Strategy::Cheddar, 32, conversion.n().ilog2())?;
        Ok(Self {
            inverse: Plan::with_factors(device, recipe.clone(), from, &factors(from)?)?,
            forward: Plan::with_recipe(device, recipe, to)?,
            conversion,
        })
    }

    /// Switches a batch of transformed polynomials, in bit-reversed order on both sides, and
    /// overwrites `from`. On a GPU the call returns before the work is done.
    ///
    /// # Errors
    /// Returns the errors of [`BaseConversion::apply`].
    pub fn apply(&self, from: &mut Batch<u32>, to: &mut Batch<u32>) -> Result<(), Error> {
        let polynomials = self.conversion.polynomials(from, to)?;
        self.inverse.transform(Direction::Inverse, from)?;
        self.conversion.multiply(from, to, polynomials)?;
        self.forward.transform(Direction::Forward, to)
    }

    /// Switches polynomials in host memory.
    ///
    /// # Errors
    /// Returns the errors of [`BaseConversion::run`].
    pub fn run(&self, words: &[u32]) -> Result<Vec<u32>, Error> {
        let mut from = self.inverse.upload(words)?;
        let wanted = words.len() / self.conversion.from.len() * self.conversion.to.len();
        let mut to = Batch::zeroed(self.forward.device(), wanted)?;
        self.apply(&mut from, &mut to)?;
        to.download()
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
/// Returns [`Error::Modulus`] if there are no moduli, or naming a modulus that is composite or
/// repeated.
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
