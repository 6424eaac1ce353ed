//! libFuzzer's entry to [`fuzz::properties::recipe`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::properties::recipe(data));
