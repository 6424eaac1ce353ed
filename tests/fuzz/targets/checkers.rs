//! libFuzzer's entry to [`fuzz::properties::checkers`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::properties::checkers(data));
