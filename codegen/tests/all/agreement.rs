//! The golden model, the executor and the host's transforms agree.

use b512_asm::Program;
use codegen::testing as support;
use num_bigint::BigUint;
use ring::Degree;
use ring::host::{Fast, Implementation, Ntt, Ntt64};
use ring::modular::Modulus;
use ring::prime::largest_prime;
use ring::root::smallest_root;
use sim::functional::Executor;

/// Runs `program` on `x`.
fn execute(executor: &mut Executor, program: &Program, x: &[u128]) -> Vec<u128> {
    executor.write("x", x).unwrap();
    let executed = executor.run().unwrap();
    assert_eq!(executed, program.instructions.len());
    executor.read("y").unwrap()
}

/// A pseudorandom sequence modulo `q`: powers of an odd multiplier modulo 2^128.
fn random(q: u128, n: usize) -> Vec<u128> {
    let next = |&state: &u128| Some(state.wrapping_mul(0xda94_2042_e4dd_58b5_9e37_79b9_7f4a_7c15));
    std::iter::successors(Some(q), next).map(|state| state.rotate_right(64) % q).take(n).collect()
}

fn inputs(q: u128, n: usize) -> Vec<(&'static str, Vec<u128>)> {
    let single = |index| (0..n).map(|i| if i == index { q - 1 } else { 0 }).collect();
    vec![
        ("random", random(q, n)),
        ("all q - 1", vec![q - 1; n]),
        ("only the first", single(0)),
        ("only the last", single(n - 1)),
        ("only one in the middle", single(n / 2 + 1)),
    ]
}

fn check_size(n: usize, bits: &[u32]) {
    for &bits in bits {
        let q = largest_prime(bits, Degree::try_from(n).unwrap()).unwrap();
        let root = smallest_root(q, Degree::try_from(n).unwrap()).unwrap();
        let ntt = Ntt::new(Modulus::new(q).unwrap(), n, root).unwrap();
        for function in [golden::NTT, golden::INTT] {
            let program = support::transform(function, n, q, root);
            let mut executor = Executor::new(support::vdm_words(n), 1);
            executor.load(&program).unwrap();
            for (name, x) in inputs(q, n) {
                let y = execute(&mut executor, &program, &x);
                let case = format!("{function} of {n} points, {bits} bits, {name}");
                assert_eq!(golden::compare(&program.claims[0], &[&x], &[&y]), Ok(()), "{case}");
                let mut host = x;
                if function == golden::NTT {
                    ntt.forward(&mut host);
                } else {
                    ntt.inverse(&mut host);
                }
                assert!(host == y, "the host differs: {case}");
            }
        }
    }
}

#[test]
fn transforms_of_1024_points_agree() {
    check_size(1024, &[20, 60, 121, 127, 128]);
}

#[test]
fn transforms_of_4096_points_agree() {
    check_size(4096, &[20, 60, 121, 127, 128]);
}

#[test]
fn transforms_of_16384_points_agree() {
    check_size(16384, &[20, 128]);
}

#[test]
fn transforms_of_65536_points_agree() {
    let n = 65536;
    for bits in [20, 60, 121, 127, 128] {
        let q = largest_prime(bits, Degree::try_from(n).unwrap()).unwrap();
        let root = smallest_root(q, Degree::try_from(n).unwrap()).unwrap();
        let ntt = Ntt::new(Modulus::new(q).unwrap(), n, root).unwrap();
        let forward = support::transform(golden::NTT, n, q, root);
        let inverse = support::transform(golden::INTT, n, q, root);
        let words = support::vdm_words(n);
        let (mut there, mut back) = (Executor::new(words, 1), Executor::new(words, 1));
        there.load(&forward).unwrap();
        back.load(&inverse).unwrap();
        for (name, x) in inputs(q, n) {
            let y = execute(&mut there, &forward, &x);
            let mut host = x.clone();
            ntt.forward(&mut host);
            assert!(host == y, "the host differs: {bits} bits, {name}");
            assert!(execute(&mut back, &inverse, &y) == x, "not undone: {bits} bits, {name}");
            ntt.inverse(&mut host);
            assert!(host == x, "not undone by the host: {bits} bits, {name}");
            if name == "random" {
                assert_eq!(golden::compare(&forward.claims[0], &[&x], &[&y]), Ok(()), "{bits} bits");
            }
        }
    }
}

/// A composite modulus with a suitable root has a transform, too.
#[test]
fn a_transform_modulo_a_product_of_primes_agrees() {
    let n = 1024;
    let p = largest_prime(60, Degree::try_from(n).unwrap()).unwrap();
    let r = largest_prime(61, Degree::try_from(n).unwrap()).unwrap();
    let q = p * r;
    // The root modulo q that reduces to the root of each prime.
    let roots = [p, r].map(|prime| smallest_root(prime, Degree::try_from(n).unwrap()).unwrap());
    let lift = |root: u128, other: u128, prime: u128| {
        let inverse = BigUint::from(other).modinv(&prime.into()).unwrap();
        BigUint::from(root) * other * inverse
    };
    let root = (lift(roots[0], r, p) + lift(roots[1], p, r)) % q;
    let root = u128::try_from(root).unwrap();
    let program = support::transform(golden::NTT, n, q, root);
    let mut executor = Executor::new(support::vdm_words(n), 1);
    executor.load(&program).unwrap();
    let x = random(q, n);
    let y = execute(&mut executor, &program, &x);
    assert_eq!(golden::NTT.result(&[&x], n, q, root).unwrap(), y);
}

#[test]
fn every_implementation_of_the_host_is_the_golden_model() {
    // The last step of these lengths has radix 2 or 4.
    for n in [2, 4, 8, 16, 32, 64, 512, 2048] {
        for bits in [20, 62, 64, 126, 127, 128] {
            let q = largest_prime(bits, Degree::try_from(n).unwrap()).unwrap();
            let root = smallest_root(q, Degree::try_from(n).unwrap()).unwrap();
            for (name, x) in inputs(q, n) {
                let expected = golden::NTT.result(&[&x], n, q, root).unwrap();
                let available = Implementation::ALL.into_iter().filter(|chosen| chosen.is_available(n, q));
                for implementation in available {
                    let mut y = x.clone();
                    Fast::with_implementation(implementation, n, q, root).unwrap().forward(&mut y);
                    assert!(y == expected, "{implementation}: {n} points, {bits} bits, {name}");
                }
                if bits <= 64 {
                    let mut y: Vec<u64> = x.iter().map(|&x| x as u64).collect();
                    Ntt64::new(n, q as u64, root as u64).unwrap().forward(&mut y);
                    let y: Vec<u128> = y.into_iter().map(u128::from).collect();
                    assert!(y == expected, "words of 64 bits: {n} points, {bits} bits, {name}");
                }
            }
        }
    }
}
