//! Numbers in limbs of 52 bits.

use super::simd::{Avx512, Vector};
use super::{LANES, Multiply52};

/// Two vectors: one element for each of sixteen numbers.
#[derive(Clone, Copy)]
pub(super) struct Pair(pub(super) [Vector; 2]);

/// Defines operations on both vectors by those on one.
macro_rules! on_both {
    ($($name:ident $(<const $bits:ident: u32>)? ($($y:ident)?);)+) => {$(
        #[inline(always)]
        fn $name $(<const $bits: u32>)? (self $(, $y: Self)?) -> Self {
            Self([self.0[0].$name $(::<$bits>)? ($($y.0[0])?), self.0[1].$name $(::<$bits>)? ($($y.0[1])?)])
        }
    )+};
}

impl Pair {
    on_both! {
        add(y);
        sub(y);
        or(y);
        lowest_52();
        above_52();
        left<const BITS: u32>();
        right<const BITS: u32>();
    }

    #[inline(always)]
    pub(super) fn splat(avx512: Avx512, element: u64) -> Self {
        Self([avx512.splat(element); 2])
    }

    #[inline(always)]
    fn add_if_negative(self, signs: Self, y: Self) -> Self {
        let [x0, x1] = self.0;
        Self([x0.add_if_negative(signs.0[0], y.0[0]), x1.add_if_negative(signs.0[1], y.0[1])])
    }

    /// `self + (y z mod 2^52)`.
    #[inline(always)]
    pub(super) fn low<M: Multiply52>(self, m: M, y: [M::Operand; 2], z: [M::Operand; 2]) -> Self {
        Self([m.low(self.0[0], y[0], z[0]), m.low(self.0[1], y[1], z[1])])
    }

    /// `self + floor(y z / 2^52)`.
    #[inline(always)]
    pub(super) fn high<M: Multiply52>(self, m: M, y: [M::Operand; 2], z: [M::Operand; 2]) -> Self {
        Self([m.high(self.0[0], y[0], z[0]), m.high(self.0[1], y[1], z[1])])
    }

    #[inline(always)]
    pub(super) fn operand<M: Multiply52>(self, m: M) -> [M::Operand; 2] {
        [m.operand(self.0[0]), m.operand(self.0[1])]
    }
}

/// Eight numbers in limbs; each element of a vector belongs to one number.
#[derive(Clone, Copy)]
pub(super) struct Block(pub(super) [Vector; 3]);

/// Two blocks. Limbs are signed and may exceed 52 bits: sums and differences do not carry.
#[derive(Clone, Copy)]
pub(super) struct Limbs(pub(super) [Pair; 3]);

/// Sixteen numbers, ready to be multiplied.
pub(super) struct Operand<M: Multiply52>(pub(super) [[M::Operand; 2]; 3]);

impl<M: Multiply52> Clone for Operand<M> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<M: Multiply52> Copy for Operand<M> {}

impl Limbs {
    #[inline(always)]
    pub(super) fn zero(avx512: Avx512) -> Self {
        Self([Pair::splat(avx512, 0); 3])
    }

    #[inline(always)]
    pub(super) fn pair(Block([a, b, c]): Block, Block([d, e, f]): Block) -> Self {
        Self([Pair([a, d]), Pair([b, e]), Pair([c, f])])
    }

    #[inline(always)]
    pub(super) fn blocks(self) -> [Block; 2] {
        let Self([Pair([a, d]), Pair([b, e]), Pair([c, f])]) = self;
        [Block([a, b, c]), Block([d, e, f])]
    }

    /// The lowest 52 bits of each limb.
    #[inline(always)]
    pub(super) fn operand<M: Multiply52>(self, m: M) -> Operand<M> {
        let Self([a, b, c]) = self;
        Operand([a.operand(m), b.operand(m), c.operand(m)])
    }

    #[inline(always)]
    pub(super) fn add(self, Self(y): Self) -> Self {
        let Self(x) = self;
        Self([x[0].add(y[0]), x[1].add(y[1]), x[2].add(y[2])])
    }

    #[inline(always)]
    pub(super) fn sub(self, Self(y): Self) -> Self {
        let Self(x) = self;
        Self([x[0].sub(y[0]), x[1].sub(y[1]), x[2].sub(y[2])])
    }

    /// The same numbers with limbs whose lowest 52 bits are correct modulo 2^156.
    #[inline(always)]
    pub(super) fn carry(self) -> Self {
        let Self(x) = self;
        let middle = x[1].add(x[0].above_52());
        Self([x[0], middle, x[2].add(middle.above_52())])
    }

