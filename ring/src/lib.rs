//! Arithmetic in polynomial rings Z_q\[X\]/(X^n + 1).
//!
//! [`modular`] computes modulo any odd number of up to 128 bits, [`vector`] on whole vectors of words.
//! [`number`] finds primes and roots of unity. [`host`] transforms polynomials on the host's processor. All other crates build on this one.

pub mod host;
pub mod modular;
pub mod number;
pub mod vector;
