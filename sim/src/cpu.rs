//! The transform on the host's processor, as one would write it without an RPU.
//!
//! Radix 2, scalar, in place, Montgomery multiplication with prepared twiddle factors, no lazy
//! bounds: any odd prime below 2^128. This is the baseline that the simulator's speed is measured
//! against.

use crate::modular::{Modulus, Prepared};
use thiserror::Error;

/// Parameters that define no negacyclic transform.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum NttError {
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
        if n < 2 || !n.is_power_of_two() {
            return Err(NttError::Length(n));
        }
        let not_a_root = NttError::Root { root, modulus: modulus.value(), n };
        if root >= modulus.value() || modulus.pow(root, n as u128) != modulus.neg(1) {
            return Err(not_a_root);
        }
        // root^n = -1 makes the root a unit; n, a power of two, is one in every odd modulus.
        let unit = |value| modulus.inverse(value).ok_or(not_a_root);
        Ok(Self {
            modulus,
            forward: powers(&modulus, n, root),
            inverse: powers(&modulus, n, unit(root)?),
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

/// The powers 0 to n - 1 of `root`, in bit-reversed order.
fn powers(q: &Modulus, n: usize, root: u128) -> Vec<Prepared> {
    let root = q.prepare(root);
    let mut table = vec![Prepared::default(); n];
    let mut power = q.residue(1);
    for exponent in 0..n {
        table[exponent.reverse_bits() >> (usize::BITS - n.ilog2())] = q.prepare(power);
        power = q.mul_prepared(power, root);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_points_modulo_seventeen_are_the_definition() {
        // psi = 2 is a primitive eighth root of unity: 2^4 = -1 mod 17.
        let q = Modulus::new(17).unwrap();
        let ntt = Ntt::new(q, 4, 2).unwrap();
        let x = [3, 1, 4, 15];
        let at = |point: u128| x.iter().rev().fold(0, |sum, &c| (sum * point + c) % 17);
        // The exponents 2 bitrev(i) + 1 are 1, 5, 3, 7.
        let expected = [at(2), at(15), at(8), at(9)];
        let mut y = x;
        ntt.forward(&mut y);
        assert_eq!(y, expected);
        ntt.inverse(&mut y);
        assert_eq!(y, x);
    }

    #[test]
    fn what_is_no_transform_is_refused() {
        let q = Modulus::new(17).unwrap();
        assert_eq!(Ntt::new(q, 6, 2).unwrap_err(), NttError::Length(6));
        assert_eq!(Ntt::new(q, 1, 16).unwrap_err(), NttError::Length(1));
        assert_eq!(Ntt::new(q, 4, 4).unwrap_err(), NttError::Root { root: 4, modulus: 17, n: 4 });
        assert_eq!(Ntt::new(q, 4, 19).unwrap_err(), NttError::Root { root: 19, modulus: 17, n: 4 });
    }
}
