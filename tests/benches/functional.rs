//! Functional execution compared with other implementations of the same work, with moduli of 128 and 60
//! bits.
//!
//! `cargo bench --features benches --bench functional` prints, group by group:
//!
//! * `mulmod`: one modular multiplication, in a loop over 512 random pairs;
//! * `vector`: one instruction on registers of 512 elements, with its operands in place;
//! * `ntt65536`: a forward transform: the host's radix-2 code, a program of 1,024 butterfly instructions
//!   whose stages go through memory, and the golden model;
//! * `ntt65536, 60 bits`: the same with a modulus of 60 bits: the host's code for 64-bit words, the program,
//!   and the program of the plan `best`.

use b512_asm::{AReg, AddressMode, Instr, MReg, Offset, Program, Role, Space, Symbol, VReg};
use codegen::{PlanChoice, Request, generate, testing as support};
use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use num_bigint::BigUint;
use ring::host::{Ntt, Ntt64};
use ring::modular::Modulus;
use ring::prime::largest_prime;
use ring::root::smallest_root;
use ring::{Degree, Ring};
use sim::Machine;
use sim::functional::Executor;
use std::hint::black_box;

const N: usize = 65536;
const LANES: usize = 512;

fn degree() -> Degree {
    Degree::try_from(N).expect("a power of two")
}

fn modulus(bits: u32) -> u128 {
    largest_prime(bits, degree()).expect("there are primes of 128 bits")
}

/// Pseudo-random numbers below `q`.
fn random(q: u128, n: usize) -> Vec<u128> {
    let next = |&state: &u128| Some(state.wrapping_mul(0xda94_2042_e4dd_58b5_9e37_79b9_7f4a_7c15));
    std::iter::successors(Some(q), next).map(|state| state.rotate_right(64) % q).take(n).collect()
}

fn mulmod(c: &mut Criterion) {
    let q = Modulus::new(modulus(128)).expect("odd");
    let values = random(q.value(), 2 * LANES);
    let (a, b) = values.split_at(LANES);
    let prepared: Vec<_> = b.iter().map(|&b| q.prepare(b)).collect();
    let mut out = vec![0; LANES];
    let mut group = c.benchmark_group("mulmod");
    group.throughput(Throughput::Elements(LANES as u64));
    group.bench_function("prepared", |bencher| {
        bencher.iter(|| {
            for ((out, &a), &b) in out.iter_mut().zip(black_box(a)).zip(&prepared) {
                *out = q.mul_prepared(a, b);
            }
            black_box(&mut out);
        });
    });
    group.bench_function("plain", |bencher| {
        bencher.iter(|| {
            for ((out, &a), &b) in out.iter_mut().zip(black_box(a)).zip(b) {
                *out = q.mul(a, b);
            }
            black_box(&mut out);
        });
    });
    let big = |values: &[u128]| values.iter().copied().map(BigUint::from).collect::<Vec<_>>();
    let (a, b, modulus) = (big(a), big(b), BigUint::from(q.value()));
    group.bench_function("num-bigint", |bencher| {
        bencher.iter(|| {
            for (a, b) in black_box(&a).iter().zip(&b) {
                black_box(a * b % &modulus);
            }
        });
    });
    group.finish();
}

