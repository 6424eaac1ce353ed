//! libFuzzer's entry to [`fuzz::properties::writers`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::properties::writers(data));
