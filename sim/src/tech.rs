//! The technology: the constants of a process that determine clock, area and energy.
//!
//! The comments in `configs/tech/gf12.toml` give the origin of each value.

pub use crate::machine::{AreaConstants, ClockPoint, EnergyConstants, Technology};

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
