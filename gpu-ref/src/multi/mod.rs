//! Several devices working on the same polynomials.
//!
//! A polynomial is a table with a row for each limb and a column for each coefficient or evaluation
//! point. Transforms need whole rows, base conversion needs whole columns, and products need
//! neither. HE-Booster therefore partitions the table in three ways, by limbs, by columns and by
//! row segments, and moves the data between phases; see [`Partition`]. Caramel gives each device
//! all limbs of some of the key's digits, so devices communicate only at the start and at the end.
//!
//! [`mod_up`] and [`mod_down`] are the conversions of a key switch on one device.
//!
//! [`Products`] multiplies batches of polynomials without communication. [`KeySwitch`] switches keys
//! as the papers do, and [`RowKeySwitch`] with less to send. They run on a [`Cluster`] of CUDA
//! devices that read each other's memory or are connected by NCCL, or of any devices connected
//! through host memory.

mod basis;
mod collective;
mod key_switch;
mod peer;
mod products;
mod rows;
mod steps;

use std::ops::Range;
use std::time::Instant;

pub use basis::Basis;
pub use key_switch::{KeySwitch, Partition};
pub use products::Products;
pub use rows::RowKeySwitch;
pub use steps::{mod_down, mod_up};

use crate::batch::store;
use crate::device::{Argument, Buffer, Kernel, Launch};
use crate::field::barrett_constants;
use crate::recipe::Strategy;
use crate::{Batch, Device, Direction, Error, Modulus, Plan, Timing, Word, source};
use basis::share;
use collective::{Collective, Endpoint, Nccl, Rows, Staged, Sum, Transfer};
use peer::Peer;

/// A group of devices.
pub struct Cluster {
    devices: Vec<Device>,
    collective: Box<dyn Collective>,
}

impl Cluster {
    /// Opens the first `count` CUDA devices, connected by NCCL.
    ///
    /// # Errors
    /// Returns [`Error::NoDevice`] if a device or NCCL is missing, and [`Error::Driver`] if a
    /// driver call fails.
    pub fn nccl(count: usize) -> Result<Self, Error> {
        let devices = (0..count).map(Device::open).collect::<Result<Vec<_>, _>>()?;
        let collective = Box::new(Nccl::new(&devices)?);
        Ok(Self { devices, collective })
    }

    /// Opens the first `count` CUDA devices, which read each other's memory through peer pointers.
    ///
    /// # Errors
    /// Returns [`Error::NoDevice`] if a device is missing, and [`Error::Driver`] if the devices are
    /// not connected or a driver call fails.
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

    fn ranks(&self) -> usize {
        self.devices.len()
    }

    fn synchronize(&self) -> Result<(), Error> {
        self.devices.iter().try_for_each(Device::synchronize)
    }

    /// Checks that a table of `limbs` limbs and N columns can be divided: each device needs a limb
    /// and 128 columns.
    fn check(&self, limbs: usize, n: usize) -> Result<(), Error> {
        let ranks = self.ranks();
        if !ranks.is_power_of_two() || ranks > limbs || n / ranks < THREADS {
            return Err(Error::Unsupported {
                what: format!("{limbs} limbs of {n} words on {ranks} devices"),
                instead: format!(
                    "use a power of two of devices, each with at least one limb and {THREADS} columns"
                ),
            });
        }
        Ok(())
    }

