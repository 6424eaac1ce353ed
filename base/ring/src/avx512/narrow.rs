//! Operations on vectors of words of 64 bits, lane by lane, modulo q below 2^62.
//! Butterflies modulo q below 2^51 take 52-bit multiplications if the processor has them.
//!
//! All slices of a call have one length, a multiple of eight. Factors are Shoup's, as in
//! [`Narrow`]. The high half of the product with the quotient leaves out what
//! its lowest parts carry, so it is up to 2 too small, and the difference is below 4 q.

use super::LIMB_BITS;
use super::multiply::{Ifma, Multiply52, SimdCode};
use super::simd::{Avx512, Vector};
use crate::modular::Narrow;
use std::arch::x86_64::_mm512_mullo_epi64;

/// The moduli of these operations are below 2^`BITS`, so that 4 q fits a word.
const BITS: u32 = 62;

/// The moduli of butterflies by 52-bit multiplications are below 2^`SHORT_BITS`, so that 2 q has 52 bits.
const SHORT_BITS: u32 = 51;

/// The moduli of products with factors that are not prepared are below 2^`PRODUCT_BITS`, so that 8 q fits a
/// word.
const PRODUCT_BITS: u32 = 61;

/// The elements of a vector.
const ELEMENTS: usize = 8;

/// The proof that the processor has AVX-512F and AVX-512DQ.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words64(Avx512);

impl Words64 {
    /// The proof, if the processor has the instructions.
    #[inline]
    pub(crate) fn detect() -> Option<Self> {
        if is_x86_feature_detected!("avx512dq") { Avx512::detect().map(Self) } else { None }
    }

    /// The proof, if the operations serve the modulus.
    #[inline]
    pub(crate) fn for_modulus(q: Narrow) -> Option<Self> {
        if q.value() >> BITS == 0 { Self::detect() } else { None }
    }

    /// The lowest 64 bits of the products.
    #[inline(always)]
    fn low(self, x: Vector, y: Vector) -> Vector {
        // SAFETY: `self` exists only if the processor has AVX-512DQ.
        Vector(unsafe { _mm512_mullo_epi64(x.0, y.0) })
    }

    /// The highest 64 bits of the products.
    #[inline(always)]
    fn high(self, x: Vector, y: Vector) -> Vector {
        let (x_high, y_high) = (x.right::<32>(), y.right::<32>());
        let middle = x.multiply_32(y_high).add(x.multiply_32(y).right::<32>());
        let other = x_high.multiply_32(y).add(middle.lowest_32());
        x_high.multiply_32(y_high).add(middle.right::<32>()).add(other.right::<32>())
    }

    /// The lowest halves of words of 128 bits. Returns whether the other halves are zero.
    pub(crate) fn load(self, out: &mut [u64], words: &[u128]) -> bool {
        self.call(Load { words: self, out, from: words })
    }

    /// Words of 128 bits with these values.
    pub(crate) fn store(self, words: &mut [u128], from: &[u64]) {
        self.call(Store { words: self, to: words, from });
    }

    /// Runs `code` in a function compiled for the instructions.
    #[inline(always)]
    fn call<T: SimdCode>(self, code: T) -> T::Output {
        #[target_feature(enable = "avx512f,avx512dq")]
        fn run<T: SimdCode>(code: T) -> T::Output {
            code.run()
        }
        // SAFETY: `self` exists only if the processor has both.
        unsafe { run(code) }
    }

    /// `out = f(a, b)`, eight lanes at a time.
    #[inline(always)]
    fn zip(
        self,
        q: Narrow,
        out: &mut [u64],
        [a, b]: [&[u64]; 2],
        f: impl Fn(Elements, [Vector; 2]) -> Vector,
    ) {
        self.call(Zip { words: self, q, out, a, b, f });
    }

    /// `out = a + b mod q`, for residues.
    pub(crate) fn add(self, q: Narrow, out: &mut [u64], a: &[u64], b: &[u64]) {
        self.zip(
            q,
            out,
            [a, b],
            #[inline(always)]
            |q, [a, b]| q.add(a, b),
        );
    }

    /// `out = a - b mod q`, for residues.
    pub(crate) fn sub(self, q: Narrow, out: &mut [u64], a: &[u64], b: &[u64]) {
        self.zip(
            q,
            out,
            [a, b],
            #[inline(always)]
            |q, [a, b]| q.sub(a, b),
        );
    }

    /// The quotients of residues as factors.
    pub(crate) fn quotients(self, q: Narrow, out: &mut [u64], factors: &[u64]) {
        self.zip(
            q,
            out,
            [factors, factors],
            #[inline(always)]
            |q, [factor, _]| q.quotient(factor),
        );
    }

