//! libFuzzer's entry to [`fuzz::properties::plan`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::properties::plan(data));
