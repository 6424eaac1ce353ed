//! The machine: every parameter of the simulator, as the TOML files under `configs/machines`
//! hold them.
//!
//! The comments in `configs/machines/rpu-128x128.toml` say where each value comes from. A file
//! needs to name only what differs from the file that it `inherits` from.

mod load;
mod mapping;
mod schema;

pub use load::{MachineBase, MachineFile, Override};
pub use mapping::SRAMS;

use crate::tech::Technology;
use b512_asm::{Feature, FeatureSet, Op, Program, Space};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A resolved machine: no key is missing and every value has been validated.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// The machine's name in results.
    pub name: String,
    /// Clock, area and energy constants. A machine file names a technology file here.
    pub technology: Technology,
    /// Extensions of the instruction set.
    pub isa: Isa,
    /// Fetch, decode, busyboard and queues.
    pub frontend: Frontend,
    /// The scalar unit.
    pub scalar: Scalar,
    /// The compute lanes.
    pub hple: Hple,
    /// The vector register file.
    pub vrf: Vrf,
    /// The shuffle crossbar.
    pub sbar: Sbar,
    /// The crossbar between VDM and VRF.
    pub vbar: Vbar,
    /// The vector data memory.
    pub vdm: Vdm,
    /// The scalar data memory.
    pub sdm: Sdm,
    /// The off-chip memory.
    pub hbm: Hbm,
    /// Limits that are switched off to prove a bottleneck.
    pub ideal: Ideal,
}

/// Extensions of the instruction set that the machine implements.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Isa {
    /// The Gentleman-Sande butterfly, `gsbfly`.
    pub gs_butterfly: bool,
}

/// The in-order front end.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Frontend {
    /// Instructions dispatched per cycle, 1 to 64.
    pub width: u32,
    /// When a register blocks the front end.
    pub busyboard: Busyboard,
    /// When a source register stops being busy.
    pub source_release: SourceRelease,
    /// Instructions that each queue holds between dispatch and issue, at least 1.
    pub queue_depth: u32,
    /// Cycles from the start command to the first dispatch.
    pub fetch_to_dispatch_cycles: u32,
    /// Cycles from dispatch to the earliest issue.
    pub dispatch_to_issue_cycles: u32,
    /// Size of the instruction memory.
    pub instruction_memory_kib: u32,
}

/// Which in-flight uses of a register make a later instruction wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Busyboard {
    /// Any use blocks any later use.
    Strict,
    /// A read does not block a later read.
    SharedReads,
}

/// When a source register stops being busy.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SourceRelease {
    /// When the instruction completes.
    Complete,
    /// When the pipeline has read the last element.
    Read,
}

/// The scalar unit.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scalar {
    /// Cycles for which a scalar, address or modulus load holds the front end, at least 1.
    pub load_latency_cycles: u32,
}

/// The High-Performance LAW Engines.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hple {
    /// Number of HPLEs: a power of two, 1 to 512.
    pub count: u32,
    /// Stages of the modular multiplier, at least 1.
    pub multiplier_latency_cycles: u32,
    /// Cycles between two operations of a multiplier, at least 1.
    pub initiation_interval: u32,
    /// Stages of the modular adder and subtractor, at least 1.
    pub adder_latency_cycles: u32,
}

/// The vector register file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vrf {
    /// Ports of its SRAMs.
    pub ports: VrfPorts,
    /// Which registers share an SRAM.
    pub placement: Placement,
    /// Who goes first where two pipelines want one SRAM.
    pub arbitration: Arbitration,
}

/// Who goes first where two pipelines want one SRAM in one cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arbitration {
    /// The instruction that comes first in the program.
    OldestFirst,
    /// Load/store before compute before shuffle.
    PipeOrder,
}

/// Ports of the VRF's SRAMs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VrfPorts {
    /// One access a cycle.
    SinglePort,
    /// Any number of accesses.
    Ideal,
}

/// Which registers share an SRAM of the VRF.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// Those that are equal mod 16.
    Mod,
    /// Those that are equal when divided by 4.
    Div,
}

/// The shuffle crossbar.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sbar {
    /// Stages, at least 1.
    pub latency_cycles: u32,
    /// Cycles between two beats of one element per HPLE, at least 1.
    pub initiation_interval: u32,
}

/// The vector crossbar.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vbar {
    /// Stages between VDM and VRF, at least 1.
    pub latency_cycles: u32,
    /// Cycles between two beats of min(HPLEs, banks) elements, at least 1.
    pub initiation_interval: u32,
    /// Whether loads and stores share it.
    pub paths: VbarPaths,
}

/// Paths through the vector crossbar.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VbarPaths {
    /// One instruction at a time.
    Shared,
    /// One load and one store at a time.
    Split,
}

/// The vector data memory.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vdm {
    /// Number of banks: a power of two, 1 to 512.
    pub banks: u32,
    /// Which bank holds a word.
    pub mapping: BankMapping,
    /// Accesses per bank and cycle, 1 or 2.
    pub ports: u32,
    /// Size, at most 32.
    pub size_mib: u32,
}

/// Which bank holds a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BankMapping {
    /// Address mod banks.
    Interleaved,
    /// All groups of log2(banks) address bits folded together by exclusive or.
    Xor,
}

/// The scalar data memory.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sdm {
    /// Size, at most 16384.
    pub size_kib: u32,
}

/// The off-chip memory.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hbm {
    /// Bandwidth, 1e9 bytes a second.
    pub gb_per_s: f64,
    /// From the end of a transfer's last word on the channel to the end of the transfer.
    pub latency_ns: f64,
    /// Runs whose words the VDM holds at once, 1 to 64: 1 is no overlap, 2 is double buffering.
    pub buffers: u32,
    /// Whether every run of a stream loads its tables, or only the first.
    pub reload_tables: bool,
}

