//! The mapping of a program to a machine: all that is chosen on the way from lines to launches.
//!
//! | part | values | choice |
//! |---|---|---|
//! | `order` | `modulus`, `program` | the order of lines |
//! | `batch` | `full`, `half`, `quarter`, `eighth` | the divisor of operands of a group on long limbs, of transforms of a launch on short ones; `eighth` has fewer operands there too |
//! | `recipes` | `fastest`, `small-tables`, and `least-energy`, `least-energy-delay` where that is the objective | the recipes of transforms and automorphisms |
//! | `elementwise` | `fastest`, `in-order`, `short-slices` | kernels with the fastest order of steps, with the program's order, on slices of at most 128 vectors in all; each with the faster of two settings of the scheduler |
//!
//! A run states its mapping, and `rpu run --mapping` takes one in place of a search.
//!
//! The search descends from the first value of each part: part after part, it schedules the program with the
//! other values, and keeps the best in time, or in what `optimise` names. It ends when a pass over all parts
//! gains less than 0.1%, or after 12 schedules, at every size of program.
//!
//! An operation has one recipe, that for the number of rings which most launches have. Slices have so many
//! vectors that their kernel has about 512 instructions, at most 16; two of each operand take at most a
//! quarter of the VDM.

mod recipes;
mod search;

pub use self::recipes::Candidates;
pub(crate) use self::search::{Search, descend};
use codegen::Merit;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What is chosen on the way from lines to launches.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mapping {
    /// The order of lines.
    pub order: Order,
    /// The size of launches.
    pub batch: Batch,
    /// The recipes of transforms and automorphisms.
    pub recipes: Recipes,
    /// The elementwise kernels.
    pub elementwise: Form,
}

impl Mapping {
    /// Where a search starts: what is best for most large programs.
    pub const START: Self = Self {
        order: Order::Modulus,
        batch: Batch::Full,
        recipes: Recipes::Fastest,
        elementwise: Form::Fastest,
    };
}

impl fmt::Display for Mapping {
    /// The values of the parts, as in documents.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { order, batch, recipes, elementwise } = self;
        write!(f, "order {}, batch {}, ", order.name(), batch.name())?;
        write!(f, "recipes {}, elementwise {}", recipes.name(), elementwise.name())
    }
}

/// The order of lines.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// By modulus between base conversions, and in a modulus with few live limbs.
    Modulus,
    /// As in the program. So the order of a dataflow, such as one in slices of digits, is kept.
    Program,
}

impl Order {
    /// The name in documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Modulus => "modulus",
            Self::Program => "program",
        }
    }
}

/// The size of launches, as a part of what the machine has room for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Batch {
    /// As large as the registers and the VDM allow.
    Full,
    /// A half of it. Smaller launches begin sooner, since they wait for fewer transfers.
    Half,
    /// A quarter of it.
    Quarter,
    /// An eighth of it.
    Eighth,
}

impl Batch {
    /// The name in documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Half => "half",
            Self::Quarter => "quarter",
            Self::Eighth => "eighth",
        }
    }

    /// All sizes, the largest first.
    pub const ALL: [Self; 4] = [Self::Full, Self::Half, Self::Quarter, Self::Eighth];

    /// The number by which limits are divided.
    pub(crate) const fn divisor(self) -> usize {
        1 << self as u32
    }
}

/// The recipes of transforms and automorphisms.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Recipes {
    /// Those with the fewest cycles.
    Fastest,
    /// Those whose table, scratch words and cycles together take the least time.
    SmallTables,
    /// Those of the least energy by themselves.
    LeastEnergy,
    /// Those of the least product of energy and time by themselves.
    LeastEnergyDelay,
}

impl Recipes {
    /// The name in documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fastest => "fastest",
            Self::SmallTables => "small-tables",
            Self::LeastEnergy => "least-energy",
            Self::LeastEnergyDelay => "least-energy-delay",
        }
    }

    /// All values that a search for the least value tries.
    pub(crate) const fn for_merit(merit: Merit) -> &'static [Self] {
        match merit {
            Merit::Cycles => &[Self::Fastest, Self::SmallTables],
            Merit::Energy => &[Self::Fastest, Self::SmallTables, Self::LeastEnergy],
            Merit::EnergyDelay => &[Self::Fastest, Self::SmallTables, Self::LeastEnergyDelay],
        }
    }
}

/// The elementwise kernels.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// Each in its fastest order of steps, on long slices.
    Fastest,
    /// Each in the order of the program.
    InOrder,
    /// Each in its fastest order, on short slices: runs wait for fewer transfers, and more of the VDM is for
    /// whole limbs.
    ShortSlices,
}

impl Form {
    /// The name in documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fastest => "fastest",
            Self::InOrder => "in-order",
            Self::ShortSlices => "short-slices",
        }
    }

    /// All forms.
    pub const ALL: [Self; 3] = [Self::Fastest, Self::InOrder, Self::ShortSlices];
}

/// The stop rules of a search.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Effort {
    /// The most schedules.
    pub schedules: usize,
    /// The part of the value that a pass over all parts must gain for another pass.
    pub gain: f64,
}

impl Default for Effort {
    /// Assumed: a first pass has at most 8 schedules, and 9 with recipes of least energy; the rest is for a
    /// second one.
    fn default() -> Self {
        Self { schedules: 12, gain: 0.001 }
    }
}
