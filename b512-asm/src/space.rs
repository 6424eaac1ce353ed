//! The two memories of the machine.

use crate::reg::{MAX_SDM_WORDS, MAX_VDM_WORDS};
use std::fmt;

/// A memory of the machine.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Space {
    /// The vector data memory.
    Vdm,
    /// The scalar data memory.
    Sdm,
}

impl Space {
    /// Both memories.
    pub const ALL: [Self; 2] = [Self::Vdm, Self::Sdm];

    /// The name in assembly text.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Vdm => "vdm",
            Self::Sdm => "sdm",
        }
    }

    /// Words that the ISA can address.
    pub const fn max_words(self) -> u32 {
        match self {
            Self::Vdm => MAX_VDM_WORDS,
            Self::Sdm => MAX_SDM_WORDS,
        }
    }
}

/// Upper case, as prose writes it.
impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Vdm => "VDM",
            Self::Sdm => "SDM",
        })
    }
}
