//! `docs/isa.md` is what the ISA table says.

use std::path::Path;

#[test]
fn the_committed_reference_is_fresh() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/isa.md");
    let page = b512_asm::reference();
    if std::env::var_os("BLESS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &page).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == page, "docs/isa.md is stale: run this test with BLESS=1");
}
