//! Slots of CKKS: complex numbers.
//!
//! Slot j is the polynomial's value at zeta^(5^j), zeta = exp(i pi/n), divided by the scale, for j below
//! n/2. The values at the conjugate roots are the conjugate slots.

use num_bigint::BigInt;
use num_complex::Complex64;
use num_traits::ToPrimitive;
use std::f64::consts::PI;

/// The coefficients of the polynomial with these n/2 slots, times `scale`, rounded.
pub fn encode(slots: &[Complex64], scale: f64) -> Vec<i128> {
    let n = 2 * slots.len();
    let mut values = vec![Complex64::ZERO; 2 * n];
    for (exponent, &slot) in exponents(n).zip(slots) {
        values[exponent] = slot;
    }
    let sums = transform(values, -1.0);
    sums[..n].iter().map(|sum| (2.0 / n as f64 * sum.re * scale).round() as i128).collect()
}

/// `count` slots that repeat fewer: those of a polynomial in a power of X, whose coefficients are those of
/// the polynomial with the fewer slots.
pub fn repeated(slots: &[Complex64], count: usize) -> Vec<Complex64> {
    slots.iter().copied().cycle().take(count).collect()
}

/// The slots of a polynomial, divided by `scale`.
pub fn decode(coefficients: &[BigInt], scale: f64) -> Vec<Complex64> {
    let number = |x: &BigInt| x.to_f64().expect("a number below 2^1024") / scale;
    slots(coefficients.iter().map(number))
}

/// The slots of a polynomial with real coefficients.
pub fn slots(coefficients: impl Iterator<Item = f64>) -> Vec<Complex64> {
    let mut values: Vec<Complex64> = coefficients.map(Complex64::from).collect();
    let n = values.len();
    values.resize(2 * n, Complex64::ZERO);
    let values = transform(values, 1.0);
    exponents(n).map(|exponent| values[exponent]).collect()
}

/// The correct bits of the worst slot: -log2 of the largest error.
pub fn correct_bits(found: &[Complex64], expected: &[Complex64]) -> f64 {
    -errors(found, expected).fold(0.0, f64::max).log2()
}

/// The correct bits in the mean: -log2 of the mean error.
pub fn mean_bits(found: &[Complex64], expected: &[Complex64]) -> f64 {
    -(errors(found, expected).sum::<f64>() / found.len() as f64).log2()
}

/// The distances of complex numbers.
pub(crate) fn errors(found: &[Complex64], expected: &[Complex64]) -> impl Iterator<Item = f64> {
    found.iter().zip(expected).map(|(a, b)| (a - b).norm())
}

/// 5^j mod 2n for the slots j.
fn exponents(n: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(1), move |power| Some(power * 5 % (2 * n))).take(n / 2)
}

/// sum_k x_k exp(sign 2 pi i j k/m) for each j below the length m, a power of two.
fn transform(mut x: Vec<Complex64>, sign: f64) -> Vec<Complex64> {
    let m = x.len();
    let bits = m.trailing_zeros();
    for i in 0..m {
        let j = i.reverse_bits() >> (usize::BITS - bits);
        if i < j {
            x.swap(i, j);
        }
    }
    let roots: Vec<Complex64> =
        (0..m / 2).map(|k| Complex64::cis(sign * 2.0 * PI * k as f64 / m as f64)).collect();
    for half in (0..bits).map(|bit| 1_usize << bit) {
        for block in x.chunks_exact_mut(2 * half) {
            let (low, high) = block.split_at_mut(half);
            for (k, (low, high)) in low.iter_mut().zip(high).enumerate() {
                let term = roots[k * (m / 2 / half)] * *high;
                (*low, *high) = (*low + term, *low - term);
            }
        }
    }
    x
}
