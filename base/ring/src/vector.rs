//! Arithmetic modulo q on vectors of 128-bit words, lane by lane.
//!
//! A [`Vector`] owns its lanes. Its length is a multiple of [`GRANULE`]; vector processors use powers of two
//! from 8 to 4096. Every operation needs slices of equal length and writes each lane of its results, which
//! are below q.
//!
//! Multipliers that are used often are [`Factors`]: a vector prepared for one modulus.
//! Multiplications by them use AVX-512 (IFMA, or the fused multiply-add of AVX-512F) if the processor
//! has it, and scalar Montgomery arithmetic if not. The results are the same. Moduli below 2^64 are faster in
//! [`narrow`], on words of 64 bits.
//!
//! | operation | operands that may be any word | operands that must be below q |
//! |---|---|---|
//! | [`add`], [`sub`], [`add_scalar`], [`sub_scalar`] | | all |
//! | [`multiply`], [`multiply_scalar`] | `x` | `w` |
//! | [`butterfly`] | `b` | `a`, `w` |
//! | [`inverse_butterfly`] | | all |
//!
//! A multiplication by one therefore reduces arbitrary words.
//!
//! ```
//! use ring::modular::Modulus;
//! use ring::vector::{self, Factors, Vector};
//!
//! let q = Modulus::new(97)?;
//! let mut w = Factors::zero(64);
//! w.set(&q, &[3; 64]);
//! let mut product = Vector::zero(64);
//! vector::multiply(&q, &mut product, &[1000; 64], &w);
//! assert_eq!(product[..], [3 * 1000 % 97; 64]);
//! # Ok::<(), ring::modular::ModulusError>(())
//! ```

pub mod narrow;

#[cfg(target_arch = "x86_64")]
use crate::avx512::{Fma, Ifma, LANES, Shoup};
use crate::modular::{Modulus, Prepared};
use std::fmt;
use std::ops::{Deref, DerefMut};

/// The length of every vector is a multiple of this number of lanes.
pub const GRANULE: usize = 8;

/// Four words: as many as fit a cache line.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u128; WORDS_PER_LINE]);

const WORDS_PER_LINE: usize = 4;

/// A vector of 128-bit words on the heap, or of 64-bit words in the same memory.
///
/// It starts at a cache line, so that no load of the processor crosses two.
#[derive(Clone)]
pub struct Vector {
    lines: Box<[Line]>,
}

impl Vector {
    /// A vector of `lanes` zeros.
    ///
    /// # Panics
    /// Panics if `lanes` is not a multiple of [`GRANULE`].
    pub fn zero(lanes: usize) -> Self {
        assert!(lanes.is_multiple_of(GRANULE), "a vector of {lanes} lanes: not a multiple of {GRANULE}");
        Self { lines: vec![Line([0; WORDS_PER_LINE]); lanes / WORDS_PER_LINE].into() }
    }

    /// The lanes as words of 64 bits, in the first half of the vector. They are what [`Self::narrow_mut`]
    /// wrote.
    #[inline]
    pub fn narrow(&self) -> &[u64] {
        &self.halves()[..self.len()]
    }

    /// As [`narrow`](Self::narrow), to be written.
    #[inline]
    pub fn narrow_mut(&mut self) -> &mut [u64] {
        let lanes = self.len();
        &mut self.halves_mut()[..lanes]
    }

    /// The vector as twice as many words of 64 bits.
    #[inline]
    fn halves(&self) -> &[u64] {
        // SAFETY: a line is eight words of 64 bits in order, without padding, and at least as aligned as
        // these.
        unsafe {
            std::slice::from_raw_parts(self.lines.as_ptr().cast(), self.lines.len() * WORDS_PER_LINE * 2)
        }
    }

    /// As [`halves`](Self::halves), to be written.
    #[inline]
    fn halves_mut(&mut self) -> &mut [u64] {
        let words = self.lines.len() * WORDS_PER_LINE * 2;
        // SAFETY: as in `halves`, and the borrow of the lines is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), words) }
    }

