//! Several devices working on the same polynomials, compared with the host models: emulated, and on
//! any GPUs present. One device can represent several that communicate through host memory.
//!
//! Each run has new random inputs. A failure prints its seed; `GPU_REF_SEED=<seed> cargo test -p
//! gpu-ref` repeats it.

mod common;

use common::{ON_EMULATED, SEED, named, on, on_each, run, trial};
use gpu_ref::multi::{Basis, Cluster, KeySwitch, Partition, Products, RowKeySwitch, mod_down, mod_up};
use gpu_ref::{Device, Error, Modulus, Word, host, number};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::process::ExitCode;

fn moduli<W: Word>(count: usize, bits: u32, n: usize) -> Vec<Modulus<W>> {
    (0..count).map(|skip| Modulus::find(bits, n, skip).unwrap()).collect()
}

/// Rows of words below the moduli, repeated: the largest values first, then random ones.
fn rows<W: Word>(moduli: &[Modulus<W>], count: usize, rng: &mut StdRng) -> Vec<W> {
    let (n, limbs) = (moduli[0].n(), moduli.len());
    (0..count * limbs)
        .flat_map(|row| std::iter::repeat_n((row, moduli[row % limbs].q().widen()), n))
        .map(|(row, q)| W::narrow(if row < limbs { q - 1 } else { rng.random_range(0..q) }))
        .collect()
}

/// All partitions on clusters of `ranks` devices.
fn check_key_switch<W: Word>(sizes: &[usize], cluster: impl Fn(usize) -> Cluster, basis: &Basis<W>) {
    let seed = *SEED;
    let mut rng = StdRng::seed_from_u64(seed);
    let polynomials = rows(&basis.moduli()[..basis.limbs()], 2, &mut rng);
    let key = rows(basis.moduli(), 2 * basis.digits(), &mut rng);
    let (extreme, random) = polynomials.split_at(basis.polynomial_words());
    let model = |groups| [extreme, random].map(|polynomial| basis.model(polynomial, &key, groups));
    let together = model(1);
    for &ranks in sizes {
        let apart = if ranks == 1 { together.clone() } else { model(ranks) };
        for partition in Partition::ALL {
            let mut switch = KeySwitch::new(cluster(ranks), basis.clone(), partition, &key).unwrap();
            // The ring has one group per device, the others have one in total.
            let (groups, want) = match partition {
                Partition::Ring => (ranks, &apart),
                Partition::Segments | Partition::Limbs => (1, &together),
            };
            assert_eq!(switch.groups(), groups);
            for (polynomial, want) in [extreme, random].into_iter().zip(want) {
                let got = switch.run(polynomial).unwrap();
                assert!(got == *want, "{partition} on {ranks} devices, GPU_REF_SEED={seed}");
            }
        }
        // A device needs a special limb.
        if ranks <= basis.extended() - basis.limbs() {
            let mut switch = RowKeySwitch::new(cluster(ranks), basis.clone(), &key).unwrap();
            for (polynomial, want) in [extreme, random].into_iter().zip(&together) {
                let got = switch.run(polynomial).unwrap();
                assert!(got == *want, "by limbs on {ranks} devices, GPU_REF_SEED={seed}");
            }
        }
    }
}

/// 5 limbs in 3 digits, which 2 and 4 devices share unevenly, and 3 special limbs.
fn key_switching(device: &Device) {
    let all = moduli::<u64>(8, 62, 1 << 10);
    let basis = Basis::new(&all[..5], &all[5..], 3).unwrap();
    check_key_switch(&[1, 2, 4], |ranks| Cluster::staged(&vec![device.clone(); ranks]), &basis);
}

fn key_switching_in_short_words(device: &Device) {
    let all = moduli::<u32>(6, 30, 1 << 10);
    let basis = Basis::new(&all[..4], &all[4..], 4).unwrap();
    check_key_switch(&[1, 2, 4], |ranks| Cluster::staged(&vec![device.clone(); ranks]), &basis);
}

/// With one digit, a key switch is an extension, products and a division.
fn check_steps<W: Word>(device: &Device, bits: u32) {
    let all = moduli::<W>(5, bits, 1 << 10);
    let basis = Basis::new(&all[..3], &all[3..], 1).unwrap();
    let mut rng = StdRng::seed_from_u64(*SEED);
    let key = rows(&all, 2, &mut rng);
    for polynomial in rows(&all[..3], 2, &mut rng).chunks(basis.polynomial_words()) {
        let raised = mod_up(device, &basis, polynomial).unwrap();
        let extended = [polynomial, &raised].concat();
        let halves = key.chunks(extended.len()).flat_map(|half| {
            let rows = extended.chunks(1 << 10).zip(half.chunks(1 << 10)).zip(&all);
            let products = rows.flat_map(|((x, y), modulus)| {
                let q = modulus.q().widen();
                x.iter().zip(y).map(move |(x, y)| W::narrow(number::mul_mod(x.widen(), y.widen(), q)))
            });
            mod_down(device, &basis, &products.collect::<Vec<W>>()).unwrap()
        });
        let got: Vec<W> = halves.collect();
        assert!(got == basis.model(polynomial, &key, 1), "{bits} bits, GPU_REF_SEED={}", *SEED);
    }
    let short = mod_down(device, &basis, &[]);
    assert_eq!(short, Err(Error::Length { unit: 5 << 10, got: 0 }));
}

