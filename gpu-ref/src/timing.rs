//! Device times of a plan's work, measured by events around replays of a recorded graph.

use crate::device::Launch;
use crate::{Batch, Device, Direction, Error, Plan, Word};

/// A timed operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

/// Device time in microseconds over several samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Timing {
    /// The median.
    pub median: f64,
    /// The shortest sample.
    pub low: f64,
    /// The longest sample.
    pub high: f64,
}

impl Timing {
    /// The median, the minimum and the maximum of at least one sample.
    pub(crate) fn of(mut samples: Vec<f64>) -> Self {
        samples.sort_by(f64::total_cmp);
        Self { median: samples[samples.len() / 2], low: samples[0], high: samples[samples.len() - 1] }
    }

    /// Several runs of the same work as one: the median of their medians, and their extremes. `None`
    /// without runs.
    pub fn over(runs: &[Self]) -> Option<Self> {
        let mut medians: Vec<f64> = runs.iter().map(|run| run.median).collect();
        medians.sort_by(f64::total_cmp);
        let median = *medians.get(medians.len() / 2)?;
        let low = runs.iter().map(|run| run.low).reduce(f64::min)?;
        let high = runs.iter().map(|run| run.high).reduce(f64::max)?;
        Some(Self { median, low, high })
    }

    /// Time of one of `count` equal parts.
    #[must_use]
    pub fn divided_by(self, count: usize) -> Self {
        let part = |us: f64| us / count as f64;
        Self { median: part(self.median), low: part(self.low), high: part(self.high) }
    }
}

/// Approximate device time of a sample, long enough to hide the events' resolution.
const SAMPLE_US: f64 = 2_000.0;
const SAMPLES: usize = 15;

impl<W: Word> Plan<W> {
    /// Device time of `work` on one batch. The batches take turns inside one graph, `rounds` times:
    /// a single batch smaller than the L2 cache stays in it, and enough batches force every access
    /// to memory. [`Work::Product`] multiplies neighbouring batches, so their number must be even;
    /// the time is for one product.
    ///
    /// The work is repeated on its own results, so the batches hold meaningless data afterwards.
    ///
    /// # Errors
    /// Returns [`Error::Unsupported`] on an emulated device, for an odd number of factors or for no
    /// work at all, and the errors of the work itself.
    pub fn time(&self, work: Work, batches: &mut [Batch<W>], rounds: usize) -> Result<Timing, Error> {
        let turns = rounds
            * match work {
                Work::Transform(_) => batches.len(),
                Work::Product => batches.len() / 2,
            };
        if turns == 0 || (work == Work::Product && batches.len() % 2 == 1) {
            return Err(Error::Unsupported {
                what: format!("timing {work} {rounds} times on {} batches", batches.len()),
                instead: "use at least one batch for a transform, and an even number for products".into(),
            });
        }
        let launches = match work {
            Work::Transform(direction) => {
                batches.iter().map(|batch| self.transform_launches(direction, batch)).collect()
            }
            Work::Product => {
                batches.chunks(2).map(|pair| self.product_launches(&pair[0], &pair[1])).collect()
            }
        };
        let launches: Result<Vec<Vec<_>>, Error> = launches;
        let launches: Vec<_> = launches?.into_iter().flatten().collect();
        let graph = self.device().record(std::iter::repeat_n(&launches, rounds).flatten())?;
        Ok(sample(self.device(), || graph.launch())?.divided_by(turns))
    }
}

/// Device time of copying `bytes` bytes on the device by the driver. Copies of 512 MiB in total take
/// turns, so that all accesses go to memory.
///
/// # Errors
/// Returns [`Error::Unsupported`] on an emulated device or for no bytes, and [`Error::Driver`] if a
/// driver call fails.
pub fn time_copy(device: &Device, bytes: usize) -> Result<Timing, Error> {
    const COLD_BYTES: usize = 512 << 20;
    if bytes == 0 {
        return Err(Error::Unsupported {
            what: "a copy of no bytes".into(),
            instead: "use 1 or more".into(),
        });
    }
    let turns = COLD_BYTES.div_ceil(2 * bytes);
    let [from, to] = [device.allocate(turns * bytes)?, device.allocate(turns * bytes)?];
    let copies = || {
        (0..turns).try_for_each(|turn| {
            let [from, to] = [&from, &to].map(|buffer| buffer.region(turn * bytes, bytes).start);
            // SAFETY: both buffers outlive the samples, which wait for their end.
            unsafe { device.start_copy(to, from, bytes) }
        })
    };
    Ok(sample(device, copies)?.divided_by(turns))
}

/// Device time of a launch, measured on many equal launches in a graph.
///
/// # Errors
/// Returns [`Error::Unsupported`] on an emulated device, and [`Error::Driver`] if a driver call
/// fails.
pub(crate) fn sample_launch(device: &Device, launch: &Launch<'_>) -> Result<Timing, Error> {
    const IN_A_ROW: usize = 20;
    let graph = device.record(std::iter::repeat_n(launch, IN_A_ROW))?;
    Ok(sample(device, || graph.launch())?.divided_by(IN_A_ROW))
}

/// Device time of the launches made by `work`.
///
/// # Errors
/// Returns [`Error::Unsupported`] on an emulated device, and any error of `work`.
pub(crate) fn sample(device: &Device, mut work: impl FnMut() -> Result<(), Error>) -> Result<Timing, Error> {
    let mut time = |times: u32| {
        let us = device.elapsed(|| (0..times).try_for_each(|_| work()))?;
        Ok::<_, Error>(us / f64::from(times))
    };
    time(1)?;
    let estimate = time(3)?;
    let replays = (SAMPLE_US / estimate).ceil().clamp(1.0, 2_000.0) as u32;
    Ok(Timing::of((0..SAMPLES).map(|_| time(replays)).collect::<Result<_, _>>()?))
}
