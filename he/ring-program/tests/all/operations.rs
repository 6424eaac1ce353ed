//! Each operation against its definition, for moduli of 14 to 128 bits.

use ring::Modulus;
use ring_program::data::{Words, concat};
use ring_program::reduction::may_read_unreduced;
use ring_program::{ExecuteError, Inputs, Interface, RingProgram, execute, read};

const N: usize = 512;

/// Primes that are 1 mod 1024, of 14, 60, 100 and 128 bits.
fn moduli() -> Vec<u128> {
    let degree = ring::Degree::new(N as u64).unwrap();
    [14, 60, 100, 128].map(|bits| ring::prime::largest_prime(bits, degree).unwrap()).to_vec()
}

/// The program `lines` modulo `m[1]` = `q` and `m[2]` = 12289.
fn program(q: u128, lines: &str) -> RingProgram {
    let text = format!("modulus_count 3\nm[0] 0xFFFFFFFFFFFFFFFF\nm[1] {q}\nm[2] 12289\n{lines}\nhalt\n");
    read("", text.as_bytes(), Interface::Degree(N as u64)).unwrap_or_else(|errors| panic!("{errors}"))
}

/// The only output of the program, whose inputs are `id1` and perhaps `id2`.
fn run(q: u128, lines: &str, words: &[&[u128]]) -> Vec<u128> {
    let program = program(q, lines);
    let mut inputs = Inputs::new(&program);
    for (index, words) in words.iter().enumerate() {
        inputs.set(&format!("id{}", index + 1), [Words::from(*words)]).unwrap();
    }
    let outputs = execute(&inputs).unwrap();
    assert_eq!((outputs.len(), outputs[0].len()), (1, 1));
    concat(&outputs[0])
}

/// Residues of all sizes, the greatest among them.
fn residues(q: u128, seed: u128) -> Vec<u128> {
    let mut word = seed;
    let mut next = |i| {
        word = word.wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645).wrapping_add(3);
        if i % 7 == 0 { q - 1 - i as u128 } else { (word ^ word >> 64) % q }
    };
    (0..N).map(&mut next).collect()
}

fn zip(a: &[u128], b: &[u128], f: impl Fn(u128, u128) -> u128) -> Vec<u128> {
    a.iter().zip(b).map(|(&a, &b)| f(a, b)).collect()
}

/// The product in Z_q\[X\]/(X^n + 1), term by term.
fn polynomial_product(q: &Modulus, a: &[u128], b: &[u128]) -> Vec<u128> {
    let mut product = vec![0; N];
    for (i, &a) in a.iter().enumerate() {
        for (j, &b) in b.iter().enumerate() {
            let (index, term) = ((i + j) % N, q.mul(a, b));
            product[index] =
                if i + j < N { q.add(product[index], term) } else { q.sub(product[index], term) };
        }
    }
    product
}

/// The value of a polynomial, by Horner's rule.
fn value(q: &Modulus, polynomial: &[u128], x: u128) -> u128 {
    polynomial.iter().rev().fold(0, |value, &coefficient| q.add(q.mul(value, x), coefficient))
}

fn bit_reverse(index: usize) -> usize {
    index.reverse_bits() >> (usize::BITS - N.ilog2())
}

fn each_modulus(test: impl Fn(&Modulus, &[u128], &[u128])) {
    for q in moduli() {
        test(&Modulus::new(q).unwrap(), &residues(q, 1), &residues(q, 2));
    }
}

#[test]
fn sums_differences_and_products_are_those_of_residues() {
    each_modulus(|q, a, b| {
        let run = |lines: &str| run(q.value(), lines, &[a, b]);
        assert_eq!(run("sr_addp %3, %1, %2, m=1"), zip(a, b, |a, b| q.add(a, b)));
        assert_eq!(run("sr_subp %3, %1, %2, m=1"), zip(a, b, |a, b| q.sub(a, b)));
        assert_eq!(run("sr_mulp %3, %1, %2, m=1"), zip(a, b, |a, b| q.mul(a, b)));
        assert_eq!(run("sr_mulp %1, %1, %2, m=1"), zip(a, b, |a, b| q.mul(a, b)));
        assert_eq!(run("sr_subp %2, %1, %2, m=1"), zip(a, b, |a, b| q.sub(a, b)));
    });
}

