//! Speed of the debugger: a step and a step back near the end of the 64K transform, where a step back
//! executes the most.

use codegen::{PlanChoice, Request, generate};
use criterion::{Criterion, criterion_group, criterion_main};
use ring::Degree;
use rpu::debugger::{Listing, Session, Stop};
use sim::Machine;
use sim::timing::Cycle;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

const N: u32 = 65536;
const CYCLE: Cycle = Cycle(6000);

/// The time of one movement, repeated. The other movement, which is not timed, undoes it.
fn time(
    session: &mut Session,
    times: u64,
    forth: fn(&mut Session) -> Stop,
    back: fn(&mut Session) -> Stop,
) -> Duration {
    let timed = |_| {
        let begin = Instant::now();
        assert_eq!(forth(session), Stop::Done);
        let elapsed = begin.elapsed();
        assert_eq!(back(session), Stop::Done);
        elapsed
    };
    (0..times).map(timed).sum()
}

fn bench(criterion: &mut Criterion) {
    let machine = Machine::rpu_128x128();
    let degree = Degree::try_from(N).expect("a power of two");
    let request = Request::with_primes(golden::NTT, degree, 128, 1).expect("there are primes of 128 bits");
    let program = generate(&request, &machine, &PlanChoice::Best).expect("a kernel").program;
    let inputs = BTreeMap::from([("x".to_owned(), (0..N.into()).collect())]);
    let mut session = Session::new(Listing::new(program, None), &machine, inputs).expect("the program fits");
    assert_eq!(session.go_to_cycle(CYCLE), Stop::Done);
    let mut group = criterion.benchmark_group("ntt65536");
    group.sample_size(20);
    group.bench_function("step", |bencher| {
        bencher.iter_custom(|times| time(&mut session, times, Session::step, Session::back));
    });
    group.bench_function("back", |bencher| {
        bencher.iter_custom(|times| time(&mut session, times, Session::back, Session::step));
    });
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
