//! Sixteen lanes at a time, in AVX-512.
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
//! out up to 6 too small, and the difference below 7 q (where it is rounded, too, see
//! `add_product`). Of the other two products only the lowest 156 bits are formed, that with
//! 2^156 - q in place of -q: their sum is right modulo 2^156, and small.
//!
//! The multiplier takes four cycles, and the limbs of a product wait for each other. Therefore
//! every step is made on two vectors of eight lanes: while one waits, the other is multiplied.
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
use std::mem::MaybeUninit;

const LIMB_BITS: u32 = 52;
const LIMB: u64 = (1 << LIMB_BITS) - 1;

/// The numbers that a kernel works on at a time.
pub(crate) const LANES: usize = 16;

/// The shortest transform of the kernels.
pub(crate) const MIN_POINTS: usize = 2 * LANES;

/// Whether the processor has what [`ifma`] needs.
pub(crate) fn ifma_available() -> bool {
    fma_available() && is_x86_feature_detected!("avx512ifma")
}

/// Whether the processor has what [`fma`] needs.
pub(crate) fn fma_available() -> bool {
    is_x86_feature_detected!("avx512f")
}

fn split(x: u128) -> [u64; 3] {
    [x as u64 & LIMB, (x >> LIMB_BITS) as u64 & LIMB, (x >> (2 * LIMB_BITS)) as u64]
}

/// The limbs of floor(factor 2^156 / q), for a `factor` below q.
fn quotient(q: &Modulus, factor: u128) -> [u64; 3] {
    let (high, rest) = q.divide(factor, 128);
    let (low, _) = q.divide(rest, 28);
    [(high as u64) << 28 & LIMB | low as u64, (high >> 24) as u64 & LIMB, (high >> 76) as u64]
}

/// Eight constant factors of a transform: limb by limb, and side by side in memory.
#[derive(Clone, Debug, Default)]
#[repr(align(64))]
struct Constants {
    factor: [[u64; 8]; 3],
    /// floor(factor 2^156 / q).
    quotient: [[u64; 8]; 3],
}

/// Two vectors.
type Two = [__m512i; 2];

/// Defines operations on two vectors by those on one.
macro_rules! on_both {
    ($($name:ident($($x:ident),+) = $one:expr;)+) => {$(
        #[inline]
        #[target_feature(enable = "avx512f")]
        fn $name($($x: Two),+) -> Two {
            let one = |$($x: __m512i),+| $one;
            [one($($x[0]),+), one($($x[1]),+)]
        }
    )+};
}

on_both! {
    add_elements(x, y) = _mm512_add_epi64(x, y);
    sub_elements(x, y) = _mm512_sub_epi64(x, y);
    or(x, y) = _mm512_or_si512(x, y);
    lowest_52(x) = _mm512_and_si512(x, _mm512_set1_epi64(LIMB as i64));
    above_52(x) = _mm512_srai_epi64::<52>(x);
}

/// Elements times 2^`BITS`.
#[inline]
#[target_feature(enable = "avx512f")]
fn left<const BITS: u32>(x: Two) -> Two {
    [_mm512_slli_epi64::<BITS>(x[0]), _mm512_slli_epi64::<BITS>(x[1])]
}

/// Elements, which are not negative, divided by 2^`BITS`.
#[inline]
#[target_feature(enable = "avx512f")]
fn right<const BITS: u32>(x: Two) -> Two {
    [_mm512_srli_epi64::<BITS>(x[0]), _mm512_srli_epi64::<BITS>(x[1])]
}

