//! The off-chip memory: its bandwidth, its size, and what a run of a program transfers.

use crate::machine::Hbm;
use b512_asm::{Program, Role};
use serde::{Deserialize, Serialize};

/// The words that one run of a program transfers between off-chip memory and VDM or SDM.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Traffic {
    /// The words of the inputs, loaded before the run.
    pub inputs: u64,
    /// The words of the tables, loaded before the run.
    pub tables: u64,
    /// The words of the outputs, stored after the run.
    pub outputs: u64,
}

impl Traffic {
    /// The traffic of a program, derived from the roles of its symbols.
    pub fn of(program: &Program) -> Self {
        let words = |role| {
            let symbols = program.symbols.iter().filter(|symbol| symbol.role == role);
            symbols.map(|symbol| u64::from(symbol.words)).sum()
        };
        Self { inputs: words(Role::Input), tables: words(Role::Table), outputs: words(Role::Output) }
    }

    /// The total number of words.
    pub const fn total(&self) -> u64 {
        self.inputs + self.tables + self.outputs
    }
}

impl Hbm {
    /// The channel occupancy of a transfer of `bytes` bytes, in ns.
    pub fn occupancy_ns(&self, bytes: u64) -> f64 {
        bytes as f64 / self.sustained_gb_per_s()
    }

    /// The stacks of the memory over the RPUs that share it: a part of one RPU.
    pub fn stacks(&self) -> f64 {
        (self.gb_per_s / self.stack_gb_per_s).ceil() / f64::from(self.shared_by)
    }

    /// The bytes of one RPU's memory.
    pub fn capacity_bytes(&self) -> u64 {
        (u64::from(self.size_mib) << 20) / u64::from(self.shared_by)
    }

    /// Checks that the memory holds `needed` bytes.
    ///
    /// # Errors
    /// Returns an error if it is smaller.
    pub fn check_fits(&self, needed: u64) -> Result<(), BeyondHbm> {
        let capacity = self.capacity_bytes();
        let size_mib = needed.saturating_mul(self.shared_by.into()).div_ceil(1 << 20);
        if needed <= capacity { Ok(()) } else { Err(BeyondHbm { needed, capacity, size_mib }) }
    }

    /// The bandwidth that transfers of one RPU sustain, in 1e9 bytes a second.
    pub fn sustained_gb_per_s(&self) -> f64 {
        self.gb_per_s * self.efficiency / f64::from(self.shared_by)
    }
}

/// Data beyond the end of the off-chip memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "the data need {needed} bytes of off-chip memory, but the RPU has {capacity}; \
     set `hbm.size_mib` to {size_mib} or more"
)]
pub struct BeyondHbm {
    /// The bytes that the data need.
    pub needed: u64,
    /// The bytes of the memory that the RPU has.
    pub capacity: u64,
    /// The least size of the memory that suffices, in MiB.
    pub size_mib: u64,
}
