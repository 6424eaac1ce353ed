//! The energy of a run by origin, and its power.
//!
//! * *Kernels*: the events of instructions ([`Energy`]). The paper prints this part.
//! * *Off chip*: each transferred bit, in the memory and in its interface, and the background power of the stacks.
//! * *Static*: leakage of the chip, and LAW engines that are clocked without a multiplication. The paper's energy has
//!   neither, so its 49.18 uJ are to be compared with the first part.

use crate::area::{Area, Usage};
use crate::clock::Clock;
use crate::energy::{Energy, Events};
use crate::machine::Machine;
use serde::{Deserialize, Serialize};

/// The energy of a run by origin, in uJ.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct RunEnergy {
    /// The events of instructions.
    pub kernels: f64,
    /// The off-chip memory and its interface; 0 for a run that does not use it.
    pub hbm: f64,
    /// The clocks of LAW engines without a multiplication.
    pub idle_clocks: f64,
    /// The leakage of the chip without the interface of the off-chip memory, of which no leakage is published.
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
}

impl Work<'_> {
    /// What it uses beside the machine.
    pub const fn usage(&self) -> Usage {
        Usage { off_chip: self.off_chip_bytes.is_some(), key_bytes: self.key_bytes }
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
        self.kernels + self.hbm + self.idle()
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
    idle * machine.technology.power.idle_share * Energy::multiplication_pj(machine) * 1e-6
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORK: Work<'static> = Work {
        events: &Events {
            multiplications: 524_288,
            additions: 0,
            vrf_accesses: 0,
            vdm_accesses: 0,
            vbar_elements: 0,
            sbar_elements: 0,
            permuter_elements: 0,
            instructions: 0,
        },
        time_us: 6.7,
        off_chip_bytes: None,
        key_bytes: 0,
    };

    /// Leakage of 20.5 mm2, and idle clocks for 64% of the time of 128 multipliers of 104 mW.
    #[test]
    fn the_papers_machine_has_the_static_power_of_its_assumptions() {
        let energy = RunEnergy::of(&Machine::rpu_128x128(), &WORK);
        let watts = energy.idle() / WORK.time_us;
        let (leakage, clocks) = (0.015 * 20.5, 0.1 * 128.0 * 0.104 * (1.0 - 4096.0 / (6700.0 * 1.68)));
        assert!((watts / (leakage + clocks) - 1.0).abs() < 0.01, "{watts}");
        assert_eq!(energy.hbm, 0.0);
        assert_eq!(energy.total(), energy.kernels + energy.idle());
    }

    /// 461 GB/s of random data take about 24 W, and two stacks 1 W beside.
    #[test]
    fn a_busy_channel_takes_more_than_the_chip() {
        let machine = Machine::rpu_128x128();
        let bytes = (machine.hbm.sustained_gb_per_s() * 1e3 * WORK.time_us) as u64;
        let energy = RunEnergy::of(&machine, &Work { off_chip_bytes: Some(bytes), ..WORK });
        let watts = energy.hbm / WORK.time_us;
        assert!((watts - (460.8 * 8.0 * 6.5e-3 + 1.0)).abs() < 0.01, "{watts}");
    }

    #[test]
    fn keys_on_the_chip_and_the_interface_have_area() {
        let machine = Machine::rpu_128x128();
        let area = Area::of_run(&machine, &Usage { off_chip: true, key_bytes: 72 << 20 });
        assert_eq!(area.hbm_phy, 30.0);
        // As many macros as 18 VDMs of 4 MiB have.
        let vdm_macros = 128.0 * (1626.0 + 0.75 * 32_768.0) * 1e-6;
        assert!((area.keys / (18.0 * vdm_macros) - 1.0).abs() < 1e-9, "{area:?}");
        assert_eq!(Area::of_run(&machine, &Usage::default()), Area::of(&machine));
    }
}
