//! The machine: every parameter of the simulator.
//!
//! `docs/machine.md` lists the keys with their values, meanings and origins. A machine file names
//! only the keys in which it differs from the file that it `inherits` from.

mod assignment;
mod costs;
mod dominance;
mod fit;
mod keys;
mod load;
mod mapping;
mod reference;
mod schema;
#[cfg(feature = "testing")]
mod strategy;
pub mod table;

pub use assignment::{Assignment, AssignmentError};
pub use costs::costs;
pub use dominance::Speed;
pub use fit::FitError;
pub(crate) use fit::Resources;
pub use keys::{
    Arbitration, AreaConstants, BankMapping, Busyboard, ClockPoint, DelayConstants, EnergyConstants,
    Frontend, Hbm, Hple, Ideal, Isa, Law, LawOperands, Machine, Placement, PowerConstants, SECTIONS, Sbar,
    Scalar, Sdm, SourceRelease, Technology, Vbar, VbarPaths, Vdm, Vrf, VrfPorts,
};
pub use load::{MachineBase, MachineFile, Override, ValueSource};
pub use mapping::SRAMS;
pub use reference::{BuiltInValue, machine_file, reference};
pub use schema::{find as key, keys};
#[cfg(feature = "testing")]
pub use strategy::machines;

use crate::clock::Clock;
use b512_asm::reg::REGISTERS;
use b512_asm::{Feature, FeatureSet, Op};
use keys::{RULES, Rule};
use serde::Serialize;
use table::Key;
use thiserror::Error;

impl Machine {
    /// The paper's (128, 128) design: `configs/machines/rpu-128x128.toml`.
    pub fn rpu_128x128() -> Self {
        MachineFile::built_in("rpu-128x128", &[]).expect("the built-in machine file is tested")
    }

    /// The same design, configured so that the paper's program comes closest to its printed numbers:
    /// `configs/machines/rpu-128x128-paper.toml`.
    pub fn rpu_128x128_paper() -> Self {
        MachineFile::built_in("rpu-128x128-paper", &[]).expect("the built-in machine file is tested")
    }

    /// Words of the VDM.
    pub const fn vdm_words(&self) -> u32 {
        (self.vdm.size_mib << 20) / (self.isa.word_bits / 8)
    }

    /// Words of the SDM.
    pub const fn sdm_words(&self) -> u32 {
        (self.sdm.size_kib << 10) / (self.isa.word_bits / 8)
    }

    /// Instructions that the instruction memory holds.
    pub const fn instruction_capacity(&self) -> usize {
        self.frontend.instruction_memory_kib as usize * fit::INSTRUCTIONS_PER_KIB
    }

    /// Bytes of an SRAM of the VRF.
    pub const fn vrf_sram_bytes(&self) -> f64 {
        let isa = self.instruction_set();
        let bytes = REGISTERS as f64 * isa.vector_length() as f64 * isa.word_bytes() as f64;
        bytes / (self.hple.count as f64 * SRAMS as f64)
    }

    /// Bytes of a bank of the VDM.
    pub const fn vdm_bank_bytes(&self) -> f64 {
        self.vdm.size_mib as f64 * 1024.0 * 1024.0 / self.vdm.banks as f64
    }

    /// The clock, in GHz; the slowest part limits it.
    pub fn frequency_ghz(&self) -> f64 {
        Clock::of(self).ghz()
    }

    /// Whether the ports of the VRF's SRAMs limit the accesses in a cycle.
    pub const fn sram_ports_are_limited(&self) -> bool {
        !self.ideal.vrf_ports
    }

    /// Whether the VRF's SRAMs have a port for reads and another one for writes.
    pub const fn sram_writes_have_a_port(&self) -> bool {
        matches!(self.vrf.ports, VrfPorts::TwoPort)
    }

    /// The size of a macro of the VRF, as a ratio to a macro with a single port.
    pub(crate) const fn vrf_second_port(&self) -> f64 {
        if self.sram_writes_have_a_port() { self.technology.area.sram_second_port } else { 1.0 }
    }

