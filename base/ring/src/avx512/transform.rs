//! The forward negacyclic transform.

use super::limbs::{Block, Limbs, Operand, Pair, Words};
use super::modulus::{Factor, VectorModulus, multiple};
use super::multiply::SimdCode;
use super::simd::Vector;
use super::{LANES, LIMB, LIMB_BITS, Multiply52, split};
use crate::modular::Modulus;
use std::mem::MaybeUninit;

/// Eight constant factors: limb by limb, and adjacent in memory.
#[derive(Clone, Debug, Default)]
#[repr(align(64))]
struct Constants {
    factor: [[u64; 8]; 3],
    /// floor(factor 2^156 / q).
    quotient: [[u64; 8]; 3],
}

/// The limbs of floor(factor 2^156 / q), for a `factor` below q.
fn quotient(q: &Modulus, factor: u128) -> [u64; 3] {
    let (high, rest) = q.divide(factor, 128);
    let (low, _) = q.divide(rest, 28);
    let middle = (high >> 24) as u64 & LIMB;
    [(high as u64) << 28 & LIMB | low as u64, middle, (high >> (24 + LIMB_BITS)) as u64]
}

/// A forward transform: its modulus and the constant factors of its stages.
#[derive(Clone, Debug)]
pub(crate) struct Transform<M> {
    m: M,
    modulus: Modulus,
    /// Factor `i` is number `i % 8` of group `i / 8`. The last stage's factors are in the order of
    /// [`Words::load`].
    factors: Vec<Constants>,
}

impl<M: Multiply52> Transform<M> {
    /// A transform of `factors.len()` points: a power of two, at least [`MIN_POINTS`](super::MIN_POINTS).
    /// Factors are below q, and in the order of the stages.
    pub(crate) fn new(m: M, modulus: &Modulus, factors: &[u128]) -> Self {
        let last_stage = factors.len() / LANES;
        let eight = |(group, factors): (usize, &[u128; 8])| {
            let mut constants = Constants::default();
            for (i, &factor) in factors.iter().enumerate() {
                let offset = if group < last_stage { i } else { 2 * (i % 4) + i / 4 };
                let (factor, quotient) = (split(factor), quotient(modulus, factor));
                for limb in 0..3 {
                    constants.factor[limb][offset] = M::stored(factor[limb]);
                    constants.quotient[limb][offset] = M::stored(quotient[limb]);
                }
            }
            constants
        };
        let factors = factors.as_chunks().0.iter().enumerate().map(eight).collect();
        Self { m, modulus: *modulus, factors }
    }

    /// Transforms `x`: natural order in, bit-reversed out.
    ///
    /// # Panics
    /// Panics if `x` and `factors` differ in length.
    pub(crate) fn forward(&self, x: &mut [u128]) {
        assert_eq!(x.len(), 8 * self.factors.len(), "the length of `x` is not that of the transform");
        self.m.call(Forward { transform: self, x });
    }
}

/// A whole transform.
///
/// Stages do not reduce their results: each adds less than 7 q to a number, or subtracts it. The
/// input is therefore offset by 7 q for each stage, so that no number becomes negative.
struct Forward<'a, M> {
    transform: &'a Transform<M>,
    x: &'a mut [u128],
}

impl<M: Multiply52> SimdCode for Forward<'_, M> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { transform: &Transform { m, ref modulus, ref factors }, x } = self;
        let offset = multiple(m, modulus, 7 * u64::from(x.len().ilog2()));
        let pass = Pass { q: VectorModulus::new(m, modulus), factors };
        let mut numbers = Vec::with_capacity(x.len() / 8);
        let out = &mut numbers.spare_capacity_mut()[..x.len() / 8];
        let parts = m.call(First { pass: &pass, x, offset, out });
        // SAFETY: the first pass has written all of them.
        unsafe { numbers.set_len(x.len() / 8) };
        m.call(Finish { pass: &pass, x: &mut numbers, parts, node: 1, out: x });
    }
}

