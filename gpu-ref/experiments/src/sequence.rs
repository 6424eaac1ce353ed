//! Sequences of transforms and products on several batches, and their submission to a device
//! (Caramel).
//!
//! A homomorphic program consists of many small kernels, and each launch costs time. A [`Sequence`] is a list
//! of launches on batches that it owns. They run as individual launches, as a graph in the same order, or as
//! a graph with only the data dependencies as edges, so that independent kernels overlap.

use crate::measure::sample;
use gpu_ref::device::{Graph, Launch, Mode};
use gpu_ref::{Batch, Device, Direction, Error, Plan, Timing, Word};
use std::ops::Range;

/// Submission of a sequence's kernels to the device.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Execution {
    /// Individual launches.
    Launches,
    /// One graph that runs the kernels in sequence.
    SequentialGraph,
    /// One graph in which a kernel waits only for earlier kernels that access its data.
    DependencyGraph,
}

/// Identifies a batch of a sequence.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct BatchId(usize);

/// A sequence of transforms and products, with the batches that they access.
///
/// ```
/// use gpu_experiments::sequence::{Execution, Sequence};
/// use gpu_ref::{Device, Direction, Modulus, Plan, Strategy};
///
/// # fn main() -> Result<(), gpu_ref::Error> {
/// # let Ok(device) = Device::emulated() else { return Ok(()) };
/// let modulus = Modulus::<u64>::find(50, 1 << 10, 0)?;
/// let plan = Plan::new(&device, Strategy::Caramel, &[modulus])?;
/// let mut sequence = Sequence::new(&device);
/// let x = sequence.add(plan.upload(&vec![1; 1 << 10])?);
/// sequence.transform(&plan, Direction::Forward, x)?;
/// sequence.transform(&plan, Direction::Inverse, x)?;
/// sequence.run(Execution::DependencyGraph)?;
/// assert_eq!(plan.download(sequence.batch(x))?, vec![1; 1 << 10]);
/// # Ok(())
/// # }
/// ```
pub struct Sequence<'p, W> {
    device: Device,
    batches: Vec<Batch<W>>,
    launches: Vec<Launch<'p>>,
}

impl<'p, W: Word> Sequence<'p, W> {
    /// Creates an empty sequence.
    pub fn new(device: &Device) -> Self {
        Self { device: device.clone(), batches: Vec::new(), launches: Vec::new() }
    }

    /// Adds a batch.
    pub fn add(&mut self, batch: Batch<W>) -> BatchId {
        self.batches.push(batch);
        BatchId(self.batches.len() - 1)
    }

    /// The batch with this identifier.
    ///
    /// # Panics
    /// Panics if the identifier belongs to another sequence and is out of range here.
    pub fn batch(&self, batch: BatchId) -> &Batch<W> {
        &self.batches[batch.0]
    }

    /// Number of kernels.
    pub fn kernels(&self) -> usize {
        self.launches.len()
    }

    /// Appends [`Plan::transform`].
    ///
    /// # Errors
    /// Returns the errors of [`Plan::transform`], and [`Error::Unsupported`] if the batch belongs to another
    /// sequence.
    pub fn transform(
        &mut self,
        plan: &'p Plan<W>,
        direction: Direction,
        batch: BatchId,
    ) -> Result<(), Error> {
        self.device.require(plan.device())?;
        let launches = plan.transform_launches(direction, self.find(batch)?)?;
        self.launches.extend(launches);
        Ok(())
    }

    /// Appends [`Plan::multiply`].
    ///
    /// # Errors
    /// Returns the errors of [`Plan::multiply`], and [`Error::Unsupported`] if a batch belongs to another
    /// sequence or both are the same.
    pub fn multiply(&mut self, plan: &'p Plan<W>, left: BatchId, right: BatchId) -> Result<(), Error> {
        self.device.require(plan.device())?;
        if left == right {
            return Err(Error::Unsupported {
                what: format!("a product of {left:?} with itself"),
                instead: "a product overwrites its right factor; use separate batches".into(),
            });
        }
        let launches = plan.product_launches(self.find(left)?, self.find(right)?)?;
        self.launches.extend(launches);
        Ok(())
    }

    /// Runs all kernels. On a GPU the call may return before the work is done.
    ///
    /// An emulated device has no graphs. For [`Execution::DependencyGraph`] it runs the kernels in
    /// a different valid order: always the latest kernel that is ready.
    ///
    /// # Errors
    /// Returns [`Error::Unsupported`] if a dependency graph contains cooperative kernels.
    pub fn run(&mut self, execution: Execution) -> Result<(), Error> {
        match execution {
            Execution::Launches => self.launch(),
            Execution::SequentialGraph if self.device.is_emulated() => self.launch(),
            Execution::DependencyGraph if self.device.is_emulated() => {
                let dependencies = self.dependencies()?;
                latest_first(&dependencies).into_iter().try_for_each(|at| self.launch_one(&self.launches[at]))
            }
            Execution::SequentialGraph | Execution::DependencyGraph => {
                let graph = self.graph(execution)?;
                // SAFETY: the sequence owns the batches, its plans live for 'p, and the order is that of the
                // data.
                unsafe { graph.launch() }?;
                // The graph is dropped at the end of this call.
                self.device.synchronize()
            }
        }
    }

