//! Operations of schemes other than transforms, compared with models in long integers: base
//! conversions, automorphisms, inner products, key switches. Emulated, and on a GPU if there is one.

use gpu_ref::automorphism::Automorphism;
use gpu_ref::base_conversion::BaseConversion;
use gpu_ref::inner_product::{Fusion, InnerProduct};
use gpu_ref::key_switch::{Basis, Division, switch};
use gpu_ref::testing::{ON_EMULATED, Test, model, moduli, named, on, on_each, polynomials, rng, run, same};
use gpu_ref::{Device, Error, Modulus, Word, host, number};
use num_bigint::BigUint;
use num_traits::ToPrimitive;
use std::process::ExitCode;

const N: usize = 1 << 10;

fn residue(x: &BigUint, q: u128) -> u128 {
    (x % q).to_u128().unwrap()
}

/// The integers represented by columns of residues, by the Chinese remainder theorem without the
/// last reduction.
fn integers<W: Word>(moduli: &[Modulus<W>], rows: &[W]) -> Vec<BigUint> {
    let q = |limb: usize| moduli[limb].q().widen();
    let product: BigUint = (0..moduli.len()).map(|limb| BigUint::from(q(limb))).product();
    let weights: Vec<_> = (0..moduli.len())
        .map(|limb| {
            let others = &product / q(limb);
            let inverse = number::pow_mod(residue(&others, q(limb)), q(limb) - 2, q(limb));
            (others, inverse)
        })
        .collect();
    let integer = |column: usize| -> BigUint {
        let terms = weights.iter().enumerate().map(|(limb, (others, inverse))| {
            others * number::mul_mod(rows[limb * N + column].widen(), *inverse, q(limb))
        });
        terms.sum()
    };
    let all: Vec<_> = (0..N).map(integer).collect();
    for (limb, row) in rows.chunks(N).enumerate() {
        assert!(row.iter().zip(&all).all(|(x, integer)| x.widen() == residue(integer, q(limb))));
    }
    all
}

/// The model of a conversion, for each polynomial of a batch.
fn converted(from: &[Modulus<u32>], to: &[Modulus<u32>], words: &[u32]) -> Vec<u32> {
    let rows = |polynomial: &[u32]| -> Vec<u32> {
        let integers = integers(from, polynomial);
        to.iter().flat_map(|to| integers.iter().map(|x| residue(x, to.q().into()) as u32)).collect()
    };
    words.chunks(from.len() * N).flat_map(rows).collect()
}

/// Moduli small enough for one reduction, and enough long ones to need several; the last target limbs do
/// not fill a thread.
fn base_conversions(device: &Device) {
    let to = moduli::<u32>(5, 28, N).unwrap();
    let mut rng = rng();
    for from in [moduli::<u32>(3, 24, N).unwrap(), moduli::<u32>(14, 30, N).unwrap()] {
        let words = polynomials(&from, 2, &mut rng);
        let conversion = BaseConversion::new(device, &from, &to).unwrap();
        same("conversion", &conversion.run(&words).unwrap(), &converted(&from, &to, &words));
    }
}

fn unsound_conversions_are_refused(device: &Device) {
    let good = moduli::<u32>(3, 24, N).unwrap();
    let new = |from: &[_], to: &[_]| BaseConversion::new(device, from, to).map(|_| ());
    assert!(matches!(new(&[], &good), Err(Error::Modulus { .. })));
    assert!(matches!(new(&good, &[]), Err(Error::Modulus { .. })));
    assert!(matches!(new(&[good[0], good[0]], &good), Err(Error::Modulus { .. })));
    let long = Modulus::find(31, N, 0).unwrap();
    assert!(matches!(new(&good, &[long]), Err(Error::Modulus { .. })));
    let other = Modulus::find(24, 2 * N, 0).unwrap();
    assert!(matches!(new(&good, &[other]), Err(Error::Modulus { .. })));
    let conversion = BaseConversion::new(device, &good, &good[..1]).unwrap();
    assert_eq!(conversion.run(&[0; N]), Err(Error::Length { unit: 3 * N, got: N }));
    let mut words = vec![0; 3 * N];
    words[N + 1] = good[1].q();
    let q = u128::from(good[1].q());
    assert_eq!(conversion.run(&words), Err(Error::Range { index: N + 1, value: q, q }));
}

/// `a(X^power)` modulo `X^N + 1`, coefficient by coefficient.
fn mapped<W: Word>(modulus: &Modulus<W>, power: usize, polynomial: &[W]) -> Vec<W> {
    let mut image = vec![W::zeroed(); N];
    for (i, &x) in polynomial.iter().enumerate() {
        let place = i * power % (2 * N);
        let negative = place >= N && x != W::zeroed();
        image[place % N] = if negative { W::narrow(modulus.q().widen() - x.widen()) } else { x };
    }
    image
}

