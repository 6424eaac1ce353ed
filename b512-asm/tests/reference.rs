//! `docs/isa.md` matches the ISA table.

use std::path::Path;

#[test]
fn the_committed_reference_is_fresh() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/isa.md");
    bless::fresh(path, b512_asm::reference());
}
