//! The two halves of a 52-bit multiplication.

use super::simd::{Avx512, Floats, Vector};
use crate::cpu::Instructions;
use std::arch::x86_64::{_mm512_madd52hi_epu64, _mm512_madd52lo_epu64};

pub(super) const TWO_52: f64 = (1u64 << 52) as f64;
pub(super) const TWO_104: f64 = TWO_52 * TWO_52;

/// An implementation of 52-bit multiplication. A value is the proof that the processor has the
/// instructions.
pub(crate) trait Multiply52: Copy {
    /// Eight numbers of 52 bits, ready to be multiplied.
    type Operand: Copy;

    /// The proof that the processor has AVX-512F.
    fn avx512(self) -> Avx512;

    /// The lowest 52 bits of each element.
    fn operand(self, x: Vector) -> Self::Operand;

    /// A limb as tables store it.
    fn stored(limb: u64) -> u64;

    /// The operand of limbs as tables store them.
    fn loaded(self, x: Vector) -> Self::Operand;

    /// `x + (y z mod 2^52)`.
    fn low(self, x: Vector, y: Self::Operand, z: Self::Operand) -> Vector;

    /// `x + floor(y z / 2^52)`.
    fn high(self, x: Vector, y: Self::Operand, z: Self::Operand) -> Vector;

    /// Runs `code` in a function compiled for the instructions.
    ///
    /// All operations are inlined into that function. Outside of it they would be calls.
    fn call<T: SimdCode>(self, code: T) -> T::Output;
}

/// Code for [`Multiply52::call`].
pub(crate) trait SimdCode {
    /// The result.
    type Output;

    /// Runs the code. Implementations should be `#[inline(always)]`.
    fn run(self) -> Self::Output;
}

/// AVX-512 IFMA: one instruction for each half.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ifma(Avx512);

impl Ifma {
    /// The multiplication, if the processor has it.
    pub(crate) fn detect() -> Option<Self> {
        let has_multiplier = Instructions::of_this_process() == Instructions::Avx512Ifma;
        if has_multiplier { Avx512::detect().map(Self) } else { None }
    }
}

impl Multiply52 for Ifma {
    type Operand = Vector;

    #[inline(always)]
    fn avx512(self) -> Avx512 {
        self.0
    }

    #[inline(always)]
    fn operand(self, x: Vector) -> Vector {
        x
    }

    #[inline(always)]
    fn stored(limb: u64) -> u64 {
        limb
    }

    #[inline(always)]
    fn loaded(self, x: Vector) -> Vector {
        x
    }

    #[inline(always)]
    fn low(self, x: Vector, y: Vector, z: Vector) -> Vector {
        // SAFETY: `self` exists only if the processor has AVX-512 IFMA.
        Vector(unsafe { _mm512_madd52lo_epu64(x.0, y.0, z.0) })
    }

    #[inline(always)]
    fn high(self, x: Vector, y: Vector, z: Vector) -> Vector {
        // SAFETY: as above.
        Vector(unsafe { _mm512_madd52hi_epu64(x.0, y.0, z.0) })
    }

    #[inline(always)]
    fn call<T: SimdCode>(self, code: T) -> T::Output {
        #[target_feature(enable = "avx512f,avx512ifma")]
        fn run<T: SimdCode>(code: T) -> T::Output {
            code.run()
        }
        // SAFETY: as above.
        unsafe { run(code) }
    }
}

/// AVX-512F: the fused multiply-add of floating-point numbers, whose significands have 53 bits.
/// Rounded toward zero,
///
/// ```text
/// y z + 2^104            = 2^104 + 2^52 floor(y z / 2^52)
/// y z - (that - 2^104)   = y z mod 2^52
/// ```
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fma(Avx512);

impl Fma {
    /// The multiplication, if the processor has it.
    pub(crate) fn detect() -> Option<Self> {
        Avx512::detect().map(Self)
    }
}

/// `x` plus the significands of `y`, whose exponent is that of `one`.
#[inline(always)]
fn add_significand(x: Vector, y: Floats, one: f64) -> Vector {
    x.add(y.bits().sub(y.avx512().splat_float(one).bits()))
}

impl Multiply52 for Fma {
    type Operand = Floats;

    #[inline(always)]
    fn avx512(self) -> Avx512 {
        self.0
    }

    #[inline(always)]
    fn operand(self, x: Vector) -> Floats {
        x.limb_to_floats(TWO_52)
    }

    #[inline(always)]
    fn stored(limb: u64) -> u64 {
        (limb as f64).to_bits()
    }

    #[inline(always)]
    fn loaded(self, x: Vector) -> Floats {
        x.as_floats()
    }

    #[inline(always)]
    fn low(self, x: Vector, y: Floats, z: Floats) -> Vector {
        let high = y.multiply_add(z, self.0.splat_float(TWO_104));
        let rest = self.0.splat_float(TWO_104 + TWO_52).sub(high);
        add_significand(x, y.multiply_add(z, rest), TWO_52)
    }

    #[inline(always)]
    fn high(self, x: Vector, y: Floats, z: Floats) -> Vector {
        add_significand(x, y.multiply_add(z, self.0.splat_float(TWO_104)), TWO_104)
    }

    #[inline(always)]
    fn call<T: SimdCode>(self, code: T) -> T::Output {
        #[target_feature(enable = "avx512f")]
        fn run<T: SimdCode>(code: T) -> T::Output {
            code.run()
        }
        // SAFETY: `self` exists only if the processor has AVX-512F.
        unsafe { run(code) }
    }
}