/// One instruction, 64 times, in a program that first loads `v1` and `v2` with data and `v3` with
/// constants.
fn vector(c: &mut Criterion) {
    const REPEATS: usize = 64;
    let (v, rm, base) = (VReg::at, MReg::at(0), AReg::at(0));
    let q = modulus(128);
    let load = |index: usize| Instr::Vload {
        vd: v(index),
        base,
        offset: Offset::new((index * LANES) as u32).expect("a small offset"),
        mode: AddressMode::Linear,
    };
    let instructions = [
        ("load", load(1)),
        ("bfly", Instr::Bfly { vd: v(4), vd1: v(5), vs: v(1), vt: v(2), vt1: v(3), rm }),
        ("vadd", Instr::Vadd { vd: v(4), vs: v(1), vt: v(2), rm }),
        ("vmul_data", Instr::Vmul { vd: v(4), vs: v(1), vt: v(2), rm }),
        ("vmul_constant", Instr::Vmul { vd: v(4), vs: v(1), vt: v(3), rm }),
        ("unpklo", Instr::Unpklo { vd: v(4), vs: v(1), vt: v(2) }),
        ("pklo", Instr::Pklo { vd: v(4), vs: v(1), vt: v(2) }),
    ];
    let symbol = |name: &str, start: usize, words: usize, role| Symbol {
        name: name.into(),
        space: Space::Vdm,
        start: start as u32,
        words: words as u32,
        role,
    };
    let mut group = c.benchmark_group("vector");
    group.throughput(Throughput::Elements((REPEATS * LANES) as u64));
    for (name, instr) in instructions {
        let mut code = vec![load(1), load(2), load(3)];
        code.extend([instr; REPEATS]);
        let program = Program {
            instructions: code,
            moduli: vec![(rm, q)],
            symbols: vec![
                symbol("data", 0, 3 * LANES, Role::Input),
                symbol("factors", 3 * LANES, LANES, Role::Table),
            ],
            ..Program::default()
        };
        let mut executor = Executor::new(4 * LANES as u32, 0);
        executor.load(&program).expect("the program fits");
        executor.write("data", &random(q, 3 * LANES)).expect("the data fit");
        group.bench_function(name, |bencher| bencher.iter(|| executor.run().expect("no fault")));
    }
    group.finish();
}

fn transform(c: &mut Criterion) {
    let q = modulus(128);
    let root = smallest_root(q, degree()).expect("q is 1 mod 2n");
    let x = random(q, N);
    let mut group = c.benchmark_group("ntt65536");
    group.sample_size(20);
    group.throughput(Throughput::Elements((N / 2 * N.ilog2() as usize) as u64));

    let ntt = Ntt::new(Modulus::new(q).expect("odd"), N, root).expect("a root");
    group.bench_function("host", |bencher| {
        bencher.iter_batched_ref(|| x.clone(), |x| ntt.forward(x), BatchSize::LargeInput);
    });

    let program = support::transform(golden::NTT, N, q, root);
    let mut executor = Executor::new(support::vdm_words(N), 1);
    executor.load(&program).expect("the program fits");
    executor.write("x", &x).expect("the data fit");
    // The result overwrites the input: each run transforms the previous result.
    group.bench_function("program", |bencher| bencher.iter(|| executor.run().expect("no fault")));

    group.sample_size(10);
    group.bench_with_input(BenchmarkId::from_parameter("num-bigint"), &x, |bencher, x| {
        bencher.iter(|| golden::NTT.result(&[x], N, q, root).expect("a transform"));
    });
    group.finish();
}

fn transform_60(c: &mut Criterion) {
    let q = modulus(60);
    let ring = Ring::with_smallest_root(degree(), q).expect("q is 1 mod 2n");
    let root = ring.require_root().expect("the ring has a root");
    let x = random(q, N);
    let mut group = c.benchmark_group("ntt65536, 60 bits");
    group.sample_size(20);
    group.throughput(Throughput::Elements((N / 2 * N.ilog2() as usize) as u64));

    let words: Vec<u64> = x.iter().map(|&value| value as u64).collect();
    let ntt = Ntt64::new(N, q as u64, root as u64).expect("a root");
    group.bench_function("host", |bencher| {
        bencher.iter_batched_ref(|| words.clone(), |x| ntt.forward(x), BatchSize::LargeInput);
    });
    let machine = Machine::rpu_128x128();
    let request = Request::single(golden::NTT, ring);
    let best = generate(&request, &machine, &PlanChoice::Best).expect("a kernel").program;
    let through_memory = support::transform(golden::NTT, N, q, root);
    let memory = support::vdm_words(N).max(machine.vdm_words());
    for (name, program) in [("program", &through_memory), ("best", &best)] {
        let mut executor = Executor::new(memory, machine.sdm_words());
        executor.load(program).expect("the program fits");
        executor.write("x", &x).expect("the data fit");
        group.bench_function(name, |bencher| bencher.iter(|| executor.run().expect("no fault")));
    }
    group.finish();
}

criterion_group!(benches, mulmod, vector, transform, transform_60);
criterion_main!(benches);
