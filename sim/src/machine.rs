//! The machine: every parameter of the simulator.
//!
//! `docs/machine.md` lists the keys with their values, meanings and origins. A machine file names
//! only the keys in which it differs from the file that it `inherits` from.

mod assignment;
mod costs;
mod dominance;
mod fit;
mod keys;
mod label;
mod layers;
mod load;
mod location;
mod mapping;
mod overrides;
mod reference;
mod schema;
#[cfg(feature = "testing")]
mod strategy;
pub mod table;
mod technology;

pub use assignment::{Assignment, AssignmentError};
pub use costs::costs;
pub use dominance::Speed;
pub use fit::{FitError, Resources, at_least};
pub use keys::{
    Arbitration, AreaConstants, BankMapping, Busyboard, ClockKeys, ClockPoint, DelayConstants,
    EnergyConstants, Frontend, Generator, Hbm, Hple, Ideal, Isa, Law, LawOperands, Placement, PowerConstants,
    SECTIONS, Sbar, Scalar, Sdm, SourceRelease, Technology, Values, Vbar, VbarArea, VbarPaths, Vdm, Vrf,
    VrfPorts, WireConstants,
};
pub use load::{MachineBase, MachineFile, ValueSource};
pub use mapping::SRAMS;
pub use overrides::Override;
pub use reference::{BuiltInValue, machine_file, reference};
pub use schema::{find as key, keys};
#[cfg(feature = "testing")]
pub use strategy::machines;

use b512_asm::reg::REGISTERS;
use b512_asm::{Feature, FeatureSet, Op};
use keys::{RULES, Rule};
use serde::{Deserialize, Serialize, Serializer};
use std::ops::Deref;
use std::sync::OnceLock;
use table::Key;
use thiserror::Error;

/// The size of the VDM whose banks have printed clocks, in MiB.
pub(crate) const PRINTED_VDM_MIB: u32 = 4;

/// A machine: a value for every key, each one that the key accepts, and all of them together by the rules
/// over several keys.
///
/// It reads like its [`Values`]. Files, overrides and [`Machine::edit`] make other machines.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Values")]
pub struct Machine {
    values: Values,
    /// How often the VDM is halved to give the part that programs use.
    vdm_halvings: u32,
    /// What follows from the values, once it is known.
    stages: OnceLock<Stages>,
}

/// The stages of the crossbars.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stages {
    /// Those of the vector crossbar.
    pub(crate) vbar: u32,
    /// Those of the shuffle crossbar.
    pub(crate) sbar: u32,
}

impl PartialEq for Machine {
    fn eq(&self, other: &Self) -> bool {
        self.values == other.values && self.vdm_halvings == other.vdm_halvings
    }
}

impl Deref for Machine {
    type Target = Values;

    fn deref(&self) -> &Values {
        &self.values
    }
}

impl Serialize for Machine {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.values.serialize(serializer)
    }
}

impl TryFrom<Values> for Machine {
    type Error = InvalidMachine;

    fn try_from(values: Values) -> Result<Self, InvalidMachine> {
        let machine = Self::of(values, 0);
        machine.check()?;
        Ok(machine)
    }
}

impl Machine {
    fn of(values: Values, vdm_halvings: u32) -> Self {
        Self { values, vdm_halvings, stages: OnceLock::new() }
    }

    /// The paper's (128, 128) design: `configs/machines/rpu-128x128.toml`.
    pub fn rpu_128x128() -> Self {
        MachineFile::built_in("rpu-128x128", &[]).expect("the built-in machine file is tested")
    }

    /// The same design, configured so that the paper's program comes closest to its printed numbers:
    /// `configs/machines/rpu-128x128-paper.toml`.
    pub fn rpu_128x128_paper() -> Self {
        MachineFile::built_in("rpu-128x128-paper", &[]).expect("the built-in machine file is tested")
    }

    /// Words of the VDM that programs may use.
    pub fn vdm_words(&self) -> u32 {
        self.words_of(u64::from(self.vdm.size_mib) << 20) >> self.vdm_halvings
    }

    /// The words of a page of the VDM for limbs of `n` words: see `vdm.limb_pages`.
    pub fn page_words(&self, n: u64) -> u64 {
        let least = self.vdm.banks.max(self.isa.vector_length);
        (n / u64::from(self.vdm.limb_pages)).max(least.into())
    }

