//! Key switching by limbs from start to end.

use super::{Basis, Batch, Buffer, Cluster, Error, Node, Plan, Transfer, Word, number, plan, share, store};
use crate::batch::check_residues;
use crate::device::Argument;
use crate::field::barrett_constants;
use crate::{Direction, Timing};
use std::ops::Range;

/// A key distributed over several devices by limbs, ready to switch polynomials in the format of
/// [`super::KeySwitch`].
///
/// Each device keeps its limbs of all polynomials from start to end. A conversion needs all limbs
/// of its source, but only the device's own limbs of its target, so the devices send each other two
/// things: the coefficients of the input, while they extend the digits that they have, and those of
/// the special limbs of the sums. Results equal those of the other partitions with one group.
pub struct RowKeySwitch<W> {
    cluster: Cluster,
    basis: Basis<W>,
    ranks: Vec<Rank<W>>,
}

struct Rank<W> {
    node: Node,
    /// The device's limbs of the ciphertext and of the special ones, which follow the former in all
    /// its polynomials.
    own: Range<usize>,
    special: Range<usize>,
    /// Transforms of the limbs of the ciphertext, of the special ones, and of both.
    plans: [Plan<W>; 2],
    extended: Plan<W>,
    /// Constants of both, in that order.
    constants: Buffer,
    key: Batch<W>,
    up: [Buffer; 2],
    down: [Buffer; 3],
    input: Batch<W>,
    /// Coefficients of all limbs.
    coefficients: Batch<W>,
    /// Digits extended to the device's limbs.
    raised: Batch<W>,
    /// Sums of the products: for each part, the limbs of the ciphertext, and apart the special ones.
    sums: Batch<W>,
    rests: Batch<W>,
    /// Coefficients of all special limbs of the sums.
    all_rests: Batch<W>,
    output: Batch<W>,
}

impl<W: Word> RowKeySwitch<W> {
    /// Distributes a key to the devices.
    ///
    /// # Errors
    /// Returns [`Error::Length`] unless the key has [`Basis::key_words`] words, [`Error::Range`]
    /// naming the first word not below its modulus, [`Error::Unsupported`] if the number of devices
    /// is not a power of two or exceeds the number of limbs or special limbs, and any device error.
    pub fn new(cluster: Cluster, basis: Basis<W>, key: &[W]) -> Result<Self, Error> {
        let (n, limbs, extended) = (basis.n(), basis.limbs(), basis.extended());
        let count = cluster.ranks();
        cluster.check(limbs.min(extended - limbs), n)?;
        if key.len() != basis.key_words() {
            return Err(Error::Length { unit: basis.key_words(), got: key.len() });
        }
        check_residues(&basis.moduli, key)?;
        let [up_inverses, up_factors] = basis.up();
        let [down_inverses, down_factors, quotients] = basis.down();
        let shared_words = limbs.div_ceil(basis.digits()).max(extended - limbs);
        let rank = |(rank, device)| {
            let (own, special) = (share(limbs, count, rank), share(extended - limbs, count, rank));
            let special = limbs + special.start..limbs + special.end;
            let moduli = [&basis.moduli[own.clone()], &basis.moduli[special.clone()]];
            let together = moduli.concat();
            let rows = |polynomial: &[W]| {
                [&polynomial[own.start * n..own.end * n], &polynomial[special.start * n..special.end * n]]
                    .concat()
            };
            let own_key: Vec<W> = key.chunks(extended * n).flat_map(rows).collect();
            let batch = |rows: usize| Batch::zeroed(device, rows * n);
            let tables = |table: &[W]| store(device, table);
            Ok(Rank {
                node: Node::new(device, &basis.moduli, shared_words)?,
                plans: [plan(device, moduli[0])?, plan(device, moduli[1])?],
                extended: plan(device, &together)?,
                constants: store(device, &barrett_constants(&together)?)?,
                key: Batch::upload(device, &own_key)?,
                up: [tables(&up_inverses)?, tables(&up_factors)?],
                down: [tables(&down_inverses)?, tables(&down_factors)?, tables(&quotients)?],
                input: batch(own.len())?,
                coefficients: batch(limbs)?,
                raised: batch(basis.digits() * together.len())?,
                sums: batch(2 * own.len())?,
                rests: batch(2 * special.len())?,
                all_rests: batch(2 * (extended - limbs))?,
                output: batch(2 * own.len())?,
                own,
                special,
            })
        };
        let ranks = cluster.devices.iter().enumerate().map(rank).collect::<Result<Vec<_>, Error>>()?;
        Ok(Self { cluster, basis, ranks })
    }