fn steps_of_a_key_switch(device: &Device) {
    check_steps::<u32>(device, 30);
    check_steps::<u64>(device, 62);
}

fn products_of_batches(device: &Device) {
    check_products(&[1, 2, 4], |ranks| Cluster::staged(&vec![device.clone(); ranks]), 5, 3);
    check_products(&[1, 4], |ranks| Cluster::staged(&vec![device.clone(); ranks]), 24, 8);
}

/// Products of a batch on clusters of `ranks` devices.
fn check_products(sizes: &[usize], cluster: impl Fn(usize) -> Cluster, limbs: usize, polynomials: usize) {
    let (moduli, seed) = (moduli::<u64>(limbs, 62, 1 << 10), *SEED);
    let mut rng = StdRng::seed_from_u64(seed);
    let (left, right) = (rows(&moduli, polynomials, &mut rng), rows(&moduli, polynomials, &mut rng));
    let pairs = left.chunks(1 << 10).zip(right.chunks(1 << 10)).zip(moduli.iter().cycle());
    let want: Vec<u64> = pairs.flat_map(|((x, y), modulus)| host::product(modulus, x, y)).collect();
    for &ranks in sizes {
        let mut products = Products::new(cluster(ranks), &moduli, polynomials).unwrap();
        assert!(products.run(&left, &right).unwrap() == want, "{ranks} devices, GPU_REF_SEED={seed}");
    }
}

/// Invalid divisions are rejected, and the message names a valid one.
fn bad_divisions_are_refused(device: &Device) {
    let cluster = |ranks| Cluster::staged(&vec![device.clone(); ranks]);
    let all = moduli::<u64>(4, 62, 1 << 10);
    let unsupported = |result: Result<(), Error>| matches!(result, Err(Error::Unsupported { .. }));
    for ranks in [0, 5] {
        assert!(unsupported(Products::new(cluster(ranks), &all, 1).map(|_| ())), "{ranks}");
    }
    assert!(unsupported(Products::new(cluster(1), &all, 0).map(|_| ())));
    let basis = Basis::new(&all[..3], &all[3..], 3).unwrap();
    for ranks in [0, 2, 3] {
        let key = vec![0; basis.key_words()];
        assert!(unsupported(RowKeySwitch::new(cluster(ranks), basis.clone(), &key).map(|_| ())), "{ranks}");
    }
    let short = KeySwitch::new(cluster(1), basis.clone(), Partition::Ring, &[0; 5]);
    assert!(matches!(short.map(|_| ()), Err(Error::Length { got: 5, .. })));
    let mut key = vec![0; basis.key_words()];
    key[1 << 10] = u64::MAX;
    let large = KeySwitch::new(cluster(1), basis, Partition::Ring, &key);
    assert!(matches!(large.map(|_| ()), Err(Error::Range { index: 1024, .. })));
    let mut products = Products::new(cluster(2), &all, 1).unwrap();
    assert!(matches!(products.run(&[0; 7], &[0; 7]), Err(Error::Length { got: 7, .. })));
}

/// On all available GPUs, through NCCL and through peer pointers.
fn on_gpus() {
    let sizes: Vec<_> = [1, 2, 4].into_iter().filter(|&count| Cluster::nccl(count).is_ok()).collect();
    let all = moduli::<u64>(8, 62, 1 << 12);
    let basis = Basis::new(&all[..5], &all[5..], 3).unwrap();
    check_key_switch(&sizes, |ranks| Cluster::nccl(ranks).unwrap(), &basis);
    check_products(&sizes, |ranks| Cluster::nccl(ranks).unwrap(), 24, 8);
    check_key_switch(&sizes, |ranks| Cluster::peer(ranks).unwrap(), &basis);
}

fn main() -> ExitCode {
    let each =
        named![key_switching, key_switching_in_short_words, steps_of_a_key_switch, products_of_batches];
    let emulated: [common::Test; 1] = named![bad_divisions_are_refused];
    let mut trials: Vec<_> = on_each(&each).collect();
    trials.extend(emulated.map(|(name, test)| on(ON_EMULATED, name, test)));
    trials.push(trial(
        "gpu::all_cards".into(),
        Cluster::nccl(1).err().map(|error| error.to_string()),
        on_gpus,
    ));
    run(trials)
}
