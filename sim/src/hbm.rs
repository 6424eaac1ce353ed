//! The off-chip memory: its bandwidth, its size, and what a run of a program transfers.

use crate::machine::{Hbm, at_least};
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

    /// The stacks that the bandwidth takes.
    pub(crate) fn stacks_of_bandwidth(&self) -> u32 {
        (self.gb_per_s / self.stack_gb_per_s).ceil() as u32
    }

    /// The stacks of the memory.
    pub fn all_stacks(&self) -> u32 {
        if self.stacks > 0 { self.stacks } else { self.stacks_of_bandwidth() }
    }

    /// The stacks of the memory over the RPUs that share it: a part of one RPU.
    pub fn stacks(&self) -> f64 {
        f64::from(self.all_stacks()) / f64::from(self.shared_by)
    }

    /// The size of all stacks, in MiB.
    pub fn stacks_mib(&self) -> u64 {
        u64::from(self.all_stacks()) * u64::from(self.stack_mib)
    }

    /// The bytes of one RPU's memory.
    pub fn capacity_bytes(&self) -> u64 {
        let size_mib = if self.size_mib > 0 { self.size_mib.into() } else { self.stacks_mib() };
        size_mib.saturating_mul(1 << 20) / u64::from(self.shared_by)
    }

    /// Checks that the memory holds `needed` bytes.
    ///
    /// # Errors
    /// Returns an error if it is smaller.
    pub fn check_fits(&self, needed: u64) -> Result<(), BeyondHbm> {
        let capacity = self.capacity_bytes();
        if needed <= capacity {
            return Ok(());
        }
        let size_mib = needed.saturating_mul(self.shared_by.into()).div_ceil(1 << 20);
        let stacks = (size_mib > self.stacks_mib()).then(|| size_mib.div_ceil(self.stack_mib.into()));
        Err(BeyondHbm { needed, capacity, stacks, size_mib: (self.size_mib > 0).then_some(size_mib) })
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
     {}", larger(*stacks, *size_mib)
)]
pub struct BeyondHbm {
    /// The bytes that the data need.
    pub needed: u64,
    /// The bytes of the memory that the RPU has.
    pub capacity: u64,
    /// The least number of stacks that suffices, if there are fewer.
    pub stacks: Option<u64>,
    /// The least size in MiB that suffices, if a smaller one is set.
    pub size_mib: Option<u64>,
}

/// The settings that make the memory large enough: a size beyond that of its stacks is none.
fn larger(stacks: Option<u64>, size_mib: Option<u64>) -> String {
    let values = [("hbm.stacks", stacks), ("hbm.size_mib", size_mib)];
    at_least(&values.into_iter().filter_map(|(key, value)| Some((key, value?))).collect::<Vec<_>>())
}