    /// The machine if programs use half as much of its VDM, for tests of small memories. Clock, area and the
    /// time of an access stay.
    #[must_use]
    pub fn with_half_of_the_vdm(&self) -> Self {
        Self::of(self.values.clone(), self.vdm_halvings + 1)
    }

    /// Words of the SDM.
    pub fn sdm_words(&self) -> u32 {
        self.words_of(u64::from(self.sdm.size_kib) << 10)
    }

    /// Words that fit `bytes` bytes.
    fn words_of(&self, bytes: u64) -> u32 {
        (8 * bytes / u64::from(self.isa.word_bits)) as u32
    }

    /// Cycles of an access to a bank of the VDM: `vdm.access_cycles`, or those of a bank of its size.
    pub fn vdm_access_cycles(&self) -> u32 {
        const KIB: f64 = 1024.0;
        match self.vdm.access_cycles {
            0 if self.vdm.size_mib <= PRINTED_VDM_MIB => 1,
            0 => {
                let bytes = self.vdm_bank_bytes();
                1 + [32.0, 512.0, 2048.0].into_iter().filter(|kib| bytes > kib * KIB).count() as u32
            }
            cycles => cycles,
        }
    }

    /// Stages of the vector crossbar: `vbar.latency_cycles`, or those that follow from the machine.
    pub fn vbar_stages(&self) -> u32 {
        if self.vbar.latency_cycles > 0 { self.vbar.latency_cycles } else { self.stages().vbar }
    }

    /// Stages of the shuffle crossbar: `sbar.latency_cycles`, or those that follow from the machine.
    pub fn sbar_stages(&self) -> u32 {
        if self.sbar.latency_cycles > 0 { self.sbar.latency_cycles } else { self.stages().sbar }
    }

    fn stages(&self) -> Stages {
        *self.stages.get_or_init(|| self.least_stages())
    }

    /// The same machine with all values written out that 0 leaves to the machine and that decide cycles:
    /// `vdm.access_cycles` and the stages of both crossbars.
    #[must_use]
    pub fn resolved(&self) -> Self {
        let mut values = self.values.clone();
        values.vdm.access_cycles = self.vdm_access_cycles();
        values.vbar.latency_cycles = self.vbar_stages();
        values.sbar.latency_cycles = self.sbar_stages();
        Self::of(values, self.vdm_halvings)
    }

    /// Cycles from the issue of a load to its first write to a register.
    pub fn load_latency(&self) -> u32 {
        self.vbar_stages() + self.vdm_access_cycles() - 1
    }

    /// Instructions that the instruction memory holds.
    pub fn instruction_capacity(&self) -> usize {
        self.frontend.instruction_memory_kib as usize * fit::INSTRUCTIONS_PER_KIB
    }

    /// Bytes of an SRAM of the VRF.
    pub fn vrf_sram_bytes(&self) -> f64 {
        let isa = self.instruction_set();
        let bits = REGISTERS as f64 * isa.vector_length() as f64 * isa.word_bits() as f64;
        bits / 8.0 / (self.hple.count as f64 * SRAMS as f64)
    }

    /// Bytes of a bank of the VDM.
    pub fn vdm_bank_bytes(&self) -> f64 {
        self.vdm.size_mib as f64 * 1024.0 * 1024.0 / self.vdm.banks as f64
    }

    /// Whether the ports of the VRF's SRAMs limit the accesses in a cycle.
    pub fn sram_ports_are_limited(&self) -> bool {
        !self.ideal.vrf_ports
    }

    /// Whether the VRF's SRAMs have a port for reads and another one for writes.
    pub fn sram_writes_have_a_port(&self) -> bool {
        matches!(self.vrf.ports, VrfPorts::TwoPort)
    }

    /// The size of a macro of the VRF, as a ratio to a macro with a single port.
    pub(crate) fn vrf_second_port(&self) -> f64 {
        if self.sram_writes_have_a_port() { self.technology.area.sram_second_port } else { 1.0 }
    }

