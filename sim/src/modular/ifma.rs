//! Eight lanes at a time, with the 52-bit multiplier of AVX-512 IFMA.
//!
//! A residue is three limbs of 52 bits in the 64-bit elements of three vectors. Montgomery's
//! reduction goes limb by limb and so divides by 2^156, not by the 2^128 of [`Prepared`]; the
//! plain factor is shifted left by the missing 28 bits as it is split into limbs, which costs
//! nothing, and the product is the same:
//!
//! ```text
//! (a 2^28) (b 2^128 mod q) / 2^156 = a b mod q
//! ```
//!
//! The limbs leave room above q, so the additive form of the reduction serves, with its results
//! below 2 q, for every q below 2^128.
//!
//! The kernels are written once, over the two multiply instructions. Tests also instantiate them
//! with these two in software, so that machines with no more than AVX-512F check the algorithm.

use super::{Modulus, Prepared};
use std::arch::x86_64::*;

const LIMB_BITS: u32 = 52;
const LIMB: u64 = (1 << LIMB_BITS) - 1;

/// Whether the processor has what [`kernels`] needs.
pub(crate) fn available() -> bool {
    is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512ifma")
}

/// A module of kernels for target features and the two halves of the 52-bit multiply-add:
/// `low(x, y, z) = x + y z mod 2^52` and `high(x, y, z) = x + floor(y z / 2^52)`, of the lowest 52
/// bits of `y` and `z`.
macro_rules! kernels {
    ($name:ident, $features:literal, $low:path, $high:path) => {
        pub(crate) mod $name {
            use super::*;

            /// Eight numbers in limbs; each element of a vector belongs to one number. Limbs are signed
            /// and may exceed 52 bits: sums and differences carry only when they are joined.
            #[derive(Clone, Copy)]
            struct Limbs([__m512i; 3]);

            /// A modulus for eight lanes.
            struct Vectors {
                q: Limbs,
                /// -q^-1 mod 2^52.
                negative_inverse: __m512i,
                limb: __m512i,
            }

            #[inline]
            #[target_feature(enable = $features)]
            fn vectors(modulus: &Modulus) -> Vectors {
                let limb = |x: u128| _mm512_set1_epi64((x as u64 & LIMB) as i64);
                Vectors {
                    q: Limbs([0, 1, 2].map(|i| limb(modulus.q >> (i * LIMB_BITS)))),
                    negative_inverse: limb(modulus.q_inverse.wrapping_neg()),
                    limb: limb(u128::MAX),
                }
            }

            /// The low and the high halves of eight numbers, in an order that [`store`] undoes.
            #[inline]
            #[target_feature(enable = $features)]
            fn load(x: &[u128; 8]) -> [__m512i; 2] {
                let (front, back) = (x.as_ptr().cast::<__m512i>(), x[4..].as_ptr().cast::<__m512i>());
                // SAFETY: each points to four numbers of 16 bytes; the loads need no alignment.
                let (front, back) = unsafe { (_mm512_loadu_si512(front), _mm512_loadu_si512(back)) };
                [_mm512_unpacklo_epi64(front, back), _mm512_unpackhi_epi64(front, back)]
            }

            #[inline]
            #[target_feature(enable = $features)]
            fn store(x: &mut [u128; 8], [low, high]: [__m512i; 2]) {
                let (front, back) = x.split_at_mut(4);
                // SAFETY: each points to four numbers of 16 bytes; the stores need no alignment.
                unsafe {
                    _mm512_storeu_si512(front.as_mut_ptr().cast(), _mm512_unpacklo_epi64(low, high));
                    _mm512_storeu_si512(back.as_mut_ptr().cast(), _mm512_unpackhi_epi64(low, high));
                }
            }

            impl Vectors {
                /// The limbs of plain numbers, each below 2^52.
                #[inline]
                #[target_feature(enable = $features)]
                fn split(&self, [low, high]: [__m512i; 2]) -> Limbs {
                    let middle = _mm512_or_si512(_mm512_srli_epi64::<52>(low), _mm512_slli_epi64::<12>(high));
                    Limbs([
                        _mm512_and_si512(low, self.limb),
                        _mm512_and_si512(middle, self.limb),
                        _mm512_srli_epi64::<40>(high),
                    ])
                }

                /// The eight numbers, from limbs of any sign and size that add up to them.
                #[inline]
                #[target_feature(enable = $features)]
                fn join(&self, Limbs(x): Limbs) -> [__m512i; 2] {
                    let middle = _mm512_add_epi64(x[1], _mm512_srai_epi64::<52>(x[0]));
                    let top = _mm512_add_epi64(x[2], _mm512_srai_epi64::<52>(middle));
                    let lowest = _mm512_and_si512(x[0], self.limb);
                    let middle = _mm512_and_si512(middle, self.limb);
                    [
                        _mm512_or_si512(lowest, _mm512_slli_epi64::<52>(middle)),
                        _mm512_or_si512(_mm512_srli_epi64::<12>(middle), _mm512_slli_epi64::<40>(top)),
                    ]
                }

                /// `x` below q, for an `x` from -q on and below q.
                #[inline]
                #[target_feature(enable = $features)]
                fn correct(&self, Limbs(mut x): Limbs) -> Limbs {
                    let middle = _mm512_add_epi64(x[1], _mm512_srai_epi64::<52>(x[0]));
                    let top = _mm512_add_epi64(x[2], _mm512_srai_epi64::<52>(middle));
                    let negative = _mm512_cmplt_epi64_mask(top, _mm512_setzero_si512());
                    for (x, q) in x.iter_mut().zip(self.q.0) {
                        *x = _mm512_mask_add_epi64(*x, negative, *x, q);
                    }
                    Limbs(x)
                }

                #[inline]
                #[target_feature(enable = $features)]
                fn sub_any(&self, Limbs(x): Limbs, Limbs(y): Limbs) -> Limbs {
                    Limbs([
                        _mm512_sub_epi64(x[0], y[0]),
                        _mm512_sub_epi64(x[1], y[1]),
                        _mm512_sub_epi64(x[2], y[2]),
                    ])
                }

                #[inline]
                #[target_feature(enable = $features)]
                fn add(&self, x: Limbs, y: Limbs) -> Limbs {
                    self.correct(self.sub_any(x, self.sub_any(self.q, y)))
                }

                #[inline]
                #[target_feature(enable = $features)]
                fn sub(&self, x: Limbs, y: Limbs) -> Limbs {
                    self.correct(self.sub_any(x, y))
                }

                /// `a b mod q`, for plain numbers `a` and prepared ones `b`.
                #[inline]
                #[target_feature(enable = $features)]
                fn mul(&self, [low, high]: [__m512i; 2], b: Limbs) -> Limbs {
                    // a 2^28 in limbs, but for bits above the 52nd, which no product looks at.
                    let a = [
                        _mm512_slli_epi64::<28>(low),
                        _mm512_or_si512(_mm512_srli_epi64::<24>(low), _mm512_slli_epi64::<40>(high)),
                        _mm512_srli_epi64::<12>(high),
                    ];
                    let zero = _mm512_setzero_si512();
                    let mut sum = [zero; 3];
                    for a in a {
                        let mut t = self.mul_add(sum, a, b);
                        let m = $low(zero, t[0], self.negative_inverse);
                        t = self.mul_add_to(t, m, self.q);
                        // The lowest limb is now a multiple of 2^52.
                        sum = [_mm512_add_epi64(t[1], _mm512_srli_epi64::<52>(t[0])), t[2], t[3]];
                    }
                    self.correct(self.sub_any(Limbs(sum), self.q))
                }

                #[inline]
                #[target_feature(enable = $features)]
                fn mul_add(&self, sum: [__m512i; 3], a: __m512i, b: Limbs) -> [__m512i; 4] {
                    self.mul_add_to([sum[0], sum[1], sum[2], _mm512_setzero_si512()], a, b)
                }

                /// `sum + a b`, without carries: each limb grows by less than 2^53.
                #[inline]
                #[target_feature(enable = $features)]
                fn mul_add_to(&self, sum: [__m512i; 4], a: __m512i, Limbs(b): Limbs) -> [__m512i; 4] {
                    [
                        $low(sum[0], a, b[0]),
                        $low($high(sum[1], a, b[0]), a, b[1]),
                        $low($high(sum[2], a, b[1]), a, b[2]),
                        $high(sum[3], a, b[2]),
                    ]
                }
            }

            #[inline]
            #[target_feature(enable = $features)]
            fn load_prepared(w: &[Prepared; 8]) -> [__m512i; 2] {
                load(&w.map(|Prepared(w)| w))
            }

            /// `out = a b`, lane by lane.
            #[target_feature(enable = $features)]
            pub(crate) fn mul<const N: usize>(
                modulus: &Modulus,
                out: &mut [u128; N],
                a: &[u128; N],
                w: &[Prepared; N],
            ) {
                let q = vectors(modulus);
                let lanes = out.as_chunks_mut::<8>().0.iter_mut();
                for ((out, a), w) in lanes.zip(a.as_chunks::<8>().0).zip(w.as_chunks::<8>().0) {
                    let w = q.split(load_prepared(w));
                    store(out, q.join(q.mul(load(a), w)));
                }
            }

            /// `(out, out1) = (a + b w, a - b w)`, lane by lane.
            #[target_feature(enable = $features)]
            pub(crate) fn butterfly<const N: usize>(
                modulus: &Modulus,
                [out, out1]: [&mut [u128; N]; 2],
                a: &[u128; N],
                b: &[u128; N],
                w: &[Prepared; N],
            ) {
                let q = vectors(modulus);
                let out = out.as_chunks_mut::<8>().0.iter_mut().zip(out1.as_chunks_mut::<8>().0);
                let data = a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0);
                for (((out, out1), (a, b)), w) in out.zip(data).zip(w.as_chunks::<8>().0) {
                    let a = q.split(load(a));
                    let t = q.mul(load(b), q.split(load_prepared(w)));
                    store(out, q.join(q.add(a, t)));
                    store(out1, q.join(q.sub(a, t)));
                }
            }

            /// `(out, out1) = (a + b, (a - b) w)`, lane by lane.
            #[target_feature(enable = $features)]
            pub(crate) fn inverse_butterfly<const N: usize>(
                modulus: &Modulus,
                [out, out1]: [&mut [u128; N]; 2],
                a: &[u128; N],
                b: &[u128; N],
                w: &[Prepared; N],
            ) {
                let q = vectors(modulus);
                let out = out.as_chunks_mut::<8>().0.iter_mut().zip(out1.as_chunks_mut::<8>().0);
                let data = a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0);
                for (((out, out1), (a, b)), w) in out.zip(data).zip(w.as_chunks::<8>().0) {
                    let (a, b) = (q.split(load(a)), q.split(load(b)));
                    let w = q.split(load_prepared(w));
                    store(out, q.join(q.add(a, b)));
                    store(out1, q.join(q.mul(q.join(q.sub(a, b)), w)));
                }
            }
        }
    };
}

