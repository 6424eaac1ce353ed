//! Every operation of the registry, compared with its definition.

use crate::arithmetic::bit_reverse;
use crate::{ADD, ADDS, GoldenError, INTT, Kind, MULS, NEG, NTT, OPERATIONS, Operation, SUB, SUBS};
use crate::{compare, evaluate, find, for_each_operation, modulus};
use b512_asm::{Claim, Setting};
use num_bigint::BigUint;
use proptest::prelude::*;
use std::collections::HashSet;

/// Operands of a claim.
pub(crate) struct Case<'c> {
    pub(crate) claim: &'c Claim,
    inputs: &'c [&'c [u128]],
    pub(crate) n: usize,
}

impl<'c> Case<'c> {
    pub(crate) fn new(claim: &'c Claim, inputs: &'c [&'c [u128]]) -> Self {
        Self { claim, inputs, n: claim.number("n").unwrap() as usize }
    }

    pub(crate) fn q(&self) -> BigUint {
        self.claim.number("modulus").unwrap().into()
    }

    pub(crate) fn word(&self, operand: usize, i: usize) -> BigUint {
        self.inputs[operand][i].into()
    }

    pub(crate) fn setting(&self, name: &str) -> BigUint {
        self.claim.number(name).unwrap().into()
    }

    pub(crate) fn psi(&self, exponent: usize) -> BigUint {
        let root = BigUint::from(self.claim.number("root").unwrap());
        root.modpow(&(exponent % (2 * self.n)).into(), &self.q())
    }

    /// The exponent of psi at index `i` of a transform.
    pub(crate) fn odd(&self, i: usize) -> usize {
        2 * bit_reverse(i, self.n.ilog2()) + 1
    }

    /// The residues of `f(0)` to `f(n - 1)`.
    pub(crate) fn each(&self, f: impl Fn(usize) -> BigUint) -> Vec<u128> {
        (0..self.n).map(|i| u128::try_from(f(i) % self.q()).unwrap()).collect()
    }
}

/// An operation's claim in the ring of one of the [`PRIMES`].
fn example(operation: Operation, n: usize, prime: usize) -> Claim {
    let q = PRIMES[prime];
    let mut claim = operation.in_ring(n as u32, q, root(q, n));
    claim.settings.extend(operation.examples());
    claim
}

macro_rules! textbooks {
    ($(($module:ident, $CONSTANT:ident))*) => {
        &[$((crate::$CONSTANT, stringify!($module), crate::ops::$module::textbook)),*]
    };
}

/// The result of an operation by its definition, in the most direct way.
type Textbook = fn(&Case<'_>) -> Vec<u128>;

/// Each operation, the name of its file, and its definition.
const TEXTBOOKS: &[(Operation, &str, Textbook)] = for_each_operation!(textbooks);

/// Primes of 20, 64, 96 and 128 bits that are 1 mod 2^17.
const PRIMES: [u128; 4] = [
    786_433,
    0xffff_ffff_0000_0001,
    0xffff_ffff_ffff_ffff_ffa6_0001,
    0xffff_ffff_ffff_ffff_ffff_ffff_ff82_0001,
];

/// A primitive 2n-th root of unity.
fn root(q: u128, n: usize) -> u128 {
    let q = BigUint::from(q);
    let exponent = (&q - 1u32) / (2 * n);
    let roots = (2u32..).map(|g| BigUint::from(g).modpow(&exponent, &q));
    let is_primitive = |root: &BigUint| root.modpow(&n.into(), &q) == &q - 1u32;
    u128::try_from(roots.into_iter().find(is_primitive).unwrap()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn every_operation_is_its_definition(
        log2_n in 1u32..6, prime in 0..PRIMES.len(), words in proptest::collection::vec(any::<u128>(), 64 * 3)
    ) {
        let n = 1usize << log2_n;
        for (operation, _, textbook) in TEXTBOOKS {
            let claim = example(*operation, n, prime);
            let q = modulus(&claim).unwrap();
            let operands = words.chunks(n).take(claim.inputs.len());
            let operands: Vec<Vec<u128>> =
                operands.map(|words| words.iter().map(|word| word % q).collect()).collect();
            let inputs: Vec<&[u128]> = operands.iter().map(Vec::as_slice).collect();
            prop_assert_eq!(inputs.len(), claim.inputs.len());
            let found = evaluate(&claim, &inputs).unwrap();
            prop_assert_eq!(found.len(), claim.outputs.len());
            prop_assert_eq!(found.concat(), textbook(&Case::new(&claim, &inputs)), "{}", claim);
        }
    }
}

#[test]
fn operations_have_names_files_and_definitions() {
    let mut names = HashSet::new();
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/ops");
    let files = std::fs::read_dir(&folder).unwrap().count();
    assert_eq!((TEXTBOOKS.len(), OPERATIONS.len()), (files, files), "a file without an operation");
    for (operation, file, _) in TEXTBOOKS {
        let name = operation.name();
        assert!(names.insert(name), "two operations have the name {name}");
        assert_eq!((name, find(name)), (*file, Some(*operation)));
        assert!(folder.join(name).with_extension("rs").is_file());
        assert!(!operation.definition().is_empty() && !operation.definition().contains('\n'));
        for kind in [Kind::Degree, Kind::Modulus] {
            let number = operation.settings().iter().filter(|setting| setting.kind == kind).count();
            assert_eq!(number, 1, "{name} has one {}", kind.name());
        }
        assert!(!operation.outputs().is_empty(), "{name} has no result");
        let parameters: Vec<&str> = operation.parameters().map(|setting| setting.name).collect();
        let examples = operation.examples();
        assert!(examples.iter().map(|(name, _)| name).eq(&parameters), "{name} has other examples");
    }
    assert_eq!(find("fft"), None);
}

/// The residues of words and scalars that are larger than the modulus.
#[test]
fn scalars_and_words_are_reduced() {
    let claim = |operation: Operation, by| {
        let mut claim = operation.in_ring(4, Q, 0);
        claim.settings.push(("by".into(), Setting::Number(by)));
        claim
    };
    let words = [0, Q - 1, Q, u128::MAX];
    let [x, largest] = [[0, 1, 2, Q - 1], [0, Q - 1, 0, u128::MAX % Q]];
    for (operation, by, x, y) in [
        (ADDS, 0, x, x),
        (ADDS, 3 * Q + 1, x, [1, 2, 3, 0]),
        (SUBS, 3 * Q + 1, x, [Q - 1, 0, 1, Q - 2]),
        (MULS, 1, words, largest),
        (MULS, Q - 1, x, [0, Q - 1, Q - 2, 1]),
        (MULS, u128::MAX - u128::MAX % Q, words, [0; 4]),
    ] {
        assert_eq!(evaluate(&claim(operation, by), &[&x]).unwrap(), [y], "{operation} {by:#x}");
    }
    assert_eq!(evaluate(&NEG.in_ring(4, Q, 0), &[&x]).unwrap(), [[0, Q - 1, Q - 2, 1]]);
    // Only products accept words that are not reduced.
    assert!(matches!(evaluate(&claim(ADDS, 0), &[&words]), Err(GoldenError::NotReduced { index: 2, .. })));
    let missing = evaluate(&MULS.in_ring(4, Q, 0), &[&x]).unwrap_err().to_string();
    assert_eq!(missing, "the claim does not give `by` (add `, by=...`)");
}

#[test]
fn unknown_names_come_with_what_was_meant() {
    let error = |name: &str| name.parse::<Operation>().unwrap_err().to_string();
    assert_eq!(error("polymull"), "unknown operation `polymull`; did you mean `polymul`?");
    assert!(error("convolution").contains("; the operations are ntt, intt, "));
}

#[test]
fn a_large_transform_is_its_definition_at_some_points_and_comes_back() {
    let n = 65536;
    let q = PRIMES[3];
    let psi = root(q, n);
    let x: Vec<u128> = (0..n as u128).map(|i| q - 1 - i * i * i).collect();
    let y = evaluate(&NTT.in_ring(n as u32, q, psi), &[&x]).unwrap();
    let big_q = BigUint::from(q);
    for i in [0, 1, 4097, n - 1] {
        let point = BigUint::from(psi).modpow(&(2 * bit_reverse(i, 16) + 1).into(), &big_q);
        let value = x.iter().rev().fold(BigUint::ZERO, |sum, &c| (sum * &point + c) % &big_q);
        assert_eq!(BigUint::from(y[0][i]), value, "y[{i}]");
    }
    assert_eq!(evaluate(&INTT.in_ring(n as u32, q, psi), &[&y[0]]).unwrap(), [x]);
}

const Q: u128 = 12289;

#[test]
fn a_wrong_result_is_named() {
    let claim = Claim { outputs: vec!["y".into()], ..SUB.in_ring(4, Q, 0) };
    let (a, b) = ([5, 6, 7, 8], [6, 6, 6, 6]);
    assert_eq!(compare(&claim, &[&a, &b], &[&[Q - 1, 0, 1, 2]]), Ok(()));
    assert_eq!(
        compare(&claim, &[&a, &b], &[&[Q - 1, 0, 2, 3]]).unwrap_err().to_string(),
        "`y` differs from a - b in 2 of 4 coefficients:\n  coefficient 2 is 0x2 and should be 0x1\n  \
         coefficient 3 is 0x3 and should be 0x2"
    );
    assert_eq!(
        compare(&claim, &[&a, &b], &[&[Q - 1]]).unwrap_err().to_string(),
        "`y` has 1 coefficient instead of 4"
    );
    assert!(
        compare(&claim, &[&a, &b], &[&[0, 1, 2, 3]])
            .unwrap_err()
            .to_string()
            .contains("in 4 of 4 coefficients")
    );
}

#[test]
fn invalid_claims_and_operands_are_refused() {
    let error = |claim: &Claim, inputs: &[&[u128]]| evaluate(claim, inputs).unwrap_err().to_string();
    let x: &[u128] = &[1, 2, 3, Q];
    assert_eq!(error(&ADD.in_ring(3, Q, 0), &[x, x]), "n = 3 is not a power of two (the smallest is 2)");
    assert_eq!(
        error(&ADD.in_ring(4, 1, 0), &[x, x]),
        "the modulus 0x1 is too small (a modulus is odd and at least 3)"
    );
    assert_eq!(error(&ADD.in_ring(4, Q, 0), &[x]), "the claim names 2 operands, but 1 were given");
    assert_eq!(error(&NTT.in_ring(8, Q, 7), &[x]), "operand 1 has 4 coefficients instead of 8");
    assert_eq!(
        error(&NTT.in_ring(4, Q, 7), &[x]),
        "coefficient 3 of operand 1 is 0x3001, which is not below the modulus 0x3001"
    );
    assert_eq!(
        error(&NTT.in_ring(2, Q, 5), &[&x[..2]]),
        "0x5 is not a primitive 4-th root of unity modulo 0x3001: its 2th power is not -1"
    );
    let claim = |settings: &[(&str, Setting)]| Claim {
        settings: settings.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect(),
        ..ADD.in_ring(4, Q, 0)
    };
    let n = ("n", Setting::Number(4));
    assert_eq!(
        error(&claim(std::slice::from_ref(&n)), &[]),
        "the claim does not give `modulus` (add `, modulus=...`)"
    );
    assert_eq!(
        error(&claim(&[n.clone(), ("modulus", Setting::Word("q".into()))]), &[]),
        "`modulus` must be a number"
    );
    assert_eq!(
        error(&claim(&[n, ("modulus", Setting::Number(Q)), ("root", Setting::Number(7))]), &[]),
        "unknown setting `root` (the settings here are `n`, `modulus`)"
    );
}

/// The claim of a text, without a program around it.
fn claim(text: &str) -> Claim {
    let symbols = ["a", "b", "c"].map(|name| format!(".input {name}, 4\n")).concat();
    let outputs = ["y", "z"].map(|name| format!(".output {name}, 4\n")).concat();
    let source = format!("{symbols}{outputs}.const two = 2\n.modulus m0, {Q}\n.computes {text}\nhalt\n");
    b512_asm::assemble(&source).unwrap_or_else(|errors| panic!("{text}: {errors}")).claims.remove(0)
}

#[test]
fn expressions_are_their_operations() {
    let [a, b, c]: [&[u128]; 3] = [&[1, 2, 3, 4], &[5, 6, 7, Q - 1], &[9, 0, Q - 2, 1]];
    let of = |f: &dyn Fn(u128, u128, u128) -> u128| -> Vec<u128> {
        (0..4).map(|i| f(a[i], b[i], c[i]) % Q).collect()
    };
    let rest = format!("n=4, modulus={Q}");
    for (text, inputs, expected) in [
        ("y = a * b + c", vec![a, b, c], vec![of(&|a, b, c| a * b + c)]),
        ("y = c + a * b", vec![c, a, b], vec![of(&|a, b, c| a * b + c)]),
        ("y = a - (b - c)", vec![a, b, c], vec![of(&|a, b, c| a + 2 * Q - b + c - Q)]),
        ("y = (2^60 - 93) * a + two", vec![a], vec![of(&|a, _, _| ((1 << 60) - 93) * a + 2)]),
        ("y = muls(a + b, by=3) * b", vec![a, b], vec![of(&|a, b, _| 3 * (a + b) * b)]),
        ("y, z = a + b, a * b", vec![a, b], vec![of(&|a, b, _| a + b), of(&|a, b, _| a * b)]),
        ("y = a", vec![a], vec![a.to_vec()]),
    ] {
        let claim = claim(&format!("{text}, {rest}"));
        assert_eq!(evaluate(&claim, &inputs), Ok(expected), "{claim}");
    }
    // The transform of a product is the product of the transforms.
    let ring = format!("{rest}, root={}", root(Q, 4));
    let [whole, parts] = ["y = ntt(polymul(a, b))", "y = ntt(a) * ntt(b)"];
    let of = |text: &str| evaluate(&claim(&format!("{text}, {ring}")), &[a, b]).unwrap();
    assert_eq!(of(whole), of(parts));
    let rotated = |settings: &str| {
        evaluate(&claim(&format!("y = b + automorphism(a, {settings}), {rest}")), &[b, a]).unwrap().concat()
    };
    assert_eq!(rotated("g=3, order=coefficients"), [6, 10, 4, 1]);
    // An input may have any words if every operation reduces them.
    let ranges = |text: &str| crate::ranges(&claim(&format!("{text}, {rest}, by=2"))).unwrap();
    assert_eq!(ranges("y = muls(a) + b"), [crate::Range::Word, crate::Range::Residue]);
    assert_eq!(ranges("y = muls(a) + a"), [crate::Range::Residue]);
}
