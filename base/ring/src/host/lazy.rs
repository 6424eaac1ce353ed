//! The scalar transform in radix 4 with Shoup's multiplication and one reduction at the end.
//!
//! Bounds are Harvey's: values are below 4q and products below 2q. A butterfly reduces one operand
//! below 2q, and its results are below 4q. Therefore q must have two bits less than a word.

use crate::modular::{mul_high, subtract_if_not_below};

/// A word of the host: `u64` or `u128`, with arithmetic modulo 2^bits.
pub(super) trait Word: Copy {
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    /// The high half of the product.
    fn mul_high(self, other: Self) -> Self;
    /// The word if it is below `other`, else their difference.
    fn subtract_if_not_below(self, other: Self) -> Self;
}

macro_rules! word {
    ($Word:ty, $mul_high:expr, $subtract_if_not_below:expr) => {
        impl Word for $Word {
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }

            #[inline(always)]
            fn mul(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }

            #[inline(always)]
            fn mul_high(self, other: Self) -> Self {
                $mul_high(self, other)
            }

            #[inline(always)]
            fn subtract_if_not_below(self, other: Self) -> Self {
                $subtract_if_not_below(self, other)
            }
        }
    };
}

word!(u128, mul_high, subtract_if_not_below);
// If the first word is smaller, the difference wraps to a value above it.
word!(u64, |a, b| ((u128::from(a) * u128::from(b)) >> u64::BITS) as u64, |a: u64, b: u64| a
    .min(a.wrapping_sub(b)));

/// A constant factor with its quotient floor(factor 2^bits / q).
#[derive(Clone, Copy, Debug)]
pub(super) struct Factor<W> {
    pub(super) factor: W,
    pub(super) quotient: W,
}

/// The transform.
#[derive(Clone, Debug)]
pub(super) struct Lazy<W> {
    q: W,
    /// Entry `j` is psi^bitrev(j).
    factors: Vec<Factor<W>>,
}

impl<W: Word> Lazy<W> {
    /// A transform modulo `q`, which must be below a quarter of 2^bits, with the powers of psi in
    /// bit-reversed order.
    pub(super) fn new(q: W, factors: Vec<Factor<W>>) -> Self {
        Self { q, factors }
    }

    /// Transforms `x`, which must have as many elements as there are powers.
    pub(super) fn forward(&self, x: &mut [W]) {
        self.stages(x, 1);
    }

    /// The stages of the part `x` of the data, whose first factor is number `node`. Each part is
    /// finished before the next is begun, to stay in the cache.
    fn stages(&self, x: &mut [W], node: usize) {
        if let [a, b] = x {
            [*a, *b] = self.butterfly(*a, *b, self.factors[node]).map(|y| self.reduce(y));
            return;
        }
        let w = [self.factors[node], self.factors[2 * node], self.factors[2 * node + 1]];
        if let [a, b, c, d] = x {
            [*a, *b, *c, *d] = self.butterflies([*a, *b, *c, *d], w).map(|y| self.reduce(y));
            return;
        }
        let quarter = x.len() / 4;
        let (front, back) = x.split_at_mut(2 * quarter);
        let (a, b) = front.split_at_mut(quarter);
        let (c, d) = back.split_at_mut(quarter);
        for ((a, b), (c, d)) in a.iter_mut().zip(b).zip(c.iter_mut().zip(d)) {
            [*a, *b, *c, *d] = self.butterflies([*a, *b, *c, *d], w);
        }
        for (i, part) in x.chunks_exact_mut(quarter).enumerate() {
            self.stages(part, 4 * node + i);
        }
    }

    /// Two stages on four elements, which are and stay below 4q.
    #[inline(always)]
    fn butterflies(&self, [a, b, c, d]: [W; 4], [w, w0, w1]: [Factor<W>; 3]) -> [W; 4] {
        let ([a, c], [b, d]) = (self.butterfly(a, c, w), self.butterfly(b, d, w));
        let ([a, b], [c, d]) = (self.butterfly(a, b, w0), self.butterfly(c, d, w1));
        [a, b, c, d]
    }

    /// `[a + b w, a - b w]` modulo q; all values are below 4q.
    #[inline(always)]
    fn butterfly(&self, a: W, b: W, w: Factor<W>) -> [W; 2] {
        let twice = self.q.add(self.q);
        let a = a.subtract_if_not_below(twice);
        // Below 2q: the quotient is exact or one too small.
        let t = b.mul(w.factor).sub(b.mul_high(w.quotient).mul(self.q));
        [a.add(t), a.add(twice).sub(t)]
    }

    /// `y mod q`, for `y` below 4q.
    #[inline(always)]
    fn reduce(&self, y: W) -> W {
        y.subtract_if_not_below(self.q.add(self.q)).subtract_if_not_below(self.q)
    }
}
