//! libFuzzer's entry to [`fuzz::properties::http`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::properties::http(data));
