//! Groups of devices.

use crate::multi::peer::Peer;
use crate::multi::staged::Staged;
use crate::multi::transfer::{Collective, Endpoint, Rows, Transfer};
use gpu_ref::key_switch::{Kernels, part};
use gpu_ref::{Batch, Device, Error, Timing, Word};
use std::time::Instant;

/// A device has a multiple of this number of columns.
const COLUMNS: usize = Kernels::<u32>::COLUMNS;

/// A group of devices.
pub struct Cluster {
    devices: Vec<Device>,
    pub(crate) collective: Box<dyn Collective>,
}

impl Cluster {
    /// Opens the first `count` CUDA devices, which read each other's memory through peer pointers.
    ///
    /// # Errors
    /// Returns [`Error::NoDevice`] if a device is missing.
    pub fn peer(count: usize) -> Result<Self, Error> {
        let devices = (0..count).map(Device::open).collect::<Result<Vec<_>, _>>()?;
        let collective = Box::new(Peer::new(&devices)?);
        Ok(Self { devices, collective })
    }

    /// Connects devices through host memory. The same device may appear several times.
    pub fn staged(devices: &[Device]) -> Self {
        let devices = devices.to_vec();
        Self { collective: Box::new(Staged { devices: devices.clone() }), devices }
    }

    /// The devices.
    pub fn devices(&self) -> &[Device] {
        &self.devices
    }

    pub(crate) fn ranks(&self) -> usize {
        self.devices.len()
    }

    fn synchronize(&self) -> Result<(), Error> {
        self.devices.iter().try_for_each(Device::synchronize)
    }

    /// Checks that a table of `limbs` limbs and N columns can be divided: each device needs a limb
    /// and 128 columns.
    pub(crate) fn check(&self, limbs: usize, n: usize) -> Result<(), Error> {
        let ranks = self.ranks();
        if !ranks.is_power_of_two() || ranks > limbs || n / ranks < COLUMNS {
            return Err(Error::Unsupported {
                what: format!("{limbs} limbs of {n} words on {ranks} devices"),
                instead: format!(
                    "use a power of two of devices, each with at least one limb and {COLUMNS} columns"
                ),
            });
        }
        Ok(())
    }

    /// Moves polynomials from each device's limbs to each device's columns, or back, with one
    /// transfer for each pair of devices. Device r has limbs [r limbs / R, (r + 1) limbs / R), laid
    /// out [polynomial][own limbs][n], and columns [r n / R, (r + 1) n / R), laid out
    /// [polynomial][limbs][n / R].
    pub(crate) fn redistribute<W: Word>(
        &self,
        limbs: usize,
        by_limbs: &[Batch<W>],
        by_columns: &[Batch<W>],
        to: By,
        n: usize,
    ) -> Result<(), Error> {
        let (ranks, width) = (self.ranks(), n / self.ranks());
        let mut transfers = Vec::with_capacity(ranks * ranks);
        for (owner, rows) in by_limbs.iter().enumerate() {
            let own = part(limbs, ranks, owner);
            let planes = rows.words() / (own.len() * n);
            for (holder, columns) in by_columns.iter().enumerate() {
                let (row, column) = (rows.address_of(holder * width), columns.address_of(own.start * width));
                let endpoint = |rank, address, row_words, height| Endpoint {
                    rank,
                    rows: Rows { address, pitch: row_words * size_of::<W>(), height },
                };
                let row = endpoint(owner, row, n, own.len());
                let column = endpoint(holder, column, width, limbs);
                let (from, to) = match to {
                    By::Columns => (row, column),
                    By::Limbs => (column, row),
                };
                transfers.push(Transfer { from, to, bytes: width * size_of::<W>(), rows: own.len(), planes });
            }
        }
        // SAFETY: every row is inside its batch, sources and targets are different batches, and
        // targets are disjoint.
        unsafe { self.collective.exchange(&transfers) }
    }

    /// A batch of `words(rank)` words, but at least one, on each device.
    pub(crate) fn batches<W>(&self, words: impl Fn(usize) -> usize) -> Result<Vec<Batch<W>>, Error> {
        let devices = self.devices.iter().enumerate();
        devices.map(|(rank, device)| Batch::zeroed(device, words(rank).max(1))).collect()
    }

    /// Copies words to a device.
    pub(crate) fn upload<W: Word>(
        &self,
        rank: usize,
        to: &Batch<W>,
        start: usize,
        words: &[W],
    ) -> Result<(), Error> {
        assert!(start + words.len() <= to.words(), "the caller made the batch for this");
        // SAFETY: in bounds, and the caller has the only reference to the owner of the batch.
        unsafe { self.devices[rank].write(to.address_of(start), bytemuck::cast_slice(words)) }
    }

    /// Time of `work` on all devices, in microseconds by the host's clock, from the first launch to
    /// the end of the last kernel.
    pub(crate) fn time(&self, mut work: impl FnMut() -> Result<(), Error>) -> Result<Timing, Error> {
        const SAMPLES: usize = 51;
        let mut sample = || {
            let begin = Instant::now();
            work()?;
            self.synchronize()?;
            Ok(begin.elapsed().as_secs_f64() * 1e6)
        };
        sample()?;
        let samples = (0..SAMPLES).map(|_| sample()).collect::<Result<_, Error>>()?;
        Ok(Timing::of(samples).expect("there are samples"))
    }
}

/// Division of polynomials among devices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum By {
    Limbs,
    Columns,
}
