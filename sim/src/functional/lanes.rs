//! What compute and shuffle instructions do to the 512 lanes of their registers.
//!
//! Sources and destinations never overlap: the executor writes a result to a spare register and
//! exchanges it with the destination.
//!
//! Multiplications take the processor's AVX-512 IFMA instructions where it has them. The results
//! are the same.

#[cfg(target_arch = "x86_64")]
use crate::modular::ifma;
use crate::modular::{Modulus, Prepared};
use b512_asm::reg::VECTOR_LENGTH;

/// The contents of a vector register.
pub(super) type Lanes = [u128; VECTOR_LENGTH];

/// The contents of a vector register in Montgomery form.
pub(super) type PreparedLanes = [Prepared; VECTOR_LENGTH];

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
pub(super) fn multiply(q: &Modulus, out: &mut Lanes, a: &Lanes, w: &PreparedLanes) {
    #[cfg(target_arch = "x86_64")]
    if ifma::available() {
        // SAFETY: the processor has the instructions.
        return unsafe { ifma::kernels::mul(q, out, a, w) };
    }
    for i in 0..VECTOR_LENGTH {
        out[i] = q.mul_prepared(a[i], w[i]);
    }
}

/// `(out, out1) = (a + b w, a - b w)`, lane by lane.
pub(super) fn butterfly(q: &Modulus, [out, out1]: [&mut Lanes; 2], a: &Lanes, b: &Lanes, w: &PreparedLanes) {
    #[cfg(target_arch = "x86_64")]
    if ifma::available() {
        // SAFETY: the processor has the instructions.
        return unsafe { ifma::kernels::butterfly(q, [out, out1], a, b, w) };
    }
    for i in 0..VECTOR_LENGTH {
        let t = q.mul_prepared(b[i], w[i]);
        (out[i], out1[i]) = (q.add(a[i], t), q.sub(a[i], t));
    }
}

/// `(out, out1) = (a + b, (a - b) w)`, lane by lane.
pub(super) fn inverse_butterfly(
    q: &Modulus,
    [out, out1]: [&mut Lanes; 2],
    a: &Lanes,
    b: &Lanes,
    w: &PreparedLanes,
) {
    #[cfg(target_arch = "x86_64")]
    if ifma::available() {
        // SAFETY: the processor has the instructions.
        return unsafe { ifma::kernels::inverse_butterfly(q, [out, out1], a, b, w) };
    }
    for i in 0..VECTOR_LENGTH {
        (out[i], out1[i]) = (q.add(a[i], b[i]), q.mul_prepared(q.sub(a[i], b[i]), w[i]));
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
