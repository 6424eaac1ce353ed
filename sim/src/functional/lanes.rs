//! What compute and shuffle instructions do to the 512 lanes of their registers.
//!
//! Sources and destinations never overlap: the executor writes a result to a spare register and
//! exchanges it with the destination.
//!
//! Multiplications are the processor's AVX-512 instructions where it has them, and Montgomery's in
//! scalar code where not. The results are the same.

use b512_asm::reg::VECTOR_LENGTH;
#[cfg(target_arch = "x86_64")]
use ring::modular::wide::{self, Shoup};
use ring::modular::{Modulus, Prepared};
use std::ops::{Deref, DerefMut};

/// The contents of a vector register.
pub(super) type Lanes = [u128; VECTOR_LENGTH];

/// At the beginning of a cache line, so that no vector of the processor lies across two.
#[derive(Debug)]
#[repr(align(64))]
pub(super) struct Aligned<T>(T);

impl<T> Aligned<T> {
    pub(super) fn boxed(value: T) -> Box<Self> {
        Box::new(Self(value))
    }
}

impl<T> Deref for Aligned<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Aligned<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

/// The contents of a vector register, ready to be multiplied with.
#[derive(Debug)]
pub(super) enum Factors {
    /// In Montgomery form.
    Scalar(Box<[Prepared; VECTOR_LENGTH]>),
    /// As they are, with their quotients by the modulus.
    #[cfg(target_arch = "x86_64")]
    Wide {
        /// Each is below the modulus.
        factors: Box<Aligned<Lanes>>,
        /// For each, floor(factor 2^128 / q).
        quotients: Box<Aligned<Lanes>>,
    },
}

impl Factors {
    /// Zeros, in the form that suits the processor.
    pub(super) fn zero() -> Self {
        #[cfg(target_arch = "x86_64")]
        if wide::fma_available() {
            return Self::Wide {
                factors: Aligned::boxed([0; VECTOR_LENGTH]),
                quotients: Aligned::boxed([0; VECTOR_LENGTH]),
            };
        }
        Self::scalar_zero()
    }

    /// Zeros in the form that every processor can do with.
    pub(super) fn scalar_zero() -> Self {
        Self::Scalar(Box::new([Prepared::default(); VECTOR_LENGTH]))
    }

    /// Zeros in the same form.
    pub(super) fn zero_like(&self) -> Self {
        match self {
            Self::Scalar(_) => Self::scalar_zero(),
            #[cfg(target_arch = "x86_64")]
            Self::Wide { .. } => Self::zero(),
        }
    }

    /// Prepares `lanes`, which are below the modulus `q`.
    pub(super) fn set(&mut self, q: &Modulus, lanes: &Lanes) {
        match self {
            Self::Scalar(prepared) => map(prepared, lanes, |factor| q.prepare(factor)),
            #[cfg(target_arch = "x86_64")]
            Self::Wide { factors, quotients } => {
                factors.copy_from_slice(lanes);
                map(quotients, lanes, |factor| q.divide(factor, 128).0);
            }
        }
    }
}

const HALF: usize = VECTOR_LENGTH / 2;

/// `out = f(a)`, lane by lane.
#[inline(always)]
pub(super) fn map<T, U>(out: &mut [U; VECTOR_LENGTH], a: &[T; VECTOR_LENGTH], f: impl Fn(T) -> U)
where
    T: Copy,
{
    for (out, &a) in out.iter_mut().zip(a) {
        *out = f(a);
    }
}

/// `out = f(a, b)`, lane by lane.
#[inline(always)]
pub(super) fn zip(out: &mut Lanes, a: &Lanes, b: &Lanes, f: impl Fn(u128, u128) -> u128) {
    for ((out, &a), &b) in out.iter_mut().zip(a).zip(b) {
        *out = f(a, b);
    }
}

/// `out = a w`, lane by lane.
pub(super) fn multiply(q: &Modulus, out: &mut Lanes, a: &Lanes, w: &Factors) {
    match w {
        Factors::Scalar(w) => {
            for i in 0..VECTOR_LENGTH {
                out[i] = q.mul_prepared(a[i], w[i]);
            }
        }
        #[cfg(target_arch = "x86_64")]
        Factors::Wide { factors, quotients } => {
            let w = Shoup { factors, quotients };
            // SAFETY: the processor has AVX-512F, or else the factors would be `Scalar`.
            unsafe {
                if wide::ifma_available() {
                    wide::ifma::mul(q, out, a, w);
                } else {
                    wide::fma::mul(q, out, a, w);
                }
            }
        }
    }
}

