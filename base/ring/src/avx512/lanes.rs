//! Operations on vectors of words, lane by lane.
//!
//! All slices of a call have one length, a multiple of [`LANES`](super::LANES).

use super::Multiply52;
use super::limbs::Words;
use super::modulus::VectorModulus;
use super::multiply::SimdCode;
use crate::modular::Modulus;

/// Constant factors, lane by lane.
#[derive(Clone, Copy)]
pub(crate) struct Shoup<'a> {
    /// The factors, each below q.
    pub(crate) factors: &'a [u128],
    /// floor(factor 2^128 / q) for each.
    pub(crate) quotients: &'a [u128],
}

impl Shoup<'_> {
    /// The factors and quotients, sixteen at a time.
    #[inline(always)]
    fn chunks(&self) -> impl Iterator<Item = (&[u128; 16], &[u128; 16])> {
        self.factors.as_chunks().0.iter().zip(self.quotients.as_chunks().0)
    }

    /// `out = a w mod q`, for any words `a`.
    #[inline(always)]
    pub(crate) fn multiply<M: Multiply52>(self, m: M, modulus: &Modulus, out: &mut [u128], a: &[u128]) {
        m.call(Multiply { m, modulus, out, a, w: self });
    }

    /// `(out, out1) = (a + b w, a - b w) mod q`, for `a` below q and any words `b`.
    #[inline(always)]
    pub(crate) fn butterfly<M: Multiply52>(
        self,
        m: M,
        modulus: &Modulus,
        out: [&mut [u128]; 2],
        a: &[u128],
        b: &[u128],
    ) {
        m.call(Butterfly::<_, false> { m, modulus, out, a, b, w: self });
    }

    /// `(out, out1) = (a + b, (a - b) w) mod q`, for `a` and `b` below q.
    #[inline(always)]
    pub(crate) fn inverse_butterfly<M: Multiply52>(
        self,
        m: M,
        modulus: &Modulus,
        out: [&mut [u128]; 2],
        a: &[u128],
        b: &[u128],
    ) {
        m.call(Butterfly::<_, true> { m, modulus, out, a, b, w: self });
    }
}

struct Multiply<'a, M> {
    m: M,
    modulus: &'a Modulus,
    out: &'a mut [u128],
    a: &'a [u128],
    w: Shoup<'a>,
}

impl<M: Multiply52> SimdCode for Multiply<'_, M> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let avx512 = self.m.avx512();
        let q = VectorModulus::new(self.m, self.modulus);
        let data = self.out.as_chunks_mut().0.iter_mut().zip(self.a.as_chunks().0);
        for ((out, a), (w, quotient)) in data.zip(self.w.chunks()) {
            let a = Words::load_all(avx512, a).limbs().operand(self.m);
            let (w, quotient) = (Words::load_all(avx512, w), Words::load_all(avx512, quotient));
            Words::join(q.product(a, w, quotient)).store(out);
        }
    }
}

struct Butterfly<'a, M, const INVERSE: bool> {
    m: M,
    modulus: &'a Modulus,
    out: [&'a mut [u128]; 2],
    a: &'a [u128],
    b: &'a [u128],
    w: Shoup<'a>,
}

impl<M: Multiply52, const INVERSE: bool> SimdCode for Butterfly<'_, M, INVERSE> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let avx512 = self.m.avx512();
        let q = VectorModulus::new(self.m, self.modulus);
        let [out, out1] = self.out;
        let out = out.as_chunks_mut().0.iter_mut().zip(out1.as_chunks_mut().0);
        let data = self.a.as_chunks().0.iter().zip(self.b.as_chunks().0);
        for (((out, out1), (a, b)), (w, quotient)) in out.zip(data).zip(self.w.chunks()) {
            let (a, b) = (Words::load_all(avx512, a).split(), Words::load_all(avx512, b));
            let (w, quotient) = (Words::load_all(avx512, w), Words::load_all(avx512, quotient));
            if INVERSE {
                let b = b.split();
                let difference = a.sub(b).add(q.q).carry().operand(self.m);
                Words::join(a.add(b).sub(q.q).correct(q.q)).store(out);
                Words::join(q.product(difference, w, quotient)).store(out1);
            } else {
                let t = q.product(b.limbs().operand(self.m), w, quotient);
                Words::join(a.add(t).sub(q.q).correct(q.q)).store(out);
                Words::join(a.sub(t).correct(q.q)).store(out1);
            }
        }
    }
}
