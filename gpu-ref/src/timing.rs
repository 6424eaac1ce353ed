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

/// Approximate device time of a sample, long enough to hide the events' resolution.
const SAMPLE_US: f64 = 2_000.0;
const SAMPLES: usize = 15;

impl<W: Word> Plan<W> {
    /// Median device time of `work` on one batch, in microseconds. The batches take turns inside
    /// one graph: a single batch smaller than the L2 cache stays in it, and enough batches force
    /// every access to memory. [`Work::Product`] multiplies neighbouring batches, so their number
    /// must be even; the time is for one product.
    ///
    /// The work is repeated on its own results, so the batches hold meaningless data afterwards.
    ///
    /// # Errors
    /// Returns [`Error::Unsupported`] on an emulated device or for an odd number of factors, and
    /// the errors of the work itself.
    pub fn time(&self, work: Work, batches: &mut [Batch<W>]) -> Result<f64, Error> {
        let turns = match work {
            Work::Transform(_) => batches.len(),
            Work::Product => batches.len() / 2,
        };
        if turns == 0 || (work == Work::Product && batches.len() % 2 == 1) {
            return Err(Error::Unsupported {
                what: format!("timing {work} on {} batches", batches.len()),
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
        let graph = self.device().record(launches?.iter().flatten())?;
        Ok(median_time(self.device(), || graph.launch())? / turns as f64)
    }
}

/// Median device time of a launch, in microseconds, measured on many equal launches in a graph.
///
/// # Errors
/// Returns [`Error::Unsupported`] on an emulated device, and [`Error::Driver`] if a driver call
/// fails.
pub(crate) fn median_launch_time(device: &Device, launch: &Launch<'_>) -> Result<f64, Error> {
    const IN_A_ROW: usize = 20;
    let graph = device.record(std::iter::repeat_n(launch, IN_A_ROW))?;
    Ok(median_time(device, || graph.launch())? / IN_A_ROW as f64)
}

/// Median device time of the launches made by `work`, in microseconds.
///
/// # Errors
/// Returns [`Error::Unsupported`] on an emulated device, and any error of `work`.
pub(crate) fn median_time(
    device: &Device,
    mut work: impl FnMut() -> Result<(), Error>,
) -> Result<f64, Error> {
    let mut time = |times: u32| {
        let us = device.elapsed(|| (0..times).try_for_each(|_| work()))?;
        Ok::<_, Error>(us / f64::from(times))
    };
    time(1)?;
    let estimate = time(3)?;
    let replays = (SAMPLE_US / estimate).ceil().clamp(1.0, 2_000.0) as u32;
    let mut samples = (0..SAMPLES).map(|_| time(replays)).collect::<Result<Vec<_>, _>>()?;
    samples.sort_by(f64::total_cmp);
    Ok(samples[SAMPLES / 2])
}
