//! Eight lanes at a time, in AVX-512.
//!
//! A number is three limbs of 52 bits in the 64-bit elements of three vectors: 156 bits, which
//! leave room above every q below 2^128. Products with a constant factor w are Shoup's: with the
//! quotient w' = floor(w 2^156 / q) at hand,
//!
//! ```text
//! b w mod q = b w - floor(b w' / 2^156) q, less a few q
//! ```
//!
//! Of the product b w', limbs that hardly reach above 2^156 are left out, so the quotient comes
//! out up to 6 too small, and the difference below 7 q (where it is rounded, too, see `mul`). Of the
//! other two products only the lowest 156 bits are formed: their difference is right modulo 2^156,
//! and small. None of the three waits for carries of another but through the quotient, which leaves
//! the processor enough to do at a time; Montgomery's reduction, limb by limb, does not.
//!
//! The kernels are written once, over the two halves of a 52-bit multiplication. AVX-512 IFMA has
//! instructions for them. AVX-512F alone has them in its fused multiply-add of floating-point
//! numbers, whose significands have 53 bits: rounded toward zero,
//!
//! ```text
//! y z + 2^104            = 2^104 + 2^52 floor(y z / 2^52)
//! y z - (that - 2^104)   = y z mod 2^52
//! ```
//!
//! which takes more instructions. Tests also run the kernels with the two instructions in
//! software, so that machines without IFMA check every line.

use super::Modulus;
use std::arch::x86_64::*;

const LIMB_BITS: u32 = 52;
const LIMB: u64 = (1 << LIMB_BITS) - 1;

/// The shortest transform of the kernels.
pub(crate) const MIN_POINTS: usize = 16;

/// Whether the processor has what [`ifma`] needs.
pub(crate) fn ifma_available() -> bool {
    fma_available() && is_x86_feature_detected!("avx512ifma")
}

/// Whether the processor has what [`fma`] needs.
pub(crate) fn fma_available() -> bool {
    is_x86_feature_detected!("avx512f")
}

/// A constant factor, as the kernels take it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Constant {
    factor: [u64; 3],
    /// floor(factor 2^156 / q).
    quotient: [u64; 3],
}

impl Constant {
    /// For a `factor` below q.
    pub(crate) fn new(q: &Modulus, factor: u128) -> Self {
        let (high, rest) = q.divide(factor, 128);
        let (low, _) = q.divide(rest, 28);
        let limbs =
            |x: u128, low: u64| [(x as u64) << 28 & LIMB | low, (x >> 24) as u64 & LIMB, (x >> 76) as u64];
        Self { factor: split(factor), quotient: limbs(high, low as u64) }
    }
}

fn split(x: u128) -> [u64; 3] {
    [x as u64 & LIMB, (x >> LIMB_BITS) as u64 & LIMB, (x >> (2 * LIMB_BITS)) as u64]
}

/// The constant factors of a transform, limb by limb.
#[derive(Clone, Debug)]
pub(crate) struct Constants {
    factor: [Vec<u64>; 3],
    quotient: [Vec<u64>; 3],
}

impl Constants {
    /// The `factors`, each below q.
    pub(crate) fn new(q: &Modulus, factors: &[u128]) -> Self {
        let constants: Vec<_> = factors.iter().map(|&factor| Constant::new(q, factor)).collect();
        let limbs = |limb: &dyn Fn(&Constant) -> u64| constants.iter().map(limb).collect();
        Self {
            factor: [0, 1, 2].map(|i| limbs(&|c| c.factor[i])),
            quotient: [0, 1, 2].map(|i| limbs(&|c| c.quotient[i])),
        }
    }
}