    /// Makes words of 128 bits of words of 64 bits.
    pub fn widen(&mut self) {
        // A lane overwrites later ones only.
        for lane in (0..self.len()).rev() {
            self[lane] = self.narrow()[lane].into();
        }
    }

    /// Makes words of 64 bits of words of 128 bits. Those that do not fit lose their highest bits.
    pub fn narrow_down(&mut self) {
        for lane in 0..self.len() {
            self.narrow_mut()[lane] = self[lane] as u64;
        }
    }
}

impl Deref for Vector {
    type Target = [u128];
    #[inline]
    fn deref(&self) -> &[u128] {
        // SAFETY: a line is four words in order, without padding, and at least as aligned as a word.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), self.lines.len() * WORDS_PER_LINE) }
    }
}

impl DerefMut for Vector {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u128] {
        let words = self.lines.len() * WORDS_PER_LINE;
        // SAFETY: as in `deref`, and the borrow of the lines is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), words) }
    }
}

impl PartialEq for Vector {
    fn eq(&self, other: &Self) -> bool {
        self[..] == other[..]
    }
}

impl Eq for Vector {}

impl fmt::Debug for Vector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self[..].fmt(f)
    }
}

/// A vector of multipliers, prepared for one modulus.
#[derive(Clone, Debug)]
pub struct Factors {
    lanes: usize,
    code: Code,
    form: Form,
}

/// The code that multiplies.
#[derive(Clone, Copy, Debug)]
enum Code {
    Scalar,
    #[cfg(target_arch = "x86_64")]
    Wide(Multiplier),
}

#[derive(Clone, Debug)]
enum Form {
    /// Zeros modulo any number.
    Zero,
    /// Montgomery form, for scalar code.
    Montgomery(Box<[Prepared]>),
    /// Shoup's form, for AVX-512.
    #[cfg(target_arch = "x86_64")]
    Shoup {
        multiplier: Multiplier,
        /// The multipliers, each below q.
        factors: Vector,
        /// floor(factor 2^128 / q) for each.
        quotients: Vector,
    },
    /// Shoup's form in words of 64 bits: the multipliers, then floor(factor 2^64 / q) for each.
    Narrow(Vector),
}

/// The AVX-512 instructions for multiplications.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug)]
enum Multiplier {
    Ifma(Ifma),
    Fma(Fma),
}

#[cfg(target_arch = "x86_64")]
impl Multiplier {
    /// The fastest multiplier, if the processor has one.
    fn detect() -> Option<Self> {
        Ifma::detect().map(Self::Ifma).or_else(|| Fma::detect().map(Self::Fma))
    }
}

impl Factors {
    /// Zeros for the fastest code on this processor that serves this number of lanes.
    ///
    /// # Panics
    /// Panics if `lanes` is not a multiple of [`GRANULE`].
    pub fn zero(lanes: usize) -> Self {
        #[cfg(target_arch = "x86_64")]
        if let Some(multiplier) = Multiplier::detect()
            && lanes.is_multiple_of(LANES)
        {
            return Self { code: Code::Wide(multiplier), ..Self::scalar_zero(lanes) };
        }
        Self::scalar_zero(lanes)
    }

    /// Zeros for portable scalar code.
    ///
    /// # Panics
    /// Panics if `lanes` is not a multiple of [`GRANULE`].
    pub fn scalar_zero(lanes: usize) -> Self {
        assert!(lanes.is_multiple_of(GRANULE), "a vector of {lanes} lanes: not a multiple of {GRANULE}");
        Self { lanes, code: Code::Scalar, form: Form::Zero }
    }

    /// Zeros of the same length, for the same code.
    #[must_use]
    pub fn zero_like(&self) -> Self {
        Self { form: Form::Zero, ..*self }
    }

    /// The number of lanes.
    #[expect(clippy::len_without_is_empty, reason = "no vector has zero lanes")]
    pub fn len(&self) -> usize {
        self.lanes
    }

