//! libFuzzer's entry to [`fuzz::properties::sweep`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::properties::sweep(data));