/// A module of kernels for target features: with `$operand`, what is multiplied, `$convert`, which
/// makes one of the lowest 52 bits of a number, `$stored` and `$loaded`, which take a limb to memory
/// and make an operand of it, and the two halves of the multiply-add:
/// `$low(x, y, z) = x + y z mod 2^52` and `$high(x, y, z) = x + floor(y z / 2^52)`.
macro_rules! kernels {
    (
        $name:ident,
        $features:literal,
        $operand:ty,
        $convert:path,
        $stored:path,
        $loaded:path,
        $low:path,
        $high:path
    ) => {
        pub(crate) mod $name {
            use super::*;

            /// Eight numbers in limbs; each element of a vector belongs to one number.
            #[derive(Clone, Copy)]
            struct Block([__m512i; 3]);

            /// Two blocks. Limbs are signed and may exceed 52 bits: sums and differences do not carry.
            #[derive(Clone, Copy)]
            struct Limbs([Two; 3]);

            /// Sixteen numbers to be multiplied.
            #[derive(Clone, Copy)]
            struct Operand([[$operand; 2]; 3]);

            /// Sixteen constant factors with their quotients.
            #[derive(Clone, Copy)]
            struct Factor {
                factor: Operand,
                quotient: Operand,
            }

            /// A modulus for sixteen lanes.
            struct Vectors {
                q: Limbs,
                /// 2^156 - q.
                minus_q: Operand,
                /// 1/q, or less by up to 2^-39 of it.
                inverse: __m512d,
            }

            #[inline]
            #[target_feature(enable = $features)]
            fn vectors(modulus: &Modulus) -> Vectors {
                let q = multiple(modulus, 1);
                Vectors {
                    q,
                    minus_q: operand(carry(sub(Limbs([[_mm512_setzero_si512(); 2]; 3]), q))),
                    inverse: _mm512_set1_pd((1.0 - 1.0 / (1u64 << 40) as f64) / modulus.value() as f64),
                }
            }

            /// `factor` q, for a small factor.
            #[inline]
            #[target_feature(enable = $features)]
            fn multiple(q: &Modulus, factor: u64) -> Limbs {
                let [a, b, c] = split(q.value());
                let limb = |x: u64| [_mm512_set1_epi64((factor * x) as i64); 2];
                Limbs([limb(a), limb(b), limb(c)])
            }

            #[inline]
            #[target_feature(enable = $features)]
            fn pair(Block([a, b, c]): Block, Block([d, e, f]): Block) -> Limbs {
                Limbs([[a, d], [b, e], [c, f]])
            }

            #[inline]
            #[target_feature(enable = $features)]
            fn blocks(Limbs([[a, d], [b, e], [c, f]]): Limbs) -> [Block; 2] {
                [Block([a, b, c]), Block([d, e, f])]
            }

            /// The lowest 52 bits of each limb.
            #[inline]
            #[target_feature(enable = $features)]
            fn operand(Limbs([a, b, c]): Limbs) -> Operand {
                Operand([convert(a), convert(b), convert(c)])
            }

            #[inline]
            #[target_feature(enable = $features)]
            fn convert(x: Two) -> [$operand; 2] {
                [$convert(x[0]), $convert(x[1])]
            }

            #[inline]
            #[target_feature(enable = $features)]
            fn low(x: Two, y: [$operand; 2], z: [$operand; 2]) -> Two {
                [$low(x[0], y[0], z[0]), $low(x[1], y[1], z[1])]
            }

            #[inline]
            #[target_feature(enable = $features)]
            fn high(x: Two, y: [$operand; 2], z: [$operand; 2]) -> Two {
                [$high(x[0], y[0], z[0]), $high(x[1], y[1], z[1])]
            }

            #[inline]
            #[target_feature(enable = $features)]
            fn add(Limbs(x): Limbs, Limbs(y): Limbs) -> Limbs {
                Limbs([add_elements(x[0], y[0]), add_elements(x[1], y[1]), add_elements(x[2], y[2])])
            }

            #[inline]
            #[target_feature(enable = $features)]
            fn sub(Limbs(x): Limbs, Limbs(y): Limbs) -> Limbs {
                Limbs([sub_elements(x[0], y[0]), sub_elements(x[1], y[1]), sub_elements(x[2], y[2])])
            }

            /// The same numbers with limbs whose lowest 52 bits are right modulo 2^156.
            #[inline]
            #[target_feature(enable = $features)]
            fn carry(Limbs(x): Limbs) -> Limbs {
                let middle = add_elements(x[1], above_52(x[0]));
                Limbs([x[0], middle, add_elements(x[2], above_52(middle))])
            }

            /// `x + m` where `x`, from `-m` on and below `m`, modulo 2^156, is negative, else `x`.
            #[inline]
            #[target_feature(enable = $features)]
            fn correct(x: Limbs, Limbs(m): Limbs) -> Limbs {
                let Limbs([.., top]) = carry(x);
                let Limbs(x) = x;
                let sign = _mm512_set1_epi64(1 << (LIMB_BITS - 1));
                let negative = [_mm512_test_epi64_mask(top[0], sign), _mm512_test_epi64_mask(top[1], sign)];
                let limb = |x: Two, m: Two| {
                    [
                        _mm512_mask_add_epi64(x[0], negative[0], x[0], m[0]),
                        _mm512_mask_add_epi64(x[1], negative[1], x[1], m[1]),
                    ]
                };
                Limbs([limb(x[0], m[0]), limb(x[1], m[1]), limb(x[2], m[2])])
            }

            /// `sum + x y mod 2^156`, but for what exceeds 52 bits of the highest limb.
            #[inline]
            #[target_feature(enable = $features)]
            fn add_low_product(Limbs(sum): Limbs, Operand(x): Operand, Operand(y): Operand) -> Limbs {
                let limb0 = low(sum[0], x[0], y[0]);
                let limb1 = low(low(high(sum[1], x[0], y[0]), x[0], y[1]), x[1], y[0]);
                let limb2 = low(high(sum[2], x[0], y[1]), x[0], y[2]);
                let limb2 = low(low(high(limb2, x[1], y[0]), x[1], y[1]), x[2], y[0]);
                Limbs([limb0, limb1, limb2])
            }

            /// `floor(x y / 2^156)`, or up to 5 less: without the carry from the limbs that are not
            /// formed, which add up to less than (5 + 2^-49) 2^156.
            #[inline]
            #[target_feature(enable = $features)]
            fn high_product(Operand(x): Operand, Operand(y): Operand) -> Limbs {
                let zero = [_mm512_setzero_si512(); 2];
                let limb0 = high(high(high(zero, x[0], y[2]), x[1], y[1]), x[2], y[0]);
                Limbs([
                    low(low(limb0, x[1], y[2]), x[2], y[1]),
                    low(high(high(zero, x[1], y[2]), x[2], y[1]), x[2], y[2]),
                    high(zero, x[2], y[2]),
                ])
            }

            impl Vectors {
                /// `sum` plus numbers that are `b w` modulo q, from 0 on and below 7 q, modulo 2^156.
                ///
                /// The quotient may have been rounded down to a multiple of 2^28 where b is below
                /// 2^129, and must be exact where it is not; rounded, for b from 2^128 on, it leaves the
                /// product below 8 q only.
                #[inline]
                #[target_feature(enable = $features)]
                fn add_product(&self, sum: Limbs, b: Operand, w: &Factor) -> Limbs {
                    let quotient = operand(carry(high_product(b, w.quotient)));
                    add_low_product(add_low_product(sum, b, w.factor), quotient, self.minus_q)
                }

                /// `x mod q`, for `x` from 0 on and below 2^20 q, modulo 2^156.
                ///
                /// The quotient x/q comes out of floating-point arithmetic too small by less than 2^-18, and
                /// is then rounded down: the next integer leaves a rest from -q on and below q.
                #[inline]
                #[target_feature(enable = $features)]
                fn reduce(&self, x: Limbs) -> Limbs {
                    let Limbs(limbs) = carry(x);
                    let quotient = |i: usize| {
                        let low = _mm512_add_pd(number(limbs[0][i], TWO_52), number(limbs[1][i], TWO_104));
                        let x = _mm512_add_pd(low, number(limbs[2][i], TWO_104 * TWO_52));
                        let quotient = _mm512_set1_pd(TWO_52 + 1.0);
                        let quotient = _mm512_fmadd_round_pd::<TOWARD_ZERO>(x, self.inverse, quotient);
                        // The lowest bits of the significand.
                        $convert(_mm512_castpd_si512(quotient))
                    };
                    let quotient = [quotient(0), quotient(1)];
                    let (Limbs(x), Operand(minus_q)) = (x, self.minus_q);
                    let rest = Limbs([
                        low(x[0], quotient, minus_q[0]),
                        low(high(x[1], quotient, minus_q[0]), quotient, minus_q[1]),
                        low(high(x[2], quotient, minus_q[1]), quotient, minus_q[2]),
                    ]);
                    correct(rest, self.q)
                }

                /// The product `b w mod q` of plain numbers.
                #[inline]
                #[target_feature(enable = $features)]
                fn product(&self, b: Operand, w: Words, quotient: Words) -> Limbs {
                    let w = Factor { factor: operand(w.limbs()), quotient: operand(quotient.limbs_at_28()) };
                    let zero = Limbs([[_mm512_setzero_si512(); 2]; 3]);
                    self.reduce(self.add_product(zero, b, &w))
                }
            }

            /// The low and the high halves of sixteen numbers, in some order.
            #[derive(Clone, Copy)]
            struct Words {
                low: Two,
                high: Two,
            }

            impl Words {
                /// In each vector the order is 0, 4, 1, 5, 2, 6, 3, 7; [`store`](Self::store) undoes it.
                #[inline]
                #[target_feature(enable = $features)]
                fn load(first: &[u128; 8], second: &[u128; 8]) -> Self {
                    let load = |x: &[u128; 8]| {
                        let (front, back) = (x.as_ptr().cast(), x[4..].as_ptr().cast());
                        // SAFETY: each points to four numbers of 16 bytes; the loads need no alignment.
                        unsafe { [_mm512_loadu_si512(front), _mm512_loadu_si512(back)] }
                    };
                    let ([a, b], [c, d]) = (load(first), load(second));
                    Self {
                        low: [_mm512_unpacklo_epi64(a, b), _mm512_unpacklo_epi64(c, d)],
                        high: [_mm512_unpackhi_epi64(a, b), _mm512_unpackhi_epi64(c, d)],
                    }
                }

                #[inline]
                #[target_feature(enable = $features)]
                fn load_all(x: &[u128; LANES]) -> Self {
                    let [first, second] = x.as_chunks().0 else { unreachable!("two blocks") };
                    Self::load(first, second)
                }

                #[inline]
                #[target_feature(enable = $features)]
                fn store(self, x: &mut [u128; LANES]) {
                    let Self { low, high } = self;
                    let quarters = [
                        _mm512_unpacklo_epi64(low[0], high[0]),
                        _mm512_unpackhi_epi64(low[0], high[0]),
                        _mm512_unpacklo_epi64(low[1], high[1]),
                        _mm512_unpackhi_epi64(low[1], high[1]),
                    ];
                    for (x, quarter) in x.as_chunks_mut::<4>().0.iter_mut().zip(quarters) {
                        // SAFETY: it points to four numbers of 16 bytes; the store needs no alignment.
                        unsafe { _mm512_storeu_si512(x.as_mut_ptr().cast(), quarter) };
                    }
                }

                /// The numbers in limbs whose lowest 52 bits are theirs.
                #[inline]
                #[target_feature(enable = $features)]
                fn limbs(self) -> Limbs {
                    let Self { low, high } = self;
                    Limbs([low, or(right::<52>(low), left::<12>(high)), right::<40>(high)])
                }

                /// The numbers times 2^28 in limbs whose lowest 52 bits are theirs.
                #[inline]
                #[target_feature(enable = $features)]
                fn limbs_at_28(self) -> Limbs {
                    let Self { low, high } = self;
                    let middle = or(right::<24>(low), left::<40>(high));
                    Limbs([left::<28>(low), middle, right::<12>(high)])
                }

                /// The numbers in limbs of 52 bits.
                #[inline]
                #[target_feature(enable = $features)]
                fn split(self) -> Limbs {
                    let Limbs([a, b, c]) = self.limbs();
                    Limbs([lowest_52(a), lowest_52(b), c])
                }

                /// The numbers, which are below 2^128.
                #[inline]
                #[target_feature(enable = $features)]
                fn join(x: Limbs) -> Self {
                    let Limbs([a, b, c]) = carry(x);
                    let (a, b) = (lowest_52(a), lowest_52(b));
                    Self { low: or(a, left::<52>(b)), high: or(right::<12>(b), left::<40>(c)) }
                }
            }

            /// `out = a w mod q`, lane by lane, for any words `a`. All slices have one length, a multiple
            /// of [`LANES`].
            #[target_feature(enable = $features)]
            pub(crate) fn mul(modulus: &Modulus, out: &mut [u128], a: &[u128], w: Shoup<'_>) {
                let q = vectors(modulus);
                let factors = w.factors.as_chunks().0.iter().zip(w.quotients.as_chunks().0);
                let data = out.as_chunks_mut().0.iter_mut().zip(a.as_chunks().0);
                for ((out, a), (w, quotient)) in data.zip(factors) {
                    let a = operand(Words::load_all(a).limbs());
                    Words::join(q.product(a, Words::load_all(w), Words::load_all(quotient))).store(out);
                }
            }

            /// `(out, out1) = (a + b w, a - b w)`, lane by lane, for `a` below q and any words `b`.
            #[target_feature(enable = $features)]
            pub(crate) fn butterfly(
                modulus: &Modulus,
                [out, out1]: [&mut [u128]; 2],
                a: &[u128],
                b: &[u128],
                w: Shoup<'_>,
            ) {
                let q = vectors(modulus);
                let factors = w.factors.as_chunks().0.iter().zip(w.quotients.as_chunks().0);
                let out = out.as_chunks_mut().0.iter_mut().zip(out1.as_chunks_mut().0);
                let data = a.as_chunks().0.iter().zip(b.as_chunks().0);
                for (((out, out1), (a, b)), (w, quotient)) in out.zip(data).zip(factors) {
                    let a = Words::load_all(a).split();
                    let b = operand(Words::load_all(b).limbs());
                    let t = q.product(b, Words::load_all(w), Words::load_all(quotient));
                    Words::join(correct(sub(add(a, t), q.q), q.q)).store(out);
                    Words::join(correct(sub(a, t), q.q)).store(out1);
                }
            }

            /// `(out, out1) = (a + b, (a - b) w)`, lane by lane, for `a` and `b` below q.
            #[target_feature(enable = $features)]
            pub(crate) fn inverse_butterfly(
                modulus: &Modulus,
                [out, out1]: [&mut [u128]; 2],
                a: &[u128],
                b: &[u128],
                w: Shoup<'_>,
            ) {
                let q = vectors(modulus);
                let factors = w.factors.as_chunks().0.iter().zip(w.quotients.as_chunks().0);
                let out = out.as_chunks_mut().0.iter_mut().zip(out1.as_chunks_mut().0);
                let data = a.as_chunks().0.iter().zip(b.as_chunks().0);
                for (((out, out1), (a, b)), (w, quotient)) in out.zip(data).zip(factors) {
                    let (a, b) = (Words::load_all(a).split(), Words::load_all(b).split());
                    let difference = operand(carry(add(sub(a, b), q.q)));
                    Words::join(correct(sub(add(a, b), q.q), q.q)).store(out);
                    let product = q.product(difference, Words::load_all(w), Words::load_all(quotient));
                    Words::join(product).store(out1);
                }
            }

            /// A forward transform: its modulus and the constant factors of its stages.
            #[derive(Clone, Debug)]
            pub(crate) struct Transform {
                modulus: Modulus,
                /// Factor `i` is number `i % 8` of group `i / 8`; those of the last stage stand in the
                /// order of [`Words::load`].
                factors: Vec<Constants>,
            }

            impl Transform {
                /// Of as many points as there are `factors`, each below q: a power of two, at least
                /// [`MIN_POINTS`]. Those of a stage come after those of the one before it.
                pub(crate) fn new(modulus: &Modulus, factors: &[u128]) -> Self {
                    let last_stage = factors.len() / LANES;
                    let eight = |(group, factors): (usize, &[u128; 8])| {
                        let mut constants = Constants::default();
                        for (i, &factor) in factors.iter().enumerate() {
                            let place = if group < last_stage { i } else { 2 * (i % 4) + i / 4 };
                            let (factor, quotient) = (split(factor), quotient(modulus, factor));
                            for limb in 0..3 {
                                constants.factor[limb][place] = $stored(factor[limb]);
                                constants.quotient[limb][place] = $stored(quotient[limb]);
                            }
                        }
                        constants
                    };
                    let factors = factors.as_chunks().0.iter().enumerate().map(eight).collect();
                    Self { modulus: *modulus, factors }
                }

                /// Transforms `x`: natural order in, bit-reversed out.
                ///
                /// No stage reduces its results: each adds less than 7 q to a number, or subtracts it. So
                /// that none falls below zero, all begin with 7 q for each stage.
                #[target_feature(enable = $features)]
                pub(crate) fn forward(&self, x: &mut [u128]) {
                    let offset = multiple(&self.modulus, 7 * u64::from(x.len().ilog2()));
                    let transform = Pass { q: vectors(&self.modulus), factors: &self.factors };
                    let mut numbers = Vec::with_capacity(x.len() / 8);
                    let parts = transform.first(x, offset, numbers.spare_capacity_mut());
                    // SAFETY: the first pass has written all of them.
                    unsafe { numbers.set_len(x.len() / 8) };
                    transform.finish(&mut numbers, parts, 1, x);
                }
            }

            /// What a pass over the data needs.
            struct Pass<'a> {
                q: Vectors,
                factors: &'a [Constants],
            }

            impl Pass<'_> {
                /// `(a + b w, a - b w)`, modulo 2^156.
                #[inline]
                #[target_feature(enable = $features)]
                fn butterfly(&self, a: Limbs, b: Limbs, w: &Factor) -> [Limbs; 2] {
                    let sum = self.q.add_product(a, operand(carry(b)), w);
                    [sum, sub(add(a, a), sum)]
                }

                /// Two stages, on numbers a quarter of their part from each other.
                #[inline]
                #[target_feature(enable = $features)]
                fn radix4(&self, [a, b, c, d]: [&mut Block; 4], w: &[Factor; 2]) {
                    let [ef, gh] = self.butterfly(pair(*a, *b), pair(*c, *d), &w[0]);
                    let ([e, f], [g, h]) = (blocks(ef), blocks(gh));
                    let [ac, bd] = self.butterfly(pair(e, g), pair(f, h), &w[1]);
                    ([*a, *c], [*b, *d]) = (blocks(ac), blocks(bd));
                }

                /// The factors of two stages on the part that begins with factor `node`.
                #[inline]
                #[target_feature(enable = $features)]
                fn radix4_factors(&self, node: usize) -> [Factor; 2] {
                    [self.broadcast([node; 2]), self.broadcast([2 * node, 2 * node + 1])]
                }

                /// For each vector the factor that is to multiply all its lanes.
                #[inline]
                #[target_feature(enable = $features)]
                fn broadcast(&self, factors: [usize; 2]) -> Factor {
                    self.factor(factors, |eight, i| _mm512_set1_epi64(eight[i] as i64))
                }

                /// For each vector the factors that `choose` makes of the eight among which the one of that
                /// number is, and of its place there.
                #[inline]
                #[target_feature(enable = $features)]
                fn factor(
                    &self,
                    factors: [usize; 2],
                    choose: impl Fn(&[u64; 8], usize) -> __m512i,
                ) -> Factor {
                    let groups = [&self.factors[factors[0] / 8], &self.factors[factors[1] / 8]];
                    let one = |eight: &[u64; 8], number: usize| $loaded(choose(eight, number % 8));
                    let limb = |limb: usize| {
                        let [a, b] = groups.map(|group| &group.factor[limb]);
                        [one(a, factors[0]), one(b, factors[1])]
                    };
                    let quotient = |limb: usize| {
                        let [a, b] = groups.map(|group| &group.quotient[limb]);
                        [one(a, factors[0]), one(b, factors[1])]
                    };
                    Factor {
                        factor: Operand([limb(0), limb(1), limb(2)]),
                        quotient: Operand([quotient(0), quotient(1), quotient(2)]),
                    }
                }

                /// The first pass of a transform, from `x` plus `offset` to `out`. Returns the number of parts
                /// that go their own ways from then on.
                #[target_feature(enable = $features)]
                fn first(&self, x: &[u128], offset: Limbs, out: &mut [MaybeUninit<Block>]) -> usize {
                    let (x, _) = x.as_chunks();
                    let load = |x, y| add(Words::load(x, y).split(), offset);
                    let (x0, x1) = x.split_at(x.len() / 2);
                    let (out0, out1) = out.split_at_mut(x1.len());
                    if radix(x.len()) == 2 {
                        let w = self.broadcast([1; 2]);
                        let out = out0.as_chunks_mut().0.iter_mut().zip(out1.as_chunks_mut().0);
                        for (([a, b], [c, d]), ([out_a, out_b], [out_c, out_d])) in
                            x0.as_chunks().0.iter().zip(x1.as_chunks().0).zip(out)
                        {
                            let [ab, cd] = self.butterfly(load(a, b), load(c, d), &w);
                            let ([a, b], [c, d]) = (blocks(ab), blocks(cd));
                            (out_a.write(a), out_b.write(b), out_c.write(c), out_d.write(d));
                        }
                        return 2;
                    }
                    let w = self.radix4_factors(1);
                    let quarter = x.len() / 4;
                    let ((a, b), (c, d)) = (x0.split_at(quarter), x1.split_at(quarter));
                    let (out_a, out_b) = out0.split_at_mut(quarter);
                    let (out_c, out_d) = out1.split_at_mut(quarter);
                    let out = out_a.iter_mut().zip(out_b).zip(out_c.iter_mut().zip(out_d));
                    let x = a.iter().zip(b).zip(c.iter().zip(d));
                    for (((a, b), (c, d)), ((out_a, out_b), (out_c, out_d))) in x.zip(out) {
                        let ([a, b], [c, d]) = (blocks(load(a, b)), blocks(load(c, d)));
                        self.radix4([out_a.write(a), out_b.write(b), out_c.write(c), out_d.write(d)], &w);
                    }
                    4
                }

                /// A pass over the part `x`, whose first factor is number `node`. Returns the number of parts
                /// that it falls into.
                #[target_feature(enable = $features)]
                fn again(&self, x: &mut [Block], node: usize) -> usize {
                    let radix = radix(x.len());
                    let (x0, x1) = x.split_at_mut(x.len() / 2);
                    if radix == 2 {
                        let w = self.broadcast([node; 2]);
                        for ([a, b], [c, d]) in x0.as_chunks_mut().0.iter_mut().zip(x1.as_chunks_mut().0) {
                            let [ab, cd] = self.butterfly(pair(*a, *b), pair(*c, *d), &w);
                            ([*a, *b], [*c, *d]) = (blocks(ab), blocks(cd));
                        }
                    } else {
                        let w = self.radix4_factors(node);
                        let quarter = x0.len() / 2;
                        let ((a, b), (c, d)) = (x0.split_at_mut(quarter), x1.split_at_mut(quarter));
                        for ((a, b), (c, d)) in a.iter_mut().zip(b).zip(c.iter_mut().zip(d)) {
                            self.radix4([a, b, c, d], &w);
                        }
                    }
                    radix
                }

                /// The stages that remain on each of some equal `parts` of `x`, whose first factors are numbers
                /// `parts * node` and so on; the results go to `out`. Each part is finished before the next
                /// is begun, to stay in the cache.
                #[target_feature(enable = $features)]
                fn finish(&self, x: &mut [Block], parts: usize, node: usize, out: &mut [u128]) {
                    let node = parts * node;
                    if x.len() == 2 * parts {
                        let (x, out) = (x.as_chunks().0, out.as_chunks_mut().0);
                        for (i, (x, out)) in x.iter().zip(out).enumerate() {
                            self.last_stages(x, node + 2 * i, out);
                        }
                        return;
                    }
                    let out = out.chunks_exact_mut(out.len() / parts);
                    for (i, (x, out)) in x.chunks_exact_mut(x.len() / parts).zip(out).enumerate() {
                        let parts = self.again(x, node + i);
                        self.finish(x, parts, node + i, out);
                    }
                }

                /// The last four stages of two parts of 16 numbers, whose factors are number `node` and the
                /// next.
                ///
                /// Call the bits of an element's index 3 to 0; the vectors `a` and `b` of a part differ in
                /// bit 3. Lanes are in the order of [`Words::load`]: the bits of a lane's number
                /// are bits 1, 0 and 2 of the index. Before each stage the vectors exchange lanes, so that
                /// its bit tells them apart.
                #[inline]
                #[target_feature(enable = $features)]
                fn last_stages(&self, &[a, b, c, d]: &[Block; 4], node: usize, out: &mut [u128; 32]) {
                    let node = [node, node + 1];
                    let [a, b] = self.butterfly(pair(a, c), pair(b, d), &self.broadcast(node));

                    // Bit 2 against 3, the lowest of the lane's: lanes are bits 1, 0, 3.
                    let x = exchange(a, b, |a, b| _mm512_unpacklo_epi64(a, b));
                    let y = exchange(a, b, |a, b| _mm512_unpackhi_epi64(a, b));
                    let w = self.factor(node.map(|node| 2 * node), |eight, i| {
                        let two: &[u64; 2] = eight[i..].first_chunk().expect("an even place");
                        // SAFETY: it points to 16 bytes; the load needs no alignment.
                        _mm512_broadcast_i32x4(unsafe { _mm_loadu_si128(two.as_ptr().cast()) })
                    });
                    let [a, b] = self.butterfly(x, y, &w);

                    // Bit 1 against 2, the highest of the lane's: lanes are bits 2, 0, 3.
                    let x = exchange(a, b, |a, b| _mm512_shuffle_i64x2::<0b01_00_01_00>(a, b));
                    let y = exchange(a, b, |a, b| _mm512_shuffle_i64x2::<0b11_10_11_10>(a, b));
                    let w = self.factor(node.map(|node| 4 * node), |eight, i| {
                        let four: &[u64; 4] = eight[i..].first_chunk().expect("a place that four divides");
                        // SAFETY: it points to 32 bytes; the load needs no alignment.
                        let four = unsafe { _mm256_loadu_si256(four.as_ptr().cast()) };
                        let lanes = _mm512_setr_epi64(0, 2, 0, 2, 1, 3, 1, 3);
                        _mm512_permutexvar_epi64(lanes, _mm512_broadcast_i64x4(four))
                    });
                    let [a, b] = self.butterfly(x, y, &w);

                    // Bit 0 against 1, the middle one: lanes are bits 2, 1, 3.
                    let x = exchange(a, b, |a, b| {
                        _mm512_permutex2var_epi64(a, _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13), b)
                    });
                    let y = exchange(a, b, |a, b| {
                        _mm512_permutex2var_epi64(a, _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15), b)
                    });
                    let w = self.factor(node.map(|node| 8 * node), |eight, _| {
                        // SAFETY: it points to 64 bytes; the load needs no alignment.
                        unsafe { _mm512_loadu_si512(eight.as_ptr().cast()) }
                    });
                    let [a, b] = self.butterfly(x, y, &w);

                    // Now `even` and `odd` in bit 0; the halves of words alternate for bit 3 = 0 and 1.
                    let even = Words::join(self.q.reduce(a));
                    let odd = Words::join(self.q.reduce(b));
                    for (i, out) in out.as_chunks_mut::<16>().0.iter_mut().enumerate() {
                        let (out0, out1) = out.split_at_mut(8);
                        interleave(
                            _mm512_unpacklo_epi64(even.low[i], even.high[i]),
                            _mm512_unpacklo_epi64(odd.low[i], odd.high[i]),
                            out0,
                        );
                        interleave(
                            _mm512_unpackhi_epi64(even.low[i], even.high[i]),
                            _mm512_unpackhi_epi64(odd.low[i], odd.high[i]),
                            out1,
                        );
                    }
                }
            }

            /// `f` of each limb of `a` and `b`.
            #[inline]
            #[target_feature(enable = $features)]
            fn exchange(Limbs(a): Limbs, Limbs(b): Limbs, f: impl Fn(__m512i, __m512i) -> __m512i) -> Limbs {
                let limb = |i: usize| [f(a[i][0], b[i][0]), f(a[i][1], b[i][1])];
                Limbs([limb(0), limb(1), limb(2)])
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

/// The stages that a pass over some blocks takes together, as a radix. Passes of radix 4 end with
/// parts of two blocks.
fn radix(blocks: usize) -> usize {
    if blocks.ilog2().is_multiple_of(2) { 2 } else { 4 }
}

/// Constant factors, lane by lane.
#[derive(Clone, Copy)]
pub(crate) struct Shoup<'a> {
    /// The factors, each below q.
    pub(crate) factors: &'a [u128],
    /// For each, floor(factor 2^128 / q).
    pub(crate) quotients: &'a [u128],
}

