//! Files generated from the key table.

use std::path::Path;

#[test]
fn the_reference_of_the_keys_is_fresh() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/machine.md");
    diagnostic::snapshot::fresh(path, sim::machine::reference());
}

#[test]
fn the_costs_of_the_keys_are_fresh() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/costs.md");
    diagnostic::snapshot::fresh(path, sim::machine::costs());
}

#[test]
fn the_papers_machine_is_fresh() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../configs/machines/rpu-128x128.toml");
    diagnostic::snapshot::fresh(path, sim::machine::machine_file());
}