/// A module of kernels for target features: with `$operand`, what is multiplied, `$convert`, which
/// makes one of the lowest 52 bits of a number, and the two halves of the multiply-add:
/// `$low(x, y, z) = x + y z mod 2^52` and `$high(x, y, z) = x + floor(y z / 2^52)`.
macro_rules! kernels {
    ($name:ident, $features:literal, $operand:ty, $convert:path, $low:path, $high:path) => {
        pub(crate) mod $name {
            use super::*;

            /// Eight numbers in limbs; each element of a vector belongs to one number. Limbs are signed
            /// and may exceed 52 bits: sums and differences do not carry.
            #[derive(Clone, Copy)]
            struct Limbs([__m512i; 3]);

            /// Eight numbers to be multiplied.
            #[derive(Clone, Copy)]
            struct Operand([$operand; 3]);

            /// Eight constant factors with their quotients.
            #[derive(Clone, Copy)]
            struct Factor {
                factor: Operand,
                quotient: Operand,
            }

            /// A modulus for eight lanes.
            struct Vectors {
                modulus: Modulus,
                q: Operand,
                limb: __m512i,
            }

            #[inline]
            #[target_feature(enable = $features)]
            fn vectors(modulus: &Modulus) -> Vectors {
                Vectors {
                    modulus: *modulus,
                    q: operand(multiple(modulus, 1)),
                    limb: _mm512_set1_epi64(LIMB as i64),
                }
            }

            /// `factor` q, for a small factor.
            #[inline]
            #[target_feature(enable = $features)]
            fn multiple(q: &Modulus, factor: u64) -> Limbs {
                let [a, b, c] = split(q.value());
                let limb = |x: u64| _mm512_set1_epi64((factor * x) as i64);
                Limbs([limb(a), limb(b), limb(c)])
            }

            /// The lowest 52 bits of each limb.
            #[inline]
            #[target_feature(enable = $features)]
            fn operand(Limbs(x): Limbs) -> Operand {
                Operand([$convert(x[0]), $convert(x[1]), $convert(x[2])])
            }

            #[inline]
            #[target_feature(enable = $features)]
            fn add(Limbs(x): Limbs, Limbs(y): Limbs) -> Limbs {
                Limbs([
                    _mm512_add_epi64(x[0], y[0]),
                    _mm512_add_epi64(x[1], y[1]),
                    _mm512_add_epi64(x[2], y[2]),
                ])
            }

            #[inline]
            #[target_feature(enable = $features)]
            fn sub(Limbs(x): Limbs, Limbs(y): Limbs) -> Limbs {
                Limbs([
                    _mm512_sub_epi64(x[0], y[0]),
                    _mm512_sub_epi64(x[1], y[1]),
                    _mm512_sub_epi64(x[2], y[2]),
                ])
            }

            /// The same numbers with limbs whose lowest 52 bits are right modulo 2^156.
            #[inline]
            #[target_feature(enable = $features)]
            fn carry(Limbs(x): Limbs) -> Limbs {
                let middle = _mm512_add_epi64(x[1], _mm512_srai_epi64::<52>(x[0]));
                Limbs([x[0], middle, _mm512_add_epi64(x[2], _mm512_srai_epi64::<52>(middle))])
            }

            /// `x` where that is not negative, else `x + m`.
            #[inline]
            #[target_feature(enable = $features)]
            fn correct(x: Limbs, Limbs(m): Limbs) -> Limbs {
                let Limbs([.., top]) = carry(x);
                let negative = _mm512_cmplt_epi64_mask(top, _mm512_setzero_si512());
                let Limbs(x) = x;
                Limbs([
                    _mm512_mask_add_epi64(x[0], negative, x[0], m[0]),
                    _mm512_mask_add_epi64(x[1], negative, x[1], m[1]),
                    _mm512_mask_add_epi64(x[2], negative, x[2], m[2]),
                ])
            }

            /// `x y mod 2^156`, but for what exceeds 52 bits of the highest limb.
            #[inline]
            #[target_feature(enable = $features)]
            fn low_product(Operand(x): Operand, Operand(y): Operand) -> Limbs {
                let zero = _mm512_setzero_si512();
                let limb1 = $low($low($high(zero, x[0], y[0]), x[0], y[1]), x[1], y[0]);
                let limb2 = $high($high(zero, x[0], y[1]), x[1], y[0]);
                let limb2 = $low($low($low(limb2, x[0], y[2]), x[1], y[1]), x[2], y[0]);
                Limbs([$low(zero, x[0], y[0]), limb1, limb2])
            }

            /// `floor(x y / 2^156)`, or up to 5 less: without the carry from the limbs that are not
            /// formed, which add up to less than (5 + 2^-49) 2^156.
            #[inline]
            #[target_feature(enable = $features)]
            fn high_product(Operand(x): Operand, Operand(y): Operand) -> Limbs {
                let zero = _mm512_setzero_si512();
                let limb0 = $high($high($high(zero, x[0], y[2]), x[1], y[1]), x[2], y[0]);
                Limbs([
                    $low($low(limb0, x[1], y[2]), x[2], y[1]),
                    $low($high($high(zero, x[1], y[2]), x[2], y[1]), x[2], y[2]),
                    $high(zero, x[2], y[2]),
                ])
            }

            impl Vectors {
                /// Numbers that are `b w` modulo q, from 0 on and below 7 q, modulo 2^156.
                ///
                /// The quotient may have been rounded down to a multiple of 2^28 where b is below
                /// 2^129, and must be exact where it is not; rounded, for b from 2^128 on, it leaves the
                /// product below 8 q only.
                #[inline]
                #[target_feature(enable = $features)]
                fn mul(&self, b: Operand, w: &Factor) -> Limbs {
                    let quotient = operand(carry(high_product(b, w.quotient)));
                    sub(low_product(b, w.factor), low_product(quotient, self.q))
                }

                /// The same numbers with limbs of 52 bits.
                #[inline]
                #[target_feature(enable = $features)]
                fn normal(&self, x: Limbs) -> Limbs {
                    let Limbs(x) = carry(x);
                    Limbs([
                        _mm512_and_si512(x[0], self.limb),
                        _mm512_and_si512(x[1], self.limb),
                        _mm512_and_si512(x[2], self.limb),
                    ])
                }

                /// `x mod q`, for `x` below `2^bits` q, modulo 2^156.
                #[inline]
                #[target_feature(enable = $features)]
                fn reduce(&self, x: Limbs, bits: u32) -> Limbs {
                    let mut x = self.normal(x);
                    for bit in (0..bits).rev() {
                        let multiple = multiple(&self.modulus, 1 << bit);
                        x = correct(sub(x, multiple), multiple);
                    }
                    x
                }

                /// The product `b w mod q` of plain numbers.
                #[inline]
                #[target_feature(enable = $features)]
                fn product(&self, b: Operand, w: Words, quotient: Words) -> Limbs {
                    let w = Factor { factor: operand(w.limbs()), quotient: operand(quotient.limbs_at_28()) };
                    self.reduce(self.mul(b, &w), 3)
                }
            }

            /// The low and the high halves of eight numbers, in some order.
            #[derive(Clone, Copy)]
            struct Words {
                low: __m512i,
                high: __m512i,
            }

            impl Words {
                /// The order is 0, 4, 1, 5, 2, 6, 3, 7; [`store`](Self::store) undoes it.
                #[inline]
                #[target_feature(enable = $features)]
                fn load(x: &[u128; 8]) -> Self {
                    let (front, back) = (x.as_ptr().cast::<__m512i>(), x[4..].as_ptr().cast::<__m512i>());
                    // SAFETY: each points to four numbers of 16 bytes; the loads need no alignment.
                    let (front, back) = unsafe { (_mm512_loadu_si512(front), _mm512_loadu_si512(back)) };
                    Self { low: _mm512_unpacklo_epi64(front, back), high: _mm512_unpackhi_epi64(front, back) }
                }

                #[inline]
                #[target_feature(enable = $features)]
                fn store(self, x: &mut [u128; 8]) {
                    let (front, back) = x.split_at_mut(4);
                    // SAFETY: each points to four numbers of 16 bytes; the stores need no alignment.
                    unsafe {
                        _mm512_storeu_si512(
                            front.as_mut_ptr().cast(),
                            _mm512_unpacklo_epi64(self.low, self.high),
                        );
                        _mm512_storeu_si512(
                            back.as_mut_ptr().cast(),
                            _mm512_unpackhi_epi64(self.low, self.high),
                        );
                    }
                }

                /// The numbers in limbs whose lowest 52 bits are theirs.
                #[inline]
                #[target_feature(enable = $features)]
                fn limbs(self) -> Limbs {
                    let Self { low, high } = self;
                    let middle = _mm512_or_si512(_mm512_srli_epi64::<52>(low), _mm512_slli_epi64::<12>(high));
                    Limbs([low, middle, _mm512_srli_epi64::<40>(high)])
                }

                /// The numbers times 2^28 in limbs whose lowest 52 bits are theirs.
                #[inline]
                #[target_feature(enable = $features)]
                fn limbs_at_28(self) -> Limbs {
                    let Self { low, high } = self;
                    let middle = _mm512_or_si512(_mm512_srli_epi64::<24>(low), _mm512_slli_epi64::<40>(high));
                    Limbs([_mm512_slli_epi64::<28>(low), middle, _mm512_srli_epi64::<12>(high)])
                }
            }

            impl Vectors {
                /// The numbers in limbs of 52 bits.
                #[inline]
                #[target_feature(enable = $features)]
                fn split(&self, x: Words) -> Limbs {
                    let Limbs([a, b, c]) = x.limbs();
                    Limbs([_mm512_and_si512(a, self.limb), _mm512_and_si512(b, self.limb), c])
                }

                /// The numbers, which are below 2^128.
                #[inline]
                #[target_feature(enable = $features)]
                fn join(&self, x: Limbs) -> Words {
                    let Limbs([a, b, c]) = carry(x);
                    let (a, b) = (_mm512_and_si512(a, self.limb), _mm512_and_si512(b, self.limb));
                    Words {
                        low: _mm512_or_si512(a, _mm512_slli_epi64::<52>(b)),
                        high: _mm512_or_si512(_mm512_srli_epi64::<12>(b), _mm512_slli_epi64::<40>(c)),
                    }
                }
            }

            /// `out = a w mod q`, lane by lane.
            #[target_feature(enable = $features)]
            pub(crate) fn mul<const N: usize>(
                modulus: &Modulus,
                out: &mut [u128; N],
                a: &[u128; N],
                w: Shoup<'_, N>,
            ) {
                let q = vectors(modulus);
                let factors = w.factors.as_chunks::<8>().0.iter().zip(w.quotients.as_chunks::<8>().0);
                let data = out.as_chunks_mut::<8>().0.iter_mut().zip(a.as_chunks::<8>().0);
                for ((out, a), (w, quotient)) in data.zip(factors) {
                    let a = operand(Words::load(a).limbs());
                    q.join(q.product(a, Words::load(w), Words::load(quotient))).store(out);
                }
            }

            /// `(out, out1) = (a + b w, a - b w)`, lane by lane.
            #[target_feature(enable = $features)]
            pub(crate) fn butterfly<const N: usize>(
                modulus: &Modulus,
                [out, out1]: [&mut [u128; N]; 2],
                a: &[u128; N],
                b: &[u128; N],
                w: Shoup<'_, N>,
            ) {
                let (q, once) = (vectors(modulus), multiple(modulus, 1));
                let factors = w.factors.as_chunks::<8>().0.iter().zip(w.quotients.as_chunks::<8>().0);
                let out = out.as_chunks_mut::<8>().0.iter_mut().zip(out1.as_chunks_mut::<8>().0);
                let data = a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0);
                for (((out, out1), (a, b)), (w, quotient)) in out.zip(data).zip(factors) {
                    let a = q.split(Words::load(a));
                    let b = operand(Words::load(b).limbs());
                    let t = q.product(b, Words::load(w), Words::load(quotient));
                    q.join(correct(sub(add(a, t), once), once)).store(out);
                    q.join(correct(sub(a, t), once)).store(out1);
                }
            }

            /// `(out, out1) = (a + b, (a - b) w)`, lane by lane.
            #[target_feature(enable = $features)]
            pub(crate) fn inverse_butterfly<const N: usize>(
                modulus: &Modulus,
                [out, out1]: [&mut [u128; N]; 2],
                a: &[u128; N],
                b: &[u128; N],
                w: Shoup<'_, N>,
            ) {
                let (q, once) = (vectors(modulus), multiple(modulus, 1));
                let factors = w.factors.as_chunks::<8>().0.iter().zip(w.quotients.as_chunks::<8>().0);
                let out = out.as_chunks_mut::<8>().0.iter_mut().zip(out1.as_chunks_mut::<8>().0);
                let data = a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0);
                for (((out, out1), (a, b)), (w, quotient)) in out.zip(data).zip(factors) {
                    let (a, b) = (q.split(Words::load(a)), q.split(Words::load(b)));
                    let difference = operand(carry(add(sub(a, b), once)));
                    q.join(correct(sub(add(a, b), once), once)).store(out);
                    q.join(q.product(difference, Words::load(w), Words::load(quotient))).store(out1);
                }
            }

            /// The forward transform of `x`, at least 16 numbers: natural order in, bit-reversed out.
            ///
            /// No stage reduces its results: each adds less than 7 q to the largest number, and the last
            /// one subtracts what has come together.
            #[target_feature(enable = $features)]
            pub(crate) fn forward(modulus: &Modulus, factors: &Constants, x: &mut [u128]) {
                let stages = x.len().ilog2();
                let transform = Transform {
                    q: vectors(modulus),
                    seven: multiple(modulus, 7),
                    factors,
                    bits: (7 * stages).ilog2() + 1,
                };
                let mut limbs = Vec::with_capacity(x.len() / 8);
                for x in x.as_chunks::<8>().0 {
                    limbs.push(transform.q.split(Words::load(x)));
                }
                transform.stages(&mut limbs, 1, x);
            }

            struct Transform<'a> {
                q: Vectors,
                /// 7 q.
                seven: Limbs,
                factors: &'a Constants,
                /// Below `2^bits` q are all results.
                bits: u32,
            }

            impl Transform<'_> {
                /// `(a + b w, a - b w)`, modulo 2^156.
                #[inline]
                #[target_feature(enable = $features)]
                fn butterfly(&self, a: Limbs, b: Limbs, w: &Factor) -> [Limbs; 2] {
                    let t = self.q.mul(operand(carry(b)), w);
                    [add(a, t), add(sub(a, t), self.seven)]
                }

                /// One factor for all lanes.
                #[inline]
                #[target_feature(enable = $features)]
                fn broadcast(&self, index: usize) -> Factor {
                    let limb = |limbs: &Vec<u64>| $convert(_mm512_set1_epi64(limbs[index] as i64));
                    let limbs = |[a, b, c]: &[Vec<u64>; 3]| Operand([limb(a), limb(b), limb(c)]);
                    Factor { factor: limbs(&self.factors.factor), quotient: limbs(&self.factors.quotient) }
                }

                /// For each lane the factor that `lanes` says, counted from `first`.
                #[inline]
                #[target_feature(enable = $features)]
                fn gather(&self, first: usize, lanes: __m512i) -> Factor {
                    let limb = |limbs: &Vec<u64>| {
                        let eight: &[u64; 8] = limbs[first..].first_chunk().expect("eight factors");
                        // SAFETY: the load of 64 bytes needs no alignment.
                        let eight = unsafe { _mm512_loadu_si512(eight.as_ptr().cast()) };
                        $convert(_mm512_permutexvar_epi64(lanes, eight))
                    };
                    let limbs = |[a, b, c]: &[Vec<u64>; 3]| Operand([limb(a), limb(b), limb(c)]);
                    Factor { factor: limbs(&self.factors.factor), quotient: limbs(&self.factors.quotient) }
                }

                /// The stages of the part `x` of the data, whose first factor is number `node`; the results
                /// go to `out`. Each part is finished before the next is begun, to stay in the cache.
                #[target_feature(enable = $features)]
                fn stages(&self, x: &mut [Limbs], node: usize, out: &mut [u128]) {
                    if let [a, b] = x {
                        let (out, _) = out.as_chunks_mut::<16>();
                        return self.last_stages(*a, *b, node, &mut out[0]);
                    }
                    if x.len().ilog2() % 2 == 0 {
                        let w = self.broadcast(node);
                        let (front, back) = x.split_at_mut(x.len() / 2);
                        for (a, b) in front.iter_mut().zip(&mut *back) {
                            [*a, *b] = self.butterfly(*a, *b, &w);
                        }
                        let (out0, out1) = out.split_at_mut(out.len() / 2);
                        self.stages(front, 2 * node, out0);
                        self.stages(back, 2 * node + 1, out1);
                        return;
                    }
                    let w = self.broadcast(node);
                    let (w0, w1) = (self.broadcast(2 * node), self.broadcast(2 * node + 1));
                    let (front, back) = x.split_at_mut(x.len() / 2);
                    let (a, b) = front.split_at_mut(front.len() / 2);
                    let (c, d) = back.split_at_mut(back.len() / 2);
                    for ((a, b), (c, d)) in a.iter_mut().zip(b).zip(c.iter_mut().zip(d)) {
                        let [e, g] = self.butterfly(*a, *c, &w);
                        let [f, h] = self.butterfly(*b, *d, &w);
                        [*a, *b] = self.butterfly(e, f, &w0);
                        [*c, *d] = self.butterfly(g, h, &w1);
                    }
                    let quarters = x.len() / 4;
                    let parts = x.chunks_exact_mut(quarters).zip(out.chunks_exact_mut(8 * quarters));
                    for (i, (x, out)) in parts.enumerate() {
                        self.stages(x, 4 * node + i, out);
                    }
                }

                /// The last four stages, on 16 numbers.
                ///
                /// Call the bits of an element's index 3 to 0; the vectors `a` and `b` differ in bit 3.
                /// Lanes are in the order of [`Words::load`]: the bits of a lane's number
                /// are bits 1, 0 and 2 of the index. Before each stage the vectors exchange lanes, so that
                /// its bit tells them apart.
                #[inline]
                #[target_feature(enable = $features)]
                fn last_stages(&self, a: Limbs, b: Limbs, node: usize, out: &mut [u128; 16]) {
                    let [a, b] = self.butterfly(a, b, &self.broadcast(node));

                    // Bit 2 against 3, the lowest of the lane's: lanes are bits 1, 0, 3.
                    let x = pairs(a, b, |a, b| _mm512_unpacklo_epi64(a, b));
                    let y = pairs(a, b, |a, b| _mm512_unpackhi_epi64(a, b));
                    let w = self.gather(2 * node, _mm512_setr_epi64(0, 1, 0, 1, 0, 1, 0, 1));
                    let [a, b] = self.butterfly(x, y, &w);

                    // Bit 1 against 2, the highest of the lane's: lanes are bits 2, 0, 3.
                    let x = pairs(a, b, |a, b| _mm512_shuffle_i64x2::<0b01_00_01_00>(a, b));
                    let y = pairs(a, b, |a, b| _mm512_shuffle_i64x2::<0b11_10_11_10>(a, b));
                    let w = self.gather(4 * node, _mm512_setr_epi64(0, 2, 0, 2, 1, 3, 1, 3));
                    let [a, b] = self.butterfly(x, y, &w);

                    // Bit 0 against 1, the middle one: lanes are bits 2, 1, 3.
                    let x = pairs(a, b, |a, b| {
                        _mm512_permutex2var_epi64(a, _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13), b)
                    });
                    let y = pairs(a, b, |a, b| {
                        _mm512_permutex2var_epi64(a, _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15), b)
                    });
                    let w = self.gather(8 * node, _mm512_setr_epi64(0, 4, 1, 5, 2, 6, 3, 7));
                    let [a, b] = self.butterfly(x, y, &w);

                    // Now `even` and `odd` in bit 0; the halves of words alternate for bit 3 = 0 and 1.
                    let even = self.q.join(self.q.reduce(a, self.bits));
                    let odd = self.q.join(self.q.reduce(b, self.bits));
                    let (out0, out1) = out.split_at_mut(8);
                    interleave(
                        _mm512_unpacklo_epi64(even.low, even.high),
                        _mm512_unpacklo_epi64(odd.low, odd.high),
                        out0,
                    );
                    interleave(
                        _mm512_unpackhi_epi64(even.low, even.high),
                        _mm512_unpackhi_epi64(odd.low, odd.high),
                        out1,
                    );
                }
            }

            /// `f` of each limb.
            #[inline]
            #[target_feature(enable = $features)]
            fn pairs(Limbs(a): Limbs, Limbs(b): Limbs, f: impl Fn(__m512i, __m512i) -> __m512i) -> Limbs {
                Limbs([f(a[0], b[0]), f(a[1], b[1]), f(a[2], b[2])])
            }

            /// `out = [even[0], odd[0], even[1], ..]`, in numbers of 128 bits.
            #[inline]
            #[target_feature(enable = $features)]
            fn interleave(even: __m512i, odd: __m512i, out: &mut [u128]) {
                let front = _mm512_permutex2var_epi64(even, _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11), odd);
                let back =
                    _mm512_permutex2var_epi64(even, _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15), odd);
                let (out0, out1) = out.split_at_mut(4);
                assert_eq!(out1.len(), 4);
                // SAFETY: each points to four numbers of 16 bytes; the stores need no alignment.
                unsafe {
                    _mm512_storeu_si512(out0.as_mut_ptr().cast(), front);
                    _mm512_storeu_si512(out1.as_mut_ptr().cast(), back);
                }
            }
        }
    };
}

