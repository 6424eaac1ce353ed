//! Transforms on the processor of this computer: the baselines of the RPU.
//!
//! [`Fast`] is the baseline of the RPU's speed-up: the fastest forward transform of this crate on the
//! current processor. [`Ntt`] is the baseline of the simulator's speed: scalar code in place, radix
//! 2, Montgomery multiplication with prepared twiddle factors, no lazy reduction. [`Ntt64`]
//! transforms words of 64 bits.
//!
//! All accept any odd modulus with a root, and their results are equal:
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
mod implementation;
mod lazy;
mod ntt64;
#[cfg(test)]
mod tests;

pub use fast::{Fast, forward_all};
pub use implementation::Implementation;
pub use ntt64::Ntt64;

use crate::modular::{Modulus, Prepared};
use crate::root::check_root;
use crate::{Degree, Error, Ring};

/// A negacyclic number-theoretic transform of n points with its tables.
///
/// Forward maps natural order to bit-reversed order, `y[i] = x(psi^(2 bitrev(i) + 1))`, without scaling;
/// inverse undoes it.
#[derive(Clone, Debug)]
pub struct Ntt {
    modulus: Modulus,
    /// Entry `j` is psi^bitrev(j).
    forward: Vec<Prepared>,
    /// Entry `j` is psi^-bitrev(j).
    inverse: Vec<Prepared>,
    /// 1/n.
    scale: Prepared,
}

impl Ntt {
    /// The tables for `n` points with psi = `root`.
    ///
    /// # Errors
    /// Returns an error if `n` is not a [`Degree`], or `root^n` is not -1. The modulus need not be
    /// prime.
    pub fn new(modulus: Modulus, n: usize, root: u128) -> Result<Self, Error> {
        let degree = Degree::try_from(n)?;
        check_root(&modulus, degree, root)?;
        // root^n = -1 makes the root a unit; n, a power of two, is one modulo every odd number.
        let not_a_root = Error::NotARoot { root, modulus: modulus.value(), order: degree.order() };
        let unit = |value| modulus.inverse(value).ok_or(not_a_root);
        let prepared =
            |root| bit_reversed_powers(&modulus, degree, root).into_iter().map(|w| modulus.prepare(w));
        Ok(Self {
            modulus,
            forward: prepared(root).collect(),
            inverse: prepared(unit(root)?).collect(),
            scale: modulus.prepare(unit(modulus.residue(n as u128))?),
        })
    }

    /// The tables for a ring.
    ///
    /// # Errors
    /// Returns an error if the ring has no root.
    pub fn for_ring(ring: &Ring) -> Result<Self, Error> {
        Self::new(*ring.modulus(), ring.len(), ring.require_root()?)
    }

    /// The number of points.
    #[expect(clippy::len_without_is_empty, reason = "a transform has at least two points")]
    pub fn len(&self) -> usize {
        self.forward.len()
    }

    /// Transforms `x`, natural order in, bit-reversed order out. Values must be below the modulus.
    ///
    /// # Panics
    /// Panics if `x` does not have [`len`](Self::len) elements.
    pub fn forward(&self, x: &mut [u128]) {
        assert_eq!(x.len(), self.len(), "the length of `x` is not that of the transform");
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
    /// Panics if `x` does not have [`len`](Self::len) elements.
    pub fn inverse(&self, x: &mut [u128]) {
        assert_eq!(x.len(), self.len(), "the length of `x` is not that of the transform");
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

/// The powers 0 to n - 1 of `root`, in bit-reversed order.
fn bit_reversed_powers(q: &Modulus, degree: Degree, root: u128) -> Vec<u128> {
    let root = q.prepare(root);
    let mut table = vec![0; degree.len()];
    let mut power = 1;
    for exponent in 0..degree.len() {
        table[degree.bit_reverse(exponent)] = power;
        power = q.mul_prepared(power, root);
    }
    table
}
