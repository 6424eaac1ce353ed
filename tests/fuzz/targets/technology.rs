//! libFuzzer's entry to [`fuzz::properties::technology`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::properties::technology(data));
