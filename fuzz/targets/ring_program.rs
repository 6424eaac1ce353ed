//! libFuzzer's entry to [`fuzz::ring_program`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::ring_program(data));
