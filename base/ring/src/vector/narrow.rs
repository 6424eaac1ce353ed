//! Arithmetic modulo q below 2^64 on vectors of 64-bit words, lane by lane.
//!
//! The operations of [`vector`](super), with the same rules for operands. With AVX-512 (F and DQ), moduli
//! below 2^62 process eight lanes at a time.
//!
//! ```
//! use ring::modular::Modulus;
//! use ring::vector::{Factors, narrow};
//!
//! let q = Modulus::new(97)?.narrow().expect("below 2^64");
//! let mut w = Factors::zero(64);
//! w.set_narrow(q, &[3; 64]);
//! let mut product = [0; 64];
//! narrow::multiply(q, &mut product, &[1000; 64], &w);
//! assert_eq!(product, [3 * 1000 % 97; 64]);
//! # Ok::<(), ring::modular::ModulusError>(())
//! ```

#[cfg(target_arch = "x86_64")]
use super::Code;
use super::{Factors, Form, GRANULE, Vector, check_lengths, map, zip};
#[cfg(target_arch = "x86_64")]
use crate::avx512::Words64;
use crate::modular::Narrow;

/// The words that a loop over a limb takes at a time: 4 KiB, so that some vectors of them stay in the first
/// cache. Set by hand.
pub const BLOCK: usize = 512;

impl Factors {
    /// Prepares `lanes`, which must be below the modulus `q`, for words of 64 bits.
    ///
    /// # Panics
    /// Panics if the lengths differ.
    pub fn set_narrow(&mut self, q: Narrow, lanes: &[u64]) {
        check_lengths(self.lanes, [lanes.len()]);
        #[cfg(target_arch = "x86_64")]
        let wide = self.words(q);
        let (factors, quotients) = self.narrow_form();
        factors.copy_from_slice(lanes);
        #[cfg(target_arch = "x86_64")]
        if let Some(words) = wide {
            return words.quotients(q, quotients, lanes);
        }
        map(quotients, lanes, |factor| q.quotient(factor));
    }

    /// Prepares `factor`, which must be below the modulus `q`, for all lanes of words of 64 bits.
    pub fn fill_narrow(&mut self, q: Narrow, factor: u64) {
        let (factors, quotients) = self.narrow_form();
        factors.fill(factor);
        quotients.fill(q.quotient(factor));
    }

    /// The factors and quotients in words of 64 bits, with any content.
    fn narrow_form(&mut self) -> (&mut [u64], &mut [u64]) {
        if !matches!(self.form, Form::Narrow(_)) {
            self.form = Form::Narrow(Vector::zero(self.lanes));
        }
        let Form::Narrow(words) = &mut self.form else { unreachable!("the form was set") };
        words.halves_mut().split_at_mut(self.lanes)
    }

    /// The factors and quotients.
    fn narrow(&self) -> [&[u64]; 2] {
        let Form::Narrow(words) = &self.form else {
            panic!("the factors are not prepared for words of 64 bits")
        };
        words.halves().split_at(self.lanes).into()
    }

    /// The code for AVX-512, if it serves the modulus.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    fn words(&self, q: Narrow) -> Option<Words64> {
        match self.code {
            Code::Scalar => None,
            Code::Wide(_) => Words64::for_modulus(q),
        }
    }
}

/// `out = a + b mod q`.
///
/// # Panics
/// Panics if the lengths differ.
pub fn add(q: Narrow, out: &mut [u64], a: &[u64], b: &[u64]) {
    check_lengths(out.len(), [a.len(), b.len()]);
    #[cfg(target_arch = "x86_64")]
    if let Some(words) = Words64::for_modulus(q) {
        return words.add(q, out, a, b);
    }
    zip(out, a, b, |a, b| q.add(a, b));
}

/// `out = a - b mod q`.
///
/// # Panics
/// Panics if the lengths differ.
pub fn sub(q: Narrow, out: &mut [u64], a: &[u64], b: &[u64]) {
    check_lengths(out.len(), [a.len(), b.len()]);
    #[cfg(target_arch = "x86_64")]
    if let Some(words) = Words64::for_modulus(q) {
        return words.sub(q, out, a, b);
    }
    zip(out, a, b, |a, b| q.sub(a, b));
}

/// `out = a + scalar mod q`.
///
/// # Panics
/// Panics if the lengths differ.
pub fn add_scalar(q: Narrow, out: &mut [u64], a: &[u64], scalar: u64) {
    map(out, a, |a| q.add(a, scalar));
}

/// `out = a - scalar mod q`.
///
/// # Panics
/// Panics if the lengths differ.
pub fn sub_scalar(q: Narrow, out: &mut [u64], a: &[u64], scalar: u64) {
    map(out, a, |a| q.sub(a, scalar));
}

