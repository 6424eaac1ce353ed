//! libFuzzer's entry to [`fuzz::properties::manifest`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::properties::manifest(data));
