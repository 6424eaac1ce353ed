//! Several devices working on the same polynomials, compared with the host models: emulated, and on
//! any GPUs present. One device can represent several that communicate through host memory.

use gpu_experiments::multi::{Cluster, KeySwitch, Partition, Products};
use gpu_ref::key_switch::Basis;
use gpu_ref::testing::{
    ON_EMULATED, Test, moduli, named, on, on_each, polynomials, products, rng, run, same, trial,
};
use gpu_ref::{Device, Error, Word};
use std::process::ExitCode;

/// All partitions on clusters of `ranks` devices.
fn check_key_switch<W: Word>(sizes: &[usize], cluster: impl Fn(usize) -> Cluster, basis: &Basis<W>) {
    let mut rng = rng();
    let inputs = polynomials(&basis.moduli()[..basis.limbs()], 2, &mut rng);
    let key = polynomials(basis.moduli(), 2 * basis.digits(), &mut rng);
    let model = |groups| -> Vec<Vec<W>> {
        inputs.chunks(basis.polynomial_words()).map(|x| basis.model(x, &key, groups)).collect()
    };
    let together = model(1);
    for &ranks in sizes {
        // The ring has one group per device, the others have one in total.
        let apart = if ranks == 1 { together.clone() } else { model(ranks) };
        let special = basis.extended() - basis.limbs();
        for partition in Partition::ALL.into_iter().filter(|&p| p != Partition::Rows || ranks <= special) {
            let mut switch = KeySwitch::new(cluster(ranks), basis.clone(), partition, &key).unwrap();
            let (groups, want) = if partition == Partition::Ring { (ranks, &apart) } else { (1, &together) };
            assert_eq!(switch.groups(), groups);
            for (input, want) in inputs.chunks(basis.polynomial_words()).zip(want) {
                let got = switch.run(input).unwrap();
                same(format_args!("{partition} on {ranks} devices"), &got, want);
            }
        }
    }
}

/// 5 limbs in 3 digits, which 2 and 4 devices share unevenly, and 3 special limbs.
fn key_switching(device: &Device) {
    let all = moduli::<u64>(8, 62, 1 << 10).unwrap();
    let basis = Basis::new(&all[..5], &all[5..], 3).unwrap();
    check_key_switch(&[1, 2, 4], |ranks| Cluster::staged(&vec![device.clone(); ranks]), &basis);
}

fn key_switching_in_short_words(device: &Device) {
    let all = moduli::<u32>(6, 30, 1 << 10).unwrap();
    let basis = Basis::new(&all[..4], &all[4..], 4).unwrap();
    check_key_switch(&[1, 2, 4], |ranks| Cluster::staged(&vec![device.clone(); ranks]), &basis);
}

fn products_of_batches(device: &Device) {
    check_products(&[1, 2, 4], |ranks| Cluster::staged(&vec![device.clone(); ranks]), 5, 3);
    check_products(&[1, 4], |ranks| Cluster::staged(&vec![device.clone(); ranks]), 24, 8);
}

/// Products of a batch on clusters of `ranks` devices.
fn check_products(sizes: &[usize], cluster: impl Fn(usize) -> Cluster, limbs: usize, count: usize) {
    let (moduli, mut rng) = (moduli::<u64>(limbs, 62, 1 << 10).unwrap(), rng());
    let (left, right) = (polynomials(&moduli, count, &mut rng), polynomials(&moduli, count, &mut rng));
    let want = products(&moduli, &left, &right);
    for &ranks in sizes {
        let mut products = Products::new(cluster(ranks), &moduli, count).unwrap();
        same(format_args!("products on {ranks} devices"), &products.run(&left, &right).unwrap(), &want);
    }
}

/// Invalid divisions are rejected, and the message names a valid one.
fn bad_divisions_are_refused(device: &Device) {
    let cluster = |ranks| Cluster::staged(&vec![device.clone(); ranks]);
    let all = moduli::<u64>(4, 62, 1 << 10).unwrap();
    let unsupported = |result: Result<(), Error>| matches!(result, Err(Error::Unsupported { .. }));
    for ranks in [0, 5] {
        assert!(unsupported(Products::new(cluster(ranks), &all, 1).map(|_| ())), "{ranks}");
    }
    assert!(unsupported(Products::new(cluster(1), &all, 0).map(|_| ())));
    let basis = Basis::new(&all[..3], &all[3..], 3).unwrap();
    for ranks in [0, 2, 3] {
        let key = vec![0; basis.key_words()];
        let refused = KeySwitch::new(cluster(ranks), basis.clone(), Partition::Rows, &key).map(|_| ());
        assert!(unsupported(refused), "{ranks}");
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

/// On all available GPUs.
fn on_gpus() {
    let sizes: Vec<_> = [1, 2, 4].into_iter().filter(|&count| Cluster::peer(count).is_ok()).collect();
    let all = moduli::<u64>(8, 62, 1 << 12).unwrap();
    let basis = Basis::new(&all[..5], &all[5..], 3).unwrap();
    check_products(&sizes, |ranks| Cluster::peer(ranks).unwrap(), 24, 8);
    check_key_switch(&sizes, |ranks| Cluster::peer(ranks).unwrap(), &basis);
}

fn main() -> ExitCode {
    let each = named![key_switching, key_switching_in_short_words, products_of_batches];
    let emulated: [Test; 1] = named![bad_divisions_are_refused];
    let mut trials: Vec<_> = on_each(&each).collect();
    trials.extend(emulated.map(|(name, test)| on(ON_EMULATED, name, test)));
    trials.push(trial(
        "gpu::all_cards".into(),
        Cluster::peer(1).err().map(|error| error.to_string()),
        on_gpus,
    ));
    run(trials)
}
