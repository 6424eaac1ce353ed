//! libFuzzer's entry to [`fuzz::properties::calls`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::properties::calls(data));
