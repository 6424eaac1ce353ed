//! Primitive 2n-th roots of unity.
//!
//! A negacyclic transform of n points exists modulo a prime q = 1 mod 2n: there are n primitive 2n-th
//! roots of unity, and any one of them, called psi, defines the transform.

use crate::modular::Modulus;
use crate::prime::is_prime;
use crate::{Degree, Error, vector};

/// Arithmetic modulo `modulus`, which must be a prime with 2n-th roots of unity.
///
/// # Errors
/// Returns an error if `modulus` is not an odd prime or not 1 mod 2n.
pub fn transform_modulus(modulus: u128, degree: Degree) -> Result<Modulus, Error> {
    let q = Modulus::new(modulus).map_err(|_| Error::NotPrime(modulus))?;
    if !is_prime(modulus) {
        return Err(Error::NotPrime(modulus));
    }
    let order = degree.order();
    if modulus % order != 1 {
        return Err(Error::NoRoots { modulus, order });
    }
    Ok(q)
}

/// Checks that `root^n` is -1 modulo `q`.
///
/// Then `root` is a primitive 2n-th root of unity if q is prime, and it defines a transform even if q
/// is composite.
///
/// # Errors
/// Returns an error if `root` is not below q, or its n-th power is not -1.
pub fn check_root(q: &Modulus, degree: Degree, root: u128) -> Result<(), Error> {
    // The order divides 2n, a power of two, and does not divide n.
    if root < q.value() && q.pow(root, degree.get().into()) == q.value() - 1 {
        Ok(())
    } else {
        Err(Error::NotARoot { root, modulus: q.value(), order: degree.order() })
    }
}

/// The smallest primitive 2n-th root of unity modulo the prime `modulus`.
///
/// # Errors
/// Returns an error if `modulus` is not an odd prime or not 1 mod 2n.
pub fn smallest_root(modulus: u128, degree: Degree) -> Result<u128, Error> {
    let q = transform_modulus(modulus, degree)?;
    // Raised to (q - 1)/2n, every non-residue becomes a primitive root: half of all numbers do.
    let root = (2..modulus)
        .map(|base| q.pow(base, (modulus - 1) / degree.order()))
        .find(|&candidate| q.pow(candidate, degree.get().into()) == modulus - 1)
        .ok_or(Error::NotPrime(modulus))?;
    // The other primitive roots are its odd powers. The n-th power is -1, so that half of them are the
    // negatives of the rest.
    let even = powers(&q, q.mul(root, root), degree.len() / 2);
    let mut odd = vec![0; even.len()];
    vector::multiply_scalar(&q, &mut odd, &even, root);
    Ok(odd.into_iter().map(|power| power.min(modulus - power)).fold(modulus, u128::min))
}

/// The powers of `base`, a residue, with the exponents 0 to `count - 1`.
pub fn powers(q: &Modulus, base: u128, count: usize) -> Vec<u128> {
    let mut powers = vec![1; count];
    let (mut known, mut next) = (1, base);
    // Twice as many in each step: products of one step do not wait for each other.
    while known < count {
        let (first, rest) = powers.split_at_mut(known);
        let new = first.len().min(rest.len());
        vector::multiply_scalar(q, &mut rest[..new], &first[..new], next);
        (known, next) = (known + new, q.mul(next, next));
    }
    powers
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;

    fn degree(n: u64) -> Degree {
        Degree::new(n).unwrap()
    }

    #[test]
    fn the_smallest_root_is_the_smallest_of_all() {
        for (q, n) in [(17u128, 4u64), (97, 16), (257, 128), (12289, 1024)] {
            let all = (1..q).find(|&r| {
                BigUint::from(r).modpow(&BigUint::from(n), &BigUint::from(q)) == BigUint::from(q - 1)
            });
            assert_eq!(smallest_root(q, degree(n)).ok(), all);
        }
    }

    #[test]
    fn invalid_moduli_and_roots_are_rejected_with_the_reason() {
        let root = |q, n| smallest_root(q, degree(n)).unwrap_err().to_string();
        assert_eq!(root(15, 2), "the modulus 0xf is not an odd prime");
        assert_eq!(root(2, 2), "the modulus 0x2 is not an odd prime");
        assert_eq!(
            root(97, 32),
            "the modulus 0x61 is 33 mod 64, but a transform of 32 points needs a prime that is 1 mod 64"
        );
        let check = |root| check_root(&Modulus::new(17).unwrap(), degree(4), root);
        assert_eq!(check(2), Ok(()));
        assert_eq!(
            check(4).unwrap_err().to_string(),
            "invalid root 0x4: not a primitive root of unity of order 8 modulo 0x11, since its power 4 is not -1"
        );
        assert_eq!(
            check(19).unwrap_err().to_string(),
            "invalid root 0x13: not a primitive root of unity of order 8 modulo 0x11, since it is not below the \
             modulus"
        );
    }
}