/// The radix of a pass over some blocks: 2 for one stage, 4 for two. After passes of radix 4 each
/// part has two blocks.
fn radix(blocks: usize) -> usize {
    if blocks.ilog2().is_multiple_of(2) { 2 } else { 4 }
}

/// The constants of a pass over the data.
struct Pass<'a, M: Multiply52> {
    q: VectorModulus<M>,
    factors: &'a [Constants],
}

/// The first pass of a transform, from `x` plus `offset` to `out`. Returns the number of parts
/// that are independent from then on.
struct First<'a, M: Multiply52> {
    pass: &'a Pass<'a, M>,
    x: &'a [u128],
    offset: Limbs,
    out: &'a mut [MaybeUninit<Block>],
}

impl<M: Multiply52> First<'_, M> {
    #[inline(always)]
    fn load(&self, first: &[u128; 8], second: &[u128; 8]) -> Limbs {
        Words::load(self.pass.q.m.avx512(), first, second).split().add(self.offset)
    }
}

impl<M: Multiply52> SimdCode for First<'_, M> {
    type Output = usize;

    #[inline(always)]
    fn run(mut self) -> usize {
        let (pass, out) = (self.pass, std::mem::take(&mut self.out));
        let (x, _) = self.x.as_chunks();
        let (x0, x1) = x.split_at(x.len() / 2);
        let (out0, out1) = out.split_at_mut(x1.len());
        if radix(x.len()) == 2 {
            let w = pass.broadcast([1; 2]);
            let out = out0.as_chunks_mut().0.iter_mut().zip(out1.as_chunks_mut().0);
            for (([a, b], [c, d]), ([out_a, out_b], [out_c, out_d])) in
                x0.as_chunks().0.iter().zip(x1.as_chunks().0).zip(out)
            {
                let [ab, cd] = pass.butterfly(self.load(a, b), self.load(c, d), &w);
                let ([a, b], [c, d]) = (ab.blocks(), cd.blocks());
                out_a.write(a);
                out_b.write(b);
                out_c.write(c);
                out_d.write(d);
            }
            return 2;
        }
        let w = pass.radix4_factors(1);
        let quarter = x.len() / 4;
        let ((a, b), (c, d)) = (x0.split_at(quarter), x1.split_at(quarter));
        let (out_a, out_b) = out0.split_at_mut(quarter);
        let (out_c, out_d) = out1.split_at_mut(quarter);
        let out = out_a.iter_mut().zip(out_b).zip(out_c.iter_mut().zip(out_d));
        let x = a.iter().zip(b).zip(c.iter().zip(d));
        for (((a, b), (c, d)), ((out_a, out_b), (out_c, out_d))) in x.zip(out) {
            let ([a, b], [c, d]) = (self.load(a, b).blocks(), self.load(c, d).blocks());
            pass.radix4([out_a.write(a), out_b.write(b), out_c.write(c), out_d.write(d)], &w);
        }
        4
    }
}

/// A pass over the part `x`, whose first factor is number `node`. Returns the number of parts
/// that it is divided into.
struct Again<'a, M: Multiply52> {
    pass: &'a Pass<'a, M>,
    x: &'a mut [Block],
    node: usize,
}

impl<M: Multiply52> SimdCode for Again<'_, M> {
    type Output = usize;

    #[inline(always)]
    fn run(self) -> usize {
        let Self { pass, x, node } = self;
        let radix = radix(x.len());
        let (x0, x1) = x.split_at_mut(x.len() / 2);
        if radix == 2 {
            let w = pass.broadcast([node; 2]);
            for ([a, b], [c, d]) in x0.as_chunks_mut().0.iter_mut().zip(x1.as_chunks_mut().0) {
                let [ab, cd] = pass.butterfly(Limbs::pair(*a, *b), Limbs::pair(*c, *d), &w);
                ([*a, *b], [*c, *d]) = (ab.blocks(), cd.blocks());
            }
        } else {
            let w = pass.radix4_factors(node);
            let quarter = x0.len() / 2;
            let ((a, b), (c, d)) = (x0.split_at_mut(quarter), x1.split_at_mut(quarter));
            for ((a, b), (c, d)) in a.iter_mut().zip(b).zip(c.iter_mut().zip(d)) {
                pass.radix4([a, b, c, d], &w);
            }
        }
        radix
    }
}

