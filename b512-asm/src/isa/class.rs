//! Classes of instructions, and extensions of the instruction set.

use super::pipe::Pipe;
use crate::parameters::Isa;
use crate::reg::LaneMap;
use crate::space::Space;
use std::fmt;

/// The operation of an instruction, without its operands.
///
/// The pipeline, the latency, the energy and the occupancy of an instruction follow from its class.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Class {
    /// The end of the program.
    Halt,
    /// A load of a scalar, address or modulus register from the SDM.
    ScalarLoad,
    /// A load of a vector register from the VDM.
    Load,
    /// A store of a vector register to the VDM.
    Store,
    /// A modular addition in each lane.
    Add,
    /// A modular subtraction in each lane.
    Subtract,
    /// A modular multiplication in each lane.
    Multiply,
    /// A butterfly in each lane: one modular multiplication, one addition and one subtraction.
    Butterfly(Butterfly),
    /// A permutation of the elements of one or two vector registers.
    Permute(Permutation),
}

/// The order of a butterfly's operations.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Butterfly {
    /// Multiplication first: `u + v w`, `u - v w`.
    CooleyTukey,
    /// Multiplication last: `u + v`, `(u - v) w`.
    GentlemanSande,
}

/// The permutations of the shuffle instructions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Permutation {
    /// The low halves, interleaved.
    UnpackLow,
    /// The high halves, interleaved.
    UnpackHigh,
    /// The even elements.
    PackEven,
    /// The odd elements.
    PackOdd,
    /// An affine map of the lanes of one register.
    Affine,
}

impl Class {
    /// The pipeline that executes the class.
    pub const fn pipe(self) -> Pipe {
        match self {
            Self::Halt | Self::ScalarLoad => Pipe::Scalar,
            Self::Load | Self::Store => Pipe::LoadStore,
            Self::Add | Self::Subtract | Self::Multiply | Self::Butterfly(_) => Pipe::Compute,
            Self::Permute(_) => Pipe::Shuffle,
        }
    }

    /// The memory that the class accesses, if any.
    pub const fn space(self) -> Option<Space> {
        match self {
            Self::Load | Self::Store => Some(Space::Vdm),
            Self::ScalarLoad => Some(Space::Sdm),
            Self::Halt
            | Self::Add
            | Self::Subtract
            | Self::Multiply
            | Self::Butterfly(_)
            | Self::Permute(_) => None,
        }
    }

    /// Whether the result is independent of the order of the two vector sources.
    ///
    /// Products do not commute: a multiplicand may be any word, a multiplier must be reduced.
    pub const fn commutes(self) -> bool {
        match self {
            Self::Add => true,
            Self::Halt
            | Self::ScalarLoad
            | Self::Load
            | Self::Store
            | Self::Subtract
            | Self::Multiply
            | Self::Butterfly(_)
            | Self::Permute(_) => false,
        }
    }
}

/// An extension of the instruction set. A machine implements it only if its description says so.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Feature {
    /// The Gentleman-Sande butterfly, `gsbfly`.
    GsButterfly,
    /// The lane permuter, `vaff`.
    LanePermuter,
}

impl Feature {
    /// Every extension.
    pub const ALL: [Self; 2] = [Self::GsButterfly, Self::LanePermuter];

    /// The name in machine descriptions: a key of the section `isa`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::GsButterfly => "gs_butterfly",
            Self::LanePermuter => "lane_permuter",
        }
    }

    /// Whether a machine may have it with vectors of this length.
    pub const fn exists(self, isa: Isa) -> bool {
        match self {
            Self::GsButterfly => true,
            Self::LanePermuter => isa.vector_length() <= LaneMap::MAX as u32 + 1,
        }
    }

    const fn bit(self) -> u32 {
        1 << self as u32
    }
}

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The extensions that a machine implements.
///
/// ```
/// use b512_asm::{Feature, FeatureSet, Op};
///
/// let features = FeatureSet::from_iter([Feature::GsButterfly]);
/// assert!(features.allows(Op::Gsbfly));
/// assert!(!FeatureSet::NONE.allows(Op::Gsbfly) && FeatureSet::NONE.allows(Op::Bfly));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct FeatureSet(u32);

impl FeatureSet {
    /// No extension.
    pub const NONE: Self = Self(0);

    /// Every extension.
    pub fn all() -> Self {
        Feature::ALL.into_iter().collect()
    }

    /// Whether the set has `feature`.
    pub const fn contains(self, feature: Feature) -> bool {
        self.0 & feature.bit() != 0
    }

    /// Whether the set has all features of another.
    pub const fn includes(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl FromIterator<Feature> for FeatureSet {
    fn from_iter<I: IntoIterator<Item = Feature>>(features: I) -> Self {
        Self(features.into_iter().fold(0, |bits, feature| bits | feature.bit()))
    }
}
