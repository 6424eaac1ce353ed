//! Products modulo q.

use super::limbs::{Limbs, Operand, Pair, Words};
use super::multiply::{TWO_52, TWO_104};
use super::simd::Floats;
use super::{Multiply52, split};
use crate::modular::Modulus;

/// Sixteen constant factors with their quotients, floor(factor 2^156 / q).
pub(super) struct Factor<M: Multiply52> {
    pub(super) factor: Operand<M>,
    pub(super) quotient: Operand<M>,
}

/// A modulus for sixteen lanes.
pub(super) struct VectorModulus<M: Multiply52> {
    pub(super) m: M,
    pub(super) q: Limbs,
    /// 2^156 - q.
    minus_q: Operand<M>,
    /// 1/q, or less by a factor of at least 1 - 2^-39.
    inverse: Floats,
}

/// `factor` q, for a small factor.
#[inline(always)]
pub(super) fn multiple<M: Multiply52>(m: M, q: &Modulus, factor: u64) -> Limbs {
    let [a, b, c] = split(q.value());
    let avx512 = m.avx512();
    Limbs([Pair::splat(avx512, factor * a), Pair::splat(avx512, factor * b), Pair::splat(avx512, factor * c)])
}

impl<M: Multiply52> VectorModulus<M> {
    #[inline(always)]
    pub(super) fn new(m: M, modulus: &Modulus) -> Self {
        let q = multiple(m, modulus, 1);
        let inverse = (1.0 - 1.0 / (1u64 << 40) as f64) / modulus.value() as f64;
        Self {
            m,
            q,
            minus_q: Limbs::zero(m.avx512()).sub(q).carry().operand(m),
            inverse: m.avx512().splat_float(inverse),
        }
    }

    /// `sum` plus numbers that are `b w` modulo q, from 0 on and below 7 q, modulo 2^156.
    ///
    /// The quotient may be rounded down to a multiple of 2^28 if b is below 2^129, and must be exact
    /// if not. If it is rounded and b is 2^128 or more, the product is below 8 q only. b need not be
    /// below q.
    #[inline(always)]
    pub(super) fn add_product(&self, sum: Limbs, b: Operand<M>, w: &Factor<M>) -> Limbs {
        let m = self.m;
        let quotient = Limbs::high_product(m, b, w.quotient).carry().operand(m);
        sum.add_low_product(m, b, w.factor).add_low_product(m, quotient, self.minus_q)
    }

    /// `x mod q`, for `x` from 0 on and below 2^20 q, modulo 2^156.
    ///
    /// The quotient x/q comes out of floating-point arithmetic too small by less than 2^-18, and
    /// is then rounded down: the next integer leaves a remainder from -q on and below q.
    #[inline(always)]
    pub(super) fn reduce(&self, x: Limbs) -> Limbs {
        let Limbs([a, b, c]) = x.carry();
        let quotient = [self.quotient(a, b, c, 0), self.quotient(a, b, c, 1)];
        let (m, Limbs(x), Operand(minus_q)) = (self.m, x, self.minus_q);
        let rest = Limbs([
            x[0].low(m, quotient, minus_q[0]),
            x[1].high(m, quotient, minus_q[0]).low(m, quotient, minus_q[1]),
            x[2].high(m, quotient, minus_q[1]).low(m, quotient, minus_q[2]),
        ]);
        rest.correct(self.q)
    }

    /// One more than x/q rounded down, for the numbers of a vector in limbs `a`, `b` and `c`.
    #[inline(always)]
    fn quotient(&self, Pair(a): Pair, Pair(b): Pair, Pair(c): Pair, vector: usize) -> M::Operand {
        let low = a[vector].limb_to_floats(TWO_52).add(b[vector].limb_to_floats(TWO_104));
        let x = low.add(c[vector].limb_to_floats(TWO_104 * TWO_52));
        let one = self.m.avx512().splat_float(TWO_52 + 1.0);
        // The lowest bits of the significand.
        self.m.operand(x.multiply_add(self.inverse, one).bits())
    }

    /// The product `b w mod q` of plain numbers, with the quotient floor(w 2^128 / q); b need not be
    /// below q.
    #[inline(always)]
    pub(super) fn product(&self, b: Operand<M>, w: Words, quotient: Words) -> Limbs {
        let m = self.m;
        let w = Factor { factor: w.limbs().operand(m), quotient: quotient.limbs_at_28().operand(m) };
        self.reduce(self.add_product(Limbs::zero(m.avx512()), b, &w))
    }
}