/// The remaining stages on each of some equal `parts` of `x`, whose first factors are numbers
/// `parts * node` and so on; the results go to `out`. Each part is finished before the next
/// is begun, to stay in the cache.
struct Finish<'a, M: Multiply52> {
    pass: &'a Pass<'a, M>,
    x: &'a mut [Block],
    parts: usize,
    node: usize,
    out: &'a mut [u128],
}

impl<M: Multiply52> SimdCode for Finish<'_, M> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { pass, x, parts, node, out } = self;
        let (m, node) = (pass.q.m, parts * node);
        if x.len() == 2 * parts {
            let (x, out) = (x.as_chunks().0, out.as_chunks_mut().0);
            for (i, (x, out)) in x.iter().zip(out).enumerate() {
                pass.last_stages(x, node + 2 * i, out);
            }
            return;
        }
        let out = out.chunks_exact_mut(out.len() / parts);
        for (i, (x, out)) in x.chunks_exact_mut(x.len() / parts).zip(out).enumerate() {
            let node = node + i;
            let parts = m.call(Again { pass, x, node });
            m.call(Finish { pass, x, parts, node, out });
        }
    }
}

impl<M: Multiply52> Pass<'_, M> {
    /// `(a + b w, a - b w)`, modulo 2^156.
    #[inline(always)]
    fn butterfly(&self, a: Limbs, b: Limbs, w: &Factor<M>) -> [Limbs; 2] {
        let sum = self.q.add_product(a, b.carry().operand(self.q.m), w);
        [sum, a.add(a).sub(sum)]
    }

    /// Two stages on numbers at a distance of a quarter of their part.
    #[inline(always)]
    fn radix4(&self, [a, b, c, d]: [&mut Block; 4], w: &[Factor<M>; 2]) {
        let [ef, gh] = self.butterfly(Limbs::pair(*a, *b), Limbs::pair(*c, *d), &w[0]);
        let ([e, f], [g, h]) = (ef.blocks(), gh.blocks());
        let [ac, bd] = self.butterfly(Limbs::pair(e, g), Limbs::pair(f, h), &w[1]);
        ([*a, *c], [*b, *d]) = (ac.blocks(), bd.blocks());
    }

    /// The factors of two stages on the part that begins with factor `node`.
    #[inline(always)]
    fn radix4_factors(&self, node: usize) -> [Factor<M>; 2] {
        [self.broadcast([node; 2]), self.broadcast([2 * node, 2 * node + 1])]
    }

    /// For each vector the factor for all its elements.
    #[inline(always)]
    fn broadcast(&self, factors: [usize; 2]) -> Factor<M> {
        self.factor::<1>(factors)
    }

    /// For each vector `DISTINCT` factors from its number on, in the order of
    /// [`Avx512::spread`](super::simd::Avx512::spread).
    #[inline(always)]
    fn factor<const DISTINCT: usize>(&self, numbers: [usize; 2]) -> Factor<M> {
        let [a, b] = numbers.map(|number| (&self.factors[number / 8], number % 8));
        Factor {
            factor: self.limbs::<DISTINCT>((&a.0.factor, a.1), (&b.0.factor, b.1)),
            quotient: self.limbs::<DISTINCT>((&a.0.quotient, a.1), (&b.0.quotient, b.1)),
        }
    }

    /// `DISTINCT` numbers from the given offset on, for each vector.
    #[inline(always)]
    fn limbs<const DISTINCT: usize>(
        &self,
        (a, offset_a): (&[[u64; 8]; 3], usize),
        (b, offset_b): (&[[u64; 8]; 3], usize),
    ) -> Operand<M> {
        let m = self.q.m;
        let avx512 = m.avx512();
        Operand([
            [
                m.loaded(avx512.spread::<DISTINCT>(&a[0], offset_a)),
                m.loaded(avx512.spread::<DISTINCT>(&b[0], offset_b)),
            ],
            [
                m.loaded(avx512.spread::<DISTINCT>(&a[1], offset_a)),
                m.loaded(avx512.spread::<DISTINCT>(&b[1], offset_b)),
            ],
            [
                m.loaded(avx512.spread::<DISTINCT>(&a[2], offset_a)),
                m.loaded(avx512.spread::<DISTINCT>(&b[2], offset_b)),
            ],
        ])
    }

    /// The last four stages of two parts of 16 numbers, whose factors are number `node` and the
    /// next.
    ///
    /// Call the bits of an element's index 3 to 0; the vectors `a` and `b` of a part differ in bit 3.
    /// Elements are in the order of [`Words::load`]: the bits of an element's offset are bits 1, 0 and 2 of
    /// the index. Before each stage the vectors exchange elements, so that they differ in its bit.
    #[inline(always)]
    fn last_stages(&self, &[a, b, c, d]: &[Block; 4], node: usize, out: &mut [u128; 32]) {
        let node = [node, node + 1];
        let [a, b] = self.butterfly(Limbs::pair(a, c), Limbs::pair(b, d), &self.broadcast(node));

        // Bit 2 against 3, the lowest bit of the offset: elements are bits 1, 0, 3.
        let x = exchange(a, b, Vector::even_elements);
        let y = exchange(a, b, Vector::odd_elements);
        let w = self.factor::<2>(node.map(|node| 2 * node));
        let [a, b] = self.butterfly(x, y, &w);

        // Bit 1 against 2, the highest bit of the offset: elements are bits 2, 0, 3.
        let x = exchange(a, b, Vector::low_halves);
        let y = exchange(a, b, Vector::high_halves);
        let w = self.factor::<4>(node.map(|node| 4 * node));
        let [a, b] = self.butterfly(x, y, &w);

        // Bit 0 against 1, the middle one: elements are bits 2, 1, 3.
        let x = exchange(a, b, |a, b| a.choose(b, [0, 1, 8, 9, 4, 5, 12, 13]));
        let y = exchange(a, b, |a, b| a.choose(b, [2, 3, 10, 11, 6, 7, 14, 15]));
        let w = self.factor::<8>(node.map(|node| 8 * node));
        let [a, b] = self.butterfly(x, y, &w);

        // Now `even` and `odd` in bit 0; the halves of words alternate for bit 3 = 0 and 1.
        let even = Words::join(self.q.reduce(a));
        let odd = Words::join(self.q.reduce(b));
        for (i, out) in out.as_chunks_mut::<16>().0.iter_mut().enumerate() {
            let [out0, out1] = out.as_chunks_mut().0 else { unreachable!("two halves") };
            let word = |x: &Words| (x.low.0[i], x.high.0[i]);
            let ((even_low, even_high), (odd_low, odd_high)) = (word(&even), word(&odd));
            interleave(even_low.even_elements(even_high), odd_low.even_elements(odd_high), out0);
            interleave(even_low.odd_elements(even_high), odd_low.odd_elements(odd_high), out1);
        }
    }
}

/// `f` of each limb of `a` and `b`.
#[inline(always)]
fn exchange(Limbs(a): Limbs, Limbs(b): Limbs, f: impl Fn(Vector, Vector) -> Vector) -> Limbs {
    let limb = |i: usize| Pair([f(a[i].0[0], b[i].0[0]), f(a[i].0[1], b[i].0[1])]);
    Limbs([limb(0), limb(1), limb(2)])
}

/// `out = [even[0], odd[0], even[1], ..]`, in words.
#[inline(always)]
fn interleave(even: Vector, odd: Vector, out: &mut [u128; 8]) {
    let [front, back] = out.as_chunks_mut().0 else { unreachable!("two halves") };
    even.choose(odd, [0, 1, 8, 9, 2, 3, 10, 11]).store(front);
    even.choose(odd, [4, 5, 12, 13, 6, 7, 14, 15]).store(back);
}
