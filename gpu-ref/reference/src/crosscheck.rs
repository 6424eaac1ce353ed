//! One call for each operation of a cross-check: all operands and results are 128-bit numbers in host
//! memory, whatever the word size of the kernels.
//!
//! `word_bits` is 32, 64 or 128. Vectors are one or more rows of `n` residues, in the order that each
//! function states; transformed rows are in bit-reversed order: `out[j] = sum_i in[i] root^(i (2
//! bitrev(j) + 1))`. [`Device::emulated`] runs the same kernels on the CPU.

use crate::automorphism;
use crate::base_conversion;
use crate::inner_product::{Fusion, InnerProduct};
use crate::key_switch::{self, Basis, Division};
use crate::{Device, Direction, Error, Feature, Modulus, Plan, Recipe, Strategy, Word};

/// A modulus with a root of `x^n + 1`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ring {
    /// The modulus, odd.
    pub q: u128,
    /// The root: a primitive 2n-th root of unity if `q` is prime.
    pub root: u128,
}

/// Evaluates an expression for a type `$W` of `$bits` bits.
macro_rules! in_words {
    ($bits:expr, $W:ident => $body:expr) => {
        match $bits {
            32 => {
                type $W = u32;
                $body
            }
            64 => {
                type $W = u64;
                $body
            }
            _ => {
                type $W = u128;
                $body
            }
        }
    };
}

fn moduli<W: Word>(n: usize, rings: &[Ring]) -> Result<Vec<Modulus<W>>, Error> {
    let modulus = |&Ring { q, root }: &Ring| {
        if q.checked_shr(W::BITS).is_some_and(|high| high > 0) {
            return Err(Error::Modulus { q, reason: format!("expected at most {} bits", W::BITS) });
        }
        Modulus::new(W::narrow(q), W::narrow(root), n)
    };
    rings.iter().map(modulus).collect()
}

/// Words as the kernels have them. Those that are too long become the largest word, which is above every
/// modulus, so that it is refused.
fn narrow<W: Word>(words: &[u128]) -> Vec<W> {
    words.iter().map(|&word| W::narrow(word.min(u128::MAX >> (128 - W::BITS)))).collect()
}

fn widen<W: Word>(words: Vec<W>) -> Vec<u128> {
    words.into_iter().map(W::widen).collect()
}

/// The kernels of a transform or a product.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Kernels {
    /// Those of [`Plan::new`], of a strategy other than [`Strategy::Best`] in words of some bits.
    Strategy(Strategy, u32),
    /// Those of [`Plan::with_recipe`].
    Recipe(Recipe),
}

impl Kernels {
    fn word_bits(&self) -> u32 {
        match self {
            &Self::Strategy(_, bits) => bits,
            Self::Recipe(recipe) => recipe.word_bits(),
        }
    }

    fn plan<W: Word>(&self, device: &Device, moduli: &[Modulus<W>]) -> Result<Plan<W>, Error> {
        match self {
            &Self::Strategy(strategy, _) => Plan::new(device, strategy, moduli),
            Self::Recipe(recipe) => Plan::with_recipe(device, recipe.clone(), moduli),
        }
    }
}

/// The kernels of [`Strategy::Best`] that batches of some size use on a device: how they cross memory, and
/// the recipe for moduli of at most `largest`.
///
/// # Errors
/// Returns the errors of [`Recipe::for_card`].
pub fn best(
    device: &Device,
    word_bits: u32,
    log_n: u32,
    largest: u128,
) -> Result<Vec<(&'static str, Recipe)>, Error> {
    let mut kinds: Vec<(&'static str, Recipe)> = Vec::new();
    for transforms in [1, 64, 512] {
        let recipe = Recipe::for_card(device.card()?, word_bits, log_n, largest, transforms)?;
        let kind = match transforms {
            1 => "single",
            _ if recipe.has(Feature::Once) => "once",
            _ if recipe.has(Feature::Chained) => "chained",
            _ => "passes",
        };
        if kinds.iter().all(|(known, _)| *known != kind) {
            kinds.push((kind, recipe));
        }
    }
    Ok(kinds)
}

/// Polynomials `[polynomial][ring][n]` of one computation, which are computed `copies` times in one batch.
#[derive(Clone, Copy, Debug)]
pub struct Copies<'w> {
    /// The words.
    pub words: &'w [u128],
    /// The number of copies, at least one.
    pub copies: usize,
}

impl Copies<'_> {
    fn narrow<W: Word>(self) -> Vec<W> {
        narrow::<W>(self.words).repeat(self.copies)
    }

    /// The results of one copy: the first that differs from the one before, or the first.
    fn one_of<W: Word>(self, results: Vec<W>) -> Vec<u128> {
        let mut all = results.chunks(self.words.len());
        let first = all.next().unwrap_or_default();
        widen(all.find(|copy| *copy != first).unwrap_or(first).to_vec())
    }
}

