//! The strategies: the origins of transforms, and their arithmetic.

use std::fmt;

/// Length in bits of the longest moduli for which doubles are exact.
pub(crate) const DOUBLE_BITS: u32 = 50;

/// Origin of a transform and its arithmetic.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Strategy {
    /// 128-bit words and any odd modulus: Montgomery multiplication, fully reduced. Comparable with
    /// the RPU word for word.
    Wide,
    /// Cheddar: 32-bit signed Montgomery, q < 2^30, two kernels of 128 x 512 points at N = 2^16.
    Cheddar,
    /// Shivdikar et al.: Barrett reduction in 32- or 64-bit words, one block up to N = 2^11 and
    /// 2^11-point blocks above.
    Shivdikar(Barrett),
    /// Caramel: 64-bit words in memory, double-precision arithmetic, q < 2^50; ten stages, then six
    /// at N = 2^16.
    Caramel,
    /// HE-Booster: one launch, one butterfly per thread and stage, in 32- or 64-bit words with lazy
    /// Shoup multiplication. The variants differ in synchronisation.
    HeBooster(Sync),
    /// The fastest known here: lazy Shoup multiplication, q < 2^30, 2^62 or 2^126.
    Best,
}

/// The reductions compared by Shivdikar et al.: the built-in remainder, and Barrett variants named
/// by algorithm number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Barrett {
    /// The built-in remainder, q of up to `bits - 2` bits.
    Remainder = 1,
    /// Algorithm 2: two correctional subtractions, q of up to `bits - 2` bits.
    Classical = 2,
    /// Algorithm 3: one correctional subtraction, q of up to `bits - 4` bits.
    DhemQuisquater = 3,
    /// Algorithm 4: one correctional subtraction, q of up to `bits - 2` bits.
    Proposed = 4,
}

/// Synchronisation between the stages of HE-Booster.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Sync {
    /// A thread waits for its two operands, which carry trigger bits.
    Local,
    /// All threads meet at a barrier across the grid.
    Barrier,
    /// Each stage is a launch of its own.
    Launches,
}

impl Strategy {
    /// All strategies and their variants.
    pub const ALL: [Self; 11] = [
        Self::Wide,
        Self::Cheddar,
        Self::Shivdikar(Barrett::Remainder),
        Self::Shivdikar(Barrett::Classical),
        Self::Shivdikar(Barrett::DhemQuisquater),
        Self::Shivdikar(Barrett::Proposed),
        Self::Caramel,
        Self::HeBooster(Sync::Local),
        Self::HeBooster(Sync::Barrier),
        Self::HeBooster(Sync::Launches),
        Self::Best,
    ];

    /// Supported word sizes, in bits.
    pub fn word_bits(self) -> &'static [u32] {
        match self {
            Self::Wide => &[128],
            Self::Cheddar => &[32],
            Self::Caramel => &[64],
            Self::Shivdikar(_) | Self::HeBooster(_) => &[32, 64],
            Self::Best => &[32, 64, 128],
        }
    }

    /// Returns true if a transform is one launch of resident threads that synchronise between stages.
    pub fn resident(self) -> bool {
        matches!(self, Self::HeBooster(Sync::Local | Sync::Barrier))
    }

    /// Maximum length of a modulus, in bits, for a word size of [`Self::word_bits`].
    pub fn modulus_bits(self, word_bits: u32) -> u32 {
        match self {
            Self::Wide => 128,
            Self::Cheddar => 30,
            Self::Caramel => DOUBLE_BITS,
            Self::Shivdikar(Barrett::DhemQuisquater) => word_bits - 4,
            Self::Shivdikar(_) | Self::HeBooster(_) | Self::Best => word_bits - 2,
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wide => f.write_str("wide"),
            Self::Cheddar => f.write_str("cheddar"),
            Self::Shivdikar(Barrett::Remainder) => f.write_str("shivdikar-remainder"),
            Self::Shivdikar(variant) => write!(f, "shivdikar-{}", *variant as u32),
            Self::Caramel => f.write_str("caramel"),
            Self::HeBooster(Sync::Local) => f.write_str("he-booster-local"),
            Self::HeBooster(Sync::Barrier) => f.write_str("he-booster-barrier"),
            Self::HeBooster(Sync::Launches) => f.write_str("he-booster-launches"),
            Self::Best => f.write_str("best"),
        }
    }
}
