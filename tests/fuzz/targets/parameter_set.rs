//! libFuzzer's entry to [`fuzz::properties::parameter_set`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::properties::parameter_set(data));