/// `(out, out1) = (a + b w, a - b w)`, lane by lane.
pub(super) fn butterfly(q: &Modulus, [out, out1]: [&mut Lanes; 2], a: &Lanes, b: &Lanes, w: &Factors) {
    match w {
        Factors::Scalar(w) => {
            for i in 0..VECTOR_LENGTH {
                let t = q.mul_prepared(b[i], w[i]);
                (out[i], out1[i]) = (q.add(a[i], t), q.sub(a[i], t));
            }
        }
        #[cfg(target_arch = "x86_64")]
        Factors::Wide { factors, quotients } => {
            let w = Shoup { factors, quotients };
            // SAFETY: the processor has AVX-512F, or else the factors would be `Scalar`.
            unsafe {
                if wide::ifma_available() {
                    wide::ifma::butterfly(q, [out, out1], a, b, w);
                } else {
                    wide::fma::butterfly(q, [out, out1], a, b, w);
                }
            }
        }
    }
}

/// `(out, out1) = (a + b, (a - b) w)`, lane by lane.
pub(super) fn inverse_butterfly(
    q: &Modulus,
    [out, out1]: [&mut Lanes; 2],
    a: &Lanes,
    b: &Lanes,
    w: &Factors,
) {
    match w {
        Factors::Scalar(w) => {
            for i in 0..VECTOR_LENGTH {
                (out[i], out1[i]) = (q.add(a[i], b[i]), q.mul_prepared(q.sub(a[i], b[i]), w[i]));
            }
        }
        #[cfg(target_arch = "x86_64")]
        Factors::Wide { factors, quotients } => {
            let w = Shoup { factors, quotients };
            // SAFETY: the processor has AVX-512F, or else the factors would be `Scalar`.
            unsafe {
                if wide::ifma_available() {
                    wide::ifma::inverse_butterfly(q, [out, out1], a, b, w);
                } else {
                    wide::fma::inverse_butterfly(q, [out, out1], a, b, w);
                }
            }
        }
    }
}

/// Interleaves half of `a` with half of `b`: the low halves for `HALF_INDEX` 0, the high for 1.
pub(super) fn unpack<const HALF_INDEX: usize>(out: &mut Lanes, a: &Lanes, b: &Lanes) {
    let (a, b) = (&a[HALF_INDEX * HALF..][..HALF], &b[HALF_INDEX * HALF..][..HALF]);
    let (pairs, _) = out.as_chunks_mut::<2>();
    for ((pair, &a), &b) in pairs.iter_mut().zip(a).zip(b) {
        *pair = [a, b];
    }
}

/// Gathers the elements of `a`, then of `b`, whose index has the given `PARITY`.
pub(super) fn pack<const PARITY: usize>(out: &mut Lanes, a: &Lanes, b: &Lanes) {
    let (out_a, out_b) = out.split_at_mut(HALF);
    for (out, source) in [(out_a, a), (out_b, b)] {
        let (pairs, _) = source.as_chunks::<2>();
        for (out, pair) in out.iter_mut().zip(pairs) {
            *out = pair[PARITY];
        }
    }
}

/// The largest lane.
pub(super) fn max(lanes: &Lanes) -> u128 {
    lanes.iter().copied().fold(0, u128::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processors_instructions_and_scalar_code_agree() {
        for q in [3, (1 << 64) + 1, (1 << 127) - 1, u128::MAX] {
            let q = Modulus::new(q).unwrap();
            let lanes = |seed: u128| -> Lanes {
                std::array::from_fn(|i| {
                    let power = q.pow(q.residue(seed), i as u128);
                    if i % 7 == 0 { q.value() - 1 } else { power }
                })
            };
            let (a, b, w) = (lanes(u128::MAX / 3), lanes(u128::MAX / 5), lanes(u128::MAX / 7));
            let results = [Factors::zero(), Factors::scalar_zero()].map(|mut factors| {
                factors.set(&q, &w);
                let mut out = [[0; VECTOR_LENGTH]; 5];
                let [product, sum, difference, sum1, difference1] = &mut out;
                multiply(&q, product, &a, &factors);
                butterfly(&q, [sum, difference], &a, &b, &factors);
                inverse_butterfly(&q, [sum1, difference1], &a, &b, &factors);
                out
            });
            assert!(results[0] == results[1], "modulo {:#x}", q.value());
        }
    }
}
