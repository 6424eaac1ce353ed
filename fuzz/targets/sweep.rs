//! libFuzzer's entry to [`fuzz::sweep`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::sweep(data));
