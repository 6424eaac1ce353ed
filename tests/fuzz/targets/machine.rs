//! libFuzzer's entry to [`fuzz::properties::machine`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::properties::machine(data));
