//! libFuzzer's entry to [`fuzz::machine`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::machine(data));
