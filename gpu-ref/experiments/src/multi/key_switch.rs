//! Key switching on several devices.

use crate::multi::cluster::Cluster;
use crate::multi::parts::{Parts, Way};
use crate::multi::rows::Rows;
use crate::multi::steps::Steps;
use gpu_ref::key_switch::{Basis, part};
use gpu_ref::{Error, Timing, Word};

/// Division of a key switch among devices.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Partition {
    /// HE-Booster's three partitions: by limbs for transforms, by columns for base conversion, and
    /// by row segments for the inner product.
    Segments,
    /// As above, but the inner product is by limbs too, so its factors stay where the transforms
    /// leave them.
    Limbs,
    /// Caramel's ring: every device sends its limbs to every other device and processes some digits from
    /// start to end; then the results are summed. Each device divides by the special limbs separately, so the
    /// sum may differ from the other partitions' by rounding; see [`Basis::model`].
    Ring,
    /// By limbs from start to end; see [`gpu_ref::key_switch::Share`]. Each device needs a special limb.
    Rows,
}

impl Partition {
    /// All partitions.
    pub const ALL: [Self; 4] = [Self::Segments, Self::Limbs, Self::Ring, Self::Rows];
}

impl std::fmt::Display for Partition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Segments => "segments",
            Self::Limbs => "limbs",
            Self::Ring => "ring",
            Self::Rows => "rows",
        })
    }
}

/// A key distributed over several devices, ready to switch polynomials in the layouts of
/// [`gpu_ref::key_switch`].
pub struct KeySwitch<W> {
    cluster: Cluster,
    basis: Basis<W>,
    partition: Partition,
    steps: Box<dyn Steps<W>>,
}

impl<W: Word> KeySwitch<W> {
    /// Distributes a key to the devices.
    ///
    /// # Errors
    /// Returns the errors of [`Basis::check_key`], and [`Error::Unsupported`] if the number of devices is not
    /// a power of two, is too large for the limbs, the special limbs ([`Partition::Rows`]) and N, or makes a
    /// sum of residues over the devices exceed a word.
    pub fn new(cluster: Cluster, basis: Basis<W>, partition: Partition, key: &[W]) -> Result<Self, Error> {
        basis.check_key(key)?;
        let special = basis.extended() - basis.limbs();
        let limbs = if partition == Partition::Rows { basis.limbs().min(special) } else { basis.limbs() };
        cluster.check(limbs, basis.n())?;
        let steps: Box<dyn Steps<W>> = match partition {
            Partition::Segments => Box::new(Parts::new(&cluster, &basis, Way::Segments, key)?),
            Partition::Limbs => Box::new(Parts::new(&cluster, &basis, Way::Limbs, key)?),
            Partition::Ring => Box::new(Parts::new(&cluster, &basis, Way::Ring, key)?),
            Partition::Rows => Box::new(Rows::new(&cluster, &basis, key)?),
        };
        Ok(Self { cluster, basis, partition, steps })
    }

    /// Number of separate divisions by the special limbs; see `groups` of [`Basis::model`].
    pub fn groups(&self) -> usize {
        if self.partition == Partition::Ring { self.cluster.ranks() } else { 1 }
    }

    /// Switches a polynomial in host memory.
    ///
    /// # Errors
    /// Returns the errors of [`Basis::check_polynomial`].
    pub fn run(&mut self, polynomial: &[W]) -> Result<Vec<W>, Error> {
        self.basis.check_polynomial(polynomial)?;
        let (n, count) = (self.basis.n(), self.cluster.ranks());
        for rank in 0..count {
            let own = part(self.basis.limbs(), count, rank);
            self.cluster.upload(rank, self.steps.input(rank), 0, &polynomial[own.start * n..own.end * n])?;
        }
        self.steps.switch(&self.cluster)?;
        let parts = (0..count).map(|rank| self.steps.output(rank).download());
        let parts = parts.collect::<Result<Vec<_>, _>>()?;
        let halves = (0..2).flat_map(|half| {
            parts.iter().flat_map(move |part| &part[half * part.len() / 2..(half + 1) * part.len() / 2])
        });
        Ok(halves.copied().collect())
    }

    /// Time of a switch on the devices, in microseconds, without transfers from and to the host:
    /// median, shortest and longest.
    pub fn time(&mut self) -> Result<Timing, Error> {
        self.cluster.time(|| self.steps.switch(&self.cluster))
    }
}
