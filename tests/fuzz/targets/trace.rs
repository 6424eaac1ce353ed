//! libFuzzer's entry to [`fuzz::properties::trace`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::properties::trace(data));
