//! The technology: the constants of a process that determine clock, area and energy.
//!
//! The comments in `configs/tech/gf12.toml` give the origin of each value.

pub use crate::machine::{
    AreaConstants, ClockPoint, DelayConstants, EnergyConstants, PowerConstants, Technology,
};

use crate::machine::PRINTED_VDM_MIB;

impl Technology {
    /// The clock of a single-port SRAM of `bytes` bytes, in GHz, if an access is spread over `cycles` cycles.
    /// Its macros limit it to the fastest point.
    pub fn sram_ghz(&self, bytes: f64, cycles: u32) -> f64 {
        let macros = self.clock.iter().map(|point| point.ghz).fold(0.0, f64::max);
        let banks = f64::from(PRINTED_VDM_MIB) * 1024.0 * 1024.0 / bytes;
        macros.min(f64::from(cycles) * self.bank_ghz(banks))
    }

    /// The clock at a number of banks of a VDM of 4 MiB, in GHz: linear in log2(banks) between two
    /// points, constant beyond the first and the last.
    pub fn bank_ghz(&self, banks: f64) -> f64 {
        let after = self.clock.partition_point(|point| f64::from(point.banks) < banks);
        let (Some(below), Some(above)) =
            (after.checked_sub(1).map(|at| self.clock[at]), self.clock.get(after))
        else {
            return self.clock.get(after).or(self.clock.last()).map_or(0.0, |point| point.ghz);
        };
        let log2 = |banks: u32| f64::from(banks).log2();
        let share = (banks.log2() - log2(below.banks)) / (log2(above.banks) - log2(below.banks));
        below.ghz + share * (above.ghz - below.ghz)
    }
}
