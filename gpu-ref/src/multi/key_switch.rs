//! Key switching on several devices.

use super::{
    Basis, Batch, Buffer, By, Cluster, Error, Node, Plan, Sum, Transfer, Word, number, plan, share, store,
};
use crate::Direction;
use crate::batch::check_residues;

/// Division of a key switch among devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Partition {
    /// HE-Booster's three partitions: by limbs for transforms, by columns for base conversion, and
    /// by row segments for the inner product.
    Segments,
    /// As above, but the inner product is by limbs too, so its factors stay where the transforms
    /// leave them.
    Limbs,
    /// Caramel's ring: every device sends its limbs to all others and processes some digits from
    /// start to end; then the results are summed. Each device divides by the special limbs
    /// separately, so the sum may differ from the other partitions' by rounding; see
    /// [`Basis::model`].
    Ring,
}

impl Partition {
    /// All partitions.
    pub const ALL: [Partition; 3] = [Partition::Segments, Partition::Limbs, Partition::Ring];
}

impl std::fmt::Display for Partition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Segments => "segments",
            Self::Limbs => "limbs",
            Self::Ring => "ring",
        })
    }
}

/// A key distributed over several devices, ready to switch polynomials.
///
/// The polynomial is in the transformed domain, laid out `[limb][N]`. Its digits are extended to
/// all limbs and multiplied by the key, laid out `[digit][2][all limbs][N]`. The two sums of
/// products are divided by the special limbs. The result is laid out `[2][limb][N]`, in the
/// transformed domain.
pub struct KeySwitch<W> {
    cluster: Cluster,
    basis: Basis<W>,
    partition: Partition,
    ranks: Vec<Rank<W>>,
    input: Vec<Batch<W>>,
    output: Vec<Batch<W>>,
    /// Columns of the polynomial; all of them for [`Partition::Ring`].
    columns: Vec<Batch<W>>,
    /// Digits extended to all limbs: columns, limbs.
    raised: [Vec<Batch<W>>; 2],
    /// Sums of the products: columns, limbs.
    sums: [Vec<Batch<W>>; 2],
    /// Columns of the result.
    lowered: Vec<Batch<W>>,
}

struct Rank<W> {
    node: Node,
    /// Transforms of this device's ciphertext limbs, and of its limbs of the extended digits.
    own: Plan<W>,
    extended: Plan<W>,
    key: Batch<W>,
    up: [Buffer; 2],
    down: [Buffer; 3],
}

impl<W: Word> KeySwitch<W> {
    /// Distributes a key to the devices.
    ///
    /// # Errors
    /// Returns [`Error::Length`] unless the key has [`Basis::key_words`] words, [`Error::Range`]
    /// naming the first word not below its modulus, [`Error::Unsupported`] if the number of devices
    /// is not a power of two, is too large for the limbs and N, or makes a sum of residues over the
    /// devices exceed a word, and any device error.
    pub fn new(cluster: Cluster, basis: Basis<W>, partition: Partition, key: &[W]) -> Result<Self, Error> {
        let (n, limbs, extended, digits) = (basis.n(), basis.limbs(), basis.extended(), basis.digits());
        let count = cluster.ranks();
        cluster.check(limbs, n)?;
        let longest = basis.moduli.iter().map(|modulus| modulus.q().widen()).max().unwrap_or(0);
        if (count as u128 * longest) >> W::BITS != 0 {
            return Err(Error::Unsupported {
                what: format!("sums over {count} devices of residues modulo {longest}"),
                instead: format!("such a sum must fit {} bits", W::BITS),
            });
        }
        if key.len() != basis.key_words() {
            return Err(Error::Length { unit: basis.key_words(), got: key.len() });
        }
        check_residues(&basis.moduli, key)?;

        let ring = partition == Partition::Ring;
        let widest = |total: usize, parts: usize| total.div_ceil(parts);
        let shared_words = widest(limbs, digits).max(extended - limbs);
        let width = if ring { n } else { n / count };
        // Digits and limbs of a device between the conversions.
        let digits_of = |rank: usize| if ring { (digits + count - 1 - rank) / count } else { digits };
        let limbs_of = |rank: usize| if ring { 0..extended } else { share(extended, count, rank) };
        let key_by_columns = partition == Partition::Segments;
        let ranks = cluster
            .devices
            .iter()
            .enumerate()
            .map(|(rank, device)| {
                let tables = |table: Vec<W>| store(device, &table);
                let [up_inverses, up_factors] = basis.up();
                let [down_inverses, down_factors, quotients] = basis.down();
                let mut own_key = Vec::new();
                for digit in (0..digits).filter(|digit| !ring || digit % count == rank) {
                    for part in 0..2 {
                        let polynomial = &key[(digit * 2 + part) * extended * n..][..extended * n];
                        if key_by_columns {
                            let columns = share(n, count, rank);
                            own_key.extend(polynomial.chunks(n).flat_map(|row| &row[columns.clone()]));
                        } else {
                            let rows = limbs_of(rank);
                            own_key.extend(&polynomial[rows.start * n..rows.end * n]);
                        }
                    }
                }
                // A device without digits has an empty key, but its buffer must not be empty.
                let key = Batch::zeroed(device, own_key.len().max(1))?;
                cluster.upload(rank, &key, 0, &own_key)?;
                Ok(Rank {
                    node: Node::new(device, &basis.moduli, shared_words)?,
                    own: plan(device, &basis.moduli[share(limbs, count, rank)])?,
                    extended: plan(device, &basis.moduli[limbs_of(rank)])?,
                    key,
                    up: [tables(up_inverses)?, tables(up_factors)?],
                    down: [tables(down_inverses)?, tables(down_factors)?, tables(quotients)?],
                })
            })
            .collect::<Result<Vec<_>, Error>>()?;
        let batches = |words: &dyn Fn(usize) -> usize| {
            let devices = cluster.devices.iter().enumerate();
            devices
                .map(|(rank, device)| Batch::zeroed(device, words(rank).max(1)))
                .collect::<Result<Vec<_>, Error>>()
        };
        // Buffers that the partition does not use have minimal length.
        let unless_ring = |words: usize| if ring { 0 } else { words };
        Ok(Self {
            input: batches(&|rank| share(limbs, count, rank).len() * n)?,
            output: batches(&|rank| 2 * share(limbs, count, rank).len() * n)?,
            columns: batches(&|_| limbs * width)?,
            raised: [
                batches(&|_| unless_ring(digits * extended * width))?,
                batches(&|rank| digits_of(rank) * limbs_of(rank).len() * n)?,
            ],
            sums: [
                batches(&|_| unless_ring(2 * extended * width))?,
                batches(&|rank| 2 * limbs_of(rank).len() * n)?,
            ],
            lowered: batches(&|_| 2 * limbs * width)?,
            ranks,
            cluster,
            basis,
            partition,
        })
    }

