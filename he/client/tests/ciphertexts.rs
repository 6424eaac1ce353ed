//! Computed ciphertexts decrypt to what was computed.

use client::{ckks::correct_bits, scenario};
use sim::Machine;

#[test]
fn ckks_keeps_25_bits_after_a_product() {
    let outcome = scenario::ckks(Machine::rpu_128x128()).unwrap();
    assert_eq!(outcome.merged[1].len(), 4096);
    for [found, expected] in [&outcome.rotated, &outcome.merged] {
        let bits = correct_bits(found, expected);
        assert!((25.0..40.0).contains(&bits), "{bits}");
    }
}

#[test]
fn bgv_is_exact() {
    let outcome = scenario::bgv(Machine::rpu_128x128()).unwrap();
    for [found, expected] in [&outcome.rotated, &outcome.merged] {
        assert_eq!(found.len(), 8192);
        assert!(found == expected);
    }
}
