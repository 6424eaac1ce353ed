//! libFuzzer's entry to [`fuzz::properties::journal`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::properties::journal(data));
