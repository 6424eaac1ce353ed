//! The built-in sweep, code generation and checks included, on all cores.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use lab_sweep::{Definition, FIG4, Plan};

fn bench(criterion: &mut Criterion) {
    let definition = Definition::parse("built-in fig4", FIG4).expect("the built-in sweep");
    let plan = Plan::new(&definition).expect("the built-in sweep");
    let mut group = criterion.benchmark_group("sweep");
    group.sample_size(10);
    group.throughput(Throughput::Elements(plan.len() as u64));
    group.bench_function("fig4", |bencher| bencher.iter(|| lab_sweep::records(&plan, &lab_sweep::generate)));
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