    /// Prepares `lanes`, which must be below the modulus `q`.
    ///
    /// # Panics
    /// Panics if the lengths differ.
    pub fn set(&mut self, q: &Modulus, lanes: &[u128]) {
        check_lengths(self.lanes, [lanes.len()]);
        match self.wide_form() {
            Form::Montgomery(prepared) => map(prepared, lanes, |factor| q.prepare(factor)),
            #[cfg(target_arch = "x86_64")]
            Form::Shoup { factors, quotients, .. } => {
                factors.copy_from_slice(lanes);
                map(quotients, lanes, |factor| q.divide(factor, 128).0);
            }
            Form::Zero | Form::Narrow(_) => unreachable!("a wide form"),
        }
    }

    /// Prepares `factor`, which must be below the modulus `q`, for all lanes.
    pub fn fill(&mut self, q: &Modulus, factor: u128) {
        match self.wide_form() {
            Form::Montgomery(prepared) => prepared.fill(q.prepare(factor)),
            #[cfg(target_arch = "x86_64")]
            Form::Shoup { factors, quotients, .. } => {
                factors.fill(factor);
                quotients.fill(q.divide(factor, 128).0);
            }
            Form::Zero | Form::Narrow(_) => unreachable!("a wide form"),
        }
    }

    /// The form for words of 128 bits, with any content.
    fn wide_form(&mut self) -> &mut Form {
        if matches!(self.form, Form::Zero | Form::Narrow(_)) {
            self.form = match self.code {
                Code::Scalar => Form::Montgomery(vec![Prepared::default(); self.lanes].into()),
                #[cfg(target_arch = "x86_64")]
                Code::Wide(multiplier) => {
                    let [factors, quotients] = [(); 2].map(|()| Vector::zero(self.lanes));
                    Form::Shoup { multiplier, factors, quotients }
                }
            };
        }
        &mut self.form
    }
}

/// `out = a + b mod q`.
///
/// # Panics
/// Panics if the lengths differ.
pub fn add(q: &Modulus, out: &mut [u128], a: &[u128], b: &[u128]) {
    zip(out, a, b, |a, b| q.add(a, b));
}

/// `out = a - b mod q`.
///
/// # Panics
/// Panics if the lengths differ.
pub fn sub(q: &Modulus, out: &mut [u128], a: &[u128], b: &[u128]) {
    zip(out, a, b, |a, b| q.sub(a, b));
}

/// `out = a + scalar mod q`.
///
/// # Panics
/// Panics if the lengths differ.
pub fn add_scalar(q: &Modulus, out: &mut [u128], a: &[u128], scalar: u128) {
    map(out, a, |a| q.add(a, scalar));
}

/// `out = a - scalar mod q`.
///
/// # Panics
/// Panics if the lengths differ.
pub fn sub_scalar(q: &Modulus, out: &mut [u128], a: &[u128], scalar: u128) {
    map(out, a, |a| q.sub(a, scalar));
}

/// `out = x scalar mod q`, for any words `x` and a `scalar` below q.
///
/// # Panics
/// Panics if the lengths differ.
pub fn multiply_scalar(q: &Modulus, out: &mut [u128], x: &[u128], scalar: u128) {
    let scalar = q.prepare(scalar);
    map(out, x, |x| q.mul_prepared(x, scalar));
}

/// `out = x w mod q`, for any words `x`.
///
/// # Panics
/// Panics if the lengths differ, or if the factors have not been [set](Factors::set).
pub fn multiply(q: &Modulus, out: &mut [u128], x: &[u128], w: &Factors) {
    check_lengths(w.len(), [out.len(), x.len()]);
    match &w.form {
        Form::Montgomery(w) => {
            for ((out, &x), &w) in out.iter_mut().zip(x).zip(w) {
                *out = q.mul_prepared(x, w);
            }
        }
        #[cfg(target_arch = "x86_64")]
        Form::Shoup { multiplier, factors, quotients } => {
            let w = Shoup { factors, quotients };
            match *multiplier {
                Multiplier::Ifma(m) => w.multiply(m, q, out, x),
                Multiplier::Fma(m) => w.multiply(m, q, out, x),
            }
        }
        Form::Zero | Form::Narrow(_) => not_wide(),
    }
}

