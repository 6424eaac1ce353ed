//! libFuzzer's entry to [`fuzz::assembler`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::assembler(data));
