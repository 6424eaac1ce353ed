//! `dc`: digit after digit.

use super::Dataflow;
use crate::switch::Switch;
use std::num::NonZeroUsize;

/// CiFlow's order by digits: the sums of all towers stay, and each digit is used up before the next.
pub(super) const DIGIT_CENTRIC: Dataflow = Dataflow {
    name: "dc",
    definition: "each digit in all towers, then the next digit: CiFlow's digit centric",
    has_tiles: false,
    recomputes: false,
    run,
};

fn run(switch: &mut Switch<'_>, _tile: Option<NonZeroUsize>) {
    accumulate(switch);
    divide(switch);
}

/// The sums of all digits, in all towers.
pub(crate) fn accumulate(switch: &mut Switch<'_>) {
    let base = switch.base().clone();
    for digit in base.digits() {
        base.own(digit).into_iter().for_each(|tower| switch.scale(tower));
        for tower in base.all() {
            switch.raise(digit, tower);
            switch.multiply_and_add(digit, tower);
        }
    }
}

/// The division of all sums.
pub(crate) fn divide(switch: &mut Switch<'_>) {
    let (targets, divisors) = (switch.targets(), switch.divisors());
    for sum in switch.sums() {
        divisors.iter().for_each(|&tower| switch.lower(sum, tower));
        for &tower in &targets {
            switch.convert_remainder(sum, &[tower]);
            switch.transform_remainder(sum, tower);
            switch.divide(sum, tower);
        }
    }
}
