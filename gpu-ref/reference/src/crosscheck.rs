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
use crate::{Device, Direction, Error, Modulus, Plan, Strategy, Word};

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

/// Transforms of rows modulo one number.
///
/// # Errors
/// Returns the errors of [`Modulus::new`], [`Plan::new`] and [`Plan::upload`].
pub fn transform(
    device: &Device,
    (strategy, word_bits): (Strategy, u32),
    direction: Direction,
    n: usize,
    ring: Ring,
    rows: &[u128],
) -> Result<Vec<u128>, Error> {
    in_words!(word_bits, W => {
        let plan = Plan::new(device, strategy, &moduli::<W>(n, &[ring])?)?;
        plan.run(direction, &narrow(rows)).map(widen)
    })
}

/// Products of rows modulo `x^n + 1`, in natural order.
///
/// # Errors
/// Returns the errors of [`transform`], and [`Error::Length`] if the operands differ in length.
pub fn product(
    device: &Device,
    (strategy, word_bits): (Strategy, u32),
    n: usize,
    ring: Ring,
    left: &[u128],
    right: &[u128],
) -> Result<Vec<u128>, Error> {
    in_words!(word_bits, W => {
        let plan = Plan::new(device, strategy, &moduli::<W>(n, &[ring])?)?;
        let (mut product, mut right) = (plan.upload(&narrow(left))?, plan.upload(&narrow(right))?);
        plan.multiply(&mut product, &mut right)?;
        plan.download(&product).map(widen)
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
