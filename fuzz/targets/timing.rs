//! libFuzzer's entry to [`fuzz::timing`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::timing(data));
