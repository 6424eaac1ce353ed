//! Errors of this crate.

use crate::degree::Degree;
use crate::host::Implementation;
use crate::modular::ModulusError;
use thiserror::Error;

/// Parameters that define no ring, basis or transform.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum Error {
    /// The degree is not a power of two in the range of [`Degree`].
    #[error("invalid degree n = {n}: not a power of two from {} to {}", Degree::MIN, Degree::MAX, n = .0)]
    Degree(u64),
    /// The modulus is even or too small.
    #[error(transparent)]
    Modulus(#[from] ModulusError),
    /// A transform needs a prime modulus.
    #[error("the modulus {0:#x} is not an odd prime")]
    NotPrime(u128),
    /// The prime modulus has no 2n-th roots of unity.
    #[error(
        "the modulus {modulus:#x} is {} mod {order}, but a transform of {} points needs a prime that is 1 mod {order}",
        modulus % order, order / 2
    )]
    NoRoots {
        /// The modulus.
        modulus: u128,
        /// 2n.
        order: u128,
    },
    /// The root is not a primitive 2n-th root of unity.
    #[error(
        "invalid root {root:#x}: not a primitive root of unity of order {order} modulo {modulus:#x}, since {}",
        root_reason(*root, *modulus, *order)
    )]
    NotARoot {
        /// The root.
        root: u128,
        /// The modulus.
        modulus: u128,
        /// 2n.
        order: u128,
    },
    /// A transform was requested in a ring that was built without a root of unity.
    #[error("the ring modulo {modulus:#x} has no root of unity, but a transform needs one")]
    NoTransform {
        /// The modulus.
        modulus: u128,
    },
    /// No prime has this size.
    #[error("no prime of {bits} bits is 1 mod {order}; try more bits (at most 128)")]
    NoPrime {
        /// The size in bits.
        bits: u32,
        /// 2n.
        order: u128,
    },
    /// Too few primes have this size.
    #[error(
        "primes of {bits} bits that are 1 mod {order}: {found}, but {count} are needed; try more bits (at most 128)"
    )]
    TooFewPrimes {
        /// The size in bits.
        bits: u32,
        /// 2n.
        order: u128,
        /// The number of such primes.
        found: usize,
        /// The requested number.
        count: usize,
    },
    /// The basis has no rings.
    #[error("a basis needs at least one ring")]
    EmptyBasis,
    /// The rings of a basis have different degrees.
    #[error("the rings of a basis have different degrees: {first} and {other}")]
    Degrees {
        /// The degree of the first ring.
        first: u64,
        /// The degree of another.
        other: u64,
    },
    /// Two moduli of a basis have a common factor.
    #[error("the moduli {first:#x} and {other:#x} of a basis have a common factor")]
    NotCoprime {
        /// The modulus that comes first.
        first: u128,
        /// The other modulus.
        other: u128,
    },
    /// The processor lacks the implementation's instructions, or the implementation does not support this
    /// transform.
    #[error(
        "the implementation `{implementation}` is not available on this processor for {n} points modulo {modulus:#x}"
    )]
    Implementation {
        /// The requested implementation.
        implementation: Implementation,
        /// The number of points.
        n: usize,
        /// The modulus.
        modulus: u128,
    },
}

fn root_reason(root: u128, modulus: u128, order: u128) -> String {
    if root >= modulus {
        "it is not below the modulus".into()
    } else {
        format!("its power {} is not -1", order / 2)
    }
}
