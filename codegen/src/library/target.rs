//! The machines for which a library holds recipes.

use serde::{Deserialize, Serialize};
use sim::Machine;
use sim::machine::{BankMapping, Busyboard};
use std::sync::LazyLock;

/// The properties of a machine that decide which recipe is fast on it. By default those of the paper's machine.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Target {
    /// `isa.vector_length`. A recipe with plans is for one vector length.
    pub vector_length: u32,
    /// `hple.count`.
    pub hples: u32,
    /// `hple.multiplier_latency_cycles`.
    pub multiplier_latency: u32,
    /// `vdm.banks`.
    pub banks: u32,
    /// `vdm.mapping`.
    pub mapping: BankMapping,
    /// `vdm.multicast`.
    pub multicast: bool,
    /// `vbar.latency_cycles`.
    pub vbar_latency: u32,
    /// `sbar.latency_cycles`.
    pub sbar_latency: u32,
    /// `frontend.busyboard`.
    pub busyboard: Busyboard,
    /// `isa.gs_butterfly`.
    pub gs_butterfly: bool,
    /// `ideal.vrf_ports`.
    pub ideal_vrf_ports: bool,
}

impl Default for Target {
    fn default() -> Self {
        static PAPER: LazyLock<Target> = LazyLock::new(|| Target::of(&Machine::rpu_128x128()));
        PAPER.clone()
    }
}

impl Target {
    /// The target of a machine.
    pub fn of(machine: &Machine) -> Self {
        Self {
            vector_length: machine.vector_length(),
            hples: machine.hple.count,
            multiplier_latency: machine.hple.multiplier_latency_cycles,
            banks: machine.vdm.banks,
            mapping: machine.vdm.mapping,
            multicast: machine.vdm.multicast,
            vbar_latency: machine.vbar.latency_cycles,
            sbar_latency: machine.sbar.latency_cycles,
            busyboard: machine.frontend.busyboard,
            gs_butterfly: machine.isa.gs_butterfly,
            ideal_vrf_ports: !machine.sram_ports_are_limited(),
        }
    }

    /// The paper's machine with this target's properties.
    pub fn machine(&self) -> Machine {
        let mut machine = Machine::rpu_128x128();
        machine.isa.vector_length = self.vector_length;
        machine.hple.count = self.hples;
        machine.hple.multiplier_latency_cycles = self.multiplier_latency;
        machine.vdm.banks = self.banks;
        machine.vdm.mapping = self.mapping;
        machine.vdm.multicast = self.multicast;
        machine.vbar.latency_cycles = self.vbar_latency;
        machine.sbar.latency_cycles = self.sbar_latency;
        machine.frontend.busyboard = self.busyboard;
        machine.isa.gs_butterfly = self.gs_butterfly;
        machine.ideal.vrf_ports = self.ideal_vrf_ports;
        machine
    }

    /// This target with the latencies, the ports and the multicast of the paper's machine.
    pub(crate) fn with_usual_timing(&self) -> Self {
        let Self { multiplier_latency, vbar_latency, sbar_latency, ideal_vrf_ports, multicast, .. } =
            Self::default();
        Self { multiplier_latency, vbar_latency, sbar_latency, ideal_vrf_ports, multicast, ..self.clone() }
    }

    /// The dissimilarity of two targets. The vector length weighs most, since plans depend on it. Next comes the ratio of
    /// banks to HPLEs: it decides whether memory or arithmetic is the bottleneck.
    pub(super) fn distance(&self, other: &Self) -> u32 {
        let log2 = |target: &Self| (target.hples.ilog2(), target.banks.ilog2());
        let ((hples, banks), (other_hples, other_banks)) = (log2(self), log2(other));
        let ratio = (hples + other_banks).abs_diff(other_hples + banks);
        let unlike = |weight, same: bool| if same { 0 } else { weight };
        let later = |latency: fn(&Self) -> u32| 2 * latency(self).abs_diff(latency(other)).min(16);
        1024 * self.vector_length.ilog2().abs_diff(other.vector_length.ilog2())
            + 32 * ratio
            + 16 * hples.abs_diff(other_hples)
            + unlike(128, self.mapping == other.mapping)
            + unlike(128, self.gs_butterfly == other.gs_butterfly)
            + unlike(24, self.ideal_vrf_ports == other.ideal_vrf_ports)
            + unlike(1, self.busyboard == other.busyboard)
            + unlike(3, self.multicast == other.multicast)
            + later(|target| target.multiplier_latency)
            + later(|target| target.vbar_latency)
            + later(|target| target.sbar_latency)
    }

    /// The inline table of its file: the numbers of HPLEs and banks, and what differs from the paper's machine.
    pub(super) fn to_toml(&self) -> toml::Value {
        let table = |target: &Self| toml::Table::try_from(target).expect("a target forms a table");
        let (mut own, usual) = (table(self), table(&Self::default()));
        own.retain(|key, value| ["hples", "banks"].contains(&key) || usual.get(key) != Some(value));
        own.into()
    }
}
