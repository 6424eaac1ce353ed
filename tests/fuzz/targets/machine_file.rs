//! libFuzzer's entry to [`fuzz::properties::machine_file`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::properties::machine_file(data));