    /// `out = x factor mod q`, for any words `x` and one factor with its quotient.
    pub(crate) fn multiply_scalar(self, q: Narrow, out: &mut [u64], x: &[u64], [w, quotient]: [u64; 2]) {
        let [w, quotient] = [w, quotient].map(|word| self.0.splat(word));
        self.zip(
            q,
            out,
            [x, x],
            #[inline(always)]
            move |q, [x, _]| q.product(x, [w, quotient]),
        );
    }

    /// `out = x w mod q`, for any words `x`.
    pub(crate) fn multiply(self, q: Narrow, out: &mut [u64], x: &[u64], w: [&[u64]; 2]) {
        self.call(Multiply { words: self, q, out, x, w });
    }

    /// `out = x w mod q`, for any words `x` and residues `w`. False if the operation does not serve the
    /// modulus; then `out` stays.
    #[must_use]
    pub(crate) fn product(self, q: Narrow, out: &mut [u64], x: &[u64], w: &[u64]) -> bool {
        let is_served = q.value() >> PRODUCT_BITS == 0;
        if is_served {
            let reduction = Reduction::new(self, q);
            self.zip(
                q,
                out,
                [x, w],
                #[inline(always)]
                move |q, [x, w]| reduction.product(q, x, w),
            );
        }
        is_served
    }

    /// The largest element; zero for an empty slice.
    pub(crate) fn max(self, elements: &[u64]) -> u64 {
        self.call(Max { words: self, elements })
    }

    /// `(out, out1) = (a + b w, a - b w) mod q`, for residues `a` and any words `b`.
    pub(crate) fn butterfly(self, q: Narrow, out: [&mut [u64]; 2], [a, b]: [&[u64]; 2], w: [&[u64]; 2]) {
        let operands = Operands { out, a, b, w };
        match Short::for_modulus(q).filter(|_| self.max(b) >> LIMB_BITS == 0) {
            Some(short) => short.0.call(ShortButterfly { short, q, operands, f: ShortElements::butterfly }),
            None => self.call(Butterfly { words: self, q, operands, f: Elements::butterfly }),
        }
    }

    /// `(out, out1) = (a + b, (a - b) w) mod q`, for residues.
    pub(crate) fn inverse_butterfly(
        self,
        q: Narrow,
        out: [&mut [u64]; 2],
        [a, b]: [&[u64]; 2],
        w: [&[u64]; 2],
    ) {
        let operands = Operands { out, a, b, w };
        match Short::for_modulus(q) {
            Some(short) => {
                short.0.call(ShortButterfly { short, q, operands, f: ShortElements::inverse_butterfly });
            }
            None => self.call(Butterfly { words: self, q, operands, f: Elements::inverse_butterfly }),
        }
    }
}

/// The proof that the processor has AVX-512 IFMA.
#[derive(Clone, Copy)]
struct Short(Ifma);

impl Short {
    /// The proof, if 52-bit multiplications serve the modulus.
    #[inline]
    fn for_modulus(q: Narrow) -> Option<Self> {
        if q.value() >> SHORT_BITS == 0 { Ifma::detect().map(Self) } else { None }
    }
}

/// Residues of one modulus q in the elements of vectors.
trait Residues: Copy {
    /// q in all elements.
    fn modulus(self) -> Vector;

    /// x times a factor with its quotient, mod q.
    fn product(self, x: Vector, factor: [Vector; 2]) -> Vector;

    #[inline(always)]
    fn add(self, a: Vector, b: Vector) -> Vector {
        let sum = a.add(b);
        sum.min(sum.sub(self.modulus()))
    }

    #[inline(always)]
    fn sub(self, a: Vector, b: Vector) -> Vector {
        // If the difference is negative it is above 2^63, and it is smaller plus q.
        let difference = a.sub(b);
        difference.min(difference.add(self.modulus()))
    }

    #[inline(always)]
    fn butterfly(self, [a, b]: [Vector; 2], w: [Vector; 2]) -> [Vector; 2] {
        let t = self.product(b, w);
        [self.add(a, t), self.sub(a, t)]
    }

    #[inline(always)]
    fn inverse_butterfly(self, [a, b]: [Vector; 2], w: [Vector; 2]) -> [Vector; 2] {
        // A multiplicand may be any word below 2 q.
        let difference = a.add(self.modulus().sub(b));
        [self.add(a, b), self.product(difference, w)]
    }
}

/// A modulus below 2^51 in all elements.
#[derive(Clone, Copy)]
struct ShortElements {
    ifma: Ifma,
    q: Vector,
}

impl Residues for ShortElements {
    #[inline(always)]
    fn modulus(self) -> Vector {
        self.q
    }

