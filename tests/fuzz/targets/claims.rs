//! libFuzzer's entry to [`fuzz::properties::claims`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::properties::claims(data));