    /// Moves polynomials from each device's limbs to each device's columns, or back, with one
    /// transfer for each pair of devices. Device r has limbs [r limbs / R, (r + 1) limbs / R), laid
    /// out [polynomial][own limbs][n], and columns [r n / R, (r + 1) n / R), laid out
    /// [polynomial][limbs][n / R].
    fn redistribute<W: Word>(
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
            let own = share(limbs, ranks, owner);
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

    /// Copies words to a device.
    fn upload<W: Word>(&self, rank: usize, to: &Batch<W>, start: usize, words: &[W]) -> Result<(), Error> {
        assert!(start + words.len() <= to.words(), "the caller made the batch for this");
        // SAFETY: in bounds, and the caller has the only reference to the owner of the batch.
        unsafe { self.devices[rank].write(to.address_of(start), bytemuck::cast_slice(words)) }
    }

    /// The steps of `work` in order, which calls its argument with a name after each. The time of a
    /// step, in microseconds, ends when all devices have finished it, so nothing overlaps.
    fn profile(
        &self,
        work: impl Fn(&mut dyn FnMut(&'static str) -> Result<(), Error>) -> Result<(), Error>,
    ) -> Result<Vec<(&'static str, f64)>, Error> {
        work(&mut |_| Ok(()))?;
        self.synchronize()?;
        let (mut steps, mut begin) = (Vec::new(), Instant::now());
        work(&mut |step| {
            self.synchronize()?;
            steps.push((step, begin.elapsed().as_secs_f64() * 1e6));
            begin = Instant::now();
            Ok(())
        })?;
        Ok(steps)
    }

    /// Time of `work` on all devices, in microseconds by the host's clock, from the first launch to
    /// the end of the last kernel.
    fn time(&self, mut work: impl FnMut() -> Result<(), Error>) -> Result<Timing, Error> {
        const SAMPLES: usize = 51;
        let mut sample = || {
            let begin = Instant::now();
            work()?;
            self.synchronize()?;
            Ok(begin.elapsed().as_secs_f64() * 1e6)
        };
        sample()?;
        Ok(Timing::of((0..SAMPLES).map(|_| sample()).collect::<Result<_, Error>>()?))
    }
}

/// Division of polynomials among devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    Limbs,
    Columns,
}

/// Threads per block of the kernels in `cuda/key_switch.cu`.
const THREADS: usize = 128;

/// One device's kernels other than transforms, and the constants of its limbs.
struct Node {
    device: Device,
    mod_up: Kernel,
    mod_down: Kernel,
    inner_product: Kernel,
    settle: Kernel,
    convert_rests: Kernel,
    divide_rows: Kernel,
    constants: Buffer,
    bytes_of_limb: usize,
}

impl Node {
    /// `shared_words` is the maximum number of words of shared memory for a thread.
    fn new<W: Word>(device: &Device, moduli: &[Modulus<W>], shared_words: usize) -> Result<Self, Error> {
        let constants = barrett_constants(moduli)?;
        let module = device.compile("key_switch.cu", &source::key_switch(W::BITS))?;
        let kernel = |name| module.kernel(name, (shared_words * THREADS * size_of::<W>()) as u32);
        Ok(Self {
            device: device.clone(),
            mod_up: kernel("mod_up")?,
            mod_down: kernel("mod_down")?,
            inner_product: kernel("inner_product")?,
            settle: kernel("settle")?,
            convert_rests: kernel("convert_rests")?,
            divide_rows: kernel("divide_rows")?,
            bytes_of_limb: constants.len() / moduli.len() * size_of::<W>(),
            constants: store(device, &constants)?,
        })
    }

    /// The constants from limb `limb` on.
    fn constants_from(&self, limb: usize) -> Argument {
        self.constants.pointer_at(limb * self.bytes_of_limb)
    }

    /// Launches a kernel over `columns` columns and the given blocks along y and z.
    ///
    /// # Safety
    /// See [`Device::launch`].
    unsafe fn launch(
        &self,
        kernel: &Kernel,
        columns: usize,
        [y, z]: [usize; 2],
        shared_bytes: usize,
        arguments: Vec<Argument>,
    ) -> Result<(), Error> {
        if y * z == 0 {
            return Ok(());
        }
        let grid = [columns / THREADS, y, z].map(|blocks| blocks as u32);
        // SAFETY: guaranteed by the caller.
        unsafe {
            self.device.launch(&Launch::ordered(kernel, grid, THREADS as u32, shared_bytes as u32, arguments))
        }
    }
}

/// The fastest transforms for some limbs.
fn plan<W: Word>(device: &Device, moduli: &[Modulus<W>]) -> Result<Plan<W>, Error> {
    Plan::new(device, Strategy::Best, moduli)
}

/// Transforms a batch in place.
///
/// # Safety
/// Nothing else may use the batch until the kernels launched here have ended.
unsafe fn transform<W: Word>(plan: &Plan<W>, direction: Direction, batch: &Batch<W>) -> Result<(), Error> {
    for launch in plan.transform_launches(direction, batch)? {
        // SAFETY: the batch holds what the launches use.
        unsafe { plan.device().launch(&launch) }?;
    }
    Ok(())
}

/// A number as a kernel argument.
fn number(value: usize) -> Argument {
    // The values are numbers of limbs, columns or digits.
    (value as u32).into()
}
