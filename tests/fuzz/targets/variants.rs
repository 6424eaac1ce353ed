//! libFuzzer's entry to [`fuzz::properties::variants`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::properties::variants(data));