fn check_automorphisms<W: Word>(device: &Device, bits: u32) {
    let moduli = moduli::<W>(2, bits, N).unwrap();
    let words = polynomials(&moduli, 2, &mut rng());
    let automorphism = Automorphism::new(device, N).unwrap();
    let transformed = model(&moduli, &words, host::forward);
    for power in [1, 2 * N as u32 - 1, 5, 5_u32.wrapping_pow(77) % (2 * N as u32)] {
        let want = model(&moduli, &words, |m, x| host::forward(m, &mapped(m, power as usize, x)));
        same("automorphism", &automorphism.run(power, &transformed).unwrap(), &want);
    }
}

fn automorphisms(device: &Device) {
    check_automorphisms::<u32>(device, 30);
    check_automorphisms::<u64>(device, 62);
    check_automorphisms::<u128>(device, 128);
}

fn unsound_automorphisms_are_refused(device: &Device) {
    assert!(matches!(Automorphism::<u32>::new(device, 1000), Err(Error::Dimension { n: 1000, .. })));
    assert!(matches!(Automorphism::<u32>::new(device, 512), Err(Error::Dimension { n: 512, .. })));
    let automorphism = Automorphism::<u32>::new(device, N).unwrap();
    assert!(matches!(automorphism.run(2, &[0; N]), Err(Error::Unsupported { .. })));
    assert_eq!(automorphism.run(3, &[0; 5]), Err(Error::Length { unit: N, got: 5 }));
}

fn check_inner_products<W: Word>(device: &Device, terms: usize) {
    let moduli = moduli::<W>(2, W::BITS - 2, N).unwrap();
    let mut rng = rng();
    let (left, keys) = (polynomials(&moduli, terms, &mut rng), polynomials(&moduli, 2 * terms, &mut rng));
    let mut want = vec![W::zeroed(); 2 * 2 * N];
    for (at, sum) in want.iter_mut().enumerate() {
        let (part, word, q) = (at / (2 * N), at % (2 * N), moduli[at / N % 2].q().widen());
        let products = (0..terms).map(|term| {
            let key = keys[(2 * term + part) * 2 * N + word];
            number::mul_mod(left[term * 2 * N + word].widen(), key.widen(), q)
        });
        *sum = W::narrow(products.fold(0, |sum, x| (sum + x) % q));
    }
    for fusion in [Fusion::Fused, Fusion::Separate] {
        let mut product = InnerProduct::new(device, &moduli, terms, fusion).unwrap();
        same("inner product", &product.run(&left, &keys).unwrap(), &want);
    }
}

fn inner_products(device: &Device) {
    check_inner_products::<u32>(device, 1);
    check_inner_products::<u64>(device, 3);
}

fn unsound_inner_products_are_refused(device: &Device) {
    let good = moduli::<u32>(1, 30, N).unwrap();
    let none = InnerProduct::new(device, &good, 0, Fusion::Fused).map(|_| ());
    assert!(matches!(none, Err(Error::Unsupported { .. })));
    let long = InnerProduct::<u32>::new(device, &moduli(1, 31, N).unwrap(), 2, Fusion::Fused).map(|_| ());
    assert!(matches!(long, Err(Error::Modulus { .. })));
    let mut product = InnerProduct::new(device, &good, 2, Fusion::Fused).unwrap();
    assert_eq!(product.run(&[0; N], &[0; 4 * N]), Err(Error::Length { unit: 2 * N, got: N }));
    let large = product.run(&[u32::MAX; 2 * N], &[0; 4 * N]);
    assert!(matches!(large, Err(Error::Range { index: 0, .. })));
}

/// 5 limbs in 3 digits, and 3 special limbs.
fn check_key_switch<W: Word>(device: &Device, bits: u32) {
    let all = moduli::<W>(8, bits, N).unwrap();
    let basis = Basis::new(&all[..5], &all[5..], 3).unwrap();
    let mut rng = rng();
    let key = polynomials(&all, 6, &mut rng);
    for polynomial in polynomials(&all[..5], 2, &mut rng).chunks(basis.polynomial_words()) {
        let want = basis.model(polynomial, &key, 1);
        for division in [Division::Columns, Division::Rows] {
            let got = switch(device, &basis, division, &key, polynomial).unwrap();
            same(format_args!("key switch by {division:?}"), &got, &want);
        }
    }
    let polynomial = vec![W::zeroed(); basis.polynomial_words()];
    for division in [Division::Columns, Division::Rows] {
        let short = switch(device, &basis, division, &key[1..], &polynomial);
        assert_eq!(short, Err(Error::Length { unit: 48 * N, got: 48 * N - 1 }));
        let short = switch(device, &basis, division, &key, &polynomial[1..]);
        assert_eq!(short, Err(Error::Length { unit: 5 * N, got: 5 * N - 1 }));
    }
}

fn key_switches(device: &Device) {
    check_key_switch::<u32>(device, 30);
    check_key_switch::<u64>(device, 62);
}

fn main() -> ExitCode {
    let each = named![base_conversions, automorphisms, inner_products, key_switches];
    let emulated: [Test; 3] = named![
        unsound_conversions_are_refused,
        unsound_automorphisms_are_refused,
        unsound_inner_products_are_refused
    ];
    let mut trials: Vec<_> = on_each(&each).collect();
    trials.extend(emulated.map(|(name, test)| on(ON_EMULATED, name, test)));
    run(trials)
}
