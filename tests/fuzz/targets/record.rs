//! libFuzzer's entry to [`fuzz::properties::record`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::properties::record(data));
