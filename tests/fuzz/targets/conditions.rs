//! libFuzzer's entry to [`fuzz::properties::conditions`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::properties::conditions(data));
