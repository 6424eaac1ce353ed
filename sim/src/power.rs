//! The energy of a run by origin, and its power.
//!
//! * *Kernels*: the events of instructions ([`Energy`]). The paper prints this part.
//! * *Off chip*: each transferred bit, in the memory and in its interface, and the background power of the
//!   stacks.
//! * *Bus*: each transferred bit on the wires between interface and banks ([`Floorplan`]).
//! * *Generator*: each byte of a key that is expanded from a seed.
//! * *Static*: leakage of the chip, and LAW engines that are clocked without a multiplication. The paper's
//!   energy has neither, so its 49.18 uJ are to be compared with the first part.

use crate::area::{Area, Usage};
use crate::clock::Clock;
use crate::energy::{Energy, Events};
use crate::floorplan::Floorplan;
use crate::machine::Machine;
use serde::{Deserialize, Serialize};

/// The energy of a run by origin, in uJ.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct RunEnergy {
    /// The events of instructions.
    pub kernels: f64,
    /// The off-chip memory and its interface; 0 for a run that does not use it.
    pub hbm: f64,
    /// The wires between the interface of the off-chip memory and the banks.
    #[serde(default)]
    pub bus: f64,
    /// The generator of seeded keys.
    #[serde(default)]
    pub generator: f64,
    /// The clocks of LAW engines without a multiplication.
    pub idle_clocks: f64,
    /// The leakage of the chip without the interface of the off-chip memory, of which no leakage is
    /// published.
    pub leakage: f64,
}

/// The work of a run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Work<'e> {
    /// The events of its instructions.
    pub events: &'e Events,
    /// Its time, in us.
    pub time_us: f64,
    /// The bytes of all off-chip transfers; `None` if it does not use the off-chip memory.
    pub off_chip_bytes: Option<u64>,
    /// The bytes of the keys in a memory of their own on the chip.
    pub key_bytes: u64,
    /// The bytes of keys that are expanded from seeds; `None` if no keys are.
    pub seeded_bytes: Option<u64>,
}

impl Work<'_> {
    /// What it uses beside the machine.
    pub const fn usage(&self) -> Usage {
        Usage {
            off_chip: self.off_chip_bytes.is_some(),
            key_bytes: self.key_bytes,
            seeded: self.seeded_bytes.is_some(),
        }
    }
}

impl RunEnergy {
    /// The energy of some work on a machine.
    pub fn of(machine: &Machine, work: &Work<'_>) -> Self {
        let Work { events, time_us, off_chip_bytes, .. } = *work;
        let hbm = &machine.hbm;
        let off_chip = |bytes: u64| {
            let bit_pj = hbm.device_pj_per_bit + hbm.phy_pj_per_bit;
            8.0 * bytes as f64 * bit_pj * 1e-6 + hbm.background_w_per_stack * hbm.stacks() * time_us
        };
        Self {
            kernels: Energy::of(machine, events).total(),
            hbm: off_chip_bytes.map_or(0.0, off_chip),
            bus: 8e-6 * off_chip_bytes.unwrap_or(0) as f64 * Floorplan::of(machine).bus_pj_per_bit(),
            generator: 1e-6 * work.seeded_bytes.unwrap_or(0) as f64 * Energy::generated_byte_pj(machine),
            idle_clocks: idle_clocks_uj(machine, events, time_us),
            leakage: leakage_uj(machine, work),
        }
    }

    /// The part that does not depend on events: idle clocks and leakage.
    pub const fn idle(&self) -> f64 {
        self.idle_clocks + self.leakage
    }

    /// The sum.
    pub const fn total(&self) -> f64 {
        self.kernels + self.hbm + self.bus + self.generator + self.idle()
    }
}

fn leakage_uj(machine: &Machine, work: &Work<'_>) -> f64 {
    let area = Area::of_run(machine, &Usage { off_chip: false, ..work.usage() }).total();
    machine.technology.power.leakage_mw_per_mm2 * 1e-3 * area * work.time_us
}

fn idle_clocks_uj(machine: &Machine, events: &Events, time_us: f64) -> f64 {
    let cycles = time_us * 1e3 * Clock::of(machine).ghz();
    let slots = f64::from(machine.hple.count) * cycles;
    let idle = (slots - events.multiplications as f64).max(0.0);
    let clock_pj = machine.technology.power.idle_share * Energy::multiplication_pj(machine);
    idle * machine.technology.wires.layout_factor * clock_pj * 1e-6
}