    /// `x + m` if `x` is negative modulo 2^156, else `x`, for an `x` from `-m` on and below `m`.
    #[inline(always)]
    pub(super) fn correct(self, Self(m): Self) -> Self {
        let Self([.., top]) = self.carry();
        let Self(x) = self;
        Self([
            x[0].add_if_negative(top, m[0]),
            x[1].add_if_negative(top, m[1]),
            x[2].add_if_negative(top, m[2]),
        ])
    }

    /// `self + x y mod 2^156`, except for what exceeds 52 bits of the highest limb.
    #[inline(always)]
    pub(super) fn add_low_product<M: Multiply52>(
        self,
        m: M,
        Operand(x): Operand<M>,
        Operand(y): Operand<M>,
    ) -> Self {
        let Self(sum) = self;
        let limb0 = sum[0].low(m, x[0], y[0]);
        let limb1 = sum[1].high(m, x[0], y[0]).low(m, x[0], y[1]).low(m, x[1], y[0]);
        let limb2 = sum[2].high(m, x[0], y[1]).low(m, x[0], y[2]);
        let limb2 = limb2.high(m, x[1], y[0]).low(m, x[1], y[1]).low(m, x[2], y[0]);
        Self([limb0, limb1, limb2])
    }

    /// `floor(x y / 2^156)`, or up to 5 less: without the carry from the limbs that are not
    /// formed, which add up to less than (5 + 2^-49) 2^156.
    #[inline(always)]
    pub(super) fn high_product<M: Multiply52>(m: M, Operand(x): Operand<M>, Operand(y): Operand<M>) -> Self {
        let zero = Pair::splat(m.avx512(), 0);
        let limb0 = zero.high(m, x[0], y[2]).high(m, x[1], y[1]).high(m, x[2], y[0]);
        Self([
            limb0.low(m, x[1], y[2]).low(m, x[2], y[1]),
            zero.high(m, x[1], y[2]).high(m, x[2], y[1]).low(m, x[2], y[2]),
            zero.high(m, x[2], y[2]),
        ])
    }
}

/// The low and the high halves of sixteen numbers, in some order.
#[derive(Clone, Copy)]
pub(super) struct Words {
    pub(super) low: Pair,
    pub(super) high: Pair,
}

impl Words {
    /// The order in each vector is 0, 4, 1, 5, 2, 6, 3, 7; [`store`](Self::store) restores it.
    #[inline(always)]
    pub(super) fn load(avx512: Avx512, first: &[u128; 8], second: &[u128; 8]) -> Self {
        let ([a, b], [c, d]) = (halves(avx512, first), halves(avx512, second));
        Self {
            low: Pair([a.even_elements(b), c.even_elements(d)]),
            high: Pair([a.odd_elements(b), c.odd_elements(d)]),
        }
    }

    #[inline(always)]
    pub(super) fn load_all(avx512: Avx512, x: &[u128; LANES]) -> Self {
        let [first, second] = x.as_chunks().0 else { unreachable!("two blocks") };
        Self::load(avx512, first, second)
    }

    #[inline(always)]
    pub(super) fn store(self, x: &mut [u128; LANES]) {
        let Self { low: Pair(low), high: Pair(high) } = self;
        let [a, b, c, d] = x.as_chunks_mut().0 else { unreachable!("four quarters") };
        low[0].even_elements(high[0]).store(a);
        low[0].odd_elements(high[0]).store(b);
        low[1].even_elements(high[1]).store(c);
        low[1].odd_elements(high[1]).store(d);
    }

    /// The numbers in limbs whose lowest 52 bits are theirs.
    #[inline(always)]
    pub(super) fn limbs(self) -> Limbs {
        let Self { low, high } = self;
        Limbs([low, low.right::<52>().or(high.left::<12>()), high.right::<40>()])
    }

    /// The numbers times 2^28 in limbs whose lowest 52 bits are theirs.
    #[inline(always)]
    pub(super) fn limbs_at_28(self) -> Limbs {
        let Self { low, high } = self;
        let middle = low.right::<24>().or(high.left::<40>());
        Limbs([low.left::<28>(), middle, high.right::<12>()])
    }

    /// The numbers in limbs of 52 bits.
    #[inline(always)]
    pub(super) fn split(self) -> Limbs {
        let Limbs([a, b, c]) = self.limbs();
        Limbs([a.lowest_52(), b.lowest_52(), c])
    }

    /// The numbers, which are below 2^128.
    #[inline(always)]
    pub(super) fn join(x: Limbs) -> Self {
        let Limbs([a, b, c]) = x.carry();
        let (a, b) = (a.lowest_52(), b.lowest_52());
        Self { low: a.or(b.left::<52>()), high: b.right::<12>().or(c.left::<40>()) }
    }
}

#[inline(always)]
fn halves(avx512: Avx512, x: &[u128; 8]) -> [Vector; 2] {
    let [front, back] = x.as_chunks().0 else { unreachable!("two halves") };
    [avx512.words(front), avx512.words(back)]
}
