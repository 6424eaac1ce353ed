//! How large launches may be.

use crate::mapping::Batch;
use sim::Machine;

/// The largest groups.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Inputs and outputs.
    pub operands: usize,
    /// Steps.
    pub steps: usize,
    /// Limbs of a launch of transforms or automorphisms, each in its ring.
    pub rings: usize,
    /// Nodes that are brought into stages together. More find more common work, and keep more limbs
    /// alive.
    pub window: usize,
    /// Nodes since a group has grown, after which it no longer grows.
    pub reach: usize,
    /// Whether nodes join groups that have nothing to do with them, to save launches.
    pub unrelated: bool,
    /// Whether scalar factors of products in sums are constants of the kernel's table.
    pub constants: bool,
}

impl Limits {
    /// The limits for polynomials of degree `n` on a machine.
    ///
    /// A short transform leaves the pipes idle, so several limbs share a launch. A larger window saves launches, and so do
    /// larger groups, but each of them waits for more transfers; limbs of one vector need most of all a full launch. Of more
    /// operands than a quarter of the VDM holds, a kernel has shorter slices, and more runs. The
    /// window does not depend on the VDM, so a larger VDM seldom costs time. Long limbs gain nothing from stages, and keep
    /// the order of the program.
    pub fn for_degree(n: u64, machine: &Machine) -> Self {
        let vectors = (n / u64::from(machine.isa.vector_length)).max(1);
        let limbs = u64::from(machine.vdm_words()) / n;
        let constants = vectors >= VECTORS_PER_CONSTANT;
        if vectors >= SHORT_VECTORS {
            let operands = Self::REGISTERS;
            return Self {
                operands,
                steps: 512,
                rings: 1,
                window: 1,
                reach: REACH,
                unrelated: false,
                constants,
            };
        }
        let lines = (WINDOW_VECTORS / vectors) as usize;
        let window = if vectors == 1 { 2 * lines } else { lines };
        Self {
            operands: (limbs / 4).max(limbs.min(32)).clamp(3, Self::REGISTERS as u64) as usize,
            steps: lines.min(128),
            rings: (BATCH_VECTORS / vectors).min(limbs / 8).clamp(1, 16) as usize,
            window,
            reach: window,
            unrelated: true,
            constants,
        }
    }

    /// The limits of smaller launches.
    pub(crate) fn for_batch(self, batch: Batch) -> Self {
        let part = |limit: usize, least: usize| (limit / batch.divisor()).max(least);
        Self { operands: part(self.operands, 3), rings: part(self.rings, 1), ..self }
    }

    /// As many operands, moduli and scalars as the register files hold, with two address registers
    /// for the table and the spilled vectors.
    pub(super) const REGISTERS: usize = 62;
}

/// The lines after which a group of long limbs no longer grows. Neighbours may change places, but the order of the program
/// decides how many limbs are alive.
const REACH: usize = 4;

/// The vectors of a limb from which on it is long.
const SHORT_VECTORS: u64 = 16;

/// The vectors of the results of a window's lines.
const WINDOW_VECTORS: u64 = 256;

/// The vectors of all limbs of a launch of transforms that keep the pipes busy.
const BATCH_VECTORS: u64 = 32;

/// The vectors of a limb from which on a load of a constant saves more than it costs.
const VECTORS_PER_CONSTANT: u64 = 4;
