//! Checks that the tables of `reports/gpu/README.md` match the files in its folder. `BLESS=1 cargo test -p
//! gpu-ablation --test reports` rewrites them.

use gpu_ablation::pages::{Spilling, pages, spilling};

#[test]
fn tables_are_what_the_files_say() {
    for (path, page) in pages().unwrap() {
        bless::fresh(path, page);
    }
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
