//! Vectors of eight 64-bit elements, with the AVX-512F instructions of the kernels as safe
//! operations.
//!
//! The operations are safe because a vector exists only if the processor has AVX-512F: each is made
//! from other vectors or from an [`Avx512`], which is the result of a detection.
//!
//! They are inlined into functions with the target feature, see
//! [`Multiply52::call`](super::Multiply52::call).

use super::LIMB;
use crate::cpu::Instructions;
use std::arch::x86_64::*;

const TOWARD_ZERO: i32 = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;

/// The truth table of `a | b & c`.
const OR_AND: i32 = 0b1111_1000;

/// The proof that the processor has AVX-512F.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx512(());

impl Avx512 {
    /// The proof, if the processor has AVX-512F and this process may use it.
    pub(crate) fn detect() -> Option<Self> {
        (Instructions::of_this_process() <= Instructions::Avx512).then_some(Self(()))
    }

    /// Four words, as eight elements: the low half of a word, then its high half.
    #[inline(always)]
    pub(crate) fn words(self, words: &[u128; 4]) -> Vector {
        // SAFETY: the processor has AVX-512F; the load needs no alignment.
        Vector(unsafe { _mm512_loadu_si512(words.as_ptr().cast()) })
    }

    /// Eight elements.
    #[inline(always)]
    pub(crate) fn elements(self, elements: &[u64; 8]) -> Vector {
        // SAFETY: as above.
        Vector(unsafe { _mm512_loadu_si512(elements.as_ptr().cast()) })
    }

    /// Eight copies of `element`.
    #[inline(always)]
    pub(crate) fn splat(self, element: u64) -> Vector {
        // SAFETY: the processor has AVX-512F.
        Vector(unsafe { _mm512_set1_epi64(element as i64) })
    }

    /// A vector of 1, 2, 4 or 8 elements of `eight`, repeated. `offset` is a multiple of their number.
    ///
    /// One and two are repeated. The order of four is 0, 2, 0, 2, 1, 3, 1, 3.
    #[inline(always)]
    pub(crate) fn spread<const DISTINCT: usize>(self, eight: &[u64; 8], offset: usize) -> Vector {
        let from = &eight[offset..][..DISTINCT];
        // SAFETY: the processor has AVX-512F; the loads need no alignment and read only `from`.
        Vector(unsafe {
            match DISTINCT {
                1 => _mm512_set1_epi64(from[0] as i64),
                2 => _mm512_broadcast_i32x4(_mm_loadu_si128(from.as_ptr().cast())),
                4 => {
                    let four = _mm512_broadcast_i64x4(_mm256_loadu_si256(from.as_ptr().cast()));
                    _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 0, 2, 1, 3, 1, 3), four)
                }
                8 => _mm512_loadu_si512(from.as_ptr().cast()),
                _ => unreachable!("1, 2, 4 or 8"),
            }
        })
    }

    /// Eight copies of a floating-point number.
    #[inline(always)]
    pub(crate) fn splat_float(self, element: f64) -> Floats {
        // SAFETY: the processor has AVX-512F.
        Floats(unsafe { _mm512_set1_pd(element) })
    }
}

/// Eight elements of 64 bits.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Vector(pub(super) __m512i);

