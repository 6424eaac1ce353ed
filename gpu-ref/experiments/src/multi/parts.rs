//! Key switching as HE-Booster and Caramel divide it.

use crate::multi::cluster::{By, Cluster};
use crate::multi::steps::Steps;
use crate::multi::transfer::{Sum, Transfer};
use gpu_ref::key_switch::{Basis, Digits, Kernels, part, plan};
use gpu_ref::{Batch, Direction, Error, Plan, Word};
use std::ops::Range;

/// The divisions of [`crate::multi::Partition`] that convert by columns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Way {
    Segments,
    Limbs,
    Ring,
}

/// One batch for each device. A batch that the way does not use has one word.
pub(crate) struct Parts<W> {
    basis: Basis<W>,
    way: Way,
    ranks: Vec<Rank<W>>,
    input: Vec<Batch<W>>,
    output: Vec<Batch<W>>,
    /// Columns of the polynomial; all of them for [`Way::Ring`].
    columns: Vec<Batch<W>>,
    /// Digits extended to all limbs: columns, limbs.
    raised: [Vec<Batch<W>>; 2],
    /// Sums of the products: columns, limbs.
    sums: [Vec<Batch<W>>; 2],
    /// Columns of the result.
    lowered: Vec<Batch<W>>,
    /// Words of the rows that conversions use.
    width: usize,
}

struct Rank<W> {
    kernels: Kernels<W>,
    /// Transforms of this device's ciphertext limbs, and of its limbs of the extended digits.
    own: Plan<W>,
    extended: Plan<W>,
    key: Batch<W>,
    /// The limbs of the ciphertext, the limbs of the extended digits, and the digits.
    limbs: Range<usize>,
    extended_limbs: Range<usize>,
    digits: Digits,
}

impl<W: Word> Rank<W> {
    fn new(cluster: &Cluster, basis: &Basis<W>, way: Way, key: &[W], rank: usize) -> Result<Self, Error> {
        let (n, extended, count) = (basis.n(), basis.extended(), cluster.ranks());
        let limbs = part(basis.limbs(), count, rank);
        let (extended_limbs, digits) = match way {
            Way::Ring => (
                0..extended,
                Digits { first: rank, step: count, count: (basis.digits() + count - 1 - rank) / count },
            ),
            Way::Segments | Way::Limbs => (part(extended, count, rank), basis.all_digits()),
        };
        // The device's digits of the key, and of each row or polynomial the words from `own` on.
        let (unit, own) = match way {
            Way::Segments => (n, part(n, count, rank)),
            Way::Limbs | Way::Ring => (extended * n, extended_limbs.start * n..extended_limbs.end * n),
        };
        let of_digits = key.chunks(2 * extended * n).skip(digits.first).step_by(digits.step);
        let own_key: Vec<W> = of_digits
            .flatten()
            .copied()
            .collect::<Vec<_>>()
            .chunks(unit)
            .flat_map(|row| &row[own.clone()])
            .copied()
            .collect();
        let device = &cluster.devices()[rank];
        // A device without digits has an empty key, but its buffer must not be empty.
        let batch = Batch::zeroed(device, own_key.len().max(1))?;
        cluster.upload(rank, &batch, 0, &own_key)?;
        Ok(Self {
            kernels: Kernels::new(device, basis)?,
            own: plan(device, &basis.moduli()[limbs.clone()])?,
            extended: plan(device, &basis.moduli()[extended_limbs.clone()])?,
            key: batch,
            limbs,
            extended_limbs,
            digits,
        })
    }
}

