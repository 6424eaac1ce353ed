//! Scheduler settings.

use serde::{Deserialize, Serialize};
use sim::Machine;
use sim::machine::{Assignment, Busyboard, Placement, Values, VbarPaths};

/// The settings of the scheduler.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Tuning {
    /// Reorder instructions; if false, the scheduler keeps program order.
    pub reorder: bool,
    /// The SRAM conflicts that the choice of registers avoids.
    pub srams: SramCare,
    /// The number of upcoming instructions whose constants are prefetched.
    pub constants_ahead: u32,
    /// The maximum number of candidates to compare for a pipe.
    pub candidates: u32,
    /// The number of cycles that a pipe may idle before its best candidate issues.
    pub patience: u32,
    /// The lead, in cycles, of a dispatch over the cycle in which its pipe becomes idle.
    pub early: u32,
    /// The number of registers that data loads leave to constants and results.
    pub reserve: u32,
    /// The maximum number of registers with the same constant.
    pub copies: u32,
    /// The order of the constants in the table.
    #[serde(skip_serializing_if = "TableOrder::is_default")]
    pub table: TableOrder,
    /// Cycles added to the machine's latencies during scheduling, so that the program also runs well
    /// on a slower machine.
    pub margin: Margin,
    /// Whether to schedule for a plain front end and VBAR, whatever the machine's: one instruction a
    /// cycle, the strict busyboard, queues of at most 8 instructions, no delay between dispatch and issue,
    /// one path for loads and stores.
    #[serde(skip_serializing_if = "is_off")]
    pub plain: bool,
    /// Values of machine keys to assume in place of the machine's own: the program is that for a machine with
    /// these values. The best program for a slower machine can be the best for this one, too. Values that
    /// break a rule over several keys are ignored together.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assume: Vec<Assignment>,
    /// Settings for parts of the code, which replace those above: each for an equal share of the
    /// instructions, in the order of their dispatch.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<PartSettings>,
}

/// The settings that may change during a schedule.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(from = "[u32; 6]", into = "[u32; 6]")]
pub struct PartSettings {
    /// See [`Tuning::constants_ahead`].
    pub constants_ahead: u32,
    /// See [`Tuning::candidates`].
    pub candidates: u32,
    /// See [`Tuning::patience`].
    pub patience: u32,
    /// See [`Tuning::early`].
    pub early: u32,
    /// See [`Tuning::reserve`].
    pub reserve: u32,
    /// See [`Tuning::copies`].
    pub copies: u32,
}

impl PartSettings {
    /// The settings, in the order of the fields.
    pub(crate) const fn new(
        [constants_ahead, candidates, patience, early, reserve, copies]: [u32; 6],
    ) -> Self {
        Self { constants_ahead, candidates, patience, early, reserve, copies }
    }

    /// Settings of the whole code, overridden by these.
    pub(crate) fn of(self, tuning: Tuning) -> Tuning {
        let Self { constants_ahead, candidates, patience, early, reserve, copies } = self;
        Tuning { constants_ahead, candidates, patience, early, reserve, copies, ..tuning }
    }
}

impl From<[u32; 6]> for PartSettings {
    fn from(settings: [u32; 6]) -> Self {
        Self::new(settings)
    }
}

impl From<PartSettings> for [u32; 6] {
    fn from(part: PartSettings) -> Self {
        let PartSettings { constants_ahead, candidates, patience, early, reserve, copies } = part;
        [constants_ahead, candidates, patience, early, reserve, copies]
    }
}

/// The depth of plain queues.
const PLAIN_QUEUE_DEPTH: u32 = 8;

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_off(switch: &bool) -> bool {
    !*switch
}

/// The order of the constants in the table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TableOrder {
    /// Largest first. Each constant is then aligned to its size, which minimizes the conflicts of its
    /// load in XOR-folded banks.
    #[default]
    BySize,
    /// In the order of first use.
    ByUse,
}

