//! The features: variations of the kernels that a recipe may ask for.

use super::{Recipe, Strategy};

/// A variation of a recipe's kernels.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Feature {
    /// The blocks of a pass may start, and wait, before the preceding pass has finished.
    Overlap,
    /// A thread loads its roots before it waits. This shortens a single transform and costs a batch
    /// registers.
    EarlyRoots,
    /// The last of several passes lets the next kernel start before it waits itself. In a row of small
    /// transforms the launch of a kernel takes longer than the kernel before; blocks of large ones would wait
    /// where others should run.
    EarlyStart,
    /// [`Strategy::Best`] with two passes of as many threads each, the second with as many blocks or a
    /// multiple: both passes, or all of a product, are one kernel. Its blocks wait for each other, and a few
    /// polynomials at a time are between two passes, in the L2 cache.
    Chained,
    /// Every pass but the first goes through the polynomials and limbs of a batch backwards, so that
    /// it finds in the L2 cache what the pass before has written last.
    Alternating,
    /// [`Strategy::Best`] in 32-bit words at N = 2^15 and 2^16: a transform is one kernel, whose blocks, or
    /// clusters of two, cross memory once, with the next polynomial on its way while they compute one.
    /// Products use the passes. A plan for a device without clusters does without.
    Once,
    /// [`Strategy::Best`] with moduli of 126 bits in 128-bit words: quotients come from 13 of 16
    /// partial products. All roots modulo q allow that for q up to 2^126 - 2^95, and above all but
    /// one in 2^31. A plan with one of these does without.
    ShortQuotients,
}

impl Feature {
    /// The macro that selects the feature in `cuda`. Overlap is a matter of the launch.
    pub(crate) fn definition(self) -> Option<&'static str> {
        match self {
            Self::Overlap => None,
            Self::EarlyRoots => Some("EARLY_ROOTS"),
            Self::EarlyStart => Some("EARLY_START"),
            Self::Chained => Some("CHAINED"),
            Self::Alternating => Some("ALTERNATING"),
            Self::Once => Some("ONCE"),
            Self::ShortQuotients => Some("SHORT_QUOTIENTS"),
        }
    }

    /// Returns true if the kernels of a recipe's strategy have the feature, for its words, moduli and N.
    pub(super) fn suits(self, recipe: &Recipe) -> bool {
        let Recipe { strategy, word_bits, log_n, modulus_bits, .. } = *recipe;
        match self {
            Self::Overlap | Self::EarlyRoots | Self::EarlyStart | Self::Alternating => !strategy.resident(),
            Self::Chained => strategy == Strategy::Best && recipe.can_chain(),
            Self::Once => matches!((strategy, word_bits, log_n), (Strategy::Best, 32, 15 | 16)),
            Self::ShortQuotients => (strategy, word_bits, modulus_bits) == (Strategy::Best, 128, 126),
        }
    }
}
