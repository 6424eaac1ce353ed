//! The table of all operations.

use super::evaluate::Row;
use super::text::Known;
use super::{arith, ckks, kernel, lwe, preprocessing, scf, tensor};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// All operations.
pub(super) static ROWS: LazyLock<Vec<&'static Row>> = LazyLock::new(|| {
    let dialects = [
        arith::OPERATIONS,
        ckks::OPERATIONS,
        kernel::OPERATIONS,
        lwe::OPERATIONS,
        preprocessing::OPERATIONS,
        scf::OPERATIONS,
        tensor::OPERATIONS,
    ];
    dialects.into_iter().flatten().collect()
});

static PLACES: LazyLock<BTreeMap<&'static str, usize>> =
    LazyLock::new(|| ROWS.iter().enumerate().map(|(index, row)| (row.name, index)).collect());

/// What is known of the operation with a name.
pub(super) fn find(name: &str) -> Option<Known> {
    let index = *PLACES.get(name)?;
    Some(Known { index, is_pure: ROWS[index].is_pure })
}