impl<W: Word> Parts<W> {
    /// Distributes a key that fits the basis.
    pub(crate) fn new(cluster: &Cluster, basis: &Basis<W>, way: Way, key: &[W]) -> Result<Self, Error> {
        let (n, limbs, extended, digits) = (basis.n(), basis.limbs(), basis.extended(), basis.digits());
        let count = cluster.ranks();
        let longest = basis.moduli().iter().map(|modulus| modulus.q().widen()).max().unwrap_or(0);
        if (count as u128 * longest) >> W::BITS != 0 {
            return Err(Error::Unsupported {
                what: format!("sums over {count} devices of residues modulo {longest}"),
                instead: format!("such a sum must fit {} bits", W::BITS),
            });
        }
        let rank = |rank| Rank::new(cluster, basis, way, key, rank);
        let ranks = (0..count).map(rank).collect::<Result<Vec<_>, Error>>()?;
        let width = if way == Way::Ring { n } else { n / count };
        let unless_ring = |words: usize| if way == Way::Ring { 0 } else { words };
        let extended_words = |rank: usize| ranks[rank].extended_limbs.len() * n;
        Ok(Self {
            input: cluster.batches(|rank| ranks[rank].limbs.len() * n)?,
            output: cluster.batches(|rank| 2 * ranks[rank].limbs.len() * n)?,
            columns: cluster.batches(|_| limbs * width)?,
            raised: [
                cluster.batches(|_| unless_ring(digits * extended * width))?,
                cluster.batches(|rank| ranks[rank].digits.count * extended_words(rank))?,
            ],
            sums: [
                cluster.batches(|_| unless_ring(2 * extended * width))?,
                cluster.batches(|rank| 2 * extended_words(rank))?,
            ],
            lowered: cluster.batches(|_| 2 * limbs * width)?,
            basis: basis.clone(),
            way,
            ranks,
            width,
        })
    }

    fn transform_sums(&mut self) -> Result<(), Error> {
        let sums = self.sums[1].iter_mut();
        self.ranks
            .iter()
            .zip(sums)
            .try_for_each(|(rank, sums)| rank.extended.transform(Direction::Inverse, sums))
    }

    /// Forward transforms of the digits, on the devices that have digits.
    fn transform_digits(&mut self) -> Result<(), Error> {
        let with_digits =
            self.ranks.iter().zip(&mut self.raised[1]).filter(|(rank, _)| rank.digits.count > 0);
        with_digits
            .into_iter()
            .try_for_each(|(rank, raised)| rank.extended.transform(Direction::Forward, raised))
    }

    fn raise(&self, to: &[Batch<W>]) -> Result<(), Error> {
        for ((rank, columns), to) in self.ranks.iter().zip(&self.columns).zip(to) {
            let targets = [0..self.basis.extended(), 0..0];
            // SAFETY: the batches have that many columns, limbs and digits.
            unsafe { rank.kernels.raise(columns.pointer(), to.pointer(), self.width, rank.digits, targets) }?;
        }
        Ok(())
    }

    fn multiply(&self, from: &[Batch<W>], to: &[Batch<W>]) -> Result<(), Error> {
        for ((rank, from), to) in self.ranks.iter().zip(from).zip(to) {
            let (limbs, length) = match self.way {
                Way::Segments => (0..self.basis.extended(), self.width),
                Way::Limbs | Way::Ring => (rank.extended_limbs.clone(), self.basis.n()),
            };
            let (addresses, rows) = ([from, &rank.key, to].map(Batch::pointer), limbs.len());
            // SAFETY: the batches have that many rows and digits.
            unsafe { rank.kernels.multiply(addresses, limbs, rows, length, rank.digits.count) }?;
        }
        Ok(())
    }

    fn lower(&self, from: &[Batch<W>]) -> Result<(), Error> {
        for ((rank, from), to) in self.ranks.iter().zip(from).zip(&self.lowered) {
            // SAFETY: the batches have that many columns and limbs.
            unsafe { rank.kernels.lower(from.pointer(), to.pointer(), self.width) }?;
        }
        Ok(())
    }

    /// First half of Caramel's ring: every device sends its limbs to all devices.
    fn share_limbs(&self, cluster: &Cluster) -> Result<(), Error> {
        let mut transfers = Vec::with_capacity(self.ranks.len() * self.ranks.len());
        for (owner, (rank, input)) in self.ranks.iter().zip(&self.input).enumerate() {
            for (holder, columns) in self.columns.iter().enumerate() {
                let to = columns.address_of(rank.limbs.start * self.basis.n());
                let bytes = input.words() * size_of::<W>();
                transfers.push(Transfer::whole((owner, input.address()), (holder, to), bytes));
            }
        }
        // SAFETY: source and target are different batches, and all rows are in bounds.
        unsafe { cluster.collective.exchange(&transfers) }
    }