/// `(out, out1) = (a + b w, a - b w) mod q`, for `a` below q and any words `b`.
///
/// # Panics
/// Panics if the lengths differ, or if the factors have not been [set](Factors::set).
pub fn butterfly(q: &Modulus, [out, out1]: [&mut [u128]; 2], a: &[u128], b: &[u128], w: &Factors) {
    check_lengths(w.len(), [out.len(), out1.len(), a.len(), b.len()]);
    match &w.form {
        Form::Montgomery(w) => {
            let out = out.iter_mut().zip(out1);
            for (((out, out1), (&a, &b)), &w) in out.zip(a.iter().zip(b)).zip(w) {
                let t = q.mul_prepared(b, w);
                (*out, *out1) = (q.add(a, t), q.sub(a, t));
            }
        }
        #[cfg(target_arch = "x86_64")]
        Form::Shoup { multiplier, factors, quotients } => {
            let w = Shoup { factors, quotients };
            match *multiplier {
                Multiplier::Ifma(m) => w.butterfly(m, q, [out, out1], a, b),
                Multiplier::Fma(m) => w.butterfly(m, q, [out, out1], a, b),
            }
        }
        Form::Zero | Form::Narrow(_) => not_wide(),
    }
}

/// `(out, out1) = (a + b, (a - b) w) mod q`, for `a` and `b` below q.
///
/// # Panics
/// Panics if the lengths differ, or if the factors have not been [set](Factors::set).
pub fn inverse_butterfly(q: &Modulus, [out, out1]: [&mut [u128]; 2], a: &[u128], b: &[u128], w: &Factors) {
    check_lengths(w.len(), [out.len(), out1.len(), a.len(), b.len()]);
    match &w.form {
        Form::Montgomery(w) => {
            let out = out.iter_mut().zip(out1);
            for (((out, out1), (&a, &b)), &w) in out.zip(a.iter().zip(b)).zip(w) {
                (*out, *out1) = (q.add(a, b), q.mul_prepared(q.sub(a, b), w));
            }
        }
        #[cfg(target_arch = "x86_64")]
        Form::Shoup { multiplier, factors, quotients } => {
            let w = Shoup { factors, quotients };
            match *multiplier {
                Multiplier::Ifma(m) => w.inverse_butterfly(m, q, [out, out1], a, b),
                Multiplier::Fma(m) => w.inverse_butterfly(m, q, [out, out1], a, b),
            }
        }
        Form::Zero | Form::Narrow(_) => not_wide(),
    }
}

/// Panics because factors were not prepared in words of 128 bits.
#[cold]
fn not_wide() -> ! {
    panic!("the factors are not prepared for words of 128 bits")
}

/// The largest lane, or zero if `lanes` is empty.
pub fn max(lanes: &[u128]) -> u128 {
    lanes.iter().copied().fold(0, u128::max)
}

/// `out = f(a)`, lane by lane.
#[inline(always)]
fn map<T: Copy, U>(out: &mut [U], a: &[T], f: impl Fn(T) -> U) {
    check_lengths(out.len(), [a.len()]);
    for (out, &a) in out.iter_mut().zip(a) {
        *out = f(a);
    }
}

/// `out = f(a, b)`, lane by lane.
#[inline(always)]
fn zip<T: Copy>(out: &mut [T], a: &[T], b: &[T], f: impl Fn(T, T) -> T) {
    check_lengths(out.len(), [a.len(), b.len()]);
    for ((out, &a), &b) in out.iter_mut().zip(a).zip(b) {
        *out = f(a, b);
    }
}

#[inline]
#[track_caller]
fn check_lengths<const N: usize>(lanes: usize, others: [usize; N]) {
    assert!(others.iter().all(|&other| other == lanes), "vectors of {lanes} and {others:?} lanes");
}

#[cfg(test)]
mod tests;