kernels!(kernels, "avx512f,avx512ifma", _mm512_madd52lo_epu64, _mm512_madd52hi_epu64);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The lanes of a vector.
    fn elements(x: __m512i) -> [u64; 8] {
        // SAFETY: both are 64 bytes, for which every pattern of bits is a value.
        unsafe { std::mem::transmute(x) }
    }

    fn multiply(x: __m512i, y: __m512i, z: __m512i, half: impl Fn(u128) -> u64) -> __m512i {
        let (x, y, z) = (elements(x), elements(y), elements(z));
        let product = |i: usize| u128::from(y[i] & LIMB) * u128::from(z[i] & LIMB);
        let sums: [u64; 8] = std::array::from_fn(|i| x[i].wrapping_add(half(product(i))));
        // SAFETY: as above.
        unsafe { std::mem::transmute(sums) }
    }

    /// VPMADD52LUQ, as the manual defines it.
    fn low(x: __m512i, y: __m512i, z: __m512i) -> __m512i {
        multiply(x, y, z, |product| product as u64 & LIMB)
    }

    /// VPMADD52HUQ, as the manual defines it.
    fn high(x: __m512i, y: __m512i, z: __m512i) -> __m512i {
        multiply(x, y, z, |product| (product >> LIMB_BITS) as u64)
    }

    kernels!(emulated, "avx512f", super::low, super::high);

    const N: usize = 16;

    /// Compares all kernels, emulated and where the processor has them real, with the scalar code.
    fn check(q: u128, a: [u128; N], b: [u128; N], w: [u128; N]) {
        let q = Modulus::new(q).unwrap();
        let w = w.map(|w| q.prepare(w));
        let product: [u128; N] = std::array::from_fn(|i| q.mul_prepared(b[i], w[i]));
        let expected = [
            product,
            std::array::from_fn(|i| q.add(a[i], product[i])),
            std::array::from_fn(|i| q.sub(a[i], product[i])),
            std::array::from_fn(|i| q.add(a[i], b[i])),
            std::array::from_fn(|i| q.mul_prepared(q.sub(a[i], b[i]), w[i])),
        ];
        macro_rules! run {
            ($kernels:ident) => {{
                let mut out = [[0; N]; 5];
                let [o0, o1, o2, o3, o4] = &mut out;
                // SAFETY: the caller of the macro has asked whether the processor can.
                unsafe {
                    $kernels::mul(&q, o0, &b, &w);
                    $kernels::butterfly(&q, [o1, o2], &a, &b, &w);
                    $kernels::inverse_butterfly(&q, [o3, o4], &a, &b, &w);
                }
                assert_eq!(out, expected, "modulo {:#x}", q.value());
            }};
        }
        if is_x86_feature_detected!("avx512f") {
            run!(emulated);
        }
        if available() {
            run!(kernels);
        }
    }

    #[test]
    fn extreme_operands_agree_with_the_scalar_code() {
        for q in
            [3, 5, (1 << 52) - 1, (1 << 52) + 1, (1 << 104) + 1, (1 << 127) - 1, u128::MAX - 158, u128::MAX]
        {
            let edges = [0, 1, q / 2, q - 2, q - 1];
            for a in edges {
                for b in edges {
                    check(q, [a; N], [b; N], std::array::from_fn(|i| edges[i % 5]));
                }
            }
        }
    }

    proptest! {
        #[test]
        fn random_operands_agree_with_the_scalar_code(
            q in any::<u128>(), shift in 0u32..126,
            a in any::<[u128; N]>(), b in any::<[u128; N]>(), w in any::<[u128; N]>()
        ) {
            let q = (q >> shift | 1).max(3);
            check(q, a.map(|x| x % q), b.map(|x| x % q), w.map(|x| x % q));
        }
    }
}
