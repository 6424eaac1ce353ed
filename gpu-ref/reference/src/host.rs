//! Host model for the kernels.
//!
//! The algorithm differs from the kernels': twist by powers of the root, recursive cyclic
//! transform, then bit reversal. It is slow and simple, and a test compares it with the definition.

use crate::number::{bit_reverse, mul_mod, pow_mod};
use crate::{Modulus, Word};

fn add_mod(a: u128, b: u128, q: u128) -> u128 {
    if a >= q - b { a - (q - b) } else { a + b }
}

fn sub_mod(a: u128, b: u128, q: u128) -> u128 {
    if a >= b { a - b } else { a + (q - b) }
}

/// `1, base, base^2, ..`: `count` powers modulo `q`.
pub(crate) fn powers(base: u128, count: usize, q: u128) -> Vec<u128> {
    std::iter::successors(Some(1), |&x| Some(mul_mod(x, base, q))).take(count).collect()
}

/// `out[k] = sum_i values[i] w^(ik)`, natural order in and out; `roots[i * stride] = w^i`.
fn cyclic(values: &[u128], roots: &[u128], stride: usize, q: u128) -> Vec<u128> {
    let half = values.len() / 2;
    if half == 0 {
        return values.to_vec();
    }
    let part = |offset| values.iter().skip(offset).step_by(2).copied().collect::<Vec<_>>();
    let even = cyclic(&part(0), roots, 2 * stride, q);
    let odd = cyclic(&part(1), roots, 2 * stride, q);
    let turned: Vec<_> = odd.iter().enumerate().map(|(k, &x)| mul_mod(x, roots[k * stride], q)).collect();
    let sums = even.iter().zip(&turned).map(|(&e, &o)| add_mod(e, o, q));
    let differences = even.iter().zip(&turned).map(|(&e, &o)| sub_mod(e, o, q));
    sums.chain(differences).collect()
}

/// Forward negacyclic transform of one polynomial of `modulus.n()` coefficients in natural order:
/// `out[j] = sum_i input[i] root^(i (2 bitrev(j) + 1))`.
pub fn forward<W: Word>(modulus: &Modulus<W>, input: &[W]) -> Vec<W> {
    let (q, n) = (modulus.q().widen(), modulus.n());
    let roots = powers(modulus.root().widen(), 2 * n, q);
    let twisted: Vec<_> = input.iter().zip(&roots).map(|(x, &r)| mul_mod(x.widen(), r, q)).collect();
    let natural = cyclic(&twisted, &roots, 2, q);
    (0..n).map(|j| W::narrow(natural[bit_reverse(j, n.ilog2())])).collect()
}

/// Inverse of [`forward`]: bit-reversed order in, natural order out.
pub fn inverse<W: Word>(modulus: &Modulus<W>, input: &[W]) -> Vec<W> {
    let (q, n) = (modulus.q().widen(), modulus.n());
    let roots = powers(pow_mod(modulus.root().widen(), 2 * n as u128 - 1, q), 2 * n, q);
    let natural: Vec<_> = (0..n).map(|i| input[bit_reverse(i, n.ilog2())].widen()).collect();
    let n_inverse = pow_mod(q.div_ceil(2), n.ilog2().into(), q);
    let untwist = roots.iter().map(|&r| mul_mod(r, n_inverse, q));
    cyclic(&natural, &roots, 2, q).iter().zip(untwist).map(|(&x, r)| W::narrow(mul_mod(x, r, q))).collect()
}

/// Product of two polynomials modulo `x^n + 1`, by the transforms above.
pub fn product<W: Word>(modulus: &Modulus<W>, left: &[W], right: &[W]) -> Vec<W> {
    let q = modulus.q().widen();
    let values: Vec<_> = forward(modulus, left)
        .iter()
        .zip(forward(modulus, right))
        .map(|(x, y)| W::narrow(mul_mod(x.widen(), y.widen(), q)))
        .collect();
    inverse(modulus, &values)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ramp(modulus: &Modulus<u128>, seed: u128) -> Vec<u128> {
        (0..modulus.n() as u128).map(|i| mul_mod(i + seed, modulus.root() ^ 0x55, modulus.q())).collect()
    }

    #[test]
    fn agrees_with_the_definition() {
        for (bits, n) in [(17, 8), (60, 64), (128, 32)] {
            let modulus = Modulus::<u128>::find(bits, n, 0).unwrap();
            let (q, input) = (modulus.q(), ramp(&modulus, 1));
            let expected: Vec<_> = (0..n)
                .map(|j| {
                    let point = pow_mod(modulus.root(), 2 * bit_reverse(j, n.ilog2()) as u128 + 1, q);
                    input.iter().rev().fold(0, |sum, &x| add_mod(mul_mod(sum, point, q), x, q))
                })
                .collect();
            assert_eq!(forward(&modulus, &input), expected);
            assert_eq!(inverse(&modulus, &expected), input);
        }
    }

    #[test]
    fn product_agrees_with_schoolbook() {
        let modulus = Modulus::<u128>::find(127, 16, 0).unwrap();
        let (q, n, a, b) = (modulus.q(), modulus.n(), ramp(&modulus, 3), ramp(&modulus, 11));
        let mut expected = vec![0; n];
        for i in 0..n {
            for j in 0..n {
                let term = mul_mod(a[i], b[j], q);
                let place = &mut expected[(i + j) % n];
                *place = if i + j < n { add_mod(*place, term, q) } else { sub_mod(*place, term, q) };
            }
        }
        assert_eq!(product(&modulus, &a, &b), expected);
    }
}
