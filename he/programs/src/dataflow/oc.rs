//! `oc`: output limb after output limb.

use super::{Dataflow, oct};
use crate::switch::Switch;
use std::num::NonZeroUsize;

/// CiFlow's order by outputs: the input's coefficients stay, and each output limb is finished before the
/// next.
pub(super) const OUTPUT_CENTRIC: Dataflow = Dataflow {
    name: "oc",
    definition: "each output limb, the special ones first: CiFlow's output centric",
    has_tiles: false,
    recomputes: true,
    run,
};

fn run(switch: &mut Switch<'_>, _tile: Option<NonZeroUsize>) {
    oct::run_tiles(switch, NonZeroUsize::MIN);
}