#[test]
fn scalars_are_reduced() {
    each_modulus(|q, a, _| {
        for scalar in [0, 1, 12345, q.value() - 1, q.value(), u128::MAX] {
            let s = vec![q.residue(scalar); N];
            let run = |opcode: &str| run(q.value(), &format!("{opcode} %3, %1, {scalar}, m=1"), &[a]);
            assert_eq!(run("sr_addps"), zip(a, &s, |a, s| q.add(a, s)));
            assert_eq!(run("sr_subps"), zip(a, &s, |a, s| q.sub(a, s)));
            if scalar != 0 {
                assert_eq!(run("sr_mulps"), zip(a, &s, |a, s| q.mul(a, s)));
            }
        }
    });
}

#[test]
fn negation_copy_and_zero_need_no_arithmetic() {
    each_modulus(|q, a, _| {
        let run = |lines: &str| run(q.value(), lines, &[a]);
        assert_eq!(run("sr_negp %3, %1, m=1"), zip(a, a, |a, _| q.neg(a)));
        assert_eq!(run("sr_addps %3, %1, 0, m=0"), a);
        assert_eq!(run("sr_mulps %3, %9, 0, m=1\nsr_addp %3, %3, %1, m=1"), a);
    });
}

#[test]
fn the_forward_transform_evaluates_at_odd_powers_of_the_root() {
    each_modulus(|q, a, _| {
        let degree = ring::Degree::new(N as u64).unwrap();
        let smallest = ring::root::smallest_root(q.value(), degree).unwrap();
        for (root, omega) in [(smallest, String::new()), (q.pow(smallest, 77), ", omega=".into())] {
            let omega = if omega.is_empty() { omega } else { format!("{omega}{root:#x}") };
            let transform = run(q.value(), &format!("sr_ntt %3, %1, m=1{omega}"), &[a]);
            let values: Vec<u128> =
                (0..N).map(|i| value(q, a, q.pow(root, 2 * bit_reverse(i) as u128 + 1))).collect();
            assert_eq!(transform, values);
            assert_eq!(run(q.value(), &format!("sr_intt %3, %1, m=1{omega}"), &[&values]), a);
        }
    });
}

#[test]
fn products_of_values_are_polynomial_products() {
    each_modulus(|q, a, b| {
        let lines = "sr_ntt %3, %1, m=1\nsr_ntt %4, %2, m=1\nsr_mulp %3, %3, %4, m=1\nsr_intt %3, %3, m=1";
        assert_eq!(run(q.value(), lines, &[a, b]), polynomial_product(q, a, b));
    });
}

#[test]
fn automorphisms_substitute_powers_of_x() {
    each_modulus(|q, a, _| {
        for k in [1, 3, 5, 511, 513, 1023] {
            // Term by term: a_i X^(k i), with X^n = -1.
            let mut image = vec![0; N];
            for (i, &a) in a.iter().enumerate() {
                image[k * i % N] = if (k * i / N).is_multiple_of(2) { a } else { q.neg(a) };
            }
            let on_coefficients = format!("sr_automorph_coeff %3, %1, k={k}, m=1");
            assert_eq!(run(q.value(), &on_coefficients, &[a]), image);
            for tail in ["m=0".to_owned(), "m=1, mask=511, logn=9".to_owned()] {
                let on_values = format!(
                    "sr_ntt %3, %1, m=1\nsr_automorph_eval %3, %3, k={k}, {tail}\nsr_intt %3, %3, m=1"
                );
                assert_eq!(run(q.value(), &on_values, &[a]), image);
            }
        }
    });
}

#[test]
fn monomials_have_negative_exponents() {
    each_modulus(|q, a, _| {
        for offset in [0, 1, 170, 511] {
            let mut monomial = vec![0; N];
            // X^-offset = -X^(n - offset).
            match offset {
                0 => monomial[0] = 1,
                _ => monomial[N - offset] = q.value() - 1,
            }
            let lines = format!("sr_rot_automorph_coeff %3, %1, offset={offset}, m=1");
            assert_eq!(run(q.value(), &lines, &[a]), polynomial_product(q, a, &monomial));
        }
    });
}

