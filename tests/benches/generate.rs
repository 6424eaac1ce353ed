//! Speed of the code generator, and of the cycle model on generated code: the 64K transform with
//! plan `kl` and with the best known plan.

use codegen::{PlanChoice, Request, generate};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use ring::Degree;
use sim::Machine;
use sim::timing::scheduling::Engine;
use sim::timing::{DecodedProgram, simulate, simulate_decoded};
use std::hint::black_box;

const N: u32 = 65536;

fn bench(criterion: &mut Criterion) {
    let machine = Machine::rpu_128x128();
    let degree = Degree::try_from(N).expect("a power of two");
    let request = Request::with_primes(golden::NTT, degree, 128, 1).expect("there are primes of 128 bits");
    for (name, plan) in [("kl", PlanChoice::Classical), ("best", PlanChoice::Best)] {
        let program = generate(&request, &machine, &plan).expect("a kernel").program;
        let micro_ops = DecodedProgram::of(&program).micro_ops(&machine);
        let mut group = criterion.benchmark_group("ntt65536");
        group.throughput(Throughput::Elements(program.instructions.len() as u64));
        group.bench_function(BenchmarkId::new("simulate", name), |bencher| {
            bencher.iter(|| simulate(black_box(&machine), black_box(&program)));
        });
        let decoded = DecodedProgram::of(&program);
        group.bench_function(BenchmarkId::new("simulate decoded", name), |bencher| {
            bencher.iter(|| simulate_decoded(black_box(&machine), black_box(&decoded)));
        });
        group.bench_function(BenchmarkId::new("decode", name), |bencher| {
            bencher.iter(|| DecodedProgram::of(black_box(&program)));
        });
        group.bench_function(BenchmarkId::new("engine", name), |bencher| {
            bencher.iter(|| {
                let mut engine = Engine::new(&machine);
                for micro_op in black_box(&micro_ops) {
                    engine.dispatch(micro_op);
                }
                engine.finish()
            });
        });
        group.sample_size(10);
        group.bench_function(BenchmarkId::new("generate", name), |bencher| {
            bencher.iter(|| generate(black_box(&request), &machine, &plan).expect("a kernel"));
        });
        group.finish();
    }
}

criterion_group!(benches, bench);
criterion_main!(benches);
