//! The table of operations.

use super::evaluate::Row;
use super::header::{Header, Order};
use super::{arithmetic, bootstrap, linear, polynomial};
use std::collections::BTreeSet;

/// All operations.
pub(super) const ROWS: [&Row; 7] = [
    &arithmetic::FLATTEN,
    &arithmetic::QUAD,
    &arithmetic::ADD,
    &arithmetic::MULT,
    &linear::LINEAR_TRANSFORM,
    &polynomial::POLYNOMIAL,
    &bootstrap::BOOTSTRAP,
];

fn find(name: &str) -> Option<&'static Row> {
    ROWS.into_iter().find(|row| row.name == name)
}

/// Whether a layer bootstraps.
pub(super) fn bootstraps(header: &Header<'_>) -> bool {
    header.nodes().iter().any(|node| find(&node.op).is_some_and(|row| row.bootstraps))
}

/// The number of ciphertexts of the input: what the first layer takes that says so, 1 without one.
pub(super) fn inputs(header: &Header<'_>, order: &Order) -> usize {
    // The layers whose results have as many ciphertexts as the input.
    let mut before = BTreeSet::new();
    for (index, operands) in &order.layers {
        if *index != order.input && !operands.iter().any(|operand| before.contains(operand)) {
            continue;
        }
        let node = &header.nodes()[*index];
        if let Some(width) = find(&node.op).and_then(|row| row.width) {
            return width(node);
        }
        before.insert(*index);
    }
    1
}