kernels!(
    ifma,
    "avx512f,avx512ifma",
    __m512i,
    std::convert::identity,
    std::convert::identity,
    std::convert::identity,
    _mm512_madd52lo_epu64,
    _mm512_madd52hi_epu64
);

kernels!(
    fma,
    "avx512f",
    __m512d,
    super::double,
    super::bits_of_double,
    _mm512_castsi512_pd,
    super::fma_low,
    super::fma_high
);

const TOWARD_ZERO: i32 = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;
const TWO_52: f64 = (1u64 << 52) as f64;
const TWO_104: f64 = TWO_52 * TWO_52;

/// A limb as the kernels of [`fma`] multiply it.
fn bits_of_double(limb: u64) -> u64 {
    (limb as f64).to_bits()
}

/// The lowest 52 bits of `x`.
#[inline]
#[target_feature(enable = "avx512f")]
fn double(x: __m512i) -> __m512d {
    number(x, TWO_52)
}

/// The lowest 52 bits of `x` in units of `one / 2^52`, for a power of two.
#[inline]
#[target_feature(enable = "avx512f")]
fn number(x: __m512i, one: f64) -> __m512d {
    // The bits of the significand of a number whose exponent is that of `one`.
    const OR_AND: i32 = 0b1111_1000;
    let one = _mm512_set1_pd(one);
    let limb = _mm512_set1_epi64(LIMB as i64);
    let sum = _mm512_ternarylogic_epi64::<OR_AND>(_mm512_castpd_si512(one), x, limb);
    _mm512_sub_pd(_mm512_castsi512_pd(sum), one)
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

    kernels!(
        emulated,
        "avx512f",
        __m512i,
        std::convert::identity,
        std::convert::identity,
        std::convert::identity,
        super::low,
        super::high
    );

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

    /// Compares all kernels with the scalar code, on any words `x` and on residues `a`, `w` and x mod q.
    fn check(q: u128, a: [u128; N], x: [u128; N], w: [u128; N]) {
        let b = x.map(|x| x % q);
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
                kernels::mul(&q, o0, &x, w);
                kernels::butterfly(&q, [o1, o2], &a, &x, w);
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
        with_each!(kernels, {
            let mut y = x.to_vec();
            // SAFETY: the processor has the instructions.
            unsafe { kernels::Transform::new(&q, factors).forward(&mut y) };
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
            let words = [q, q.saturating_add(1), u128::MAX / q * q, u128::MAX - 1, u128::MAX];
            for a in edges {
                for x in edges.into_iter().chain(words) {
                    check(q, [a; N], [x; N], std::array::from_fn(|i| edges[i % 5]));
                }
            }
        }
    }

    #[test]
    fn extreme_transforms_of_all_lengths_agree_with_the_scalar_code() {
        for q in MODULI {
            for log2_n in 5..=12 {
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
            a in any::<[u128; N]>(), x in any::<[u128; N]>(), w in any::<[u128; N]>()
        ) {
            let q = (q >> shift | 1).max(3);
            check(q, a.map(|a| a % q), x, w.map(|w| w % q));
        }

        #[test]
        fn random_transforms_agree_with_the_scalar_code(
            q in any::<u128>(), shift in 0u32..126, log2_n in 5u32..=9,
            values in proptest::collection::vec(any::<u128>(), 1024)
        ) {
            let q = (q >> shift | 1).max(3);
            let values: Vec<u128> = values.iter().map(|x| x % q).collect();
            let (x, factors) = values.split_at(512);
            check_transform(q, &x[..1 << log2_n], &factors[..1 << log2_n]);
        }
    }
}
