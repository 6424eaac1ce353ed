use super::*;
use num_bigint::BigUint;
use proptest::prelude::*;

/// All operations on `x`, `a`, `b` and `w`, with both forms of factors, against big integers. Lanes
/// beyond the operands given repeat them.
fn check(q: u128, lanes: usize, x: &[u128], a: &[u128], b: &[u128], w: &[u128]) {
    let modulus = Modulus::new(q).unwrap();
    let word = |from: &[u128]| (0..lanes).map(|i| from[i % from.len()]).collect::<Vec<_>>();
    let residue = |from: &[u128]| word(from).into_iter().map(|v| v % q).collect::<Vec<_>>();
    let (x, a, b, w) = (word(x), residue(a), residue(b), residue(w));
    let expected = |f: &dyn Fn(usize) -> BigUint| -> Vec<u128> {
        (0..lanes).map(|i| (f(i) % q).try_into().unwrap()).collect()
    };
    let big = |v: u128| BigUint::from(v);
    let minus = |v: u128| big(q) - v % q;
    let mut results = [(); 2].map(|()| Vector::zero(lanes));
    let [out, out1] = &mut results;

    add(&modulus, out, &a, &b);
    assert_eq!(out[..], expected(&|i| big(a[i]) + b[i]), "a + b mod {q:#x}");
    sub(&modulus, out, &a, &b);
    assert_eq!(out[..], expected(&|i| big(a[i]) + minus(b[i])), "a - b mod {q:#x}");
    add_scalar(&modulus, out, &a, b[0]);
    assert_eq!(out[..], expected(&|i| big(a[i]) + b[0]), "a + s mod {q:#x}");
    sub_scalar(&modulus, out, &a, b[0]);
    assert_eq!(out[..], expected(&|i| big(a[i]) + minus(b[0])), "a - s mod {q:#x}");
    multiply_scalar(&modulus, out, &x, w[0]);
    assert_eq!(out[..], expected(&|i| big(x[i]) * w[0]), "x s mod {q:#x}");

    for mut factors in [Factors::zero(lanes), Factors::scalar_zero(lanes)] {
        assert_eq!((factors.len(), factors.zero_like().len()), (lanes, lanes));
        factors.set(&modulus, &w);
        multiply(&modulus, out, &x, &factors);
        assert_eq!(out[..], expected(&|i| big(x[i]) * w[i]), "x w mod {q:#x}");
        butterfly(&modulus, [out, out1], &a, &x, &factors);
        assert_eq!(out[..], expected(&|i| big(a[i]) + big(x[i]) * w[i]), "a + x w mod {q:#x}");
        assert_eq!(out1[..], expected(&|i| big(a[i]) + minus(x[i]) * w[i]), "a - x w mod {q:#x}");
        inverse_butterfly(&modulus, [out, out1], &a, &b, &factors);
        assert_eq!(out[..], expected(&|i| big(a[i]) + b[i]), "a + b mod {q:#x}");
        assert_eq!(out1[..], expected(&|i| (big(a[i]) + minus(b[i])) * w[i]), "(a - b) w mod {q:#x}");
        factors.fill(&modulus, w[0]);
        multiply(&modulus, out, &x, &factors);
        assert_eq!(out[..], expected(&|i| big(x[i]) * w[0]), "x w mod {q:#x} for one w");
    }
}

/// Words at the ends of the range of a multiplicand.
fn edges(q: u128) -> Vec<u128> {
    let multiple = u128::MAX / q * q;
    vec![0, 1, q - 1, q, q.saturating_add(1), multiple - 1, multiple, u128::MAX - 1, u128::MAX]
}

#[test]
fn any_word_is_reduced_by_a_multiplication_modulo_20_to_128_bits() {
    for bits in 20..=128 {
        let top = 1u128 << (bits - 1);
        for q in [top | 1, top | (top >> 1) | 1, u128::MAX >> (128 - bits)] {
            let x = edges(q);
            check(q, 64, &x, &[q - 1, 0, q / 2], &[0, q - 1, 1, 2], &[q - 1, 1, q / 2, q - 2, 0]);
        }
    }
}

#[test]
fn lengths_from_64_to_4096_agree_with_big_integers() {
    let q = u128::MAX - 158;
    for log2 in 6..=12 {
        check(q, 1 << log2, &edges(q), &[q - 1, 3, 5], &[q - 2, 7], &[q - 3, 11, 1 << 100]);
    }
}

#[test]
#[should_panic(expected = "vectors of 64 and [64, 128] lanes")]
fn vectors_of_different_lengths_panic() {
    let q = Modulus::new(97).unwrap();
    multiply(&q, &mut [0; 64], &[0; 128], &Factors::zero(64));
}

#[test]
#[should_panic(expected = "a vector of 72 lanes: not a multiple of 16")]
fn a_length_that_is_no_multiple_of_the_granule_panics() {
    Vector::zero(72);
}

proptest! {
    #[test]
    fn random_words_agree_with_big_integers(
        q in any::<u128>(), shift in 0u32..109,
        x in any::<[u128; 16]>(), a in any::<[u128; 16]>(), b in any::<[u128; 16]>(), w in any::<[u128; 16]>()
    ) {
        let q = (q >> shift | 1 << (127 - shift)) | 1;
        let mut words = edges(q);
        words.truncate(4);
        words.extend(x);
        check(q, 64, &words, &a, &b, &w);
    }
}