    /// The moduli.
    pub fn basis(&self) -> &Basis<W> {
        &self.basis
    }

    /// Number of separate divisions by the special limbs; see `groups` of [`Basis::model`].
    pub fn groups(&self) -> usize {
        if self.partition == Partition::Ring { self.cluster.ranks() } else { 1 }
    }

    /// Switches a polynomial in host memory.
    ///
    /// # Errors
    /// Returns [`Error::Length`] unless it has [`Basis::polynomial_words`] words, [`Error::Range`]
    /// naming the first word not below its modulus, and [`Error::Driver`] if a driver call fails.
    pub fn run(&mut self, polynomial: &[W]) -> Result<Vec<W>, Error> {
        let (n, limbs, count) = (self.basis.n(), self.basis.limbs(), self.cluster.ranks());
        if polynomial.len() != limbs * n {
            return Err(Error::Length { unit: limbs * n, got: polynomial.len() });
        }
        check_residues(&self.basis.moduli[..limbs], polynomial)?;
        for (rank, input) in self.input.iter().enumerate() {
            let own = share(limbs, count, rank);
            self.cluster.upload(rank, input, 0, &polynomial[own.start * n..own.end * n])?;
        }
        self.switch(&mut |_| Ok(()))?;
        let parts = self.ranks.iter().zip(&self.output).map(|(rank, batch)| rank.own.download(batch));
        let parts = parts.collect::<Result<Vec<_>, _>>()?;
        let halves = (0..2).flat_map(|half| {
            parts.iter().flat_map(move |part| &part[half * part.len() / 2..(half + 1) * part.len() / 2])
        });
        Ok(halves.copied().collect())
    }

    /// Time of a switch on the devices, in microseconds, without transfers from and to the host:
    /// median, shortest and longest.
    ///
    /// # Errors
    /// Returns [`Error::Driver`] if a driver call fails.
    pub fn time(&mut self) -> Result<crate::Timing, Error> {
        self.cluster.time(|| self.switch(&mut |_| Ok(())))
    }

    /// The steps of a switch in order. The time of each, in microseconds, ends when all devices
    /// have finished it.
    ///
    /// # Errors
    /// Returns [`Error::Driver`] if a driver call fails.
    pub fn profile(&mut self) -> Result<Vec<(&'static str, f64)>, Error> {
        self.cluster.profile(|done| self.switch(done))
    }

