//! libFuzzer's entry to [`fuzz::properties::words`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::properties::words(data));