    /// The size of a macro of the VDM, as a ratio to a macro with a single port.
    pub(crate) const fn vdm_second_port(&self) -> f64 {
        if self.vdm.ports == 2 { self.technology.area.sram_second_port } else { 1.0 }
    }

    /// Instructions that the front end dispatches in `frontend.cycles_per_instruction` cycles at most.
    pub const fn dispatch_width(&self) -> u32 {
        if self.ideal.front_end { u32::MAX } else { self.frontend.width }
    }

    /// The extensions of the instruction set that the machine implements.
    pub fn features(&self) -> FeatureSet {
        let implements = |feature: &Feature| match feature {
            Feature::GsButterfly => self.isa.gs_butterfly,
            Feature::LanePermuter => self.isa.lane_permuter,
        };
        Feature::ALL.into_iter().filter(implements).collect()
    }

    /// Whether the machine implements an instruction.
    pub fn implements(&self, op: Op) -> bool {
        self.features().allows(op)
    }

    /// Checks the value of every key, and the rules over several keys. Machines from files always
    /// pass; a machine that was changed in memory may fail.
    ///
    /// # Errors
    /// Returns the first violation.
    pub fn check(&self) -> Result<(), InvalidMachine> {
        let values = self.to_value();
        for key in schema::keys() {
            let value = schema::value_at(&values, key.path);
            if !key.kind.allows(value) {
                let message = format!("invalid value `{value}` for `{}`", key.path);
                return Err(InvalidMachine { message, help: format!("it must be {}", key.kind.describe()) });
            }
        }
        self.broken_rules().first().map_or(Ok(()), |rule| {
            Err(InvalidMachine { message: rule.message.into(), help: rule.help.into() })
        })
    }

    /// The rules over several keys that the machine breaks.
    fn broken_rules(&self) -> Vec<&'static Rule> {
        RULES.iter().filter(|rule| !(rule.holds)(self)).collect()
    }

    /// The value of each key, in the order of the paper's machine file.
    pub fn values(&self) -> Vec<(&'static Key, toml::Value)> {
        let values = self.to_value();
        schema::keys().map(|key| (key, schema::value_at(&values, key.path).clone())).collect()
    }

    /// The keys in which `self` differs from `base`, in the order of the built-in machine file.
    pub fn changes_from(&self, base: &Self) -> Vec<Change> {
        let (from, to) = (base.to_value(), self.to_value());
        schema::keys()
            .map(|key| Change {
                key: key.path,
                from: schema::value_at(&from, key.path).clone(),
                to: schema::value_at(&to, key.path).clone(),
            })
            .filter(|change| change.from != change.to)
            .collect()
    }

    /// True if every program that fits both machines takes the same cycles on both: the machines differ at
    /// most in name, technology, launches, HBM and the sizes of memories.
    pub fn has_the_timing_of(&self, other: &Self) -> bool {
        let same_otherwise = Self {
            name: other.name.clone(),
            technology: other.technology.clone(),
            launch: other.launch.clone(),
            hbm: other.hbm.clone(),
            sdm: other.sdm.clone(),
            vdm: Vdm { size_mib: other.vdm.size_mib, ..self.vdm.clone() },
            ..self.clone()
        };
        same_otherwise == *other
    }

    /// The keys whose values neither printed numbers nor the synthesis of the part check, in the order of
    /// the built-in machine file: costs there are extrapolated.
    pub fn extrapolated(&self) -> Vec<&'static str> {
        let values = self.to_value();
        let number = |key: &Key| match schema::value_at(&values, key.path) {
            toml::Value::String(text) => key.kind.number(text),
            value => value.as_integer().and_then(|value| u64::try_from(value).ok()),
        };
        let outside = |key: &&Key| number(key).is_some_and(|value| key.extrapolates(value));
        schema::keys().filter(outside).map(|key| key.path).collect()
    }

    fn to_value(&self) -> toml::Value {
        toml::Value::try_from(self).expect("a machine is a TOML table")
    }
}

/// A machine with an invalid value.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{message}; {help}")]
pub struct InvalidMachine {
    /// The violation, with the keys.
    pub message: String,
    /// The valid values, or the reason.
    pub help: String,
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

#[cfg(test)]
mod tests;