    /// Device time of a run, from the first launch to the end of the last
    /// kernel. It excludes graph creation. The batches hold meaningless data afterwards.
    ///
    /// # Errors
    /// Returns the errors of [`Self::run`], and [`Error::Unsupported`] on an emulated device.
    pub fn time(&mut self, execution: Execution) -> Result<Timing, Error> {
        if execution == Execution::Launches {
            return sample(&self.device, || self.launch());
        }
        let graph = self.graph(execution)?;
        // SAFETY: as in `run`.
        sample(&self.device, || unsafe { graph.launch() })
    }

    fn graph(&self, execution: Execution) -> Result<Graph, Error> {
        match execution {
            Execution::DependencyGraph => self.device.build(&self.launches, &self.dependencies()?),
            Execution::Launches | Execution::SequentialGraph => self.device.record(&self.launches),
        }
    }

    fn launch(&self) -> Result<(), Error> {
        self.launches.iter().try_for_each(|launch| self.launch_one(launch))
    }

    fn launch_one(&self, launch: &Launch<'_>) -> Result<(), Error> {
        // SAFETY: the sequence owns the batches of its launches and lends them out only immutably;
        // the plans live for 'p.
        unsafe { self.device.launch(launch) }
    }

    fn find(&self, batch: BatchId) -> Result<&Batch<W>, Error> {
        self.batches.get(batch.0).ok_or_else(|| Error::Unsupported {
            what: format!("{batch:?} of another sequence"),
            instead: format!("this sequence has {} batches", self.batches.len()),
        })
    }

    /// The direct dependencies of each launch, without transitive ones.
    fn dependencies(&self) -> Result<Vec<Vec<usize>>, Error> {
        if self.launches.iter().any(|launch| launch.shape.mode == Mode::Cooperative) {
            return Err(Error::Unsupported {
                what: "a dependency graph of cooperative kernels".into(),
                instead: "use launches or a sequential graph".into(),
            });
        }
        let touches: Vec<_> = self.launches.iter().map(Touches::of).collect();
        Ok(edges(&touches))
    }
}

/// The addresses that a launch only reads, and the addresses that it writes.
struct Touches<'a> {
    reads: &'a [Range<u64>],
    writes: &'a [Range<u64>],
}

impl<'a> Touches<'a> {
    fn of(launch: &'a Launch<'_>) -> Self {
        Self { reads: &launch.reads, writes: &launch.writes }
    }

    /// Returns true if the two launches must keep their order.
    fn conflicts(&self, other: &Self) -> bool {
        let meet = |a: &[Range<u64>], b: &[Range<u64>]| {
            a.iter().any(|x| b.iter().any(|y| x.start < y.end && y.start < x.end))
        };
        meet(self.writes, other.writes) || meet(self.reads, other.writes) || meet(self.writes, other.reads)
    }
}

/// The direct dependencies of each launch, latest first, without transitive ones.
fn edges(touches: &[Touches<'_>]) -> Vec<Vec<usize>> {
    let mut ancestors: Vec<Vec<bool>> = Vec::with_capacity(touches.len());
    let mut all = Vec::with_capacity(touches.len());
    for (number, launch) in touches.iter().enumerate() {
        let mut above = vec![false; touches.len()];
        let mut direct = Vec::new();
        for before in (0..number).rev() {
            if !above[before] && launch.conflicts(&touches[before]) {
                direct.push(before);
                above[before] = true;
                above.iter_mut().zip(&ancestors[before]).for_each(|(mine, its)| *mine |= its);
            }
        }
        ancestors.push(above);
        all.push(direct);
    }
    all
}

/// A topological order that differs from 0, 1, 2, .. as much as possible.
fn latest_first(dependencies: &[Vec<usize>]) -> Vec<usize> {
    let mut order: Vec<usize> = Vec::with_capacity(dependencies.len());
    let mut done = vec![false; dependencies.len()];
    while let Some(next) =
        (0..done.len()).rev().find(|&at| !done[at] && dependencies[at].iter().all(|&before| done[before]))
    {
        done[next] = true;
        order.push(next);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_join_what_touches_the_same_data() {
        let [only_a, only_b, half_of_each] = [0..8, 8..16, 4..12].map(std::iter::once).map(Vec::from_iter);
        let touches = [
            Touches { reads: &[], writes: &only_a },
            Touches { reads: &[], writes: &only_b },
            Touches { reads: &only_b, writes: &only_a },
            Touches { reads: &only_b, writes: &[] },
            Touches { reads: &[], writes: &only_b },
            Touches { reads: &[], writes: &half_of_each },
        ];
        let found = edges(&touches);
        // The last launch conflicts with both, but its dependency has waited for all others.
        assert_eq!(found, [vec![], vec![], vec![1, 0], vec![1], vec![3, 2], vec![4]]);
        assert_eq!(latest_first(&found), [1, 3, 0, 2, 4, 5]);
    }
}
