//! Slots of BGV: integers modulo the plaintext modulus t, a prime that is 1 mod 2n.
//!
//! Slot j is the polynomial's value at w^(5^j) modulo t, w the smallest primitive 2n-th root of unity, for
//! j below n/2. The other n/2 slots are the values at the inverse roots, in the same order.

use num_bigint::BigInt;
use ring::host::Ntt;
use ring::{Degree, Error, Ring, bits};

/// An encoder of n slots.
#[derive(Debug)]
pub struct Slots {
    ring: Ring,
    ntt: Ntt,
    /// The index of each slot among the values of the transform.
    indices: Vec<usize>,
}

impl Slots {
    /// The encoder modulo the prime `t`.
    ///
    /// # Errors
    /// Returns an error if `t` is not a prime that is 1 mod 2n.
    pub fn new(degree: Degree, t: u128) -> Result<Self, Error> {
        let ring = Ring::with_smallest_root(degree, t)?;
        let order = 2 * degree.len();
        let powers =
            || std::iter::successors(Some(1), |power| Some(power * 5 % order)).take(degree.len() / 2);
        // Place brv(i) has the value at w^(2i + 1).
        let index = |exponent: usize| bits::bit_reverse(exponent / 2, degree.log2());
        let indices = powers().chain(powers().map(|power| order - power)).map(index).collect();
        Ok(Self { ring, ntt: Ntt::for_ring(&ring)?, indices })
    }

    /// The coefficients of the polynomial with these n slots, from 0 to t - 1.
    ///
    /// # Panics
    /// Panics if the number of slots is not n.
    pub fn encode(&self, slots: &[u128]) -> Vec<i128> {
        assert_eq!(slots.len(), self.indices.len(), "slots of a polynomial");
        let mut values = vec![0; slots.len()];
        for (&index, &slot) in self.indices.iter().zip(slots) {
            values[index] = slot % self.ring.q();
        }
        self.ntt.inverse(&mut values);
        values.into_iter().map(|word| word as i128).collect()
    }

    /// The slots of a polynomial, times `factor`: a switch to fewer moduli divides the plaintext by the
    /// dropped moduli, modulo t.
    pub fn decode(&self, coefficients: &[BigInt], factor: u128) -> Vec<u128> {
        let t = BigInt::from(self.ring.q());
        let residue = |x: &BigInt| u128::try_from(((x % &t) + &t) % &t).expect("a residue");
        let mut values: Vec<u128> = coefficients.iter().map(residue).collect();
        self.ntt.forward(&mut values);
        let scaled = |&index: &usize| self.ring.modulus().mul(factor, values[index]);
        self.indices.iter().map(scaled).collect()
    }
}
