use super::*;
use proptest::prelude::*;

/// A channel that carries one byte per nanosecond, so that all times are integers.
fn hbm(latency_ns: u32, buffers: u32) -> Hbm {
    Hbm {
        size_mib: 1,
        gb_per_s: 1.0,
        efficiency: 1.0,
        shared_by: 1,
        latency_ns: latency_ns.into(),
        buffers,
        reload_tables: true,
        ..crate::Machine::rpu_128x128().hbm
    }
}

fn job(load_bytes: u64, compute_ns: u32, store_bytes: u64) -> Job {
    Job { load_bytes, store_bytes, compute_ns: compute_ns.into() }
}

#[test]
fn where_computing_takes_longer_only_the_ends_of_the_stream_show_the_transfers() {
    for runs in 1..8 {
        let stream = Stream::new(&hbm(3, 2), &vec![job(20, 50, 10); runs]);
        assert_eq!(stream.total_ns, (20 + 3 + 50 * runs + 10 + 3) as f64);
        assert_eq!(stream.bottleneck(), Bottleneck::Compute);
    }
}

#[test]
fn where_the_transfers_take_longer_the_channel_never_rests() {
    for runs in 2..8 {
        let stream = Stream::new(&hbm(0, 2), &vec![job(20, 8, 10); runs]);
        assert_eq!(stream.total_ns, (30 * runs) as f64);
        assert_eq!(stream.bottleneck(), Bottleneck::Hbm);
        assert_eq!(stream.channel_utilisation(), 1.0);
    }
}

#[test]
fn one_buffer_overlaps_nothing() {
    let stream = Stream::new(&hbm(3, 1), &[job(20, 50, 10); 4]);
    assert_eq!(stream.total_ns, (4 * (20 + 3 + 50 + 10 + 3)) as f64);
}

#[test]
fn a_stream_of_nothing_takes_no_time() {
    let stream = Stream::new(&hbm(3, 2), &[]);
    assert_eq!(stream, Stream::default());
    assert_eq!(stream.compute_utilisation(), 0.0);
    assert_eq!(Stream::new(&hbm(3, 2), &[job(0, 5, 0)]).total_ns, 5.0, "an empty transfer has no latency");
}

#[test]
fn tables_are_loaded_once_where_the_machine_keeps_them() {
    let traffic = Traffic { inputs: 5, tables: 7, outputs: 3 };
    let isa = Isa::new(512, 32).unwrap();
    let loads = |hbm: &Hbm| -> Vec<u64> {
        Job::repeated(hbm, isa, &traffic, 1.0, 3).iter().map(|job| job.load_bytes).collect()
    };
    assert_eq!(loads(&hbm(0, 2)), [48, 48, 48]);
    assert_eq!(loads(&Hbm { reload_tables: false, ..hbm(0, 2) }), [48, 20, 20]);
}

#[test]
fn rpus_share_the_size_of_the_memory() {
    let hbm = Hbm { size_mib: 3, shared_by: 2, ..hbm(0, 2) };
    let half = 3 << 19;
    assert_eq!(hbm.check_fits(half), Ok(()));
    let error = hbm.check_fits(half + 1).unwrap_err();
    assert_eq!(error, BeyondHbm { needed: half + 1, capacity: half, size_mib: 4 });
    assert_eq!(Hbm { size_mib: error.size_mib as u32, ..hbm }.check_fits(half + 1), Ok(()));
}

/// The paper's Fig. 10 at its printed times: the transfer of three words per element at 512 GB/s is
/// shorter than the computation at 64K, and 0.041 us (2.77%) longer at 16K.
#[test]
fn the_papers_bandwidth_is_enough_but_for_its_16k_transform() {
    let machine = crate::Machine::rpu_128x128_paper();
    let exposed_us = |n: u64, cycles: f64| {
        let traffic = Traffic { inputs: n, tables: n, outputs: n };
        let compute_ns = cycles / machine.frequency_ghz();
        let stream =
            Stream::new(&machine.hbm, &Job::repeated(&machine.hbm, Isa::B512, &traffic, compute_ns, 1));
        (stream.channel_busy_ns - stream.compute_busy_ns) / 1000.0
    };
    assert!(exposed_us(65536, 11_305.0) < 0.0);
    assert!((exposed_us(16384, 2_511.0) - 0.041).abs() < 0.0005);
}

