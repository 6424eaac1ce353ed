//! A bootstrap, stage by stage, against its stages in double precision.

use client::ckks::{decode, encode};
use client::{Ciphertext, Client};
use num_bigint::BigInt;
use num_complex::Complex64;
use num_traits::ToPrimitive;
use programs::{Generated, Options, ParameterSet, find_program, generate_defined};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use runtime::{Keys, Runtime};
use sim::Machine;
use std::collections::BTreeMap;
use std::f64::consts::PI;

/// The outputs of a run, by name without the component.
type Ciphertexts = BTreeMap<String, Ciphertext>;

/// -log2 of the mean error.
fn mean_bits(found: &[Complex64], expected: &[Complex64]) -> f64 {
    let sum: f64 = found.iter().zip(expected).map(|(a, b)| (a - b).norm()).sum();
    -(sum / found.len() as f64).log2()
}

fn program(set: &ParameterSet) -> Generated {
    let options = Options { intermediates: true, ..Options::default() };
    generate_defined(&find_program("bootstrap").unwrap(), set, &options).unwrap()
}

fn message(n: usize) -> Vec<Complex64> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
    let mut part = || random.random_range(-1.0..1.0);
    (0..n / 2).map(|_| Complex64::new(part(), part())).collect()
}

/// The bits of the slots that a bootstrap keeps, in the mean, after a check of each stage.
fn check_stages(client: &Client, generated: &Generated, outputs: &Ciphertexts, slots: &[Complex64]) -> f64 {
    let set = client.set();
    let settings = set.bootstrap().unwrap();
    let (n, q0, range) = (2 * slots.len(), set.q()[0] as f64, f64::from(settings.range));
    let scale = |name: &str| generated.scales[name].to_f64();
    let decoded = |name: &str| decode(&client.phase(&outputs[name]), scale(name));

    // Scale down and mod-raise: multiples of q_0 and the message, at q_0/2^r.
    let raised: Vec<f64> =
        client.phase(&outputs["raised"]).iter().map(|x| x.to_f64().unwrap() / q0).collect();
    assert!(raised.iter().all(|t| t.abs() < range));
    assert!(raised.iter().any(|t| t.abs() > 2.0), "a mod-raise without multiples of q_0 tests nothing");
    let ratio = f64::from(settings.message_ratio_bits).exp2();
    let coefficients = encode(slots, 60_f64.exp2());
    for (t, &coefficient) in raised.iter().zip(&coefficients) {
        let expected = coefficient as f64 / 60_f64.exp2() / ratio;
        assert!((t - t.round() - expected).abs() < 1e-8, "{t} {expected}");
    }

    // CoeffToSlot: coefficients in bit-reversed order, over K.
    let bits = (n / 2).ilog2();
    let reversed = |slot: usize| slot.reverse_bits() >> (usize::BITS - bits);
    let half = |first: usize, f: &dyn Fn(f64) -> f64| -> Vec<Complex64> {
        (0..n / 2).map(|slot| f(raised[first + reversed(slot)]).into()).collect()
    };
    let over_range = |t: f64| t / range;
    let real = mean_bits(&decoded("real"), &half(0, &over_range));
    let imaginary = mean_bits(&decoded("imaginary"), &half(n / 2, &over_range));
    println!("CoeffToSlot: {real:.1} and {imaginary:.1} bits");
    assert!(real > 35.0 && imaginary > 35.0);

    // EvalMod: the sine of both halves, and the series of the arcsine if there is one.
    let sine = |t: f64| {
        let v = (2.0 * PI * t).sin();
        let (mut factor, mut sum) = (0.5 / PI, 0.5 / PI * v);
        for power in (3..=settings.arcsine as i32).step_by(2) {
            let i = f64::from(power);
            factor *= (i - 2.0).powi(2) / (i * (i - 1.0));
            sum += factor * v.powi(power);
        }
        sum
    };
    let (low, high) = (half(0, &sine), half(n / 2, &sine));
    let expected: Vec<Complex64> =
        low.iter().zip(&high).map(|(low, high)| low + Complex64::i() * high).collect();
    let reduced = mean_bits(&decoded("reduced"), &expected);
    println!("EvalMod: {reduced:.1} bits");
    assert!(reduced > 30.0);

    // SlotToCoeff: the message, with the error of the sine.
    let coefficients: Vec<BigInt> =
        raised.iter().map(|&t| BigInt::from((sine(t) * ratio * 80_f64.exp2()) as i128)).collect();
    let model = decode(&coefficients, 80_f64.exp2());
    let boot = decoded("boot");
    let bits = [mean_bits(&boot, &model), mean_bits(&boot, slots), mean_bits(&model, slots)];
    println!(
        "SlotToCoeff: {:.1} bits; the message: {:.1} bits of slots in the mean, {:.1} without noise",
        bits[0], bits[1], bits[2]
    );
    assert!(bits[0] > 25.0 && bits[1] > bits[2] - 1.5);
    bits[1]
}

fn outputs(generated: &Generated, outputs: Vec<Vec<ring_program::data::Words>>) -> Ciphertexts {
    let mut ciphertexts = Ciphertexts::new();
    for (group, limbs) in generated.program.outputs().iter().zip(outputs) {
        let (name, component) = group.name.rsplit_once('.').unwrap();
        let component: usize = component.parse().unwrap();
        ciphertexts.entry(name.to_owned()).or_insert_with(|| [Vec::new(), Vec::new()])[component] = limbs;
    }
    ciphertexts
}

/// Bootstraps a message of a set at a degree on the functional engine, and returns the bits that it keeps. `is_checked` asks
/// for a comparison with the executor on big integers, of all stages.
fn bootstrap(set: &str, n: u64, is_checked: bool) -> f64 {
    let set = ParameterSet::built_in(set, Some(n)).unwrap().unwrap();
    let scale = f64::from(set.bootstrap().unwrap().scale_bits).exp2();
    let left = set.levels() - set.bootstrap().unwrap().depth();
    let generated = program(&set);
    let mut client = Client::new(set, 1).unwrap();
    let slots = message(n as usize);
    let [c0, c1] = client.encrypt(&encode(&slots, scale));
    let ciphertext = [c0[..1].to_vec(), c1[..1].to_vec()];
    let inputs = client.inputs(&generated, &[("ct", &ciphertext)]).unwrap();
    let machine = Machine::rpu_128x128();
    let runtime = Runtime::new(&generated.program, &machine, Keys::Streamed).unwrap();
    let found = runtime.execute(&inputs).unwrap();
    if is_checked {
        runtime.check(&inputs, &found).unwrap();
    }
    let found = outputs(&generated, found);
    assert_eq!(found["boot"][0].len(), left, "moduli after the bootstrap");
    check_stages(&client, &generated, &found, &slots)
}

#[test]
fn all_stages_equal_those_of_the_executor_on_big_integers() {
    let bits = bootstrap("lattigo-n16qp1546", 2048, true);
    // The sine allows 23.3.
    assert!(bits > 22.8, "{bits}");
}

#[test]
fn a_bootstrap_of_lattigos_chain_keeps_24_bits() {
    let bits = bootstrap("lattigo-n16qp1546", 8192, false);
    assert!(bits > 24.0, "{bits}");
}

#[test]
fn an_arcsine_keeps_more() {
    let bits = bootstrap("lattigo-n16qp1547", 512, false);
    assert!(bits > 27.0, "{bits}");
}