    /// As [`Narrow::mul`] with words of 52 bits: floor(w 2^52 / q) is the leading part of floor(w 2^64 / q).
    #[inline(always)]
    fn product(self, x: Vector, [factor, quotient]: [Vector; 2]) -> Vector {
        let (ifma, zero) = (self.ifma, self.q.avx512().splat(0));
        let multiple = ifma.high(zero, x, quotient.right::<12>());
        let rest = ifma.low(zero, x, factor).sub(ifma.low(zero, multiple, self.q)).lowest_52();
        rest.min(rest.sub(self.q))
    }
}

/// A modulus in all elements.
#[derive(Clone, Copy)]
struct Elements {
    words: Words64,
    q: Vector,
    inverse: Vector,
    power: Vector,
}

impl Elements {
    #[inline(always)]
    fn new(words: Words64, q: Narrow) -> Self {
        let [inverse, power] = q.constants().map(|word| words.0.splat(word));
        Self { words, q: words.0.splat(q.value()), inverse, power }
    }

    /// See [`Narrow::quotient`].
    #[inline(always)]
    fn quotient(self, factor: Vector) -> Vector {
        let Self { words, q, inverse, power } = self;
        let multiple = words.high(words.low(words.low(factor, power), inverse), q);
        let rest = self.sub(words.high(factor, power), multiple);
        words.low(words.0.splat(0).sub(rest), inverse)
    }
}

impl Residues for Elements {
    #[inline(always)]
    fn modulus(self) -> Vector {
        self.q
    }

    /// See [`Narrow::mul`].
    #[inline(always)]
    fn product(self, x: Vector, [factor, quotient]: [Vector; 2]) -> Vector {
        let (x_high, quotient_high) = (x.right::<32>(), quotient.right::<32>());
        let multiple = x_high.multiply_32(quotient_high);
        let multiple = multiple.add(x.multiply_32(quotient_high).right::<32>());
        let multiple = multiple.add(x_high.multiply_32(quotient).right::<32>());
        let rest = self.words.low(x, factor).sub(self.words.low(multiple, self.q));
        let rest = rest.min(rest.sub(self.q.add(self.q)));
        rest.min(rest.sub(self.q))
    }
}

/// Barrett's reduction of products of a word x and a residue w modulo q, 2^(k - 1) < q < 2^k.
#[derive(Clone, Copy)]
struct Reduction {
    /// k, and 64 - k.
    shifts: [Vector; 2],
    /// floor(2^(63 + k) / q), which is below 2^64.
    reciprocal: Vector,
}

impl Reduction {
    #[inline(always)]
    fn new(words: Words64, q: Narrow) -> Self {
        let bits = u64::BITS - q.value().leading_zeros();
        let reciprocal = (1_u128 << (u64::BITS - 1 + bits)) / u128::from(q.value());
        let [low, high, reciprocal] =
            [bits.into(), (u64::BITS - bits).into(), reciprocal as u64].map(|word| words.0.splat(word));
        Self { shifts: [low, high], reciprocal }
    }

    /// x w mod q.
    #[inline(always)]
    fn product(self, Elements { words, q, .. }: Elements, x: Vector, w: Vector) -> Vector {
        let (high, low) = (words.high(x, w), words.low(x, w));
        // floor(x w / 2^k), below 2^64.
        let shifted = high.left_by(self.shifts[1]).or(low.right_by(self.shifts[0]));
        // The quotient less at most 5: what both factors leave out takes off less than 2 each, and the last
        // bit less than 2.
        let quotient = words.high(shifted, self.reciprocal).left::<1>();
        let rest = low.sub(words.low(quotient, q));
        let twice = q.add(q);
        let rest = rest.min(rest.sub(twice.add(twice)));
        let rest = rest.min(rest.sub(twice));
        rest.min(rest.sub(q))
    }
}

/// The vectors of a slice.
#[inline(always)]
fn vectors(avx512: Avx512, words: &[u64]) -> impl Iterator<Item = Vector> {
    words.as_chunks::<ELEMENTS>().0.iter().map(
        #[inline(always)]
        move |words| avx512.elements(words),
    )
}

/// Pairs of vectors of two slices.
#[inline(always)]
fn pairs(avx512: Avx512, [a, b]: [&[u64]; 2]) -> impl Iterator<Item = [Vector; 2]> {
    vectors(avx512, a).zip(vectors(avx512, b)).map(
        #[inline(always)]
        |(a, b)| [a, b],
    )
}

struct Zip<'a, F> {
    words: Words64,
    q: Narrow,
    out: &'a mut [u64],
    a: &'a [u64],
    b: &'a [u64],
    f: F,
}