/// The same rules as a stepped model: in each nanosecond, everything that can begin does.
fn stepped(hbm: &Hbm, jobs: &[Job]) -> Vec<JobSpans> {
    #[derive(Clone, Copy)]
    enum Transfer {
        Load(usize),
        Store(usize),
    }
    let buffers = hbm.buffers as usize;
    let loads = (0..jobs.len()).map(|job| (job + buffers, 1, Transfer::Load(job)));
    let stores = (0..jobs.len()).map(|job| (job + 2 * buffers, 0, Transfer::Store(job)));
    let mut order: Vec<_> = loads.chain(stores).collect();
    order.sort_by_key(|&(at, store_first, _)| (at, store_first));
    let mut waiting = order.into_iter().map(|(_, _, transfer)| transfer).peekable();

    let (mut loaded, mut computed, mut stored) =
        (vec![None; jobs.len()], vec![None; jobs.len()], vec![None; jobs.len()]);
    let (mut channel_free, mut now) = (0.0, 0.0);
    let ended = |span: Option<Span>, now: f64| span.is_some_and(|span: Span| span.end_ns <= now);
    while stored.iter().any(Option::is_none) {
        // Several empty transfers can complete within one nanosecond.
        loop {
            let mut idle = true;
            if let Some(&transfer) = waiting.peek() {
                let (bytes, ready) = match transfer {
                    Transfer::Load(i) => (jobs[i].load_bytes, i < buffers || ended(stored[i - buffers], now)),
                    Transfer::Store(i) => (jobs[i].store_bytes, ended(computed[i], now)),
                };
                if ready && channel_free <= now {
                    channel_free = now + bytes as f64;
                    let latency_ns = if bytes > 0 { hbm.latency_ns } else { 0.0 };
                    let span = Some(Span { begin_ns: now, end_ns: channel_free + latency_ns });
                    match transfer {
                        Transfer::Load(i) => loaded[i] = span,
                        Transfer::Store(i) => stored[i] = span,
                    }
                    waiting.next();
                    idle = false;
                }
            }
            if let Some(next) = computed.iter().position(Option::is_none)
                && ended(loaded[next], now)
                && (next == 0 || ended(computed[next - 1], now))
            {
                computed[next] = Some(Span { begin_ns: now, end_ns: now + jobs[next].compute_ns });
                idle = false;
            }
            if idle {
                break;
            }
        }
        now += 1.0;
    }
    let whole = |span: Option<Span>| span.expect("everything has happened");
    (0..jobs.len())
        .map(|i| JobSpans { load: whole(loaded[i]), compute: whole(computed[i]), store: whole(stored[i]) })
        .collect()
}

fn jobs() -> BoxedStrategy<Vec<Job>> {
    let any = (0u64..12, 0u32..12, 0u64..12).prop_map(|(load, compute, store)| job(load, compute, store));
    prop::collection::vec(any, 0..10).boxed()
}

proptest! {
    #[test]
    fn the_stream_is_that_of_the_model_that_steps_every_nanosecond(
        latency in 0u32..5,
        buffers in 1u32..5,
        jobs in jobs(),
    ) {
        let hbm = hbm(latency, buffers);
        let stream = Stream::new(&hbm, &jobs);
        prop_assert_eq!(&stream.jobs, &stepped(&hbm, &jobs));
        let bytes: u64 = jobs.iter().map(|job| job.load_bytes + job.store_bytes).sum();
        prop_assert_eq!(stream.channel_busy_ns, bytes as f64);
        prop_assert!(stream.channel_utilisation() <= 1.0 && stream.compute_utilisation() <= 1.0);
    }

    /// More bandwidth, less latency or another buffer never lengthens a stream.
    #[test]
    fn a_better_memory_is_never_slower(latency in 1u32..5, buffers in 1u32..4, jobs in jobs()) {
        let total = |hbm: &Hbm| Stream::new(hbm, &jobs).total_ns;
        let base = hbm(latency, buffers);
        let faster = Hbm { gb_per_s: 2.0, ..base.clone() };
        prop_assert!(total(&faster) <= total(&base));
        prop_assert!(total(&hbm(latency - 1, buffers)) <= total(&base));
        prop_assert!(total(&hbm(latency, buffers + 1)) <= total(&base));
    }
}
