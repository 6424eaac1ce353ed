//! Implementations of the transform.

#[cfg(target_arch = "x86_64")]
use crate::avx512::{Fma, Ifma, MIN_POINTS};
use std::fmt;

/// An implementation of the transform, from the fastest to the slowest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Implementation {
    /// Radix 4 on sixteen elements at a time with the 52-bit multiplier of AVX-512 IFMA; at least 32
    /// points.
    Ifma,
    /// The same with the fused multiply-add of AVX-512F.
    Avx512,
    /// Scalar code, radix 4, Shoup's multiplication, one reduction at the end; moduli below 2^126.
    Lazy,
    /// [`Ntt`](super::Ntt): scalar code, radix 2, Montgomery's multiplication.
    Plain,
}

impl Implementation {
    /// All implementations, the fastest first.
    pub const ALL: [Self; 4] = [Self::Ifma, Self::Avx512, Self::Lazy, Self::Plain];

    /// Whether this processor has the implementation, and the implementation supports `n` points modulo `q`.
    pub fn is_available(self, n: usize, q: u128) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Ifma => n >= MIN_POINTS && Ifma::detect().is_some(),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => n >= MIN_POINTS && Fma::detect().is_some(),
            #[cfg(not(target_arch = "x86_64"))]
            Self::Ifma | Self::Avx512 => false,
            Self::Lazy => q < 1 << 126,
            Self::Plain => true,
        }
    }
}

impl fmt::Display for Implementation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ifma => "AVX-512 IFMA",
            Self::Avx512 => "AVX-512F",
            Self::Lazy => "scalar, radix 4, lazy Shoup",
            Self::Plain => "scalar, radix 2, Montgomery",
        })
    }
}
