//! Primes, roots of unity and bit reversal by plain numbers: the functions of [`prime`],
//! [`root`](mod@crate::root) and [`bits`](crate::bits) with the degree as a number.

use crate::modular::Modulus;
use crate::{Degree, prime, root};

pub use crate::Error as NumberError;
pub use crate::bits::bit_reverse;
pub use crate::prime::is_prime;

/// The largest prime of exactly `bits` bits that is 1 mod 2n.
///
/// # Errors
/// Returns an error if `n` is not a [`Degree`], or there is no such prime.
pub fn largest_prime(bits: u32, n: u64) -> Result<u128, NumberError> {
    prime::largest_prime(bits, Degree::new(n)?)
}

/// The `count` largest primes of exactly `bits` bits that are 1 mod 2n, largest first.
///
/// # Errors
/// Returns an error if `n` is not a [`Degree`], or there are fewer such primes.
pub fn largest_primes(bits: u32, n: u64, count: usize) -> Result<Vec<u128>, NumberError> {
    prime::largest_primes(bits, Degree::new(n)?, count)
}

/// Arithmetic modulo `modulus`, which must be a prime with 2n-th roots of unity.
///
/// # Errors
/// Returns an error if `n` is not a [`Degree`], or `modulus` is not an odd prime or not 1 mod 2n.
pub fn transform_modulus(modulus: u128, n: u64) -> Result<Modulus, NumberError> {
    root::transform_modulus(modulus, Degree::new(n)?)
}

/// Checks that `root` is a primitive 2n-th root of unity modulo the prime `modulus`.
///
/// # Errors
/// Returns an error if it is not, or there is no transform of `n` points modulo `modulus`.
pub fn check_root(modulus: u128, n: u64, root: u128) -> Result<(), NumberError> {
    let degree = Degree::new(n)?;
    root::check_root(&root::transform_modulus(modulus, degree)?, degree, root)
}

/// The smallest primitive 2n-th root of unity modulo the prime `modulus`.
///
/// # Errors
/// Returns an error if `n` is not a [`Degree`], or `modulus` is not an odd prime or not 1 mod 2n.
pub fn smallest_root(modulus: u128, n: u64) -> Result<u128, NumberError> {
    root::smallest_root(modulus, Degree::new(n)?)
}
