//! The security of parameter sets, by the tables of the homomorphic encryption standard.

use ring::Degree;
use std::fmt;

/// The class of a parameter set against classical attacks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Security {
    /// At least this many bits, the largest of 128, 192 and 256.
    Bits(u32),
    /// log2 QP is within the bound for 128 bits, but no table has the case: the secret is sparse, or the
    /// degree is beyond the tables, and the bound is assumed.
    Unclassified,
    /// The set says that it is not secure, a smaller degree replaces its own, or the secret has fewer nonzero
    /// coefficients than `LEAST_WEIGHT`.
    None,
}

impl fmt::Display for Security {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bits(bits) => bits.fmt(f),
            Self::Unclassified => f.write_str("unclassified"),
            Self::None => f.write_str("none"),
        }
    }
}

/// The least weight of a sparse secret that is not called insecure. Assumed, without a published bound:
/// secrets of a low weight fall to searches of a part of their coefficients, and libraries use 32 for
/// ephemeral secrets only, and 192 for others.
pub(crate) const LEAST_WEIGHT: u64 = 64;

/// The degree, and the largest log2 QP for 128, 192 and 256 bits of security with a uniformly ternary secret.
///
/// To 32,768: Albrecht et al., "Homomorphic Encryption Standard", 2018, table 1, classical attacks. 65,536:
/// the table of OpenFHE (`stdlatticeparms.cpp`), which continues the standard's. 131,072: assumed, twice the
/// row before.
const BOUNDS: [(u64, [u32; 3]); 8] = [
    (1024, [27, 19, 14]),
    (2048, [54, 37, 29]),
    (4096, [109, 75, 58]),
    (8192, [218, 152, 118]),
    (16_384, [438, 305, 237]),
    (32_768, [881, 611, 476]),
    (65_536, [1772, 1228, 956]),
    (131_072, [3544, 2456, 1912]),
];

/// Whether a table gives the bounds of a degree; the bounds beyond are assumed.
pub(crate) fn is_tabulated(degree: Degree) -> bool {
    degree.get() <= 65_536
}

/// The classes of [`BOUNDS`].
const CLASSES: [u32; 3] = [128, 192, 256];

/// The largest log2 QP for 128 bits of security; `None` for a degree without one.
pub(crate) fn bound(degree: Degree) -> Option<u32> {
    bounds(degree).map(|bounds| bounds[0])
}

fn bounds(degree: Degree) -> Option<[u32; 3]> {
    BOUNDS.iter().find(|(n, _)| *n == degree.get()).map(|(_, bounds)| *bounds)
}

/// The largest class of a uniformly ternary secret; `None` below 128 bits.
pub(crate) fn class(degree: Degree, log2_qp: f64) -> Option<Security> {
    let classes = bounds(degree)?.into_iter().zip(CLASSES);
    classes.rev().find(|(bound, _)| log2_qp <= f64::from(*bound)).map(|(_, bits)| Security::Bits(bits))
}