/// Constant factors, lane by lane.
#[derive(Clone, Copy)]
pub(crate) struct Shoup<'a, const N: usize> {
    /// The factors, each below q.
    pub(crate) factors: &'a [u128; N],
    /// For each, floor(factor 2^128 / q).
    pub(crate) quotients: &'a [u128; N],
}

kernels!(
    ifma,
    "avx512f,avx512ifma",
    __m512i,
    std::convert::identity,
    _mm512_madd52lo_epu64,
    _mm512_madd52hi_epu64
);

kernels!(fma, "avx512f", __m512d, super::double, super::fma_low, super::fma_high);

const TOWARD_ZERO: i32 = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;
const TWO_52: f64 = (1u64 << 52) as f64;
const TWO_104: f64 = TWO_52 * TWO_52;

/// The lowest 52 bits of `x`.
#[inline]
#[target_feature(enable = "avx512f")]
fn double(x: __m512i) -> __m512d {
    // The bits of the significand of 2^52 + x.
    const OR_AND: i32 = 0b1111_1000;
    let exponent = _mm512_castpd_si512(_mm512_set1_pd(TWO_52));
    let sum = _mm512_ternarylogic_epi64::<OR_AND>(exponent, x, _mm512_set1_epi64(LIMB as i64));
    _mm512_sub_pd(_mm512_castsi512_pd(sum), _mm512_set1_pd(TWO_52))
}

