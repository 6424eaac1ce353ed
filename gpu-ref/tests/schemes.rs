//! Operations of schemes other than transforms, compared with models in long integers: base
//! conversions, automorphisms, residues of long integers, inner products. Emulated, and on a GPU if
//! there is one.
//!
//! Each run has new random inputs. A failure prints its seed; `GPU_REF_SEED=<seed> cargo test -p
//! gpu-ref` repeats it.

mod common;

use common::{ON_EMULATED, SEED, named, on, on_each, run};
use gpu_ref::automorphism::Automorphism;
use gpu_ref::base_conversion::{BaseConversion, ModSwitch, Tile};
use gpu_ref::inner_product::{Fusion, InnerProduct};
use gpu_ref::residues::{Access, Reconstruction, Residues};
use gpu_ref::{Batch, Device, Error, Modulus, Word, host, number};
use num_bigint::BigUint;
use num_traits::ToPrimitive;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::process::ExitCode;

const N: usize = 1 << 10;

fn moduli<W: Word>(count: usize, bits: u32) -> Vec<Modulus<W>> {
    (0..count).map(|skip| Modulus::find(bits, N, skip).unwrap()).collect()
}

/// Polynomials for all moduli: the first has the largest residues, the others are random.
fn polynomials<W: Word>(moduli: &[Modulus<W>], count: usize, rng: &mut StdRng) -> Vec<W> {
    (0..count * moduli.len())
        .flat_map(|row| std::iter::repeat_n((row, moduli[row % moduli.len()].q().widen()), N))
        .map(|(row, q)| W::narrow(if row < moduli.len() { q - 1 } else { rng.random_range(0..q) }))
        .collect()
}

fn same<W: Word>(what: &str, got: &[W], want: &[W]) {
    assert_eq!(got.len(), want.len(), "{what}");
    if let Some(at) = got.iter().zip(want).position(|(got, want)| got != want) {
        panic!("{what}, word {at}: got {:?}, want {:?}; GPU_REF_SEED={}", got[at], want[at], *SEED);
    }
}

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

/// Moduli small enough for one reduction, and enough long ones to need several. Tiles that share
/// the input, tiles that do not, and tiles that extend beyond the last limb.
fn base_conversions(device: &Device) {
    let (short, long) = (moduli::<u32>(3, 24), moduli::<u32>(14, 30));
    let to = moduli::<u32>(5, 28);
    let shared = Tile { thread_limbs: 2, thread_columns: 2, block_limbs: 2, block_columns: 64 };
    let mut rng = StdRng::seed_from_u64(*SEED);
    for (from, tile) in [(&short, Tile::default()), (&long, shared), (&long, Tile::default())] {
        let words = polynomials(from, 2, &mut rng);
        let conversion = BaseConversion::new(device, from, &to, tile).unwrap();
        same("conversion", &conversion.run(&words).unwrap(), &converted(from, &to, &words));
    }
}

fn switches_of_moduli(device: &Device) {
    let (from, to) = (moduli::<u32>(4, 30), moduli::<u32>(3, 29));
    let words = polynomials(&from, 2, &mut StdRng::seed_from_u64(*SEED));
    let back: Vec<u32> =
        words.chunks(N).zip(from.iter().cycle()).flat_map(|(x, m)| host::inverse(m, x)).collect();
    let rows = converted(&from, &to, &back);
    let want: Vec<u32> =
        rows.chunks(N).zip(to.iter().cycle()).flat_map(|(x, m)| host::forward(m, x)).collect();
    let switch = ModSwitch::new(device, &from, &to, Tile::default()).unwrap();
    same("switch", &switch.run(&words).unwrap(), &want);
}

