//! The settings of the scheduler.

use serde::{Deserialize, Serialize};

/// How the scheduler works.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tuning {
    /// Whether instructions may leave the textbook order.
    pub reorder: bool,
    /// How the choice of registers looks at the SRAMs that hold them.
    pub srams: SramCare,
    /// The number of instructions whose constants are loaded ahead of them.
    pub constants_ahead: u32,
    /// The number of candidates that are compared for a pipe.
    pub candidates: u32,
    /// The cycles that a pipe may be left waiting for a better candidate.
    pub patience: u32,
    /// How many cycles before a pipe runs dry it is given its next instruction.
    pub early: u32,
    /// Registers that loads of data leave to constants and results.
    pub reserve: u32,
    /// Registers that hold one constant, at most.
    pub copies: u32,
    /// The order of the constants in their table.
    #[serde(default, skip_serializing_if = "TableOrder::is_default")]
    pub table: TableOrder,
    /// Cycles that are added to the machine's latencies while scheduling, so that the program
    /// also runs well on a slower one.
    #[serde(default)]
    pub margin: Margin,
}

/// The order of the constants in their table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TableOrder {
    /// The largest first: so each is aligned to its size, and its load finds as few conflicts of
    /// XOR-folded banks as any.
    #[default]
    BySize,
    /// As the program uses them.
    ByUse,
}

impl TableOrder {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Cycles added to latencies and intervals.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Margin {
    /// To loads and stores.
    pub load_store: u32,
    /// To shuffles.
    pub shuffle: u32,
    /// To multiplications and butterflies.
    pub compute: u32,
    /// To the initiation interval of the multipliers.
    pub initiation_interval: u32,
}

/// How the choice of registers looks at the SRAMs that hold them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SramCare {
    /// Not at all.
    None,
    /// The operands of one instruction are put into different SRAMs.
    Operands,
    /// That, and results go to SRAMs that are free when they are written.
    Schedule,
}

impl Tuning {
    /// The paper's scheduler, as far as its numbers tell: it reorders greedily, places the
    /// operands of an instruction so that they can be accessed together, feeds the queues well
    /// ahead, and leaves room for longer latencies and a slower multiplier, to which the paper
    /// finds its program insensitive.
    pub fn spiral() -> Self {
        Self {
            srams: SramCare::Operands,
            patience: 3,
            early: 6,
            copies: 1,
            margin: Margin { load_store: 6, shuffle: 3, compute: 0, initiation_interval: 1 },
            ..Self::default()
        }
    }

    /// The scheduler of the paper's program on the machine `rpu-128x128-paper`. It looks at few
    /// candidates and loads constants late, from a table in the order of use; and it leaves room
    /// for longer latencies, to which the paper finds its program insensitive. One of the settings in
    /// `configs/paper-setting.toml`, chosen together with that machine by some of the paper's numbers.
    pub fn paper() -> Self {
        Self {
            srams: SramCare::Operands,
            constants_ahead: 4,
            candidates: 6,
            early: 12,
            reserve: 16,
            copies: 1,
            margin: Margin { load_store: 6, shuffle: 6, compute: 1, initiation_interval: 0 },
            table: TableOrder::ByUse,
            ..Self::default()
        }
    }

    /// No scheduler: textbook order, registers in rotation.
    pub fn textbook() -> Self {
        Self { reorder: false, srams: SramCare::None, ..Self::default() }
    }
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            reorder: true,
            srams: SramCare::Schedule,
            constants_ahead: 16,
            candidates: 48,
            patience: 0,
            early: 0,
            reserve: 10,
            copies: 4,
            table: TableOrder::default(),
            margin: Margin::default(),
        }
    }
}