    /// Second half: the devices' results are summed, each limb on its own device.
    fn aggregate(&self, cluster: &Cluster) -> Result<(), Error> {
        let (n, limbs) = (self.basis.n(), self.basis.limbs());
        let (mut sums, mut own) = (Vec::new(), Vec::new());
        for (root, (rank, output)) in self.ranks.iter().zip(&self.output).enumerate() {
            let words = rank.limbs.len() * n;
            for half in 0..2 {
                let start = (half * limbs + rank.limbs.start) * n;
                let addresses: Vec<_> = self.lowered.iter().map(|part| part.address_of(start)).collect();
                let to = output.address_of(half * words);
                own.push(Transfer::whole((root, addresses[root]), (root, to), words * size_of::<W>()));
                sums.push(Sum { root, addresses, words });
            }
        }
        // SAFETY: each device's batch has that many rows; the copies go to different batches, in
        // bounds.
        unsafe {
            cluster.collective.sum(&sums, W::BITS)?;
            cluster.collective.exchange(&own)?;
        }
        for (rank, output) in self.ranks.iter().zip(&self.output) {
            // SAFETY: the output has two polynomials of that many rows.
            unsafe { rank.kernels.settle(output.pointer(), rank.limbs.clone(), self.ranks.len()) }?;
        }
        Ok(())
    }

    /// The steps of the ring from the coefficients of the limbs to the coefficients of the result.
    fn around(&mut self, cluster: &Cluster) -> Result<(), Error> {
        self.share_limbs(cluster)?;
        self.raise(&self.raised[1])?;
        self.transform_digits()?;
        self.multiply(&self.raised[1], &self.sums[1])?;
        self.transform_sums()?;
        self.lower(&self.sums[1])?;
        self.aggregate(cluster)
    }

    /// The same steps with data that move between limbs and columns.
    fn across(&mut self, cluster: &Cluster) -> Result<(), Error> {
        let (n, limbs, extended) = (self.basis.n(), self.basis.limbs(), self.basis.extended());
        let carry =
            |limbs, [columns, rows]: [&[Batch<W>]; 2], to| cluster.redistribute(limbs, rows, columns, to, n);
        carry(limbs, [&self.columns, &self.input], By::Columns)?;
        self.raise(&self.raised[0])?;
        carry(extended, self.raised.each_ref().map(Vec::as_slice), By::Limbs)?;
        self.transform_digits()?;
        if self.way == Way::Segments {
            carry(extended, self.raised.each_ref().map(Vec::as_slice), By::Columns)?;
            self.multiply(&self.raised[0], &self.sums[0])?;
            carry(extended, self.sums.each_ref().map(Vec::as_slice), By::Limbs)?;
        } else {
            self.multiply(&self.raised[1], &self.sums[1])?;
        }
        self.transform_sums()?;
        carry(extended, self.sums.each_ref().map(Vec::as_slice), By::Columns)?;
        self.lower(&self.sums[0])?;
        carry(limbs, [&self.lowered, &self.output], By::Limbs)
    }
}

impl<W: Word> Steps<W> for Parts<W> {
    fn input(&self, rank: usize) -> &Batch<W> {
        &self.input[rank]
    }

    fn output(&self, rank: usize) -> &Batch<W> {
        &self.output[rank]
    }

    fn switch(&mut self, cluster: &Cluster) -> Result<(), Error> {
        for (rank, input) in self.ranks.iter().zip(&mut self.input) {
            rank.own.transform(Direction::Inverse, input)?;
        }
        match self.way {
            Way::Ring => self.around(cluster)?,
            Way::Segments | Way::Limbs => self.across(cluster)?,
        }
        for (rank, output) in self.ranks.iter().zip(&mut self.output) {
            rank.own.transform(Direction::Forward, output)?;
        }
        Ok(())
    }
}
