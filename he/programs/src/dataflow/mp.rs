//! `mp`: stage after stage.

use super::Dataflow;
use crate::base::{Digit, Tower};
use crate::switch::Switch;
use std::num::NonZeroUsize;

/// CiFlow's order with the most parallel work: each stage is complete before the next begins.
pub(super) const MAX_PARALLEL: Dataflow = Dataflow {
    name: "mp",
    definition: "each stage for all limbs, then the next stage: CiFlow's max parallel",
    has_tiles: false,
    recomputes: false,
    run,
};

fn run(switch: &mut Switch<'_>, _tile: Option<NonZeroUsize>) {
    let base = switch.base().clone();
    let (digits, sums): (Vec<_>, _) = (base.digits(), switch.sums());
    let (all, targets, divisors) = (base.all(), switch.targets(), switch.divisors());
    base.q().into_iter().for_each(|tower| switch.scale(tower));
    let raised: Vec<(Digit, Tower)> =
        pairs(&digits, &all).filter(|&(digit, tower)| !base.owns(digit, tower)).collect();
    raised.iter().for_each(|&(digit, tower)| switch.convert(digit, &[tower]));
    raised.iter().for_each(|&(digit, tower)| switch.transform(digit, tower));
    pairs(&digits, &all).for_each(|(digit, tower)| switch.multiply(digit, tower));
    pairs(&all, &digits).for_each(|(tower, digit)| switch.add_products(digit, tower));
    pairs(&sums, &divisors).for_each(|(sum, tower)| switch.lower(sum, tower));
    pairs(&sums, &targets).for_each(|(sum, tower)| switch.convert_remainder(sum, &[tower]));
    pairs(&sums, &targets).for_each(|(sum, tower)| switch.transform_remainder(sum, tower));
    pairs(&sums, &targets).for_each(|(sum, tower)| switch.divide(sum, tower));
}

/// All pairs; the second part varies faster.
fn pairs<A: Copy, B: Copy>(first: &[A], second: &[B]) -> impl Iterator<Item = (A, B)> {
    first.iter().flat_map(move |&a| second.iter().map(move |&b| (a, b)))
}