/// Defines operations on vectors by instructions.
macro_rules! instructions {
    ($($(#[$doc:meta])* $name:ident $(<const $bits:ident: u32>)? ($x:ident $(, $y:ident)?) = $instruction:expr;)+) => {$(
        $(#[$doc])*
        #[inline(always)]
        pub(crate) fn $name $(<const $bits: u32>)? (self $(, $y: Self)?) -> Self {
            let $x = self.0;
            $(let $y = $y.0;)?
            // SAFETY: the vectors exist only if the processor has AVX-512F.
            Self(unsafe { $instruction })
        }
    )+};
}

impl Vector {
    instructions! {
        /// The sums of elements.
        add(x, y) = _mm512_add_epi64(x, y);
        /// The differences of elements.
        sub(x, y) = _mm512_sub_epi64(x, y);
        /// The smaller elements, unsigned.
        min(x, y) = _mm512_min_epu64(x, y);
        /// The larger elements, unsigned.
        max(x, y) = _mm512_max_epu64(x, y);
        /// The elements times 2^y; 0 for a y of at least 64.
        left_by(x, y) = _mm512_sllv_epi64(x, y);
        /// The unsigned elements divided by 2^y, rounded down; 0 for a y of at least 64.
        right_by(x, y) = _mm512_srlv_epi64(x, y);
        /// The products of the lowest 32 bits of elements.
        multiply_32(x, y) = _mm512_mul_epu32(x, y);
        /// The lowest 32 bits of each element.
        lowest_32(x) = _mm512_and_si512(x, _mm512_set1_epi64(u32::MAX.into()));
        /// Bitwise or.
        or(x, y) = _mm512_or_si512(x, y);
        /// The lowest 52 bits of each element.
        lowest_52(x) = _mm512_and_si512(x, _mm512_set1_epi64(LIMB as i64));
        /// The signed elements divided by 2^52, rounded down.
        above_52(x) = _mm512_srai_epi64::<52>(x);
        /// The elements times 2^`BITS`.
        left<const BITS: u32>(x) = _mm512_slli_epi64::<BITS>(x);
        /// The unsigned elements divided by 2^`BITS`, rounded down.
        right<const BITS: u32>(x) = _mm512_srli_epi64::<BITS>(x);
        /// Elements x0, y0, x2, y2, x4, ..
        even_elements(x, y) = _mm512_unpacklo_epi64(x, y);
        /// Elements x1, y1, x3, y3, x5, ..
        odd_elements(x, y) = _mm512_unpackhi_epi64(x, y);
        /// The low halves: elements x0 to x3, y0 to y3.
        low_halves(x, y) = _mm512_shuffle_i64x2::<0b01_00_01_00>(x, y);
        /// The high halves: elements x4 to x7, y4 to y7.
        high_halves(x, y) = _mm512_shuffle_i64x2::<0b11_10_11_10>(x, y);
    }

    /// Chooses elements of `self`, numbers 0 to 7, and of `other`, numbers 8 to 15.
    #[inline(always)]
    pub(crate) fn choose(self, other: Self, elements: [i64; 8]) -> Self {
        let [a, b, c, d, e, f, g, h] = elements;
        // SAFETY: the vectors exist only if the processor has AVX-512F.
        Self(unsafe { _mm512_permutex2var_epi64(self.0, _mm512_setr_epi64(a, b, c, d, e, f, g, h), other.0) })
    }

    /// `self + y` in elements whose `signs` element has bit 51, otherwise `self`.
    #[inline(always)]
    pub(crate) fn add_if_negative(self, signs: Self, y: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe {
            let negative = _mm512_test_epi64_mask(signs.0, _mm512_set1_epi64(1 << 51));
            _mm512_mask_add_epi64(self.0, negative, self.0, y.0)
        })
    }

    /// The proof, which every vector implies.
    #[inline(always)]
    pub(crate) fn avx512(self) -> Avx512 {
        Avx512(())
    }

    /// The elements as the bits of floating-point numbers.
    #[inline(always)]
    pub(crate) fn as_floats(self) -> Floats {
        // SAFETY: as above.
        Floats(unsafe { _mm512_castsi512_pd(self.0) })
    }

    /// The lowest 52 bits of each element in units of `one / 2^52`, for a power of two.
    #[inline(always)]
    pub(crate) fn limb_to_floats(self, one: f64) -> Floats {
        let (one, limb) = (self.avx512().splat_float(one), self.avx512().splat(LIMB));
        // SAFETY: as above.
        let sum = Self(unsafe { _mm512_ternarylogic_epi64::<OR_AND>(one.bits().0, self.0, limb.0) });
        // The limb is now the significand of a number whose exponent is that of `one`.
        sum.as_floats().sub(one)
    }

    /// Stores the elements.
    #[inline(always)]
    pub(crate) fn store_elements(self, elements: &mut [u64; 8]) {
        // SAFETY: as above; the store needs no alignment.
        unsafe { _mm512_storeu_si512(elements.as_mut_ptr().cast(), self.0) };
    }

    /// Stores elements as four words.
    #[inline(always)]
    pub(crate) fn store(self, words: &mut [u128; 4]) {
        // SAFETY: as above; the store needs no alignment.
        unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), self.0) };
    }
}

/// Eight floating-point numbers.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Floats(__m512d);

impl Floats {
    instructions! {
        /// The sums, rounded to nearest.
        add(x, y) = _mm512_add_pd(x, y);
        /// The differences, rounded to nearest.
        sub(x, y) = _mm512_sub_pd(x, y);
    }

    /// `self y + z`, rounded once, toward zero.
    #[inline(always)]
    pub(crate) fn multiply_add(self, y: Self, z: Self) -> Self {
        // SAFETY: the vectors exist only if the processor has AVX-512F.
        Self(unsafe { _mm512_fmadd_round_pd::<TOWARD_ZERO>(self.0, y.0, z.0) })
    }

    /// The proof, which every vector implies.
    #[inline(always)]
    pub(crate) fn avx512(self) -> Avx512 {
        Avx512(())
    }

    /// The bits of the numbers.
    #[inline(always)]
    pub(crate) fn bits(self) -> Vector {
        // SAFETY: as above.
        Vector(unsafe { _mm512_castpd_si512(self.0) })
    }
}
