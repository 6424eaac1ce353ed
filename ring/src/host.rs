//! The transform on the host's processor, as one would write it without an RPU.
//!
//! [`Fast`] is the baseline of the RPU's speed-up: the fastest transform of this crate on the
//! processor at hand, forward only. [`Ntt`] is the plain one, which the simulator's speed is measured
//! against: radix 2, scalar, in place, Montgomery multiplication with prepared twiddle factors, no
//! lazy bounds. [`Ntt64`] transforms words of 64 bits.
//!
//! All take any odd modulus with a root, and give the same results:
//!
//! ```
//! use ring::host::{Fast, Ntt};
//! use ring::modular::Modulus;
//!
//! // 3^8 = -1 mod 17.
//! let (n, q, psi) = (8, 17, 3);
//! let mut x = [3, 1, 4, 1, 5, 9, 2, 6];
//! let mut y = x;
//! Fast::new(n, q, psi)?.forward(&mut x);
//! Ntt::new(Modulus::new(q)?, n, psi)?.forward(&mut y);
//! assert_eq!(x, y);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod fast;
mod lazy;
mod ntt64;
#[cfg(test)]
mod tests;

pub use fast::{Fast, Kernel, forward_all};
pub use ntt64::Ntt64;

use crate::modular::{Modulus, ModulusError, Prepared};
use thiserror::Error;

/// Parameters that define no negacyclic transform.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum NttError {
    /// No modulus.
    #[error(transparent)]
    Modulus(#[from] ModulusError),
    /// A length that is not a power of two.
    #[error("a transform of {0} points: the length must be a power of two and at least 2")]
    Length(usize),
    /// A root that is not a primitive 2n-th root of unity.
    #[error("{root:#x} is no primitive {}th root of unity modulo {modulus:#x}: its {n}th power is not -1", 2 * n)]
    Root {
        /// The root given.
        root: u128,
        /// The modulus.
        modulus: u128,
        /// The length.
        n: usize,
    },
    /// A kernel that the processor lacks, or that cannot do this transform.
    #[error("no kernel `{kernel}` for {n} points modulo {modulus:#x} on this processor")]
    Unavailable {
        /// The kernel asked for.
        kernel: Kernel,
        /// The length.
        n: usize,
        /// The modulus.
        modulus: u128,
    },
}

/// A negacyclic number-theoretic transform of n points with its tables.
///
/// Forward takes natural order to bit-reversed order, `y[i] = x(psi^(2 bitrev(i) + 1))`, without
/// scaling; inverse undoes it.
#[derive(Clone, Debug)]
pub struct Ntt {
    modulus: Modulus,
    /// Place `j` holds psi^bitrev(j).
    forward: Vec<Prepared>,
    /// Place `j` holds psi^-bitrev(j).
    inverse: Vec<Prepared>,
    /// 1/n.
    scale: Prepared,
}

impl Ntt {
    /// The tables for `n` points with psi = `root`.
    ///
    /// # Errors
    /// Where `n` is no power of two from 2 on, or `root^n` is not -1.
    pub fn new(modulus: Modulus, n: usize, root: u128) -> Result<Self, NttError> {
        check_root(&modulus, n, root)?;
        // root^n = -1 makes the root a unit; n, a power of two, is one in every odd modulus.
        let not_a_root = NttError::Root { root, modulus: modulus.value(), n };
        let unit = |value| modulus.inverse(value).ok_or(not_a_root);
        let prepared = |root| bit_reversed_powers(&modulus, n, root).into_iter().map(|w| modulus.prepare(w));
        Ok(Self {
            modulus,
            forward: prepared(root).collect(),
            inverse: prepared(unit(root)?).collect(),
            scale: modulus.prepare(unit(modulus.residue(n as u128))?),
        })
    }

    /// The number of points.
    #[expect(clippy::len_without_is_empty, reason = "a transform has at least two points")]
    pub fn len(&self) -> usize {
        self.forward.len()
    }

    /// Transforms `x`, natural order in, bit-reversed order out. Values must be below the modulus.
    ///
    /// # Panics
    /// Where `x` does not have [`len`](Self::len) elements.
    pub fn forward(&self, x: &mut [u128]) {
        assert_eq!(x.len(), self.len(), "the transform has another length");
        let q = self.modulus;
        let mut half = x.len() / 2;
        while half > 0 {
            let blocks = x.len() / (2 * half);
            for (block, &w) in x.chunks_exact_mut(2 * half).zip(&self.forward[blocks..]) {
                let (low, high) = block.split_at_mut(half);
                for (a, b) in low.iter_mut().zip(high) {
                    let t = q.mul_prepared(*b, w);
                    (*a, *b) = (q.add(*a, t), q.sub(*a, t));
                }
            }
            half /= 2;
        }
    }

    /// The inverse of [`forward`](Self::forward), scaled by 1/n: bit-reversed order in, natural
    /// order out. Values must be below the modulus.
    ///
    /// # Panics
    /// Where `x` does not have [`len`](Self::len) elements.
    pub fn inverse(&self, x: &mut [u128]) {
        assert_eq!(x.len(), self.len(), "the transform has another length");
        let q = self.modulus;
        let mut half = 1;
        while half < x.len() {
            let blocks = x.len() / (2 * half);
            for (block, &w) in x.chunks_exact_mut(2 * half).zip(&self.inverse[blocks..]) {
                let (low, high) = block.split_at_mut(half);
                for (a, b) in low.iter_mut().zip(high) {
                    (*a, *b) = (q.add(*a, *b), q.mul_prepared(q.sub(*a, *b), w));
                }
            }
            half *= 2;
        }
        for value in x {
            *value = q.mul_prepared(*value, self.scale);
        }
    }
}

/// Checks that `root` defines a negacyclic transform of `n` points.
fn check_root(q: &Modulus, n: usize, root: u128) -> Result<(), NttError> {
    if n < 2 || !n.is_power_of_two() {
        return Err(NttError::Length(n));
    }
    if root >= q.value() || q.pow(root, n as u128) != q.neg(1) {
        return Err(NttError::Root { root, modulus: q.value(), n });
    }
    Ok(())
}

/// The powers 0 to n - 1 of `root`, in bit-reversed order.
fn bit_reversed_powers(q: &Modulus, n: usize, root: u128) -> Vec<u128> {
    let root = q.prepare(root);
    let mut table = vec![0; n];
    let mut power = 1;
    for exponent in 0..n {
        table[exponent.reverse_bits() >> (usize::BITS - n.ilog2())] = power;
        power = q.mul_prepared(power, root);
    }
    table
}
