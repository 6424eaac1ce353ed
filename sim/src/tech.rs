//! The technology: the constants of a process from which clock, area and energy follow.
//!
//! The comments in `configs/tech/gf12.toml` say where each value comes from.

use serde::{Deserialize, Serialize};

/// The constants of one process.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Technology {
    /// The technology's name in results.
    pub name: String,
    /// The process node, in nanometres.
    pub node_nm: u32,
    /// The clock at some numbers of VDM banks, ascending; at least one point.
    pub clock: Vec<ClockPoint>,
    /// What components measure.
    pub area: AreaConstants,
    /// What events cost.
    pub energy: EnergyConstants,
}

/// The clock at one number of VDM banks.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClockPoint {
    /// Banks of the VDM.
    pub banks: u32,
    /// The clock, in GHz.
    pub ghz: f64,
}

/// What components measure, in mm2 unless the name says otherwise.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AreaConstants {
    /// An SRAM macro of no bytes, in um2.
    pub sram_macro_um2: f64,
    /// Each byte of an SRAM macro, in um2.
    pub sram_um2_per_byte: f64,
    /// A LAW engine.
    pub law_mm2: f64,
    /// Each of the first 32 VDM banks beyond its macro: what reaches it, and what a faster macro takes.
    pub vdm_bank_mm2_to_32: f64,
    /// Each VDM bank from the 33rd to the 64th.
    pub vdm_bank_mm2_to_64: f64,
    /// Each VDM bank from the 65th to the 128th.
    pub vdm_bank_mm2_to_128: f64,
    /// Each VDM bank from the 129th on.
    pub vdm_bank_mm2_beyond_128: f64,
    /// The vector crossbar at 128 HPLEs and 128 banks.
    pub vbar_mm2: f64,
    /// The factor by which the vector crossbar grows where HPLEs double.
    pub vbar_growth_with_hples: f64,
    /// The factor by which the vector crossbar grows where banks double.
    pub vbar_growth_with_banks: f64,
    /// The shuffle crossbar at 128 HPLEs.
    pub sbar_mm2: f64,
    /// The factor by which the shuffle crossbar grows where HPLEs double, up to 128 of them.
    pub sbar_growth_to_128: f64,
    /// The same beyond 128 HPLEs.
    pub sbar_growth_beyond_128: f64,
}

/// What events cost, in pJ: one element at each unit that it passes, and one instruction.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnergyConstants {
    /// A modular multiplication.
    pub multiply_pj: f64,
    /// A modular addition or subtraction.
    pub add_pj: f64,
    /// A read or write of the VRF.
    pub vrf_access_pj: f64,
    /// A read or write of the VDM.
    pub vdm_access_pj: f64,
    /// A passage through the vector crossbar.
    pub vbar_element_pj: f64,
    /// A passage through the shuffle crossbar.
    pub sbar_element_pj: f64,
    /// An instruction's way from the instruction memory to its pipe.
    pub instruction_pj: f64,
}

impl Technology {
    /// The clock at a number of VDM banks, in GHz: linear in log2(banks) between two points,
    /// constant beyond the first and the last.
    pub fn frequency_ghz(&self, banks: u32) -> f64 {
        let after = self.clock.partition_point(|point| point.banks < banks);
        let (Some(below), Some(above)) =
            (after.checked_sub(1).map(|at| self.clock[at]), self.clock.get(after))
        else {
            return self.clock.get(after).or(self.clock.last()).map_or(0.0, |point| point.ghz);
        };
        let log2 = |banks: u32| f64::from(banks).log2();
        let share = (log2(banks) - log2(below.banks)) / (log2(above.banks) - log2(below.banks));
        below.ghz + share * (above.ghz - below.ghz)
    }
}

#[cfg(test)]
mod tests {
    use crate::Machine;

    #[test]
    fn the_clock_is_the_papers_at_its_points_and_flat_beyond_them() {
        let technology = Machine::rpu_128x128().technology;
        for (banks, ghz) in [(32, 1.29), (64, 1.53), (128, 1.68), (256, 1.68), (1, 1.29), (512, 1.68)] {
            assert_eq!(technology.frequency_ghz(banks), ghz, "{banks} banks");
        }
    }

    #[test]
    fn the_clock_is_interpolated_in_the_logarithm_of_the_banks() {
        let mut technology = Machine::rpu_128x128().technology;
        technology.clock.remove(1);
        assert!((technology.frequency_ghz(64) - (1.29 + 1.68) / 2.0).abs() < 1e-12);
    }
}
