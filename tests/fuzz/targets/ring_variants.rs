//! libFuzzer's entry to [`fuzz::properties::ring_variants`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::properties::ring_variants(data));
