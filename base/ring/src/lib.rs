//! Arithmetic in polynomial rings Z_q\[X\]/(X^n + 1): the ground types of the workspace.
//!
//! * [`Degree`], [`Modulus`], [`Ring`] and [`Basis`] (several rings of one degree) are validated on
//!   construction, so that functions need not check them again.
//! * [`prime`], [`root`] and [`bits`] find primes, find roots of unity, and reverse bits.
//! * [`modular`] computes modulo any odd number of up to 128 bits, and [`vector`] does so on vectors
//!   of words, with AVX-512 if the processor has it.
//! * [`cpu`] names the processor's instructions that this code uses, or restricts it to scalar code.
//! * [`host`] transforms polynomials on the processor of this computer.
//!
//! ```
//! use ring::{Degree, Ring, host::Ntt, prime::largest_prime};
//!
//! // The product of X + 2 and X^1023 modulo X^1024 + 1.
//! let degree = Degree::new(1024)?;
//! let ring = Ring::with_smallest_root(degree, largest_prime(60, degree)?)?;
//! let (mut a, mut b) = (vec![0; 1024], vec![0; 1024]);
//! (a[0], a[1], b[1023]) = (2, 1, 1);
//!
//! let ntt = Ntt::for_ring(&ring)?;
//! ntt.forward(&mut a);
//! ntt.forward(&mut b);
//! let mut product: Vec<u128> = a.iter().zip(&b).map(|(&a, &b)| ring.modulus().mul(a, b)).collect();
//! ntt.inverse(&mut product);
//! assert_eq!((product[0], product[1023]), (ring.q() - 1, 2), "X^1024 is -1");
//! # Ok::<(), ring::Error>(())
//! ```

pub mod bits;
pub mod cpu;
pub mod host;
pub mod modular;
mod narrow;
pub mod prime;
pub mod root;
pub mod vector;

#[cfg(target_arch = "x86_64")]
mod avx512;
mod basis;
mod degree;
mod error;
mod ring;

pub use basis::Basis;
pub use degree::Degree;
pub use error::Error;
pub use modular::{Modulus, ModulusError};
pub use ring::Ring;
