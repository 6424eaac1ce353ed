//! libFuzzer's entry to [`fuzz::properties::functional`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::properties::functional(data));
