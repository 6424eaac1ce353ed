//! The instructions of this computer that vector code uses.
//!
//! By default, code uses the fastest that the processor has. [`use_scalar`] restricts a process to
//! portable code, so that both can be compared on one computer. Results do not depend on it.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the process is restricted to portable scalar code.
static SCALAR: AtomicBool = AtomicBool::new(false);

/// The instructions of vector code, from the fastest to the slowest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Instructions {
    /// AVX-512 with the 52-bit multiplier.
    Avx512Ifma,
    /// AVX-512F.
    Avx512,
    /// Portable scalar code.
    Scalar,
}

impl Instructions {
    /// The instructions that vector code of this process uses.
    pub fn of_this_process() -> Self {
        if SCALAR.load(Ordering::Relaxed) { Self::Scalar } else { Self::of_this_processor() }
    }

    #[cfg(target_arch = "x86_64")]
    fn of_this_processor() -> Self {
        let has_avx512 = is_x86_feature_detected!("avx512f");
        match has_avx512 && is_x86_feature_detected!("avx512ifma") {
            true => Self::Avx512Ifma,
            false if has_avx512 => Self::Avx512,
            false => Self::Scalar,
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn of_this_processor() -> Self {
        Self::Scalar
    }
}

impl fmt::Display for Instructions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Avx512Ifma => "AVX-512 IFMA",
            Self::Avx512 => "AVX-512F",
            Self::Scalar => "scalar",
        })
    }
}

/// Restricts this process to portable scalar code.
///
/// Call it before any arithmetic: values that exist already keep the form of the instructions for
/// which they were made.
pub fn use_scalar() {
    SCALAR.store(true, Ordering::Relaxed);
}
