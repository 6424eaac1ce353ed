//! The distances of a floorplan, and the energy of wires over them.
//!
//! The RPU is a square of its area, without the interface of the off-chip memory, which lies along one side.
//! Lanes and banks are spread over it. An element that passes a crossbar goes from one place of the square to
//! another: two thirds of the side on average, by right angles. A word of the off-chip memory goes from the
//! middle of a side to a bank: three quarters of the side.
//!
//! Energies of events are those of a technology's given machine, and have its wires. So only the distance
//! beyond that machine's adds to them; the printed shares of the paper's machine stay as they are.

use crate::area::Area;
use crate::machine::Machine;

/// The mean distance of two places of a square, over its side.
const BETWEEN_PLACES: f64 = 2.0 / 3.0;
/// The mean distance of a place of a square from the middle of a side, over the side.
const FROM_A_SIDE: f64 = 3.0 / 4.0;

/// The floorplan of a machine.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Floorplan {
    /// The side of the RPU, in mm.
    pub side_mm: f64,
    /// The side of the machine whose energies are given.
    pub given_side_mm: f64,
    /// A bit over a mm, in pJ.
    pub pj_per_bit_mm: f64,
}

impl Floorplan {
    /// The floorplan of a machine without what a run uses beside it.
    pub fn of(machine: &Machine) -> Self {
        let wires = &machine.technology.wires;
        Self {
            side_mm: Area::of(machine).rpu().sqrt(),
            given_side_mm: wires.given_side_mm,
            pj_per_bit_mm: wires.pj_per_bit_mm,
        }
    }

    /// The energy of the wires that a bit passes through a crossbar, beyond those of the given machine, in
    /// pJ.
    pub fn crossbar_pj_per_bit(&self) -> f64 {
        self.pj_per_bit_mm * BETWEEN_PLACES * (self.side_mm - self.given_side_mm).max(0.0)
    }

    /// The energy of the wires that a bit passes between the off-chip memory's interface and a bank, in pJ.
    pub fn bus_pj_per_bit(&self) -> f64 {
        self.pj_per_bit_mm * FROM_A_SIDE * self.side_mm
    }
}
