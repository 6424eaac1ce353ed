//! How large launches may be. A limit in vectors counts one limb for each line.
//!
//! | limit | short limbs | long limbs |
//! |---|---|---|
//! | window, in lines | 256 vectors; 512 lines if a limb is one vector | 1 |
//! | operands of a group | a quarter of the VDM's limbs, from 32 to 62; at most all; a quarter of it in the smallest batch; at least 3 | 62, divided by the batch |
//! | moduli, and scalars in registers | 62 | 62 |
//! | lines of a group, multiply-adds included | 256 vectors, at most 128 lines | 512 |
//! | reach, in lines | the window | 4 |
//! | slices of an elementwise launch | 256 vectors, and a quarter of the VDM | a quarter of the VDM |
//! | transforms or automorphisms of a launch | 32 vectors, at most 16 and an eighth of the VDM's limbs, divided by the batch | 1 |

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
    /// A short transform leaves the pipes idle, so several limbs share a launch, fewer in a smaller batch. A
    /// larger window saves launches, and so do larger groups, but each of them waits for more transfers;
    /// limbs of one vector need most of all a full launch. Of more operands than a quarter of the VDM holds,
    /// a kernel has shorter slices, and more runs. The window does not depend on the VDM, so a larger VDM
    /// seldom costs time. Long limbs gain nothing from stages, and keep the order of the program; a smaller
    /// batch divides their operands.
    pub fn new(n: u64, machine: &Machine, batch: Batch) -> Self {
        let vectors = vectors(n, machine);
        let limbs = u64::from(machine.vdm_words()) / n;
        let constants = vectors >= VECTORS_PER_CONSTANT;
        if !is_short(n, machine) {
            return Self {
                operands: Self::REGISTERS / batch.divisor(),
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
        let operands = (limbs / 4).max(limbs.min(32)).clamp(3, Self::REGISTERS as u64) as usize;
        // Few lines wait for fewer transfers: `AUTO_MULTNR` in `reports/he/recordings.md`.
        let divisor = if batch == Batch::Eighth { 4 } else { 1 };
        let rings = (BATCH_VECTORS / vectors).min(limbs / 8).clamp(1, 16) as usize;
        Self {
            operands: (operands / divisor).max(3),
            steps: lines.min(128),
            rings: (rings / batch.divisor()).max(1),
            window,
            reach: window,
            unrelated: true,
            constants,
        }
    }

    /// As many operands, moduli and scalars as the register files hold, with two address registers
    /// for the table and the spilled vectors.
    pub(super) const REGISTERS: usize = 62;
}

/// The lines after which a group of long limbs no longer grows. Neighbours may change places, but the order
/// of the program decides how many limbs are alive.
const REACH: usize = 4;

/// Whether limbs of `n` words are short: have fewer than 16 vectors.
pub(crate) fn is_short(n: u64, machine: &Machine) -> bool {
    vectors(n, machine) < SHORT_VECTORS
}

/// The vectors of a limb of `n` words, at least one.
fn vectors(n: u64, machine: &Machine) -> u64 {
    (n / u64::from(machine.isa.vector_length)).max(1)
}

/// The vectors of a limb from which on it is long.
const SHORT_VECTORS: u64 = 16;

/// The vectors of the results of a window's lines.
const WINDOW_VECTORS: u64 = 256;

/// The vectors of all limbs of a launch of transforms that keep the pipes busy.
const BATCH_VECTORS: u64 = 32;

/// The vectors of a limb from which on a load of a constant saves more than it costs.
const VECTORS_PER_CONSTANT: u64 = 4;
