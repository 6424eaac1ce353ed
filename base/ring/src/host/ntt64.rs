//! The transform for words of 64 bits.

use super::lazy::{Factor, Lazy};
use super::{Fast, bit_reversed_powers};
use crate::modular::Modulus;
use crate::root::check_root;
use crate::{Degree, Error};

/// A forward negacyclic transform of n points modulo an odd q below 2^64, with the order and the
/// scaling of [`Ntt::forward`](super::Ntt::forward).
///
/// For moduli below 2^62 it is scalar code in radix 4, with Shoup's multiplication and one reduction
/// at the end. For larger moduli the words are widened to 128 bits.
#[derive(Clone, Debug)]
pub struct Ntt64 {
    n: usize,
    tables: Tables,
}

#[derive(Clone, Debug)]
enum Tables {
    Lazy(Lazy<u64>),
    Widened(Fast),
}

impl Ntt64 {
    /// The tables for `n` points modulo `q` with the primitive 2n-th root of unity `psi`.
    ///
    /// # Errors
    /// Returns an error if `q` is even or below 3, `n` is not a [`Degree`], or `psi^n` is not -1.
    pub fn new(n: usize, q: u64, psi: u64) -> Result<Self, Error> {
        if q >> (u64::BITS - 2) != 0 {
            return Ok(Self { n, tables: Tables::Widened(Fast::new(n, q.into(), psi.into())?) });
        }
        let (modulus, degree) = (Modulus::new(q.into())?, Degree::try_from(n)?);
        check_root(&modulus, degree, psi.into())?;
        let factor = |factor: u128| Factor {
            factor: factor as u64,
            quotient: ((factor << u64::BITS) / u128::from(q)) as u64,
        };
        let factors = bit_reversed_powers(&modulus, degree, psi.into()).into_iter().map(factor);
        Ok(Self { n, tables: Tables::Lazy(Lazy::new(q, factors.collect())) })
    }

    /// The number of points.
    #[expect(clippy::len_without_is_empty, reason = "a transform has at least two points")]
    pub fn len(&self) -> usize {
        self.n
    }

    /// Transforms `x` on one thread, natural order in, bit-reversed order out. Values must be below
    /// the modulus.
    ///
    /// # Panics
    /// Panics if `x` does not have [`len`](Self::len) elements.
    pub fn forward(&self, x: &mut [u64]) {
        assert_eq!(x.len(), self.len(), "the length of `x` is not that of the transform");
        match &self.tables {
            Tables::Lazy(lazy) => lazy.forward(x),
            Tables::Widened(fast) => {
                let mut wide: Vec<u128> = x.iter().copied().map(u128::from).collect();
                fast.forward(&mut wide);
                for (x, value) in x.iter_mut().zip(wide) {
                    *x = value as u64;
                }
            }
        }
    }
}
