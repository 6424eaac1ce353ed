//! libFuzzer's entry to [`fuzz::properties::table`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::properties::table(data));