    /// The size of a macro of the VDM, as a ratio to a macro with a single port.
    pub(crate) fn vdm_second_port(&self) -> f64 {
        if self.vdm.ports == 2 { self.technology.area.sram_second_port } else { 1.0 }
    }

    /// Instructions that the front end dispatches in `frontend.cycles_per_instruction` cycles at most.
    pub fn dispatch_width(&self) -> u32 {
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

    /// Changes values.
    ///
    /// # Errors
    /// Returns the first violation, and leaves the machine unchanged, if the result is invalid.
    pub fn edit(&mut self, change: impl FnOnce(&mut Values)) -> Result<(), InvalidMachine> {
        let mut values = self.values.clone();
        change(&mut values);
        *self = Self::try_from(values)?;
        Ok(())
    }

    /// Checks the value of every key, and the rules over several keys.
    fn check(&self) -> Result<(), InvalidMachine> {
        for key in schema::keys() {
            let value = (key.get)(self);
            if !key.kind.allows(&value) {
                let message = format!("invalid value `{value}` for `{}`", key.path);
                return Err(InvalidMachine { message, help: format!("it must be {}", key.kind.describe()) });
            }
        }
        self.broken_rules().first().map_or(Ok(()), |rule| {
            Err(InvalidMachine { message: rule.message.into(), help: (rule.help)(self) })
        })
    }

    /// The rules over several keys that the machine breaks.
    fn broken_rules(&self) -> Vec<&'static Rule> {
        RULES.iter().filter(|rule| !(rule.holds)(self)).collect()
    }

    /// The value of each key, in the order of the paper's machine file.
    pub fn values(&self) -> Vec<(&'static Key, toml::Value)> {
        let values = self.to_value();
        schema::keys().map(|key| (key, plain(schema::value_at(&values, key.path)))).collect()
    }

    /// The keys in which `self` differs from `base`, in the order of the built-in machine file.
    pub fn changes_from(&self, base: &Self) -> Vec<Change> {
        let (from, to) = (base.to_value(), self.to_value());
        schema::keys()
            .map(|key| Change {
                key: key.path,
                from: plain(schema::value_at(&from, key.path)),
                to: plain(schema::value_at(&to, key.path)),
            })
            .filter(|change| change.from != change.to)
            .collect()
    }

    /// True if the same programs are generated for both machines, and every program that fits both takes the
    /// same cycles on both: the machines differ at most in keys without an effect on either, and in the sizes
    /// of memories.
    pub fn has_the_timing_of(&self, other: &Self) -> bool {
        self.with_costs_of(other) == other.with_costs_of(other)
    }

    /// The values that decide the cycles of a program that fits, each as resolved, and all others as on
    /// `base`: equal for two machines if they have the same timing.
    pub fn with_costs_of(&self, base: &Self) -> Values {
        let mut values = self.resolved().values;
        // Beside the cycles of an access, which are written out, the size of the VDM decides nothing.
        let decides = |key: &Key| key.decides_timing() && key.path != "vdm.size_mib";
        for key in schema::keys().filter(|key| !decides(key)) {
            (key.set)(&mut values, (key.get)(base)).expect("both are values of one key");
        }
        values
    }

    /// The keys whose values neither printed numbers nor the synthesis of the part check, in the order of
    /// the built-in machine file: costs there are extrapolated.
    pub fn extrapolated(&self) -> Vec<&'static str> {
        let resolved = self.resolved();
        let number = |key: &Key| u64::try_from(key.number(&(key.get)(&resolved))?).ok();
        let is_checked = |key: &&Key| key.cost.as_ref().is_some_and(|cost| cost.checked.is_some());
        let outside = |key: &&Key| number(key).is_some_and(|value| key.extrapolates(value));
        schema::keys().filter(is_checked).filter(outside).map(|key| key.path).collect()
    }

    fn to_value(&self) -> toml::Value {
        toml::Value::try_from(self).expect("a machine is a TOML table")
    }
}

/// A value as people write it: a whole number has no fraction.
#[must_use]
pub fn plain(value: &toml::Value) -> toml::Value {
    let whole = |number: &f64| number.fract() == 0.0 && number.abs() < 2f64.powi(53);
    value.as_float().filter(whole).map_or_else(|| value.clone(), |number| toml::Value::Integer(number as i64))
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
