//! Computed ciphertexts decrypt to what was computed.

use num_bigint::BigInt;
use num_complex::Complex64;
use num_traits::ToPrimitive;
use programs::{Options, ParameterSet, find_program, generate};
use ring_program::{Inputs, execute};
use sim::Machine;
use test_client::ckks::{correct_bits, decode, encode};
use test_client::{Client, rotation_exponent, scenario};

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

/// The errors of a rotation of random ciphertexts, all from its key switch: log2 of the root of their mean
/// square.
fn measured_noise(set: &ParameterSet) -> f64 {
    const ROTATION: i64 = 1;
    let options = Options::of([("rotations", ROTATION.to_string())]);
    let program = generate(&find_program("hrot").unwrap(), set, &options).unwrap();
    let n = set.degree().len();
    let g = rotation_exponent(set.degree(), ROTATION) as usize;
    let mut squares = 0.0;
    // The error depends on the secret's partial sums, so a single secret says little.
    const SECRETS: u64 = 24;
    for seed in 0..SECRETS {
        let mut client = Client::new(set.clone(), seed).unwrap();
        let ciphertext = client.encrypt(&vec![0; n]);
        let key = client.rotation_key(ROTATION);
        let mut inputs = Inputs::new(&program);
        for (component, limbs) in ciphertext.iter().enumerate() {
            inputs.set(&format!("ct.{component}"), limbs.clone()).unwrap();
        }
        for (part, digits) in ["b", "a"].iter().zip(key) {
            for (digit, limbs) in digits.into_iter().enumerate() {
                inputs.set(&format!("evk.{part}.{digit}"), limbs).unwrap();
            }
        }
        let rotated: [_; 2] = execute(&inputs).unwrap().try_into().unwrap();
        let (before, after) = (client.phase(&ciphertext), client.phase(&rotated));
        for (i, x) in before.iter().enumerate() {
            let place = g * i % (2 * n);
            let moved = if place < n { x.clone() } else { -x };
            squares += (&after[place % n] - moved).to_f64().unwrap().powi(2);
        }
    }
    (squares / (SECRETS * n as u64) as f64).log2() / 2.0
}

#[test]
fn key_switches_have_the_noise_of_the_formula() {
    for (set, least) in [
        // Roundings: P is much larger than a digit.
        ("q = [{ bits = 45, count = 3 }]\np = [{ bits = 61, count = 1 }]\ndigits = 3", 3.0),
        ("q = [{ bits = 40, count = 4 }]\np = [{ bits = 40, count = 3 }]\ndigits = 4", 4.0),
        // Errors of the key: P is about as large as a digit.
        ("q = [{ bits = 50, count = 4 }]\np = [{ bits = 50, count = 2 }]\ndigits = 2", 6.0),
        ("q = [{ bits = 50, count = 4 }]\np = [{ bits = 50, count = 4 }]\ndigits = 1", 7.0),
        // Roots that are not the smallest ones.
        (
            "q = [\"0x1fffffffa401\", \"0x1fffffff9001\"]\np = [\"0x1fffffffffffd801\"]\ndigits = 2\n\
            roots = [\"0x39037dde753\", \"0x150145e52495\", \"0x9d1083313b3d56b\"]",
            3.0,
        ),
        (
            "q = [{ bits = 50, count = 4 }]\np = [{ bits = 50, count = 2 }]\ndigits = 2\nplaintext_modulus = 65537",
            22.0,
        ),
    ] {
        let text = format!("n = 512\n{set}\nsecurity = \"none\"\n");
        let set = ParameterSet::parse("set", "set.toml", &text, None).unwrap();
        let (formula, measured) = (set.parameters().key_switch_noise_bits, measured_noise(&set));
        assert!(
            (formula - measured).abs() < 0.3 && formula > least,
            "{formula} against {measured} bits: {text}"
        );
    }
}
