//! libFuzzer's entry to [`fuzz::properties::data`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::properties::data(data));
