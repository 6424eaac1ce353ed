//! `ocs`: output limb after output limb, with conversions by slices.

use super::Dataflow;
use crate::base::Tower;
use crate::switch::Switch;
use std::num::NonZeroUsize;

/// Ours: conversions come first, each with all of its targets, so that a machine can work on a slice of
/// the coefficients at a time and reads every source once. Then output limb after output limb.
pub(super) const OUTPUT_SLICES: Dataflow = Dataflow {
    name: "ocs",
    definition: "each conversion with all targets, by slices; then as oc: ours",
    has_tiles: false,
    recomputes: true,
    run,
};

fn run(switch: &mut Switch<'_>, _tile: Option<NonZeroUsize>) {
    let base = switch.base().clone();
    let sums = switch.sums();
    for digit in base.digits() {
        base.own(digit).into_iter().for_each(|tower| switch.scale(tower));
        switch.convert(digit, &base.others(digit));
    }
    for tower in switch.divisors() {
        accumulate(switch, tower);
        sums.iter().for_each(|&sum| switch.lower(sum, tower));
    }
    let targets = switch.targets();
    sums.iter().for_each(|&sum| switch.convert_remainder(sum, &targets));
    for tower in targets {
        accumulate(switch, tower);
        for &sum in &sums {
            switch.transform_remainder(sum, tower);
            switch.divide(sum, tower);
        }
    }
}

/// The sums of all digits in a tower, if the sums have it.
fn accumulate(switch: &mut Switch<'_>, tower: Tower) {
    let base = switch.base().clone();
    for digit in base.digits().into_iter().filter(|_| base.has(tower)) {
        if !base.owns(digit, tower) {
            switch.transform(digit, tower);
        }
        switch.multiply_and_add(digit, tower);
    }
}
