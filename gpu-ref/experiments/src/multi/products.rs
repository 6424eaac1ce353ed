//! Products of batches of RNS polynomials on several devices.

use crate::multi::Cluster;
use gpu_ref::device::Graph;
use gpu_ref::key_switch::{part, plan};
use gpu_ref::{Batch, Error, Modulus, Plan, Timing, Word};
use std::ops::Range;

/// Multiplies batches of RNS polynomials modulo `x^N + 1`, divided by limbs: no device needs data of
/// another.
pub struct Products<W> {
    /// One for each CUDA device: the launches of a batch at the cost of one.
    graphs: Vec<Graph>,
    cluster: Cluster,
    limbs: usize,
    n: usize,
    polynomials: usize,
    ranks: Vec<Rank<W>>,
}

struct Rank<W> {
    plan: Plan<W>,
    own: Range<usize>,
    /// Both factors, [polynomial][own limbs][N]. The first receives the products.
    factors: [Batch<W>; 2],
}

impl<W: Word> Products<W> {
    /// Creates buffers for batches of `polynomials` polynomials.
    ///
    /// # Errors
    /// Returns [`Error::Unsupported`] if there are no polynomials, no devices, or more than limbs, and
    /// [`Error::Modulus`] if moduli are missing, too long or for different N.
    pub fn new(cluster: Cluster, moduli: &[Modulus<W>], polynomials: usize) -> Result<Self, Error> {
        let (limbs, n) = (moduli.len(), moduli.first().map_or(0, Modulus::n));
        let count = cluster.ranks();
        if polynomials == 0 || !(1..=limbs).contains(&count) {
            return Err(Error::Unsupported {
                what: format!("{polynomials} polynomials of {limbs} limbs on {count} devices"),
                instead: "use one or more polynomials, and a limb for each device".into(),
            });
        }
        let rank = |(rank, device)| {
            let own = part(limbs, count, rank);
            let batch = || Batch::zeroed(device, polynomials * own.len() * n);
            Ok(Rank { plan: plan(device, &moduli[own.clone()])?, factors: [batch()?, batch()?], own })
        };
        let ranks = cluster.devices().iter().enumerate().map(rank).collect::<Result<Vec<_>, Error>>()?;
        let on_cards = ranks.iter().filter(|rank| !rank.plan.device().is_emulated());
        let graphs = on_cards.map(|Rank { plan, factors: [left, right], .. }| {
            plan.device().record(&plan.product_launches(left, right)?)
        });
        let graphs = graphs.collect::<Result<_, Error>>()?;
        Ok(Self { graphs, cluster, limbs, n, polynomials, ranks })
    }

    /// The products of two batches in natural order, in the layout of [`Plan`].
    ///
    /// # Errors
    /// Returns [`Error::Length`] unless both batches have the length given to [`Self::new`].
    pub fn run(&mut self, left: &[W], right: &[W]) -> Result<Vec<W>, Error> {
        let unit = self.polynomials * self.limbs * self.n;
        for (number, words) in [left, right].into_iter().enumerate() {
            if words.len() != unit {
                return Err(Error::Length { unit, got: words.len() });
            }
            for (place, rank) in self.ranks.iter().enumerate() {
                for (polynomial, words) in words.chunks(self.limbs * self.n).enumerate() {
                    let rows = &words[rank.own.start * self.n..rank.own.end * self.n];
                    self.cluster.upload(place, &rank.factors[number], polynomial * rows.len(), rows)?;
                }
            }
        }
        self.multiply()?;
        let parts = self.ranks.iter().map(|rank| rank.plan.download(&rank.factors[0]));
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

    /// Time of a batch of products on the devices, in microseconds: median, shortest and longest.
    pub fn time(&mut self) -> Result<Timing, Error> {
        self.cluster.time(|| self.multiply())
    }

    fn multiply(&self) -> Result<(), Error> {
        // SAFETY: plans and batches belong to this value, and each device runs its graph in order with its
        // other work.
        self.graphs.iter().try_for_each(|graph| unsafe { graph.launch() })?;
        let emulated = self.ranks.iter().filter(|rank| rank.plan.device().is_emulated());
        for Rank { plan, factors: [left, right], .. } in emulated {
            for launch in plan.product_launches(left, right)? {
                // SAFETY: the batches belong to this value, and hold what the launches use.
                unsafe { plan.device().launch(&launch) }?;
            }
        }
        Ok(())
    }
}