/// `x` plus the significand of `y`, whose exponent is that of `one`.
#[inline]
#[target_feature(enable = "avx512f")]
fn add_significand(x: __m512i, y: __m512d, one: f64) -> __m512i {
    let one = _mm512_castpd_si512(_mm512_set1_pd(one));
    _mm512_add_epi64(x, _mm512_sub_epi64(_mm512_castpd_si512(y), one))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn fma_high(x: __m512i, y: __m512d, z: __m512d) -> __m512i {
    let high = _mm512_fmadd_round_pd::<TOWARD_ZERO>(y, z, _mm512_set1_pd(TWO_104));
    add_significand(x, high, TWO_104)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn fma_low(x: __m512i, y: __m512d, z: __m512d) -> __m512i {
    let high = _mm512_fmadd_round_pd::<TOWARD_ZERO>(y, z, _mm512_set1_pd(TWO_104));
    let rest = _mm512_sub_pd(_mm512_set1_pd(TWO_104 + TWO_52), high);
    add_significand(x, _mm512_fmadd_round_pd::<TOWARD_ZERO>(y, z, rest), TWO_52)
}

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

    kernels!(emulated, "avx512f", __m512i, std::convert::identity, super::low, super::high);

    /// Runs `$run` with each module of kernels that the processor can execute, as `$kernels`.
    macro_rules! with_each {
        ($kernels:ident, $run:block) => {{
            if fma_available() {
                {
                    use emulated as $kernels;
                    $run
                }
                {
                    use fma as $kernels;
                    $run
                }
            }
            if ifma_available() {
                use ifma as $kernels;
                $run
            }
        }};
    }

    const N: usize = 16;

    /// Compares all kernels with the scalar code.
    fn check(q: u128, a: [u128; N], b: [u128; N], w: [u128; N]) {
        let q = Modulus::new(q).unwrap();
        let product: [u128; N] = std::array::from_fn(|i| q.mul(b[i], w[i]));
        let expected = [
            product,
            std::array::from_fn(|i| q.add(a[i], product[i])),
            std::array::from_fn(|i| q.sub(a[i], product[i])),
            std::array::from_fn(|i| q.add(a[i], b[i])),
            std::array::from_fn(|i| q.mul(q.sub(a[i], b[i]), w[i])),
        ];
        let quotients = w.map(|w| q.divide(w, 128).0);
        let w = Shoup { factors: &w, quotients: &quotients };
        with_each!(kernels, {
            let mut out = [[0; N]; 5];
            let [o0, o1, o2, o3, o4] = &mut out;
            // SAFETY: the processor has the instructions.
            unsafe {
                kernels::mul(&q, o0, &b, w);
                kernels::butterfly(&q, [o1, o2], &a, &b, w);
                kernels::inverse_butterfly(&q, [o3, o4], &a, &b, w);
            }
            assert_eq!(out, expected, "modulo {:#x}", q.value());
        });
    }

    /// Compares the transforms of `x` with a scalar one. The factors need not be powers of a root.
    fn check_transform(q: u128, x: &[u128], factors: &[u128]) {
        let q = Modulus::new(q).unwrap();
        let mut expected = x.to_vec();
        let mut half = x.len() / 2;
        while half > 0 {
            let blocks = x.len() / (2 * half);
            for (block, w) in expected.chunks_mut(2 * half).zip(&factors[blocks..]) {
                for i in 0..half {
                    let t = q.mul(block[i + half], *w);
                    (block[i], block[i + half]) = (q.add(block[i], t), q.sub(block[i], t));
                }
            }
            half /= 2;
        }
        let constants = Constants::new(&q, factors);
        with_each!(kernels, {
            let mut y = x.to_vec();
            // SAFETY: the processor has the instructions.
            unsafe { kernels::forward(&q, &constants, &mut y) };
            assert!(y == expected, "{} points modulo {:#x}", x.len(), q.value());
        });
    }

    /// Moduli at the ends of limbs and words.
    const MODULI: [u128; 10] = [
        3,
        5,
        (1 << 52) - 1,
        (1 << 52) + 1,
        (1 << 104) - 1,
        (1 << 104) + 1,
        (1 << 127) - 1,
        (1 << 127) + 1,
        u128::MAX - 158,
        u128::MAX,
    ];

    #[test]
    fn extreme_operands_agree_with_the_scalar_code() {
        for q in MODULI {
            let edges = [0, 1, q / 2, q - 2, q - 1];
            for a in edges {
                for b in edges {
                    check(q, [a; N], [b; N], std::array::from_fn(|i| edges[i % 5]));
                }
            }
        }
    }

    #[test]
    fn extreme_transforms_of_all_lengths_agree_with_the_scalar_code() {
        for q in MODULI {
            for log2_n in 4..=12 {
                let edges = [q - 1, 0, q - 1, q / 2, 1, q - 2];
                let choose =
                    |step: usize| (0..1 << log2_n).map(|i| edges[i * i / step % 6]).collect::<Vec<_>>();
                check_transform(q, &choose(1), &choose(3));
                check_transform(q, &vec![q - 1; 1 << log2_n], &vec![q - 1; 1 << log2_n]);
                check_transform(q, &vec![q - 1; 1 << log2_n], &vec![1; 1 << log2_n]);
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

        #[test]
        fn random_transforms_agree_with_the_scalar_code(
            q in any::<u128>(), shift in 0u32..126, log2_n in 4u32..=9,
            values in proptest::collection::vec(any::<u128>(), 1024)
        ) {
            let q = (q >> shift | 1).max(3);
            let values: Vec<u128> = values.iter().map(|x| x % q).collect();
            let (x, factors) = values.split_at(512);
            check_transform(q, &x[..1 << log2_n], &factors[..1 << log2_n]);
        }
    }
}
