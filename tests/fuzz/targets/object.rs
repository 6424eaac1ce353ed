//! libFuzzer's entry to [`fuzz::properties::object`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::properties::object(data));
