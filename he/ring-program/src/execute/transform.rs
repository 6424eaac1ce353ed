//! Negacyclic transforms, as in textbooks: scaling by powers of the root w, then a cyclic transform
//! of radix 2 with the root w^2.

use super::arithmetic::Integers;
use crate::data::Words;

/// The powers of a primitive 2n-th root of unity.
#[derive(Debug)]
pub(super) struct Powers {
    ring: Integers,
    /// w^0 to w^(2n - 1).
    powers: Vec<u128>,
    /// 1/n.
    inverse_n: u128,
}

impl Powers {
    pub(super) fn new(n: usize, root: u128, ring: Integers) -> Self {
        let powers =
            std::iter::successors(Some(1), |&power| Some(ring.mul(power, root))).take(2 * n).collect();
        // By Fermat: moduli are primes.
        let inverse_n = ring.pow(n as u128, ring.q() - 2);
        Self { ring, powers, inverse_n }
    }

    /// w^exponent.
    fn power(&self, exponent: usize) -> u128 {
        self.powers[exponent % self.powers.len()]
    }

    /// w^-exponent.
    fn inverse_power(&self, exponent: usize) -> u128 {
        self.power(self.powers.len() - exponent % self.powers.len())
    }

    /// From coefficients to values: index i gets the value at w^(2 brv(i) + 1).
    pub(super) fn forward(&self, coefficients: impl ExactSizeIterator<Item = u128>) -> Words {
        let (ring, n) = (&self.ring, coefficients.len());
        let scaled = coefficients.enumerate().map(|(j, x)| ring.mul(x, self.power(j)));
        let mut x: Vec<u128> = scaled.collect();
        // Decimation in frequency: the halves of a block become its even and its odd values.
        let mut length = n;
        while length > 1 {
            let half = length / 2;
            let twiddles: Vec<u128> = (0..half).map(|j| self.power(2 * j * (n / length))).collect();
            for block in x.chunks_exact_mut(length) {
                let (low, high) = block.split_at_mut(half);
                for ((low, high), &twiddle) in low.iter_mut().zip(high).zip(&twiddles) {
                    let difference = ring.sub(*low, *high);
                    *low = ring.add(*low, *high);
                    *high = ring.mul(difference, twiddle);
                }
            }
            length = half;
        }
        x[..].into()
    }

    /// From values in the order of [`forward`](Self::forward) to coefficients.
    pub(super) fn inverse(&self, values: impl ExactSizeIterator<Item = u128>) -> Words {
        let (ring, n) = (&self.ring, values.len());
        let mut x: Vec<u128> = values.collect();
        let mut length = 2;
        while length <= n {
            let half = length / 2;
            let twiddles: Vec<u128> = (0..half).map(|j| self.inverse_power(2 * j * (n / length))).collect();
            for block in x.chunks_exact_mut(length) {
                let (low, high) = block.split_at_mut(half);
                for ((low, high), &twiddle) in low.iter_mut().zip(high).zip(&twiddles) {
                    let product = ring.mul(*high, twiddle);
                    *high = ring.sub(*low, product);
                    *low = ring.add(*low, product);
                }
            }
            length *= 2;
        }
        let scale = |(j, &x): (usize, &u128)| ring.mul(ring.mul(x, self.inverse_power(j)), self.inverse_n);
        x.iter().enumerate().map(scale).collect()
    }
}
