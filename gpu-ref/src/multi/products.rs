//! Products of batches of RNS polynomials on several devices.

use super::{Batch, By, Cluster, Error, Modulus, Node, Plan, Range, Word, number, plan, share};
use crate::Direction;

/// Multiplies batches of RNS polynomials modulo `x^N + 1`. Transforms are divided by limbs,
/// products by row segments.
pub struct Products<W> {
    cluster: Cluster,
    limbs: usize,
    n: usize,
    polynomials: usize,
    ranks: Vec<Rank<W>>,
    /// For each device, [polynomial][own limbs][N].
    by_limbs: [Vec<Batch<W>>; 2],
    /// For each device, [polynomial][limbs][N / R].
    by_columns: [Vec<Batch<W>>; 3],
}

struct Rank<W> {
    node: Node,
    plan: Plan<W>,
    own: Range<usize>,
}

impl<W: Word> Products<W> {
    /// Creates buffers for batches of `polynomials` polynomials.
    ///
    /// # Errors
    /// Returns [`Error::Unsupported`] if there are no polynomials, for 128-bit words, or if the
    /// number of devices is not a power of two or is too large for the limbs and N,
    /// [`Error::Modulus`] if moduli are missing, too long or for different N, and any device error.
    pub fn new(cluster: Cluster, moduli: &[Modulus<W>], polynomials: usize) -> Result<Self, Error> {
        let (limbs, n) = (moduli.len(), moduli.first().map_or(0, Modulus::n));
        cluster.check(limbs, n)?;
        // Each row is a block along y.
        if polynomials == 0 || polynomials * limbs > usize::from(u16::MAX) || W::BITS > 64 {
            return Err(Error::Unsupported {
                what: format!("{polynomials} polynomials of {limbs} limbs in {}-bit words", W::BITS),
                instead: format!("use 1 to {} rows in words of 32 or 64 bits", u16::MAX),
            });
        }
        let count = cluster.ranks();
        let ranks = (0..count)
            .map(|rank| {
                let (device, own) = (&cluster.devices[rank], share(limbs, count, rank));
                Ok(Rank {
                    node: Node::new(device, moduli, 0)?,
                    plan: plan(device, &moduli[own.clone()])?,
                    own,
                })
            })
            .collect::<Result<Vec<_>, Error>>()?;
        let batches = |words: &dyn Fn(usize) -> usize| {
            cluster
                .devices
                .iter()
                .enumerate()
                .map(|(rank, device)| Batch::zeroed(device, polynomials * words(rank)))
                .collect::<Result<Vec<_>, Error>>()
        };
        let by_limbs = || batches(&|rank| share(limbs, count, rank).len() * n);
        let by_columns = || batches(&|_| limbs * (n / count));
        Ok(Self {
            limbs,
            n,
            polynomials,
            by_limbs: [by_limbs()?, by_limbs()?],
            by_columns: [by_columns()?, by_columns()?, by_columns()?],
            ranks,
            cluster,
        })
    }

    /// The products of two batches in natural order, in the layout of [`crate::Plan`].
    ///
    /// # Errors
    /// Returns [`Error::Length`] unless both batches have the length given to [`Self::new`], and
    /// [`Error::Driver`] if a driver call fails.
    pub fn run(&mut self, left: &[W], right: &[W]) -> Result<Vec<W>, Error> {
        let unit = self.polynomials * self.limbs * self.n;
        for (number, words) in [left, right].into_iter().enumerate() {
            if words.len() != unit {
                return Err(Error::Length { unit, got: words.len() });
            }
            for (rank, to) in self.by_limbs[number].iter().enumerate() {
                let own = &self.ranks[rank].own;
                for (polynomial, words) in words.chunks(self.limbs * self.n).enumerate() {
                    let rows = &words[own.start * self.n..own.end * self.n];
                    self.cluster.upload(rank, to, polynomial * rows.len(), rows)?;
                }
            }
        }
        self.multiply()?;
        let parts = self.ranks.iter().zip(&self.by_limbs[0]).map(|(rank, batch)| rank.plan.download(batch));
        let parts = parts.collect::<Result<Vec<_>, _>>()?;
        let mut products = Vec::with_capacity(unit);
        for polynomial in 0..self.polynomials {
            for (rank, part) in self.ranks.iter().zip(&parts) {
                let words = rank.own.len() * self.n;
                products.extend(&part[polynomial * words..][..words]);
            }
        }
        Ok(products)
    }

    /// Median time of a batch of products on the devices, in microseconds.
    ///
    /// # Errors
    /// Returns [`Error::Driver`] if a driver call fails.
    pub fn time(&mut self) -> Result<f64, Error> {
        self.cluster.time(|| self.multiply())
    }

    /// Forward transforms of both batches, products, and the inverse transform.
    fn multiply(&self) -> Result<(), Error> {
        let width = self.n / self.cluster.ranks();
        let transform = |direction, number: usize| {
            self.ranks.iter().zip(&self.by_limbs[number]).try_for_each(|(rank, batch)| {
                // SAFETY: the batches belong to this value, and its work is ordered on each device.
                unsafe { super::transform(&rank.plan, direction, batch) }
            })
        };
        let [left, right, products] = &self.by_columns;
        for (number, columns) in [left, right].into_iter().enumerate() {
            transform(Direction::Forward, number)?;
            self.cluster.redistribute(self.limbs, &self.by_limbs[number], columns, By::Columns, self.n)?;
        }
        for (rank, Rank { node, .. }) in self.ranks.iter().enumerate() {
            let arguments = vec![
                left[rank].pointer(),
                right[rank].pointer(),
                products[rank].pointer(),
                node.constants_from(0),
                number(self.limbs),
                number(width),
            ];
            let rows = self.polynomials * self.limbs;
            // SAFETY: the arguments match the parameters of `multiply`, and the batches have that
            // many rows and columns.
            unsafe { node.launch(&node.multiply, width, [rows, 1], 0, arguments) }?;
        }
        self.cluster.redistribute(self.limbs, &self.by_limbs[0], products, By::Limbs, self.n)?;
        transform(Direction::Inverse, 0)
    }
}
