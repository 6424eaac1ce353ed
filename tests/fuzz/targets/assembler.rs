//! libFuzzer's entry to [`fuzz::properties::assembler`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::properties::assembler(data));
