//! libFuzzer's entry to [`fuzz::properties::sweep_manifest`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::properties::sweep_manifest(data));
