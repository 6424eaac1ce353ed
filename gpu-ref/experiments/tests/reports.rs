//! The page of the committed measurements.

use gpu_experiments::pages::{Spilling, page, spilling};

#[test]
fn the_tables_of_the_page_follow_from_the_measurements() {
    let (path, text) = page().unwrap();
    diagnostic::snapshot::fresh(path, text);
}

/// A kernel may spill only if that is faster than every neighbour that does not.
#[test]
fn kernels_that_spill_are_the_fastest() {
    let all = spilling().unwrap();
    assert!(all.iter().filter(|block| block.spilled > 0).count() >= 4);
    for Spilling { options, us, spilled, other_us, other } in all {
        assert!(spilled == 0 || us < other_us, "{options}: {us} us with spills, {other_us} us with {other}");
    }
}
