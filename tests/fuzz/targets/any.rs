//! libFuzzer's entry to the target that `FUZZ_TARGET` names.

#![no_main]

use fuzz::{TARGETS, Target};
use std::sync::LazyLock;

/// Found once: libFuzzer has an input for it every few microseconds.
static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var("FUZZ_TARGET").unwrap_or_default();
    let found = TARGETS.into_iter().find(|target| target.name == name);
    let names = TARGETS.map(|target| target.name).join(", ");
    found.unwrap_or_else(|| panic!("`FUZZ_TARGET` is `{name}`: expected one of {names}"))
});

libfuzzer_sys::fuzz_target!(|data: &[u8]| (TARGET.property)(data));