/// Transforms of polynomials modulo each of some numbers.
///
/// # Errors
/// Returns the errors of [`Modulus::new`], of the plan and of [`Plan::upload`].
pub fn transform(
    device: &Device,
    kernels: &Kernels,
    direction: Direction,
    n: usize,
    rings: &[Ring],
    polynomials: Copies<'_>,
) -> Result<Vec<u128>, Error> {
    in_words!(kernels.word_bits(), W => {
        let plan = kernels.plan(device, &moduli::<W>(n, rings)?)?;
        plan.run(direction, &polynomials.narrow()).map(|words| polynomials.one_of(words))
    })
}

/// Products of polynomials modulo `x^n + 1` and each of some numbers, in natural order.
///
/// # Errors
/// Returns the errors of [`transform`], and [`Error::Length`] if the operands differ in length.
pub fn product(
    device: &Device,
    kernels: &Kernels,
    n: usize,
    rings: &[Ring],
    left: Copies<'_>,
    right: Copies<'_>,
) -> Result<Vec<u128>, Error> {
    in_words!(kernels.word_bits(), W => {
        let plan = kernels.plan(device, &moduli::<W>(n, rings)?)?;
        let (mut product, mut others) = (plan.upload(&left.narrow())?, plan.upload(&right.narrow())?);
        plan.multiply(&mut product, &mut others)?;
        plan.download(&product).map(|words| left.one_of(words))
    })
}

/// Rows modulo each prime of `from` to rows modulo each of `to`, by
/// [`base_conversion::BaseConversion`]. Both are coefficients.
///
/// # Errors
/// Returns the errors of [`Modulus::find_at_most`] and of the conversion.
pub fn convert(
    device: &Device,
    n: usize,
    from: &[u128],
    to: &[u128],
    rows: &[u128],
) -> Result<Vec<u128>, Error> {
    let moduli = |primes: &[u128]| -> Result<Vec<_>, Error> {
        primes.iter().map(|&q| Modulus::<u32>::find_at_most(q, n, 0)).collect()
    };
    let conversion = base_conversion::BaseConversion::new(device, &moduli(from)?, &moduli(to)?)?;
    conversion.run(&narrow(rows)).map(widen)
}

/// The map `X -> X^power` on transformed rows, by [`automorphism::Automorphism`].
///
/// # Errors
/// Returns its errors.
pub fn automorphism(
    device: &Device,
    word_bits: u32,
    n: usize,
    power: u32,
    rows: &[u128],
) -> Result<Vec<u128>, Error> {
    in_words!(word_bits, W => {
        automorphism::Automorphism::<W>::new(device, n)?.run(power, &narrow(rows)).map(widen)
    })
}

/// Sums of the products of transformed polynomials, a row each, with keys of two rows each, by
/// [`InnerProduct`]: one row for each part of a key. Keys are laid out `[term][2][n]`.
///
/// # Errors
/// Returns the errors of [`Modulus::find_at_most`] and [`InnerProduct`].
pub fn inner_product(
    device: &Device,
    (fusion, word_bits): (Fusion, u32),
    n: usize,
    prime: u128,
    polynomials: &[u128],
    keys: &[u128],
) -> Result<Vec<u128>, Error> {
    in_words!(word_bits, W => {
        let moduli = [Modulus::<W>::find_at_most(prime, n, 0)?];
        let mut product = InnerProduct::new(device, &moduli, polynomials.len() / n, fusion)?;
        product.run(&narrow(polynomials), &narrow(keys)).map(widen)
    })
}

/// The moduli of a key switch: see [`Basis`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeyRings {
    /// The ciphertext's limbs.
    pub limbs: Vec<Ring>,
    /// The special limbs.
    pub special: Vec<Ring>,
    /// Number of digits.
    pub digits: usize,
}

/// A key switch, by [`key_switch::switch`].
///
/// # Errors
/// Returns the errors of [`Modulus::new`], [`Basis::new`] and the switch.
pub fn switch_key(
    device: &Device,
    (division, word_bits): (Division, u32),
    n: usize,
    rings: &KeyRings,
    polynomial: &[u128],
    key: &[u128],
) -> Result<Vec<u128>, Error> {
    in_words!(word_bits, W => {
        let basis = Basis::<W>::new(&moduli(n, &rings.limbs)?, &moduli(n, &rings.special)?, rings.digits)?;
        key_switch::switch(device, &basis, division, &narrow(key), &narrow(polynomial)).map(widen)
    })
}
