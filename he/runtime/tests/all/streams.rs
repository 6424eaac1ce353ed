//! A stream of runs and the ring program of the same transforms take the same time.

use crate::cases;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus as Random;
use ring_program::shape::Transform;
use ring_program::{Builder, LimbId, Operation, RingProgram};
use runtime::schedule::consecutive::{Repeated, StreamError, stream};
use runtime::{Keys, Runtime};
use sim::Machine;

/// Transforms of inputs in rings of their own.
fn transforms(n: u64, bits: u32, count: u64) -> RingProgram {
    let mut builder = Builder::new(n).unwrap();
    let degree = builder.program().degree();
    for (id, prime) in (0..).zip(ring::prime::largest_primes(bits, degree, count as usize).unwrap()) {
        let m = builder.add_modulus(prime).unwrap();
        let [a, d] = [id, 1000 + id].map(|id| builder.limb(LimbId(id)));
        builder.push(Operation::Ntt(Transform { d, a, root: None, m })).unwrap();
    }
    builder.finish(None).unwrap()
}

#[test]
fn a_stream_takes_the_time_of_a_ring_program() {
    let mut rng = Random::seed_from_u64(1);
    let (drawn, mut compared) = (cases("STREAM_CASES", 6), 0);
    for _ in 0..drawn {
        let (log2, bits, count) =
            (rng.random_range(10..16), rng.random_range(30..120), rng.random_range(1..17));
        let mut machine = Machine::rpu_128x128();
        machine
            .edit(|values| {
                values.hbm.gb_per_s = f64::from(1 << rng.random_range(6..11));
                values.hbm.latency_ns = f64::from(rng.random_range(0..300));
                values.vdm.size_mib = 2 << rng.random_range(0..5);
                values.launch.cycles = 100 * rng.random_range(0..4);
            })
            .unwrap();
        let program = transforms(1 << log2, bits, count);
        let Ok(runtime) = Runtime::new(&program, &machine, Keys::Streamed) else { continue };
        let Ok(timeline) = runtime.time(false) else { continue };
        let launches = &runtime.launches().launches;
        let rings = runtime.launches().sources(&launches[0]).len();
        if launches.iter().any(|launch| runtime.launches().sources(launch).len() != rings) {
            continue;
        }
        compared += 1;
        let timed = runtime.kernels().operation(runtime.launches().batch(&launches[0]).unwrap());
        let limbs = vec![1 << log2; rings];
        let kernel = Repeated {
            cycles: timed.timing.cycles.0,
            bank_cycles: timed.bank_cycles,
            instructions: timed.instructions as u64,
            inputs: limbs.clone(),
            tables: vec![timed.table_words; rings],
            outputs: limbs,
            scratch: timed.scratch_words,
            parameter_bytes: 16 * (2 * rings + timed.address_registers) as u64,
            may_work_in_place: timed.may_work_in_place,
        };
        let stream = stream(&kernel, &machine, launches.len()).unwrap();
        let ratio = stream.total_ns / timeline.total_ns;
        assert!((0.995..1.005).contains(&ratio), "{ratio}: n = 2^{log2}, {count} transforms");
    }
    assert!(2 * compared >= drawn, "{compared} of {drawn}");
}

/// 4 MiB hold one run of a transform of three limbs of 1 MiB each, and 8 MiB hold two.
#[test]
fn a_stream_that_does_not_fit_is_an_error() {
    let mut machine = Machine::rpu_128x128();
    let words = machine.vdm_words() / 4;
    let kernel = Repeated {
        cycles: 10_000,
        bank_cycles: 5000,
        instructions: 1000,
        inputs: vec![words],
        tables: vec![words],
        outputs: vec![words],
        scratch: 100,
        parameter_bytes: 64,
        may_work_in_place: false,
    };
    machine.edit(|values| values.hbm.buffers = 2).unwrap();
    let (needed, capacity) = (6 * u64::from(words) + 100, 4 * u64::from(words));
    let error = stream(&kernel, &machine, 8).unwrap_err();
    assert_eq!(error, StreamError::TooLarge { buffers: 2, needed, capacity, size_mib: 7 });
    let message = format!(
        "the words of 2 runs at once need {needed} words of the VDM, but the machine has {capacity}; \
         set `vdm.size_mib` to 7 or more, or set `hbm.buffers` to less"
    );
    assert_eq!(error.to_string(), message);
    assert!(stream(&kernel, &machine, 1).is_ok(), "one run needs one buffer");
    machine.edit(|values| values.hbm.buffers = 1).unwrap();
    let one = stream(&kernel, &machine, 8).unwrap().total_ns;
    machine
        .edit(|values| {
            values.vdm.size_mib *= 2;
            values.vdm.access_cycles = 1;
            values.hbm.buffers = 2;
        })
        .unwrap();
    let two = stream(&kernel, &machine, 8).unwrap().total_ns;
    machine.edit(|values| values.hbm.buffers = 0).unwrap();
    let all = stream(&kernel, &machine, 8).unwrap().total_ns;
    assert!(one > 1.3 * two && two >= all, "{one}, {two}, {all}");
}

/// As much space as there is may cost the time of one run, at the end of a stream: its loads come early, and
/// so do the saves that make room for them, so that none is left beside the last run.
#[test]
fn more_space_costs_a_stream_at_most_one_run() {
    let mut rng = Random::seed_from_u64(7);
    let (mut streams, mut slower, mut worst) = (0, 0, 1.0_f64);
    for _ in 0..cases("BUFFER_CASES", 200) {
        let mut machine = Machine::rpu_128x128();
        machine
            .edit(|values| {
                values.hbm.gb_per_s = f64::from(1 << rng.random_range(6..11));
                values.hbm.latency_ns = f64::from(100 * rng.random_range(0..3));
                values.vdm.size_mib = 2 << rng.random_range(0..4);
                values.hbm.reload_tables = rng.random_range(0..2) == 0;
            })
            .unwrap();
        let n = 1 << rng.random_range(10..17);
        let cycles = u64::from(n) * rng.random_range(3..30) / 100;
        let kernel = Repeated {
            cycles,
            bank_cycles: cycles / 2,
            instructions: 1000,
            inputs: vec![n; rng.random_range(1..3)],
            tables: vec![n; rng.random_range(0..2)],
            outputs: vec![n; rng.random_range(1..3)],
            scratch: 0,
            parameter_bytes: 64,
            may_work_in_place: rng.random_range(0..2) == 0,
        };
        let runs = rng.random_range(2..65);
        let Ok(one) = stream(&kernel, &machine, 1).map(|stream| stream.total_ns) else { continue };
        let mut total_ns = |buffers| {
            machine.edit(|values| values.hbm.buffers = buffers).unwrap();
            stream(&kernel, &machine, runs).ok().map(|stream| stream.total_ns)
        };
        let Some(all) = total_ns(0) else { continue };
        let Some(least) = (1..=64).filter_map(total_ns).reduce(f64::min) else { continue };
        streams += 1;
        slower += usize::from(all > 1.001 * least);
        worst = worst.max(all / least);
        assert!(all <= least + one, "{all} and {least}: {kernel:?}");
    }
    println!("{slower} of {streams} streams are slower, at worst {worst:.3}");
}
