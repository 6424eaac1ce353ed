use super::*;
use crate::modular::Narrow;
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
    if let Some(narrow) = modulus.narrow() {
        check_narrow(narrow, &x, &a, &b, &w);
    }
}

/// All operations in words of 64 bits against those in words of 128 bits.
fn check_narrow(q: Narrow, x: &[u128], a: &[u128], b: &[u128], w: &[u128]) {
    let modulus = Modulus::new(q.value().into()).unwrap();
    let words = |words: &[u128]| words.iter().map(|&word| word as u64).collect::<Vec<_>>();
    let (x64, a64, b64, w64) = (words(x), words(a), words(b), words(w));
    let x: Vec<u128> = x64.iter().copied().map(u128::from).collect();
    let mut wide = [(); 2].map(|()| Vector::zero(x.len()));
    let mut narrow = wide.clone();
    let mut equal = |what: &str, on_wide: &dyn Fn([&mut [u128]; 2]), on_narrow: &dyn Fn([&mut [u64]; 2])| {
        on_wide(wide.each_mut().map(|out| &mut out[..]));
        on_narrow(narrow.each_mut().map(|out| out.narrow_mut()));
        for (wide, narrow) in wide.iter().zip(&mut narrow) {
            narrow.widen();
            assert_eq!(narrow, wide, "{what} mod {:#x}", q.value());
            narrow.narrow_down();
        }
    };
    equal("a + b", &|[o, _]| add(&modulus, o, a, b), &|[o, _]| narrow::add(q, o, &a64, &b64));
    equal("a - b", &|[o, _]| sub(&modulus, o, a, b), &|[o, _]| narrow::sub(q, o, &a64, &b64));
    let (s, s64) = (w[0], w64[0]);
    equal("a + s", &|[o, _]| add_scalar(&modulus, o, a, s), &|[o, _]| narrow::add_scalar(q, o, &a64, s64));
    equal("a - s", &|[o, _]| sub_scalar(&modulus, o, a, s), &|[o, _]| narrow::sub_scalar(q, o, &a64, s64));
    equal("x s", &|[o, _]| multiply_scalar(&modulus, o, &x, s), &|[o, _]| {
        narrow::multiply_scalar(q, o, &x64, s64)
    });
    let mut factors = Factors::zero(x.len());
    factors.set(&modulus, w);
    equal("product x w", &|[o, _]| multiply(&modulus, o, &x, &factors), &|[o, _]| {
        narrow::product(q, o, &x64, &w64)
    });
    assert_eq!(narrow::max(&x64), x64.iter().copied().max().unwrap());
    for factors in [Factors::zero(x.len()), Factors::scalar_zero(x.len())] {
        let [mut of_wide, mut of_narrow] = [factors.clone(), factors];
        of_wide.set(&modulus, w);
        of_narrow.set_narrow(q, &w64);
        equal("x w", &|[o, _]| multiply(&modulus, o, &x, &of_wide), &|[o, _]| {
            narrow::multiply(q, o, &x64, &of_narrow)
        });
        equal("butterfly", &|o| butterfly(&modulus, o, a, &x, &of_wide), &|o| {
            narrow::butterfly(q, o, &a64, &x64, &of_narrow)
        });
        equal("inverse butterfly", &|o| inverse_butterfly(&modulus, o, a, b, &of_wide), &|o| {
            narrow::inverse_butterfly(q, o, &a64, &b64, &of_narrow)
        });
        of_wide.fill(&modulus, s);
        of_narrow.fill_narrow(q, s64);
        equal("x w for one w", &|[o, _]| multiply(&modulus, o, &x, &of_wide), &|[o, _]| {
            narrow::multiply(q, o, &x64, &of_narrow)
        });
    }
}

#[test]
fn words_of_64_bits_are_copied_from_and_to_words_of_128_bits() {
    let mut words: Vec<u128> = (0..64).map(|i| u128::from(u64::MAX - i * i)).collect();
    let (mut lanes, mut back) = ([0; 64], [0; 64]);
    assert!(narrow::load(&mut lanes, &words));
    narrow::store(&mut back, &lanes);
    assert_eq!(back[..], words);
    for lane in 0..64 {
        words[lane] += 1 << (64 + lane % 64);
        assert!(!narrow::load(&mut lanes, &words), "lane {lane}");
        words[lane] &= u128::from(u64::MAX);
    }
}

#[test]
#[should_panic(expected = "the factors are not prepared for words of 128 bits")]
fn factors_of_the_other_width_panic() {
    let q = Modulus::new(97).unwrap();
    let mut factors = Factors::zero(64);
    factors.set_narrow(q.narrow().unwrap(), &[3; 64]);
    multiply(&q, &mut [0; 64], &[0; 64], &factors);
}

/// Words at the ends of the range of a multiplicand.
fn edges(q: u128) -> Vec<u128> {
    let multiple = u128::MAX / q * q;
    let near = [0, 1, q - 1, q, q.saturating_add(1), multiple - 1, multiple, u128::MAX - 1, u128::MAX];
    let multiple64 = u128::from(u64::MAX) / q * q;
    near.into_iter().chain([multiple64, multiple64.saturating_sub(1)]).collect()
}

#[test]
fn any_word_is_reduced_by_a_multiplication_modulo_20_to_128_bits() {
    // Miri is slow.
    let (step, lanes) = if cfg!(miri) { (54, 8) } else { (1, 64) };
    for bits in (20..=128).step_by(step) {
        let top = 1u128 << (bits - 1);
        for q in [top | 1, top | (top >> 1) | 1, u128::MAX >> (128 - bits)] {
            let x = edges(q);
            check(q, lanes, &x, &[q - 1, 0, q / 2], &[0, q - 1, 1, 2], &[q - 1, 1, q / 2, q - 2, 0]);
        }
    }
}

#[test]
fn lengths_from_8_to_4096_agree_with_big_integers() {
    let q = u128::MAX - 158;
    for log2 in 3..=if cfg!(miri) { 4 } else { 12 } {
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
#[should_panic(expected = "a vector of 76 lanes: not a multiple of 8")]
fn a_length_that_is_no_multiple_of_the_granule_panics() {
    Vector::zero(76);
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
