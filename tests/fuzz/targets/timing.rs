//! libFuzzer's entry to [`fuzz::properties::timing`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::properties::timing(data));