    /// Switches a polynomial in host memory.
    ///
    /// # Errors
    /// Returns [`Error::Length`] unless it has [`Basis::polynomial_words`] words, [`Error::Range`]
    /// naming the first word not below its modulus, and [`Error::Driver`] if a driver call fails.
    pub fn run(&mut self, polynomial: &[W]) -> Result<Vec<W>, Error> {
        let (n, limbs) = (self.basis.n(), self.basis.limbs());
        if polynomial.len() != limbs * n {
            return Err(Error::Length { unit: limbs * n, got: polynomial.len() });
        }
        check_residues(&self.basis.moduli[..limbs], polynomial)?;
        for (place, rank) in self.ranks.iter().enumerate() {
            let rows = &polynomial[rank.own.start * n..rank.own.end * n];
            self.cluster.upload(place, &rank.input, 0, rows)?;
        }
        self.switch(&mut |_| Ok(()))?;
        let parts = self.ranks.iter().map(|rank| rank.output.download()).collect::<Result<Vec<_>, _>>()?;
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
    pub fn time(&mut self) -> Result<Timing, Error> {
        self.cluster.time(|| self.switch(&mut |_| Ok(())))
    }

    /// The steps of a switch in order. The time of each, in microseconds, ends when all devices
    /// have finished it, so nothing overlaps.
    ///
    /// # Errors
    /// Returns [`Error::Driver`] if a driver call fails.
    pub fn profile(&mut self) -> Result<Vec<(&'static str, f64)>, Error> {
        self.cluster.profile(|done| self.switch(done))
    }

    fn switch(&self, done: &mut dyn FnMut(&'static str) -> Result<(), Error>) -> Result<(), Error> {
        let (n, limbs) = (self.basis.n(), self.basis.limbs());
        for rank in &self.ranks {
            // The transform works in place, and the input is needed no more.
            // SAFETY: the batches belong to this value, and its work is ordered on each device.
            unsafe { super::transform(&rank.plans[0], Direction::Inverse, &rank.input) }?;
        }
        done("inverse transforms")?;
        let own = |rank: &Rank<W>| rank.own.start * n;
        // SAFETY: sources and targets are different batches, and all rows are in bounds.
        unsafe { self.gather(|rank| &rank.input, |rank| &rank.coefficients, 1, own, limbs) }?;
        done("limbs to all")?;
        self.raise(true)?;
        self.cluster.collective.finish()?;
        self.raise(false)?;
        done("mod up")?;
        for rank in &self.ranks {
            // SAFETY: as above.
            unsafe { super::transform(&rank.extended, Direction::Forward, &rank.raised) }?;
        }
        done("transforms")?;
        self.multiply()?;
        done("inner product")?;
        for rank in &self.ranks {
            // SAFETY: as above.
            unsafe { super::transform(&rank.plans[1], Direction::Inverse, &rank.rests) }?;
        }
        done("inverse transforms of special limbs")?;
        let special = |rank: &Rank<W>| (rank.special.start - limbs) * n;
        let all = self.basis.extended() - limbs;
        // SAFETY: as above.
        unsafe { self.gather(|rank| &rank.rests, |rank| &rank.all_rests, 2, special, all) }?;
        self.cluster.collective.finish()?;
        done("special limbs to all")?;
        self.convert()?;
        done("mod down")?;
        for rank in &self.ranks {
            // SAFETY: as above.
            unsafe { super::transform(&rank.plans[0], Direction::Forward, &rank.output) }?;
        }
        done("transforms of the rests")?;
        self.divide()?;
        done("quotients")
    }

    /// Starts to send every device's rows of `parts` polynomials to all devices, which have `rows`
    /// rows each, from word `start` on.
    ///
    /// # Safety
    /// The rows must be in bounds, and sources and targets different batches of this value.
    unsafe fn gather(
        &self,
        from: impl Fn(&Rank<W>) -> &Batch<W>,
        to: impl Fn(&Rank<W>) -> &Batch<W>,
        parts: usize,
        start: impl Fn(&Rank<W>) -> usize,
        rows: usize,
    ) -> Result<(), Error> {
        let mut transfers = Vec::new();
        for (owner, source) in self.ranks.iter().enumerate() {
            let words = from(source).words() / parts;
            for (holder, target) in self.ranks.iter().enumerate() {
                for part in 0..parts {
                    let at = start(source) + part * rows * self.basis.n();
                    transfers.push(Transfer::whole(
                        (owner, from(source).address_of(part * words)),
                        (holder, to(target).address_of(at)),
                        words * size_of::<W>(),
                    ));
                }
            }
        }
        // SAFETY: guaranteed by the caller.
        unsafe { self.cluster.collective.begin(&transfers) }
    }

    /// Extends digits to each device's limbs: those whose limbs the device has itself, from its
    /// input, or all others.
    fn raise(&self, present: bool) -> Result<(), Error> {
        let (n, limbs, digits) = (self.basis.n(), self.basis.limbs(), self.basis.digits());
        let has = |rank: &Rank<W>, digit| {
            let digit = share(limbs, digits, digit);
            rank.own.start <= digit.start && digit.end <= rank.own.end
        };
        for rank in &self.ranks {
            let wanted: Vec<usize> = (0..digits).filter(|&digit| has(rank, digit) == present).collect();
            let [inverses, factors] = &rank.up;
            let rows = rank.own.len() + rank.special.len();
            // The others are not neighbours if the device has digits in the middle.
            for run in wanted.chunk_by(|a, b| a + 1 == *b) {
                // Both have the layout of all limbs: the device's input, as if it began earlier.
                let source = if present {
                    Argument::address(
                        rank.input.address_of(0).wrapping_sub((rank.own.start * n * size_of::<W>()) as u64),
                    )
                } else {
                    rank.coefficients.pointer()
                };
                let arguments = vec![
                    source,
                    rank.raised.pointer_at(run[0] * rows * n),
                    inverses.pointer(),
                    factors.pointer(),
                    rank.node.constants_from(0),
                    number(limbs),
                    number(self.basis.extended()),
                    number(n),
                    number(digits),
                    number(run[0]),
                    number(1),
                    number(rank.own.start),
                    number(rank.own.len()),
                    number(rank.special.start),
                    number(rows),
                ];
                let shared = limbs.div_ceil(digits) * super::THREADS * size_of::<W>();
                // SAFETY: the arguments match the parameters of `mod_up`, which reads the limbs of
                // these digits and writes that many rows of each.
                unsafe { rank.node.launch(&rank.node.mod_up, n, [1, run.len()], shared, arguments) }?;
            }
        }
        Ok(())
    }

    fn multiply(&self) -> Result<(), Error> {
        let n = self.basis.n();
        for rank in &self.ranks {
            let (own, rows) = (rank.own.len(), rank.own.len() + rank.special.len());
            let parts = [(0, own, &rank.sums), (own, rows - own, &rank.rests)];
            for (first, count, sums) in parts {
                let arguments = vec![
                    rank.raised.pointer_at(first * n),
                    rank.key.pointer_at(first * n),
                    sums.pointer(),
                    Argument::address(self.constants(rank, first)),
                    number(count),
                    number(n),
                    number(self.basis.digits()),
                    number(rows),
                ];
                // SAFETY: the arguments match the parameters of `inner_product`, and the batches
                // have that many rows and digits.
                unsafe { rank.node.launch(&rank.node.inner_product, n, [count, 1], 0, arguments) }?;
            }
        }
        Ok(())
    }

    /// The address of the constants of one of a device's limbs.
    fn constants(&self, rank: &Rank<W>, limb: usize) -> u64 {
        rank.constants.region(limb * rank.node.bytes_of_limb, 0).start
    }

    /// Converts the special limbs of both sums to each device's limbs.
    fn convert(&self) -> Result<(), Error> {
        let (n, limbs, extended) = (self.basis.n(), self.basis.limbs(), self.basis.extended());
        for rank in &self.ranks {
            let [inverses, factors, _] = &rank.down;
            let arguments = vec![
                rank.all_rests.pointer(),
                rank.output.pointer(),
                inverses.pointer(),
                factors.pointer(),
                rank.node.constants_from(0),
                number(limbs),
                number(extended),
                number(n),
                number(rank.own.start),
                number(rank.own.len()),
            ];
            let shared = (extended - limbs) * super::THREADS * size_of::<W>();
            // SAFETY: the arguments match the parameters of `convert_rests`, and the batches have
            // two polynomials of that many rows.
            unsafe { rank.node.launch(&rank.node.convert_rests, n, [1, 2], shared, arguments) }?;
        }
        Ok(())
    }

    /// Divides by the product of the special limbs, in the transformed domain.
    fn divide(&self) -> Result<(), Error> {
        let n = self.basis.n();
        for rank in &self.ranks {
            let own = rank.own.len();
            let arguments = vec![
                rank.sums.pointer(),
                rank.output.pointer(),
                Argument::address(rank.down[2].region(rank.own.start * size_of::<W>(), 0).start),
                rank.node.constants_from(rank.own.start),
                number(own),
                number(n),
            ];
            // SAFETY: the arguments match the parameters of `divide_rows`, and both batches have
            // two polynomials of that many rows.
            unsafe { rank.node.launch(&rank.node.divide_rows, n, [2 * own, 1], 0, arguments) }?;
        }
        Ok(())
    }
}