/// `out = x scalar mod q`, for any words `x` and a `scalar` below q.
///
/// # Panics
/// Panics if the lengths differ.
pub fn multiply_scalar(q: Narrow, out: &mut [u64], x: &[u64], scalar: u64) {
    check_lengths(out.len(), [x.len()]);
    let quotient = q.quotient(scalar);
    #[cfg(target_arch = "x86_64")]
    if let Some(words) = Words64::for_modulus(q) {
        return words.multiply_scalar(q, out, x, [scalar, quotient]);
    }
    map(out, x, |x| q.mul(x, scalar, quotient));
}

/// `out = x w mod q`, for any words `x`.
///
/// # Panics
/// Panics if the lengths differ, or if the factors have not been [set](Factors::set_narrow).
pub fn multiply(q: Narrow, out: &mut [u64], x: &[u64], w: &Factors) {
    check_lengths(w.len(), [out.len(), x.len()]);
    let factors = w.narrow();
    #[cfg(target_arch = "x86_64")]
    if let Some(words) = w.words(q) {
        return words.multiply(q, out, x, factors);
    }
    let [factors, quotients] = factors;
    let lanes = out.iter_mut().zip(x).zip(factors.iter().zip(quotients));
    lanes.for_each(|((out, &x), (&factor, &quotient))| *out = q.mul(x, factor, quotient));
}

/// `out = x w mod q`, for any words `x` and `w` below q: a product with factors that are used once.
///
/// # Panics
/// Panics if the lengths differ.
pub fn product(q: Narrow, out: &mut [u64], x: &[u64], w: &[u64]) {
    check_lengths(out.len(), [x.len(), w.len()]);
    #[cfg(target_arch = "x86_64")]
    if Words64::detect().is_some_and(|words| words.product(q, out, x, w)) {
        return;
    }
    zip(out, x, w, |x, w| q.mul(x, w, q.quotient(w)));
}

/// `(out, out1) = (a + b w, a - b w) mod q`, for `a` below q and any words `b`.
///
/// # Panics
/// Panics if the lengths differ, or if the factors have not been [set](Factors::set_narrow).
pub fn butterfly(q: Narrow, [out, out1]: [&mut [u64]; 2], a: &[u64], b: &[u64], w: &Factors) {
    check_lengths(w.len(), [out.len(), out1.len(), a.len(), b.len()]);
    let factors = w.narrow();
    #[cfg(target_arch = "x86_64")]
    if let Some(words) = w.words(q) {
        return words.butterfly(q, [out, out1], [a, b], factors);
    }
    let [factors, quotients] = factors;
    let lanes = out.iter_mut().zip(out1).zip(a.iter().zip(b)).zip(factors.iter().zip(quotients));
    lanes.for_each(|(((out, out1), (&a, &b)), (&factor, &quotient))| {
        let t = q.mul(b, factor, quotient);
        (*out, *out1) = (q.add(a, t), q.sub(a, t));
    });
}

/// `(out, out1) = (a + b, (a - b) w) mod q`, for `a` and `b` below q.
///
/// # Panics
/// Panics if the lengths differ, or if the factors have not been [set](Factors::set_narrow).
pub fn inverse_butterfly(q: Narrow, [out, out1]: [&mut [u64]; 2], a: &[u64], b: &[u64], w: &Factors) {
    check_lengths(w.len(), [out.len(), out1.len(), a.len(), b.len()]);
    let factors = w.narrow();
    #[cfg(target_arch = "x86_64")]
    if let Some(words) = w.words(q) {
        return words.inverse_butterfly(q, [out, out1], [a, b], factors);
    }
    let [factors, quotients] = factors;
    let lanes = out.iter_mut().zip(out1).zip(a.iter().zip(b)).zip(factors.iter().zip(quotients));
    lanes.for_each(|(((out, out1), (&a, &b)), (&factor, &quotient))| {
        (*out, *out1) = (q.add(a, b), q.mul(q.sub(a, b), factor, quotient));
    });
}

/// Copies words of 128 bits, any number of them, to words of 64 bits. Returns whether all fit; longer ones
/// lose their highest bits.
///
/// # Panics
/// Panics if the lengths differ.
pub fn load(out: &mut [u64], words: &[u128]) -> bool {
    check_lengths(out.len(), [words.len()]);
    #[cfg(target_arch = "x86_64")]
    if let Some(simd) = Words64::detect().filter(|_| words.len().is_multiple_of(GRANULE)) {
        return simd.load(out, words);
    }
    map(out, words, |word| word as u64);
    words.iter().fold(0, |high, word| high | (word >> u64::BITS)) == 0
}

/// Copies words of 64 bits to words of 128 bits.
///
/// # Panics
/// Panics if the lengths differ.
pub fn store(words: &mut [u128], lanes: &[u64]) {
    check_lengths(words.len(), [lanes.len()]);
    #[cfg(target_arch = "x86_64")]
    if let Some(simd) = Words64::detect() {
        return simd.store(words, lanes);
    }
    map(words, lanes, u128::from);
}

/// The largest lane, or zero if `lanes` is empty.
pub fn max(lanes: &[u64]) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if let Some(simd) = Words64::detect() {
        return simd.max(lanes);
    }
    lanes.iter().copied().fold(0, u64::max)
}
