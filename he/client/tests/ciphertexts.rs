//! Computed ciphertexts decrypt to what was computed.

use client::ckks::{correct_bits, decode, encode};
use client::scenario;
use num_bigint::BigInt;
use num_complex::Complex64;
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

#[test]
fn slots_multiply_as_polynomials_do_and_rotate_with_the_fifth_power() {
    let slots: Vec<Complex64> = (0..8).map(|j| Complex64::new(f64::from(j) / 8.0, -0.5)).collect();
    let n = 16_usize;
    let coefficients = encode(&slots, 1e9);
    let (mut square, mut rotated) = (vec![0_i128; n], vec![BigInt::ZERO; n]);
    for (i, &a) in coefficients.iter().enumerate() {
        for (j, &b) in coefficients.iter().enumerate() {
            square[(i + j) % n] += if i + j < n { a * b } else { -a * b };
        }
        let place = 5 * i % (2 * n);
        rotated[place % n] = BigInt::from(if place < n { a } else { -a });
    }
    let square: Vec<BigInt> = square.into_iter().map(BigInt::from).collect();
    let expected: Vec<Complex64> = slots.iter().map(|slot| slot * slot).collect();
    assert!(correct_bits(&decode(&square, 1e18), &expected) > 26.0);
    let expected: Vec<Complex64> = (0..8).map(|j| slots[(j + 1) % 8]).collect();
    assert!(correct_bits(&decode(&rotated, 1e9), &expected) > 26.0);
}