impl TableOrder {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Scheduling margins, in cycles.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Margin {
    /// Added to the latency of loads and stores.
    pub load_store: u32,
    /// Added to the latency of shuffles.
    pub shuffle: u32,
    /// Added to the latency of multiplications and butterflies.
    pub compute: u32,
    /// Added to the initiation interval of the multipliers.
    pub initiation_interval: u32,
}

impl std::ops::Add for Margin {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            load_store: self.load_store + other.load_store,
            shuffle: self.shuffle + other.shuffle,
            compute: self.compute + other.compute,
            initiation_interval: self.initiation_interval + other.initiation_interval,
        }
    }
}

/// The SRAM conflicts that the choice of registers avoids.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SramCare {
    /// None: registers are chosen in rotation.
    None,
    /// Conflicts between the operands of one instruction.
    Operands,
    /// Conflicts between operands, and conflicts of result writes with other instructions.
    Schedule,
    /// These, and conflicts with the expected accesses of instructions in the queues. On a machine with a
    /// delay between dispatch and issue, every choice avoids these conflicts.
    Queues,
}

/// The machine under the placement of the VRF that the scheduler and the library know. Placements differ in
/// the names of registers only: a recipe gives programs of the same cycles under each.
pub(crate) fn under_one_placement(machine: &Machine) -> Machine {
    let mut machine = machine.clone();
    machine.edit(|values| values.vrf.placement = Placement::Mod).expect("every placement is allowed");
    machine
}

impl Tuning {
    /// The settings of the whole code; parts may override them.
    pub(crate) const fn whole(&self) -> PartSettings {
        let &Self { constants_ahead, candidates, patience, early, reserve, copies, .. } = self;
        PartSettings { constants_ahead, candidates, patience, early, reserve, copies }
    }

    /// The machine with the values to [assume](Self::assume).
    pub(crate) fn assumed(&self, machine: &Machine) -> Machine {
        machine.with(&self.assume).unwrap_or_else(|| machine.clone())
    }

    /// The machine that the scheduler assumes, [under one placement](under_one_placement). A machine whose
    /// values have no room for the margins has none.
    pub(crate) fn scheduled_for(&self, machine: &Machine) -> Machine {
        let mut machine = under_one_placement(&self.assumed(machine)).resolved();
        let margins = |values: &mut Values| {
            values.vbar.latency_cycles += self.margin.load_store;
            values.sbar.latency_cycles += self.margin.shuffle;
            values.hple.multiplier_latency_cycles += self.margin.compute;
            values.hple.initiation_interval += self.margin.initiation_interval;
        };
        machine.edit(margins).ok();
        if self.plain {
            let plain = |values: &mut Values| {
                let depth = if values.ideal.queues { PLAIN_QUEUE_DEPTH } else { values.frontend.queue_depth };
                values.frontend.queue_depth = depth.min(PLAIN_QUEUE_DEPTH);
                values.frontend.width = 1;
                values.frontend.busyboard = Busyboard::Strict;
                values.frontend.dispatch_to_issue_cycles = 0;
                values.vbar.paths = VbarPaths::Shared;
                (values.ideal.queues, values.ideal.front_end) = (false, false);
            };
            machine.edit(plain).expect("the plain values are allowed");
        }
        machine
    }

    /// The paper's scheduler, as inferred from its results. It reorders greedily, places the operands of an
    /// instruction in different SRAMs, fills the queues early, and leaves margins for longer latencies and a
    /// slower multiplier, because the paper finds its program insensitive to them.
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

    /// The scheduler of the paper's program on the machine `rpu-128x128-paper`. It compares few
    /// candidates, loads constants late from a table in the order of use, and leaves margins for
    /// longer latencies, because the paper finds its program insensitive to them. It is one of the
    /// settings in `configs/paper-setting.toml`; some of the paper's results selected it together
    /// with that machine.
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

    /// No scheduling: program order, with registers in rotation.
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
            plain: false,
            assume: Vec::new(),
            parts: Vec::new(),
        }
    }
}
