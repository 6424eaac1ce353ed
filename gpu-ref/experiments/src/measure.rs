//! Device times, measured by events around replays of a recorded graph.

use gpu_ref::{Batch, Device, Direction, Error, Plan, Timing, Word};

/// A timed operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Work {
    /// [`Plan::transform`].
    Transform(Direction),
    /// [`Plan::multiply`].
    Product,
}

impl std::fmt::Display for Work {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Transform(direction) => direction.fmt(f),
            Self::Product => f.write_str("product"),
        }
    }
}

/// Samples of a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Samples {
    /// About 2 ms of device time each, long enough to hide the events' resolution: the card does not reach
    /// its limit of power.
    Bursts,
    /// About 60 ms each, so that the median is of a card that has been busy for half a second.
    Steady,
}

impl Samples {
    fn us(self) -> f64 {
        match self {
            Self::Bursts => 2_000.0,
            Self::Steady => 60_000.0,
        }
    }
}

const SAMPLES: usize = 15;

/// Device time of `work` on one batch. The batches take turns inside one graph, `rounds` times: a single
/// batch smaller than the L2 cache stays in it, and enough batches force every access to memory.
/// [`Work::Product`] multiplies neighbouring batches, so their number must be even; the time is for one
/// product.
///
/// The work is repeated on its own results, so the batches hold meaningless data afterwards.
///
/// # Errors
/// Returns [`Error::Unsupported`] on an emulated device, for an odd number of factors or for no work at all,
/// and the errors of the work itself.
pub fn time<W: Word>(
    plan: &Plan<W>,
    work: Work,
    batches: &mut [Batch<W>],
    rounds: usize,
    samples: Samples,
) -> Result<Timing, Error> {
    let factors = if work == Work::Product { 2 } else { 1 };
    let turns = rounds * batches.len() / factors;
    if turns == 0 || !batches.len().is_multiple_of(factors) {
        return Err(Error::Unsupported {
            what: format!("timing {work} {rounds} times on {} batches", batches.len()),
            instead: "use at least one batch for a transform, and an even number for products".into(),
        });
    }
    let launches = batches.chunks(factors).map(|batches| match work {
        Work::Transform(direction) => plan.transform_launches(direction, &batches[0]),
        Work::Product => plan.product_launches(&batches[0], &batches[1]),
    });
    let launches = launches.collect::<Result<Vec<_>, Error>>()?.into_iter().flatten();
    let launches: Vec<_> = launches.collect();
    let graph = plan.device().record(std::iter::repeat_n(&launches, rounds).flatten())?;
    // SAFETY: the plan and the batches are borrowed until the samples have waited for the end of all replays.
    Ok(sample_for(plan.device(), samples, || unsafe { graph.launch() })?.divided_by(turns))
}

/// The most bytes of registers that a thread of the kernels of `work` keeps in memory.
///
/// # Errors
/// Returns [`Error::Unsupported`] on an emulated device, and the errors of the work itself.
pub fn spilled_bytes<W: Word>(plan: &Plan<W>, work: Work) -> Result<usize, Error> {
    match work {
        Work::Transform(direction) => plan.spilled_bytes(direction),
        Work::Product => plan.spilled_bytes_of_product(),
    }
}

/// Several runs of the same work as one: the median of their medians, and their extremes. `None`
/// without runs.
pub fn over(runs: &[Timing]) -> Option<Timing> {
    let medians = Timing::of(runs.iter().map(|run| run.median).collect())?;
    let low = runs.iter().map(|run| run.low).reduce(f64::min)?;
    let high = runs.iter().map(|run| run.high).reduce(f64::max)?;
    Some(Timing { median: medians.median, low, high })
}

/// Device time of copying `bytes` bytes on the device by the driver. Copies of 512 MiB in total take
/// turns, so that all accesses go to memory.
///
/// # Errors
/// Returns [`Error::Unsupported`] on an emulated device or for no bytes.
pub fn time_copy(device: &Device, bytes: usize) -> Result<Timing, Error> {
    const COLD_BYTES: usize = 512 << 20;
    if bytes == 0 {
        return Err(Error::Unsupported {
            what: "a copy of no bytes".into(),
            instead: "use 1 or more".into(),
        });
    }
    let turns = COLD_BYTES.div_ceil(2 * bytes);
    let [from, to] = [Batch::<u8>::zeroed(device, turns * bytes)?, Batch::zeroed(device, turns * bytes)?];
    let copies = || {
        (0..turns).try_for_each(|turn| {
            let [from, to] = [&from, &to].map(|batch| batch.address_of(turn * bytes));
            // SAFETY: both batches outlive the samples, which wait for their end.
            unsafe { device.start_copy(to, from, bytes) }
        })
    };
    Ok(sample(device, copies)?.divided_by(turns))
}

/// Device time of the launches made by `work`.
///
/// # Errors
/// Returns [`Error::Unsupported`] on an emulated device, and any error of `work`.
pub fn sample(device: &Device, work: impl FnMut() -> Result<(), Error>) -> Result<Timing, Error> {
    sample_for(device, Samples::Bursts, work)
}

fn sample_for(
    device: &Device,
    samples: Samples,
    mut work: impl FnMut() -> Result<(), Error>,
) -> Result<Timing, Error> {
    let mut time = |times: u32| {
        let us = device.elapsed(|| (0..times).try_for_each(|_| work()))?;
        Ok::<_, Error>(us / f64::from(times))
    };
    time(1)?;
    let estimate = time(3)?;
    let replays = (samples.us() / estimate).ceil().clamp(1.0, 2_000.0) as u32;
    let samples = (0..SAMPLES).map(|_| time(replays)).collect::<Result<_, _>>()?;
    Ok(Timing::of(samples).expect("there are samples"))
}
