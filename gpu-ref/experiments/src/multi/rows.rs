//! Key switching by limbs from start to end.

use crate::multi::cluster::Cluster;
use crate::multi::steps::Steps;
use crate::multi::transfer::Transfer;
use gpu_ref::key_switch::{Basis, Share, part};
use gpu_ref::{Batch, Error, Word};

/// The shares of all devices. They send each other two things: the coefficients of the input, while they
/// extend the digits that they have, and the coefficients of the sums' special limbs.
pub(crate) struct Rows<W> {
    shares: Vec<Share<W>>,
    /// Coefficients of all limbs, on each device.
    coefficients: Vec<Batch<W>>,
    /// Coefficients of all special limbs of the sums, on each device.
    rests: Vec<Batch<W>>,
    n: usize,
    limbs: usize,
    special: usize,
}

impl<W: Word> Rows<W> {
    pub(crate) fn new(cluster: &Cluster, basis: &Basis<W>, key: &[W]) -> Result<Self, Error> {
        let (n, limbs, count) = (basis.n(), basis.limbs(), cluster.ranks());
        let special = basis.extended() - limbs;
        let share = |(rank, device)| {
            let (own, special) = (part(limbs, count, rank), part(special, count, rank));
            Share::new(device, basis, own, limbs + special.start..limbs + special.end, key)
        };
        Ok(Self {
            shares: cluster.devices().iter().enumerate().map(share).collect::<Result<_, _>>()?,
            coefficients: cluster.batches(|_| limbs * n)?,
            rests: cluster.batches(|_| 2 * special * n)?,
            n,
            limbs,
            special,
        })
    }

    fn each(&mut self, step: impl FnMut(&mut Share<W>) -> Result<(), Error>) -> Result<(), Error> {
        self.shares.iter_mut().try_for_each(step)
    }

    /// Starts to send every device's rows of `parts` polynomials to all devices, which have `rows`
    /// rows each, from row `start` on.
    fn gather(
        &self,
        cluster: &Cluster,
        from: impl Fn(&Share<W>) -> &Batch<W>,
        to: &[Batch<W>],
        start: impl Fn(&Share<W>) -> usize,
        [parts, rows]: [usize; 2],
    ) -> Result<(), Error> {
        let mut transfers = Vec::new();
        for (owner, share) in self.shares.iter().enumerate() {
            let source = from(share);
            let words = source.words() / parts;
            for (holder, target) in to.iter().enumerate() {
                for part in 0..parts {
                    let at = (start(share) + part * rows) * self.n;
                    transfers.push(Transfer::whole(
                        (owner, source.address_of(part * words)),
                        (holder, target.address_of(at)),
                        words * size_of::<W>(),
                    ));
                }
            }
        }
        // SAFETY: sources and targets are different batches of this value, and all rows are in bounds.
        unsafe { cluster.collective.begin(&transfers) }
    }
}

impl<W: Word> Steps<W> for Rows<W> {
    fn input(&self, rank: usize) -> &Batch<W> {
        self.shares[rank].input()
    }

    fn output(&self, rank: usize) -> &Batch<W> {
        self.shares[rank].output()
    }

    fn switch(&mut self, cluster: &Cluster) -> Result<(), Error> {
        let (limbs, special) = (self.limbs, self.special);
        self.each(Share::invert)?;
        self.gather(cluster, Share::input, &self.coefficients, |share| share.own().start, [1, limbs])?;
        self.each(Share::raise_own)?;
        cluster.collective.finish()?;
        for (share, coefficients) in self.shares.iter_mut().zip(&self.coefficients) {
            share.raise_others(coefficients)?;
        }
        self.each(Share::transform)?;
        self.each(Share::multiply)?;
        self.each(Share::invert_rests)?;
        let start = |share: &Share<W>| share.special().start - limbs;
        self.gather(cluster, Share::rests, &self.rests, start, [2, special])?;
        cluster.collective.finish()?;
        for (share, rests) in self.shares.iter_mut().zip(&self.rests) {
            share.convert(Some(rests))?;
        }
        self.each(Share::transform_rests)?;
        self.each(Share::divide)
    }
}
