//! libFuzzer's entry to [`fuzz::properties::document`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::properties::document(data));