#[test]
fn only_products_take_words_that_are_not_reduced() {
    let q = moduli()[1];
    let (modulus, small) = (Modulus::new(q).unwrap(), Modulus::new(12289).unwrap());
    let a = residues(q, 5);
    // A copy keeps the words, a multiplication by 1 reduces them.
    let switched = run(q, "sr_mulps %1, %1, 1, m=1\nsr_addps %3, %1, 0, m=0\nsr_mulps %3, %3, 1, m=2", &[&a]);
    assert_eq!(switched, zip(&a, &a, |a, _| small.residue(a)));
    let squared = run(q, "sr_mulps %1, %1, 2, m=1\nsr_mulp %3, %1, %1, m=2", &[&a]);
    assert_eq!(squared, zip(&a, &a, |a, _| small.pow(modulus.mul(a, 2), 2)));

    for line in [
        "sr_addp %3, %2, %1, m=2",
        "sr_subp %3, %2, %1, m=2",
        "sr_addps %3, %1, 0, m=2",
        "sr_subps %3, %1, 7, m=2",
        "sr_negp %3, %1, m=2",
        "sr_ntt %3, %1, m=2",
        "sr_intt %3, %1, m=2",
        "sr_automorph_coeff %3, %1, k=5, m=2",
        "sr_rot_automorph_coeff %3, %1, offset=5, m=2",
    ] {
        let program = program(q, &format!("sr_mulps %2, %9, 0, m=2\nsr_mulps %1, %1, 1, m=1\n{line}"));
        let mut inputs = Inputs::new(&program);
        inputs.set("id1", [Words::from(a.as_slice())]).unwrap();
        let error = execute(&inputs).unwrap_err();
        let ExecuteError::NotReduced { operation: 2, index: 0, word, modulus: 12289, .. } = error else {
            panic!("{line}: {error}")
        };
        assert_eq!(word, q - 1);
        assert!(error.to_string().starts_with("line 7: `sr_"), "{error}");
    }
}

/// Lines that do not depend on each other run in any order.
#[test]
fn the_error_is_that_of_the_first_line() {
    let q = moduli()[1];
    let failing = |lines: &str| {
        let program = program(q, lines);
        let mut inputs = Inputs::new(&program);
        for group in program.inputs() {
            inputs.set(&group.name, [Words::from([q - 1; N].as_slice())]).unwrap();
        }
        let Err(ExecuteError::NotReduced { operation, .. }) = execute(&inputs) else { panic!("{lines}") };
        operation
    };
    let independent = "sr_negp %3, %2, m=1\nsr_negp %4, %2, m=2\nsr_negp %5, %2, m=2";
    assert_eq!(failing(independent), 1);
    // The error of a line that waits for another one comes first.
    assert_eq!(failing(&format!("sr_mulps %1, %1, 1, m=1\nsr_negp %6, %1, m=2\n{independent}")), 1);
}

#[test]
fn programs_that_may_read_words_that_are_not_reduced_are_known() {
    let may = |lines: &str| may_read_unreduced(&program(moduli()[1], lines));
    assert!(may("sr_mulps %2, %1, 3, m=1\nsr_negp %3, %2, m=2"));
    assert!(!may("sr_mulps %2, %1, 3, m=2\nsr_negp %3, %2, m=1"));
    assert!(!may("sr_mulps %2, %1, 3, m=1\nsr_negp %3, %2, m=1"));
    // A product takes any words.
    assert!(!may("sr_mulps %2, %1, 3, m=1\nsr_mulps %3, %2, 3, m=2"));
}

#[test]
fn runs_need_all_inputs() {
    let program = program(moduli()[1], "sr_negp %3, %1, m=1");
    let inputs = Inputs::new(&program);
    let error = execute(&inputs).unwrap_err();
    assert_eq!(error.to_string(), "the input `id1` is missing");
}
