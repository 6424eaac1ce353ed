//! How large launches may be.

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
    /// Whether the first launch of a transform or an automorphism has one limb at most, and each other twice as many as the one
    /// before.
    pub ramp: bool,
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
    /// One launch for each line.
    pub const LINES: Self = Self {
        operands: 3,
        steps: 1,
        rings: 1,
        ramp: false,
        window: 1,
        reach: 0,
        unrelated: false,
        constants: false,
    };

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
                ramp: false,
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
            ramp: false,
            window,
            reach: window,
            unrelated: true,
            constants,
        }
    }

    /// Limits of finer launches, to choose among by the time of the program.
    pub fn finer(self) -> Vec<Self> {
        if !self.unrelated {
            return FINER_GROUPS.map(|operands| Self { operands, reach: 4 * operands, ..self }).into();
        }
        let operands = self.operands.min(FINER_OPERANDS);
        let halved =
            (0..=MOST_HALVINGS).map(|halvings| Self { rings: self.rings >> halvings, operands, ..self });
        let halved = halved.filter(|&finer| finer.rings > 0 && finer != self);
        let ramp = (self.rings > 1).then_some(Self { ramp: true, operands, ..self });
        halved.chain(ramp).collect()
    }

    /// The most limbs of a launch of an operation, by its place among these launches: 1 is the first.
    pub(super) fn rings_of(self, place: u32) -> usize {
        let ramp = 1_usize.checked_shl(place.saturating_sub(1)).unwrap_or(usize::MAX);
        if self.ramp { self.rings.min(ramp) } else { self.rings }
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

/// The operands of a group of finer launches of short limbs.
const FINER_OPERANDS: usize = 32;

/// The operands of a group of finer launches of long limbs. A quarter of the reach: the fewer operands, the sooner a group begins.
const FINER_GROUPS: [usize; 2] = [16, 8];

/// The halvings of the limbs of a launch of transforms in finer launches.
const MOST_HALVINGS: u32 = 3;

/// The vectors of a limb from which on a load of a constant saves more than it costs.
const VECTORS_PER_CONSTANT: u64 = 4;