    /// A complete switch from `input` to `output`. Calls `done` after every step.
    fn switch(&self, done: &mut dyn FnMut(&'static str) -> Result<(), Error>) -> Result<(), Error> {
        let n = self.basis.n();
        let (limbs, extended) = (self.basis.limbs(), self.basis.extended());
        self.transform(|rank| &rank.own, Direction::Inverse, &self.input)?;
        done("inverse transforms")?;
        let [raised_columns, raised_limbs] = &self.raised;
        let [sum_columns, sum_limbs] = &self.sums;
        let move_data = |limbs, by_limbs: &Vec<_>, by_columns: &Vec<_>, to| {
            self.cluster.redistribute::<W>(limbs, by_limbs, by_columns, to, n)
        };

        if self.partition == Partition::Ring {
            self.share_limbs()?;
            done("limbs to all")?;
            self.raise(raised_limbs)?;
            done("mod up")?;
            self.transform_digits(raised_limbs)?;
            done("transforms")?;
            self.multiply(raised_limbs, sum_limbs)?;
            done("inner product")?;
            self.transform(|rank| &rank.extended, Direction::Inverse, sum_limbs)?;
            done("inverse transforms of the sums")?;
            self.lower(sum_limbs)?;
            done("mod down")?;
            self.aggregate()?;
            done("reduce")?;
        } else {
            move_data(limbs, &self.input, &self.columns, By::Columns)?;
            done("to columns")?;
            self.raise(raised_columns)?;
            done("mod up")?;
            move_data(extended, raised_limbs, raised_columns, By::Limbs)?;
            done("to limbs")?;
            self.transform_digits(raised_limbs)?;
            done("transforms")?;
            if self.partition == Partition::Segments {
                move_data(extended, raised_limbs, raised_columns, By::Columns)?;
                done("to segments")?;
                self.multiply(raised_columns, sum_columns)?;
                done("inner product")?;
                move_data(extended, sum_limbs, sum_columns, By::Limbs)?;
                done("segments to limbs")?;
            } else {
                self.multiply(raised_limbs, sum_limbs)?;
                done("inner product")?;
            }
            self.transform(|rank| &rank.extended, Direction::Inverse, sum_limbs)?;
            done("inverse transforms of the sums")?;
            move_data(extended, sum_limbs, sum_columns, By::Columns)?;
            done("sums to columns")?;
            self.lower(sum_columns)?;
            done("mod down")?;
            move_data(limbs, &self.output, &self.lowered, By::Limbs)?;
            done("result to limbs")?;
        }
        self.transform(|rank| &rank.own, Direction::Forward, &self.output)?;
        done("transforms of the result")
    }

    fn transform(
        &self,
        plan: impl Fn(&Rank<W>) -> &Plan<W>,
        direction: Direction,
        batches: &[Batch<W>],
    ) -> Result<(), Error> {
        self.ranks.iter().zip(batches).try_for_each(|(rank, batch)| {
            // SAFETY: the batches belong to this value, and its work is ordered on each device.
            unsafe { super::transform(plan(rank), direction, batch) }
        })
    }

    /// Forward transforms of the digits, on the devices that have digits.
    fn transform_digits(&self, batches: &[Batch<W>]) -> Result<(), Error> {
        let with_digits = self.ranks.iter().zip(batches).filter(|(rank, _)| rank.key.words() > 1);
        with_digits.into_iter().try_for_each(|(rank, batch)| {
            // SAFETY: as in `transform`.
            unsafe { super::transform(&rank.extended, Direction::Forward, batch) }
        })
    }

    /// The digits of a device: first, step, count.
    fn digits_of(&self, rank: usize) -> (usize, usize, usize) {
        let (digits, count) = (self.basis.digits(), self.cluster.ranks());
        match self.partition {
            Partition::Ring => (rank, count, (digits + count - 1 - rank) / count),
            Partition::Segments | Partition::Limbs => (0, 1, digits),
        }
    }

    /// Words of the rows used by conversions.
    fn width(&self) -> usize {
        self.columns[0].words() / self.basis.limbs()
    }

    fn raise(&self, to: &[Batch<W>]) -> Result<(), Error> {
        let (limbs, digits) = (self.basis.limbs(), self.basis.digits());
        for (number_of_rank, rank) in self.ranks.iter().enumerate() {
            let (first, step, count) = self.digits_of(number_of_rank);
            let [inverses, factors] = &rank.up;
            let arguments = vec![
                self.columns[number_of_rank].pointer(),
                to[number_of_rank].pointer(),
                inverses.pointer(),
                factors.pointer(),
                rank.node.constants_from(0),
                number(limbs),
                number(self.basis.extended()),
                number(self.width()),
                number(digits),
                number(first),
                number(step),
                number(0),
                number(self.basis.extended()),
                number(0),
                number(self.basis.extended()),
            ];
            let shared = limbs.div_ceil(digits) * super::THREADS * size_of::<W>();
            // SAFETY: the arguments match the parameters of `mod_up`, and the batches have that
            // many columns, limbs and digits.
            unsafe { rank.node.launch(&rank.node.mod_up, self.width(), [1, count], shared, arguments) }?;
        }
        Ok(())
    }

    fn multiply(&self, from: &[Batch<W>], to: &[Batch<W>]) -> Result<(), Error> {
        let by_columns = self.partition == Partition::Segments;
        let length = if by_columns { self.width() } else { self.basis.n() };
        for (number_of_rank, rank) in self.ranks.iter().enumerate() {
            let (_, _, digits) = self.digits_of(number_of_rank);
            let rows = to[number_of_rank].words() / (2 * length);
            let first = match self.partition {
                Partition::Limbs => share(self.basis.extended(), self.cluster.ranks(), number_of_rank).start,
                Partition::Segments | Partition::Ring => 0,
            };
            let arguments = vec![
                from[number_of_rank].pointer(),
                rank.key.pointer(),
                to[number_of_rank].pointer(),
                rank.node.constants_from(first),
                number(rows),
                number(length),
                number(digits),
                number(rows),
            ];
            // SAFETY: the arguments match the parameters of `inner_product`, and the batches have
            // that many rows and digits.
            unsafe { rank.node.launch(&rank.node.inner_product, length, [rows, 1], 0, arguments) }?;
        }
        Ok(())
    }

    fn lower(&self, from: &[Batch<W>]) -> Result<(), Error> {
        let (limbs, extended) = (self.basis.limbs(), self.basis.extended());
        for (number_of_rank, rank) in self.ranks.iter().enumerate() {
            let [inverses, factors, quotients] = &rank.down;
            let arguments = vec![
                from[number_of_rank].pointer(),
                self.lowered[number_of_rank].pointer(),
                inverses.pointer(),
                factors.pointer(),
                quotients.pointer(),
                rank.node.constants_from(0),
                number(limbs),
                number(extended),
                number(self.width()),
            ];
            let shared = (extended - limbs) * super::THREADS * size_of::<W>();
            // SAFETY: the arguments match the parameters of `mod_down`, and the batches have that
            // many columns and limbs.
            unsafe { rank.node.launch(&rank.node.mod_down, self.width(), [1, 2], shared, arguments) }?;
        }
        Ok(())
    }

    /// First half of Caramel's ring: every device sends its limbs to all devices.
    fn share_limbs(&self) -> Result<(), Error> {
        let (n, limbs, count) = (self.basis.n(), self.basis.limbs(), self.cluster.ranks());
        let mut transfers = Vec::with_capacity(count * count);
        for (owner, input) in self.input.iter().enumerate() {
            let rows = share(limbs, count, owner);
            for (holder, columns) in self.columns.iter().enumerate() {
                let (from, to) = (input.address_of(0), columns.address_of(rows.start * n));
                let bytes = rows.len() * n * size_of::<W>();
                transfers.push(Transfer::whole((owner, from), (holder, to), bytes));
            }
        }
        // SAFETY: source and target are different batches, and all rows are in bounds.
        unsafe { self.cluster.collective.exchange(&transfers) }
    }

    /// Second half: the devices' results are summed, each limb on its own device.
    fn aggregate(&self) -> Result<(), Error> {
        let (n, limbs, count) = (self.basis.n(), self.basis.limbs(), self.cluster.ranks());
        let (mut sums, mut own) = (Vec::new(), Vec::new());
        for root in 0..count {
            let rows = share(limbs, count, root);
            for half in 0..2 {
                let start = (half * limbs + rows.start) * n;
                let addresses: Vec<_> = self.lowered.iter().map(|part| part.address_of(start)).collect();
                let to = self.output[root].address_of(half * rows.len() * n);
                let bytes = rows.len() * n * size_of::<W>();
                own.push(Transfer::whole((root, addresses[root]), (root, to), bytes));
                sums.push(Sum { root, addresses, words: rows.len() * n });
            }
        }
        // SAFETY: each device's batch has that many rows; the copies go to different batches, in
        // bounds.
        unsafe {
            self.cluster.collective.sum(&sums, W::BITS)?;
            self.cluster.collective.exchange(&own)?;
        }
        for (number_of_rank, rank) in self.ranks.iter().enumerate() {
            let rows = share(limbs, count, number_of_rank);
            let arguments = vec![
                self.output[number_of_rank].pointer(),
                rank.node.constants_from(rows.start),
                number(rows.len()),
                number(n),
                number(count),
            ];
            // SAFETY: the arguments match the parameters of `settle`, and the output has two
            // polynomials of that many rows.
            unsafe { rank.node.launch(&rank.node.settle, n, [2 * rows.len(), 1], 0, arguments) }?;
        }
        Ok(())
    }
}
