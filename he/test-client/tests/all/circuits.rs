//! Circuits of a user's own on data: encrypted, executed on big integers, decrypted.

use num_complex::Complex64;
use programs::{BootstrapOptions, Circuit, Diagonals, Generated, Hoisting, ParameterSet};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use ring_program::execute;
use test_client::ckks::{correct_bits, decode, repeated};
use test_client::{Ciphertext, Client};

const N: u64 = 512;

fn set(name: &str) -> ParameterSet {
    ParameterSet::built_in(name, Some(N)).unwrap().unwrap()
}

fn random(seed: u64) -> Vec<Complex64> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    (0..N / 2)
        .map(|_| Complex64::new(random.random_range(-1.0..1.0), random.random_range(-1.0..1.0)))
        .collect()
}

/// The slots of the output `y` for slots of the inputs.
fn run(set: &ParameterSet, generated: &Generated, given: &[(&str, &[Complex64])]) -> Vec<Complex64> {
    let mut client = Client::new(set.clone(), 1).unwrap();
    let is_input = |name: &str| generated.inputs.iter().any(|input| input.name == format!("{name}.0"));
    let ciphertexts: Vec<(&str, Ciphertext)> = given
        .iter()
        .filter(|(name, _)| is_input(name))
        .map(|(name, slots)| (*name, client.encrypt_input(generated, name, slots)))
        .collect();
    let ciphertexts: Vec<_> = ciphertexts.iter().map(|(name, ciphertext)| (*name, ciphertext)).collect();
    let mut inputs = client.inputs(generated, &ciphertexts).unwrap();
    for (name, slots) in given.iter().filter(|(name, _)| !is_input(name)) {
        inputs.set(name, client.encode_input(generated, name, slots)).unwrap();
    }
    let outputs: [_; 2] = execute(&inputs).unwrap().try_into().unwrap();
    decode(&client.phase(&outputs), generated.scales["y"].to_f64())
}

#[test]
fn sums_products_and_rotations_are_those_of_slots() {
    let set = set("lattigo-n16qp1546");
    let mut c = Circuit::new("mixed", &set);
    let x = c.input("x").unwrap();
    let w = c.factor("w", &x, None);
    let product = c.multiply_plaintext(&x, &w).unwrap();
    let y = c.rescale(&product).unwrap();
    let rotated = c.rotations(&y, &[0, 3, -2]).unwrap();
    let sum = c.add(&rotated[1], &rotated[2]).unwrap();
    let sum = c.subtract(&sum, &rotated[0]).unwrap();
    let conjugate = c.conjugate(&sum);
    let square = c.product(&sum, &conjugate).unwrap();
    // The operand of a higher level takes the scale.
    let result = c.add(&square, &x).unwrap();
    let result = c.add_real(&result, 0.25);
    c.output("y", &result).unwrap();
    let (x, w) = (random(1), random(2));
    let found = run(&set, &c.finish(), &[("x", &x), ("w", &w)]);
    let half = x.len();
    let expected: Vec<Complex64> = (0..half)
        .map(|k| {
            let y = |k: usize| x[k % half] * w[k % half];
            let sum = y(k + 3) + y(k + half - 2) - y(k);
            sum * sum.conj() + x[k] + 0.25
        })
        .collect();
    // Of a scale of 40 bits, a key switch leaves about 26.
    assert!(correct_bits(&found, &expected) > 22.0, "{}", correct_bits(&found, &expected));
}

#[test]
fn linear_transforms_and_polynomials_are_those_of_slots() {
    let set = set("lattigo-n16qp1546");
    let matrix: Vec<Vec<Complex64>> = (0..16).map(|row| random(10 + row)[..16].to_vec()).collect();
    let diagonals: Diagonals =
        (0..16).map(|d| (d, (0..16).map(|k| matrix[k][(k + d as usize) % 16] / 8.0).collect())).collect();
    let coefficients = [0.25, -0.5, 0.0, 0.125, 0.0625, 0.0, 0.0, 0.3];
    for hoisting in [
        Hoisting::Double,
        Hoisting::Single,
        Hoisting::None,
        Hoisting::Horner,
        Hoisting::MinKs,
        Hoisting::Compact,
    ] {
        let mut c = Circuit::new("transform", &set);
        let x = c.input("x").unwrap();
        let y = c.linear_transform("m", &x, &diagonals, hoisting).unwrap();
        let conjugate = c.conjugate(&y);
        let real = c.add(&y, &conjugate).unwrap();
        let y = c.chebyshev(&real, &coefficients).unwrap();
        assert_eq!(y.level(), x.level() - 4);
        c.output("y", &y).unwrap();
        let x = repeated(&random(3)[..16].iter().map(|x| x / 4.0).collect::<Vec<_>>(), N as usize / 2);
        let found = run(&set, &c.finish(), &[("x", &x)]);
        let expected: Vec<Complex64> = (0..x.len())
            .map(|k| {
                let sum: Complex64 = (0..16).map(|column| matrix[k % 16][column] / 8.0 * x[column]).sum();
                let t = 2.0 * sum.re;
                // T_i(t), one after the other.
                let (mut before, mut now, mut value) = (1.0, t, coefficients[0]);
                for coefficient in &coefficients[1..] {
                    value += coefficient * now;
                    (before, now) = (now, 2.0 * t * now - before);
                }
                value.into()
            })
            .collect();
        let bits = correct_bits(&found, &expected);
        assert!(bits > 20.0, "{hoisting:?}: {bits}");
    }
}

#[test]
fn a_circuit_goes_on_after_a_bootstrap() {
    let set = set("lattigo-n16qp1546");
    let mut c = Circuit::new("twice", &set);
    let x = c.input("x").unwrap();
    let square = c.product(&x, &x).unwrap();
    let fresh = c.bootstrap(&square, BootstrapOptions::default()).unwrap();
    let result = c.product(&fresh, &fresh).unwrap();
    c.output("y", &result).unwrap();
    let x = random(4);
    let found = run(&set, &c.finish(), &[("x", &x)]);
    let expected: Vec<Complex64> = x.iter().map(|x| x * x * x * x).collect();
    // 26.6 bits in the mean at n = 65,536; the worst slot of a small ring keeps fewer.
    assert!(correct_bits(&found, &expected) > 13.0, "{}", correct_bits(&found, &expected));
}