/// Limits that are switched off.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ideal {
    /// Every beat of a load or store finds its banks free.
    pub bank_conflicts: bool,
    /// Queues without end.
    pub queues: bool,
    /// No two accesses to a VRF SRAM ever meet.
    pub vrf_ports: bool,
    /// The front end dispatches any number of instructions a cycle.
    pub front_end: bool,
}

impl Machine {
    /// The paper's (128, 128) design: `configs/machines/rpu-128x128.toml`.
    pub fn rpu_128x128() -> Self {
        MachineFile::built_in("rpu-128x128", &[]).expect("the built-in machine file is tested")
    }

    /// The same design in the reading under which the paper's program comes closest to its printed
    /// numbers: `configs/machines/rpu-128x128-paper.toml`.
    pub fn rpu_128x128_paper() -> Self {
        MachineFile::built_in("rpu-128x128-paper", &[]).expect("the built-in machine file is tested")
    }

    /// Words of the VDM.
    pub const fn vdm_words(&self) -> u32 {
        self.vdm.size_mib << 16
    }

    /// Words of the SDM.
    pub const fn sdm_words(&self) -> u32 {
        self.sdm.size_kib << 6
    }

    /// Instructions that the instruction memory holds.
    pub const fn instruction_capacity(&self) -> usize {
        self.frontend.instruction_memory_kib as usize * 128
    }

    /// The clock, which the VDM's banks set, in GHz.
    pub fn frequency_ghz(&self) -> f64 {
        self.technology.frequency_ghz(self.vdm.banks)
    }

    /// The keys in which `self` differs from `base`, in the order of the built-in machine file.
    pub fn changes_from(&self, base: &Self) -> Vec<Change> {
        let table = |machine: &Self| toml::Value::try_from(machine).expect("a machine is a TOML table");
        let (from, to) = (table(base), table(self));
        fn find<'v>(table: &'v toml::Value, path: &str) -> &'v toml::Value {
            path.split('.').fold(table, |value, key| &value[key])
        }
        let keys = schema::KEYS.iter().map(|key| key.path);
        keys.map(|key| Change { key, from: find(&from, key).clone(), to: find(&to, key).clone() })
            .filter(|change| change.from != change.to)
            .collect()
    }

    /// Whether a program fits the machine's memories and instruction set.
    ///
    /// # Errors
    /// Names the first thing that does not fit, with what there is and what would be needed.
    pub fn check_fits(&self, program: &Program) -> Result<(), FitError> {
        let (needed, capacity) = (program.instructions.len(), self.instruction_capacity());
        if needed > capacity {
            return Err(FitError::Instructions { needed, capacity });
        }
        for (memory, space, image, capacity) in [
            ("VDM", Space::Vdm, &program.vdm, self.vdm_words()),
            ("SDM", Space::Sdm, &program.sdm, self.sdm_words()),
        ] {
            let symbols = program.symbols.iter().filter(|symbol| symbol.space == space);
            let end = symbols.map(|symbol| u64::from(symbol.start) + u64::from(symbol.words)).max();
            let needed = end.unwrap_or(0).max(image.end().into());
            if needed > u64::from(capacity) {
                return Err(FitError::Data { memory, needed, capacity });
            }
        }
        let features = self.features();
        for (index, instr) in program.instructions.iter().enumerate() {
            let info = instr.op().info();
            if let Some(feature) = info.feature.filter(|&feature| !features.contains(feature)) {
                return Err(FitError::Extension { index, mnemonic: info.mnemonic, feature });
            }
        }
        Ok(())
    }

    /// The extensions of the instruction set that the machine implements.
    pub fn features(&self) -> FeatureSet {
        let implements = |feature: &Feature| match feature {
            Feature::GsButterfly => self.isa.gs_butterfly,
        };
        Feature::ALL.into_iter().filter(implements).collect()
    }

    /// Whether the machine implements an instruction.
    pub fn implements(&self, op: Op) -> bool {
        self.features().allows(op)
    }
}

/// A key that two machines have different values for.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Change {
    /// The dotted key.
    pub key: &'static str,
    /// The value that it had.
    pub from: toml::Value,
    /// The value that it has now.
    pub to: toml::Value,
}

/// Why a program cannot run on a machine.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum FitError {
    /// More instructions than the instruction memory holds.
    #[error(
        "the program has {needed} instructions, the instruction memory holds {capacity} \
         (`frontend.instruction_memory_kib`, 128 instructions a KiB)"
    )]
    Instructions {
        /// Instructions of the program.
        needed: usize,
        /// Instructions that fit.
        capacity: usize,
    },
    /// Data beyond the end of a memory.
    #[error(
        "the program's data takes {needed} words of the {memory}, which has {capacity} \
         (`vdm.size_mib`, 65,536 words a MiB; `sdm.size_kib`, 64 words a KiB)"
    )]
    Data {
        /// `VDM` or `SDM`.
        memory: &'static str,
        /// One past the last word that the program names.
        needed: u64,
        /// Words of the memory.
        capacity: u32,
    },
    /// An instruction of an extension that the machine does not have.
    #[error("instruction {index}, `{mnemonic}`, is an extension that the machine lacks (`isa.{feature}`)")]
    Extension {
        /// Index of the instruction in the program.
        index: usize,
        /// Its name.
        mnemonic: &'static str,
        /// The extension.
        feature: Feature,
    },
}

#[cfg(test)]
mod tests;
