//! `oct`: tile after tile of output limbs.

use super::Dataflow;
use crate::switch::Switch;
use std::num::NonZeroUsize;

/// The number of limbs of a tile, unless one is given.
const TILE: NonZeroUsize = NonZeroUsize::new(4).expect("not zero");

/// Ours: as `oc`, for several output limbs at a time. The sources of conversions are read once for a tile.
pub(super) const OUTPUT_TILES: Dataflow = Dataflow {
    name: "oct",
    definition: "as oc, with tiles of several output limbs: ours",
    has_tiles: true,
    recomputes: true,
    run,
};

fn run(switch: &mut Switch<'_>, tile: Option<NonZeroUsize>) {
    run_tiles(switch, tile.unwrap_or(TILE));
}

/// The key switch in tiles.
pub(super) fn run_tiles(switch: &mut Switch<'_>, tile: NonZeroUsize) {
    let base = switch.base().clone();
    let sums = switch.sums();
    base.q().into_iter().for_each(|tower| switch.scale(tower));
    for towers in switch.divisors().chunks(tile.get()) {
        accumulate(switch, towers);
        for &tower in towers {
            sums.iter().for_each(|&sum| switch.lower(sum, tower));
        }
    }
    for towers in switch.targets().chunks(tile.get()) {
        accumulate(switch, towers);
        for &sum in &sums {
            switch.convert_remainder(sum, towers);
            for &tower in towers {
                switch.transform_remainder(sum, tower);
                switch.divide(sum, tower);
            }
        }
    }
}

/// The sums of all digits in the towers of a tile that the sums have.
fn accumulate(switch: &mut Switch<'_>, towers: &[crate::base::Tower]) {
    let base = switch.base().clone();
    for digit in base.digits() {
        let others = towers.iter().copied().filter(|&tower| base.has(tower) && !base.owns(digit, tower));
        let others: Vec<_> = others.collect();
        switch.convert(digit, &others);
        for &tower in towers.iter().filter(|&&tower| base.has(tower)) {
            if others.contains(&tower) {
                switch.transform(digit, tower);
            }
            switch.multiply_and_add(digit, tower);
        }
    }
}
