//! The fastest transform of this crate on the current processor.

use super::implementation::Implementation;
use super::lazy::{Factor, Lazy};
use super::{Ntt, bit_reversed_powers};
#[cfg(target_arch = "x86_64")]
use crate::avx512::{Fma, Ifma, Transform};
use crate::modular::Modulus;
use crate::root::check_root;
use crate::{Degree, Error, Ring};

/// A forward negacyclic transform of n points by the fastest available [`Implementation`]: the baseline of
/// the RPU's speed-up.
///
/// Results equal those of [`Ntt::forward`].
#[derive(Clone, Debug)]
pub struct Fast {
    implementation: Implementation,
    n: usize,
    tables: Tables,
}

#[derive(Clone, Debug)]
enum Tables {
    #[cfg(target_arch = "x86_64")]
    Ifma(Transform<Ifma>),
    #[cfg(target_arch = "x86_64")]
    Avx512(Transform<Fma>),
    Lazy(Lazy<u128>),
    Plain(Ntt),
}

impl Fast {
    /// The tables for `n` points modulo the odd `q`, with the primitive 2n-th root of unity `psi`,
    /// and the fastest implementation available.
    ///
    /// # Errors
    /// Returns an error if `q` is even or below 3, `n` is not a [`Degree`], or `psi^n` is not -1. The
    /// modulus need not be prime.
    pub fn new(n: usize, q: u128, psi: u128) -> Result<Self, Error> {
        let implementation =
            Implementation::ALL.into_iter().find(|implementation| implementation.is_available(n, q));
        Self::with_implementation(implementation.unwrap_or(Implementation::Plain), n, q, psi)
    }

    /// The tables for a ring, and the fastest implementation available.
    ///
    /// # Errors
    /// Returns an error if the ring has no root.
    pub fn for_ring(ring: &Ring) -> Result<Self, Error> {
        Self::new(ring.len(), ring.q(), ring.require_root()?)
    }

    /// As [`new`](Self::new), with a given implementation.
    ///
    /// # Errors
    /// Returns an error as [`new`](Self::new) does, or if the implementation is not available.
    pub fn with_implementation(
        implementation: Implementation,
        n: usize,
        q: u128,
        psi: u128,
    ) -> Result<Self, Error> {
        let (modulus, degree) = (Modulus::new(q)?, Degree::try_from(n)?);
        check_root(&modulus, degree, psi)?;
        let unavailable = Error::Implementation { implementation, n, modulus: q };
        if !implementation.is_available(n, q) {
            return Err(unavailable);
        }
        let factors = || bit_reversed_powers(&modulus, degree, psi);
        let tables = match implementation {
            #[cfg(target_arch = "x86_64")]
            Implementation::Ifma => {
                Tables::Ifma(Transform::new(Ifma::detect().ok_or(unavailable)?, &modulus, &factors()))
            }
            #[cfg(target_arch = "x86_64")]
            Implementation::Avx512 => {
                Tables::Avx512(Transform::new(Fma::detect().ok_or(unavailable)?, &modulus, &factors()))
            }
            #[cfg(not(target_arch = "x86_64"))]
            Implementation::Ifma | Implementation::Avx512 => return Err(unavailable),
            Implementation::Lazy => {
                let factor = |factor| Factor { factor, quotient: modulus.divide(factor, 128).0 };
                Tables::Lazy(Lazy::new(q, factors().into_iter().map(factor).collect()))
            }
            Implementation::Plain => Tables::Plain(Ntt::new(modulus, n, psi)?),
        };
        Ok(Self { implementation, n, tables })
    }

    /// The number of points.
    #[expect(clippy::len_without_is_empty, reason = "a transform has at least two points")]
    pub fn len(&self) -> usize {
        self.n
    }

    /// The implementation.
    pub fn implementation(&self) -> Implementation {
        self.implementation
    }

    /// Transforms `x` on one thread, natural order in, bit-reversed order out. Values must be below
    /// the modulus.
    ///
    /// # Panics
    /// Panics if `x` does not have [`len`](Self::len) elements.
    pub fn forward(&self, x: &mut [u128]) {
        assert_eq!(x.len(), self.len(), "the length of `x` is not that of the transform");
        match &self.tables {
            #[cfg(target_arch = "x86_64")]
            Tables::Ifma(transform) => transform.forward(x),
            #[cfg(target_arch = "x86_64")]
            Tables::Avx512(transform) => transform.forward(x),
            Tables::Lazy(lazy) => lazy.forward(x),
            Tables::Plain(ntt) => ntt.forward(x),
        }
    }
}

/// Transforms towers, each a vector with its transform, on up to `threads` threads.
///
/// # Panics
/// Panics if a vector does not have the length of its transform.
pub fn forward_all(towers: &mut [(&Fast, &mut [u128])], threads: usize) {
    let share = towers.len().div_ceil(threads.max(1)).max(1);
    std::thread::scope(|scope| {
        for towers in towers.chunks_mut(share) {
            scope.spawn(|| towers.iter_mut().for_each(|(transform, x)| transform.forward(x)));
        }
    });
}