impl<F: Fn(Elements, [Vector; 2]) -> Vector> SimdCode for Zip<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let q = Elements::new(self.words, self.q);
        let out = self.out.as_chunks_mut().0.iter_mut();
        for (out, operands) in out.zip(pairs(self.words.0, [self.a, self.b])) {
            (self.f)(q, operands).store_elements(out);
        }
    }
}

struct Multiply<'a> {
    words: Words64,
    q: Narrow,
    out: &'a mut [u64],
    x: &'a [u64],
    w: [&'a [u64]; 2],
}

impl SimdCode for Multiply<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (q, avx512) = (Elements::new(self.words, self.q), self.words.0);
        let out = self.out.as_chunks_mut().0.iter_mut();
        for ((out, x), w) in out.zip(vectors(avx512, self.x)).zip(pairs(avx512, self.w)) {
            q.product(x, w).store_elements(out);
        }
    }
}

/// The slices of a butterfly.
struct Operands<'a> {
    out: [&'a mut [u64]; 2],
    a: &'a [u64],
    b: &'a [u64],
    w: [&'a [u64]; 2],
}

impl Operands<'_> {
    /// Both results, eight lanes at a time.
    #[inline(always)]
    fn for_each(self, avx512: Avx512, f: impl Fn([Vector; 2], [Vector; 2]) -> [Vector; 2]) {
        let [out, out1] = self.out;
        let out = out.as_chunks_mut().0.iter_mut().zip(out1.as_chunks_mut().0);
        let data = pairs(avx512, [self.a, self.b]).zip(pairs(avx512, self.w));
        for ((out, out1), (operands, w)) in out.zip(data) {
            let [result, result1] = f(operands, w);
            result.store_elements(out);
            result1.store_elements(out1);
        }
    }
}

struct ShortButterfly<'a, F> {
    short: Short,
    q: Narrow,
    operands: Operands<'a>,
    f: F,
}

impl<F: Fn(ShortElements, [Vector; 2], [Vector; 2]) -> [Vector; 2]> SimdCode for ShortButterfly<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Short(ifma) = self.short;
        let q = ShortElements { ifma, q: ifma.avx512().splat(self.q.value()) };
        self.operands.for_each(
            ifma.avx512(),
            #[inline(always)]
            |operands, w| (self.f)(q, operands, w),
        );
    }
}

struct Butterfly<'a, F> {
    words: Words64,
    q: Narrow,
    operands: Operands<'a>,
    f: F,
}

impl<F: Fn(Elements, [Vector; 2], [Vector; 2]) -> [Vector; 2]> SimdCode for Butterfly<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let q = Elements::new(self.words, self.q);
        self.operands.for_each(
            self.words.0,
            #[inline(always)]
            |operands, w| (self.f)(q, operands, w),
        );
    }
}

struct Max<'a> {
    words: Words64,
    elements: &'a [u64],
}

impl SimdCode for Max<'_> {
    type Output = u64;

    #[inline(always)]
    fn run(self) -> u64 {
        let avx512 = self.words.0;
        let mut most = avx512.splat(0);
        for x in vectors(avx512, self.elements) {
            most = most.max(x);
        }
        let mut elements = [0; ELEMENTS];
        most.store_elements(&mut elements);
        elements.into_iter().fold(0, u64::max)
    }
}

struct Load<'a> {
    words: Words64,
    out: &'a mut [u64],
    from: &'a [u128],
}

impl SimdCode for Load<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let avx512 = self.words.0;
        let mut high = avx512.splat(0);
        for (out, from) in self.out.as_chunks_mut().0.iter_mut().zip(self.from.as_chunks::<ELEMENTS>().0) {
            let [x, y] = from.as_chunks().0 else { unreachable!("twice four") };
            let (x, y) = (avx512.words(x), avx512.words(y));
            x.choose(y, [0, 2, 4, 6, 8, 10, 12, 14]).store_elements(out);
            high = high.or(x.odd_elements(y));
        }
        let mut elements = [0; ELEMENTS];
        high.store_elements(&mut elements);
        elements == [0; ELEMENTS]
    }
}

struct Store<'a> {
    words: Words64,
    to: &'a mut [u128],
    from: &'a [u64],
}

impl SimdCode for Store<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let avx512 = self.words.0;
        let zero = avx512.splat(0);
        for (to, x) in self.to.as_chunks_mut::<ELEMENTS>().0.iter_mut().zip(vectors(avx512, self.from)) {
            let [low, high] = to.as_chunks_mut().0 else { unreachable!("twice four") };
            x.choose(zero, [0, 8, 1, 8, 2, 8, 3, 8]).store(low);
            x.choose(zero, [4, 8, 5, 8, 6, 8, 7, 8]).store(high);
        }
    }
}
