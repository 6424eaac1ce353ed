//! libFuzzer's entry to [`fuzz::properties::ring_program`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::properties::ring_program(data));
