//! Arithmetic modulo q on sixteen numbers at a time, in AVX-512.
//!
//! A number is three limbs of 52 bits in the 64-bit elements of three vectors: 156 bits, which
//! leave room above every q below 2^128. Products with a constant factor w are Shoup's, with the
//! precomputed quotient w' = floor(w 2^156 / q):
//!
//! ```text
//! b w mod q = b w - floor(b w' / 2^156) q, less a few q
//! ```
//!
//! Limbs of b w' with little above 2^156 are left out. The quotient is therefore up to 6 too small, and the
//! difference below 7 q; [`modulus`] covers rounded quotients. Only the lowest 156 bits of the other two
//! products are formed, the second with 2^156 - q in place of -q: their sum is correct modulo 2^156, and it
//! is small.
//!
//! The latency of the multiplier is four cycles, and the limbs of a product depend on each other.
//! Therefore every step works on two vectors of eight elements: while one waits, the other is
//! multiplied.
//!
//! The kernels are generic over the two halves of a 52-bit multiplication, [`Multiply52`]. AVX-512
//! IFMA has instructions for them; AVX-512F alone has the fused multiply-add of floating-point
//! numbers. Tests also run the kernels with the two halves in software, so that machines without IFMA
//! check every line.
//!
//! | module | contents |
//! |---|---|
//! | [`simd`] | vectors, with the instructions as safe operations |
//! | [`multiply`] | [`Multiply52`] and its implementations |
//! | [`limbs`] | numbers in limbs, carries, conversion from and to words |
//! | [`modulus`] | products modulo q |
//! | [`lanes`] | operations on vectors of words, lane by lane |
//! | [`narrow`] | operations on vectors of words of 64 bits |
//! | [`transform`] | the forward negacyclic transform |

mod lanes;
mod limbs;
mod modulus;
mod multiply;
mod narrow;
mod simd;
mod transform;

#[cfg(test)]
mod tests;

pub(crate) use lanes::Shoup;
pub(crate) use multiply::{Fma, Ifma, Multiply52};
pub(crate) use narrow::Words64;
pub(crate) use transform::Transform;

const LIMB_BITS: u32 = 52;
const LIMB: u64 = (1 << LIMB_BITS) - 1;

/// The numbers that a kernel computes with at a time.
pub(crate) const LANES: usize = 16;

/// The shortest transform of the kernels.
pub(crate) const MIN_POINTS: usize = 2 * LANES;

/// The limbs of `x`.
fn split(x: u128) -> [u64; 3] {
    [x as u64 & LIMB, (x >> LIMB_BITS) as u64 & LIMB, (x >> (2 * LIMB_BITS)) as u64]
}