fn unsound_conversions_are_refused(device: &Device) {
    let good = moduli::<u32>(3, 24);
    let new = |from: &[_], to: &[_], tile| BaseConversion::new(device, from, to, tile).map(|_| ());
    let own = Tile::default();
    assert!(matches!(new(&[], &good, own), Err(Error::Modulus { .. })));
    assert!(matches!(new(&good, &[], own), Err(Error::Modulus { .. })));
    assert!(matches!(new(&[good[0], good[0]], &good, own), Err(Error::Modulus { .. })));
    let long = Modulus::find(31, N, 0).unwrap();
    assert!(matches!(new(&good, &[long], own), Err(Error::Modulus { .. })));
    let other = Modulus::find(24, 2 * N, 0).unwrap();
    assert!(matches!(new(&good, &[other], own), Err(Error::Modulus { .. })));
    for tile in [
        Tile { thread_limbs: 0, ..own },
        Tile { thread_columns: 3, ..own },
        Tile { block_limbs: 8, ..own },
        Tile { block_columns: 96, ..own },
        Tile { block_columns: 512, ..own },
        Tile { block_limbs: u32::MAX, block_columns: 2, ..own },
    ] {
        assert!(matches!(new(&good, &good, tile), Err(Error::Unsupported { .. })), "{tile:?}");
    }
    let conversion = BaseConversion::new(device, &good, &good[..1], own).unwrap();
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
    let moduli = moduli::<W>(2, bits);
    let words = polynomials(&moduli, 2, &mut StdRng::seed_from_u64(*SEED));
    let automorphism = Automorphism::new(device, N).unwrap();
    let rows = || words.chunks(N).zip(moduli.iter().cycle());
    let transformed: Vec<W> = rows().flat_map(|(x, m)| host::forward(m, x)).collect();
    for power in [1, 2 * N as u32 - 1, automorphism.rotation(1), automorphism.rotation(77)] {
        let want: Vec<W> =
            rows().flat_map(|(x, m)| host::forward(m, &mapped(m, power as usize, x))).collect();
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
    assert_eq!(automorphism.rotation(3), 125);
    assert!(matches!(automorphism.run(2, &[0; N]), Err(Error::Unsupported { .. })));
    assert_eq!(automorphism.run(3, &[0; 5]), Err(Error::Length { unit: N, got: 5 }));
    let (from, mut to) = (Batch::upload(device, &[0; N]).unwrap(), Batch::zeroed(device, 2 * N).unwrap());
    assert_eq!(automorphism.apply(3, &from, &mut to), Err(Error::Length { unit: N, got: 2 * N }));
}

/// Coefficients of `words` words: first Q - 1 and 0 in turn, then random ones below Q.
fn coefficients<W: Word>(product: &BigUint, words: usize, rng: &mut StdRng) -> Vec<W> {
    let number = |i: usize| -> BigUint {
        match i {
            0 => product - 1u32,
            1 => BigUint::ZERO,
            _ => (0..words + 1).fold(BigUint::ZERO, |x, _| (x << 64) + rng.random::<u64>()) % product,
        }
    };
    let mask = (BigUint::from(1u32) << W::BITS) - 1u32;
    let word = |x: &BigUint, k: usize| W::narrow(((x >> (k * W::BITS as usize)) & &mask).to_u128().unwrap());
    let numbers: Vec<_> = (0..2 * N).map(number).collect();
    numbers.iter().flat_map(|x| (0..words).map(move |k| (x, k))).map(|(x, k)| word(x, k)).collect()
}

fn check_residues<W: Word>(device: &Device, limbs: usize, bits: u32, access: Access) {
    let moduli = moduli::<W>(limbs, bits);
    let product: BigUint = moduli.iter().map(|m| BigUint::from(m.q().widen())).product();
    let residues = Residues::new(device, &moduli, access).unwrap();
    assert_eq!(residues.words(), product.bits().div_ceil(W::BITS.into()) as usize);
    let numbers: Vec<W> = coefficients(&product, residues.words(), &mut StdRng::seed_from_u64(*SEED));
    let whole = |words: &[W]| words.iter().rev().fold(BigUint::ZERO, |x, w| (x << W::BITS) + w.widen());
    let want: Vec<W> = numbers
        .chunks(N * residues.words())
        .flat_map(|polynomial| moduli.iter().map(move |m| (polynomial, m.q().widen())))
        .flat_map(|(polynomial, q)| polynomial.chunks(residues.words()).map(move |x| (x, q)))
        .map(|(x, q)| W::narrow(residue(&whole(x), q)))
        .collect();
    same("residues", &residues.run_decompose(&numbers).unwrap(), &want);
    for how in [Reconstruction::Garner, Reconstruction::Direct] {
        same("coefficients", &residues.run_reconstruct(how, &want).unwrap(), &numbers);
    }
    // Every integer has residues, even above the product.
    let largest = vec![W::narrow(u128::MAX); N * residues.words()];
    let x = whole(&largest[..residues.words()]);
    let want: Vec<W> = moduli.iter().flat_map(|m| vec![W::narrow(residue(&x, m.q().widen())); N]).collect();
    same("residues", &residues.run_decompose(&largest).unwrap(), &want);
}

fn long_integers(device: &Device) {
    check_residues::<u32>(device, 7, 30, Access::Transposed);
    check_residues::<u64>(device, 5, 62, Access::Strided);
    check_residues::<u64>(device, 4, 40, Access::Transposed);
    check_residues::<u32>(device, 1, 20, Access::Strided);
}

fn unsound_residues_are_refused(device: &Device) {
    let good = moduli::<u64>(2, 40);
    let refused = |moduli: &[_]| Residues::new(device, moduli, Access::Transposed).map(|_| ());
    assert!(matches!(refused(&[]), Err(Error::Modulus { .. })));
    assert!(matches!(refused(&[good[0], good[0]]), Err(Error::Modulus { .. })));
    assert!(matches!(refused(&[good[0], Modulus::find(41, N, 0).unwrap()]), Err(Error::Modulus { .. })));
    assert!(matches!(refused(&moduli(1, 30)), Err(Error::Modulus { .. })));
    assert!(matches!(refused(&moduli(1, 63)), Err(Error::Modulus { .. })));
    assert!(matches!(refused(&moduli(200, 40)), Err(Error::Unsupported { .. })));
    let wide = Residues::new(device, &moduli::<u128>(1, 100), Access::Transposed);
    assert!(matches!(wide.map(|_| ()), Err(Error::Unsupported { .. })));
    let residues = Residues::new(device, &good, Access::Transposed).unwrap();
    let unit = N * residues.words();
    assert_eq!(residues.run_decompose(&[1; 3]), Err(Error::Length { unit, got: 3 }));
    let large = residues.run_reconstruct(Reconstruction::Garner, &vec![u64::MAX; 2 * N]);
    assert!(matches!(large, Err(Error::Range { index: 0, .. })));
}

fn check_inner_products<W: Word>(device: &Device, terms: usize) {
    let moduli = moduli::<W>(2, W::BITS - 2);
    let mut rng = StdRng::seed_from_u64(*SEED);
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
    let good = moduli::<u32>(1, 30);
    let none = InnerProduct::new(device, &good, 0, Fusion::Fused).map(|_| ());
    assert!(matches!(none, Err(Error::Unsupported { .. })));
    let long = InnerProduct::<u32>::new(device, &moduli(1, 31), 2, Fusion::Fused).map(|_| ());
    assert!(matches!(long, Err(Error::Modulus { .. })));
    let mut product = InnerProduct::new(device, &good, 2, Fusion::Fused).unwrap();
    assert_eq!(product.run(&[0; N], &[0; 4 * N]), Err(Error::Length { unit: 2 * N, got: N }));
    let large = product.run(&[u32::MAX; 2 * N], &[0; 4 * N]);
    assert!(matches!(large, Err(Error::Range { index: 0, .. })));
}

fn main() -> ExitCode {
    let each = named![base_conversions, switches_of_moduli, automorphisms, long_integers, inner_products];
    let emulated: [common::Test; 4] = named![
        unsound_conversions_are_refused,
        unsound_automorphisms_are_refused,
        unsound_residues_are_refused,
        unsound_inner_products_are_refused
    ];
    let mut trials: Vec<_> = on_each(&each).collect();
    trials.extend(emulated.map(|(name, test)| on(ON_EMULATED, name, test)));
    run(trials)
}
