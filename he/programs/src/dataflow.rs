//! Dataflows: orders of a key switch.

pub(crate) mod dc;
mod mp;
mod oc;
mod ocs;
mod oct;

use crate::switch::Switch;
use std::num::NonZeroUsize;

/// An order of a key switch.
#[derive(Clone, Copy)]
pub struct Dataflow {
    /// The name on the command line.
    pub name: &'static str,
    /// The order in one line.
    pub definition: &'static str,
    /// Whether the dataflow works in tiles of several output limbs.
    pub has_tiles: bool,
    /// Whether an input that is a product is recomputed at each use. Otherwise it is computed once and kept.
    recomputes: bool,
    /// Runs all pieces of a switch, with tiles of a given number of limbs.
    run: fn(&mut Switch<'_>, Option<NonZeroUsize>),
}

/// All dataflows.
pub const DATAFLOWS: &[Dataflow] =
    &[mp::MAX_PARALLEL, dc::DIGIT_CENTRIC, oc::OUTPUT_CENTRIC, oct::OUTPUT_TILES, ocs::OUTPUT_SLICES];

impl Dataflow {
    /// Runs all pieces of a switch. `tile` is the number of output limbs of a tile.
    pub(crate) fn run(&self, switch: &mut Switch<'_>, tile: Option<NonZeroUsize>) {
        if !self.recomputes {
            switch.compute_polynomials();
        }
        (self.run)(switch, tile);
    }
}

/// The dataflow with this name.
pub fn find_dataflow(name: &str) -> Option<Dataflow> {
    DATAFLOWS.iter().copied().find(|dataflow| dataflow.name == name)
}

impl Default for Dataflow {
    /// One output limb at a time.
    fn default() -> Self {
        oc::OUTPUT_CENTRIC
    }
}

impl std::fmt::Debug for Dataflow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}
