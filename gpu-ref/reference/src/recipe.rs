//! Recipes: the division of a transform into kernels, as values that can be compared, printed and
//! varied.

mod best;
mod card;
mod feature;
mod pass;
mod strategy;

pub(crate) use best::CHAIN_BYTES;
pub use card::Card;
pub use feature::Feature;
pub use pass::{Pass, Product};
pub(crate) use strategy::DOUBLE_BITS;
pub use strategy::{Barrett, Strategy, Sync};

use crate::Error;
use pass::{pair, single};
use std::collections::BTreeSet;

/// Minimum and maximum log2 of the ring dimension, for every strategy.
pub const LOG_N: std::ops::RangeInclusive<u32> = 10..=17;

/// A strategy for one word size and ring dimension, divided into passes.
///
/// A recipe is sound by construction: the strategy supports the word size and has the features, and
/// the passes cover every stage once and fit a block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recipe {
    strategy: Strategy,
    word_bits: u32,
    log_n: u32,
    modulus_bits: u32,
    passes: Vec<Pass>,
    product: Product,
    features: BTreeSet<Feature>,
    shared_roots: u32,
    /// The recipe of products, where it is another.
    of_products: Option<Box<Self>>,
}

impl Recipe {
    /// The default recipe of a strategy for a word size and ring dimension.
    ///
    /// # Errors
    /// Returns [`Error::Unsupported`] if the strategy does not support the word size, and
    /// [`Error::Dimension`] if `log_n` is outside [`LOG_N`].
    pub fn new(strategy: Strategy, word_bits: u32, log_n: u32) -> Result<Self, Error> {
        if !strategy.word_bits().contains(&word_bits) {
            return Err(Error::Unsupported {
                what: format!("{strategy} with {word_bits}-bit words"),
                instead: format!("use words of {:?} bits", strategy.word_bits()),
            });
        }
        if !LOG_N.contains(&log_n) {
            return Err(Error::Dimension {
                n: 1usize.checked_shl(log_n).unwrap_or(0),
                min: 1 << LOG_N.start(),
                max: 1 << LOG_N.end(),
            });
        }
        let own = Self {
            strategy,
            word_bits,
            log_n,
            modulus_bits: strategy.modulus_bits(word_bits),
            passes: published(strategy, word_bits, log_n),
            product: Product::default(),
            features: BTreeSet::new(),
            shared_roots: 0,
            of_products: None,
        };
        Ok(if strategy == Strategy::Best { own.fastest() } else { own })
    }

    /// The measured parameters of [`Strategy::Best`] for its longest moduli.
    fn fastest(mut self) -> Self {
        self.product = best::product(self.word_bits, self.log_n);
        self.shared_roots = best::shared_roots(self.word_bits, self.log_n);
        self.features.extend([Feature::Overlap, Feature::Alternating]);
        if self.word_bits == 128 {
            self.features.insert(Feature::ShortQuotients);
        }
        self
    }

    /// [`Recipe::new`] for moduli of at most `largest`. [`Strategy::Best`] chooses its arithmetic
    /// accordingly: doubles up to 50 bits in 64-bit words, and shorter products if more than two bits
    /// of a word are free.
    ///
    /// # Errors
    /// Returns the errors of [`Recipe::new`].
    pub fn for_moduli(strategy: Strategy, word_bits: u32, log_n: u32, largest: u128) -> Result<Self, Error> {
        Self::with_arithmetic(Card::H100, strategy, word_bits, log_n, largest)
    }

    fn with_arithmetic(
        card: Card,
        strategy: Strategy,
        word_bits: u32,
        log_n: u32,
        largest: u128,
    ) -> Result<Self, Error> {
        let mut own = Self::new(strategy, word_bits, log_n)?;
        if strategy != Strategy::Best {
            return Ok(own);
        }
        let longest = 128 - largest.leading_zeros();
        // A few lengths only, because each needs kernels of its own.
        let lengths: &[u32] = match word_bits {
            32 => &[],
            64 => &[DOUBLE_BITS, 60, 61],
            _ => &[124, 125],
        };
        let suits = |bits: u32| bits >= longest && (card.doubles || bits > DOUBLE_BITS);
        if let Some(&bits) = lengths.iter().find(|&&bits| suits(bits)) {
            own.modulus_bits = bits;
            own.features.remove(&Feature::ShortQuotients);
        }
        match (word_bits, own.modulus_bits, log_n) {
            (64, DOUBLE_BITS, 16) => own.passes = pair(log_n, 8, (4, 4, 2), (4, 1, 10)),
            (64, 60 | 61, 16) => own.passes = pair(log_n, 8, (4, 3, 3), (4, 1, 8)),
            _ => {}
        }
        Ok(own)
    }

    /// [`Recipe::for_card`] for an H100.
    ///
    /// # Errors
    /// Returns the errors of [`Recipe::new`].
    pub fn for_batches(word_bits: u32, log_n: u32, largest: u128, transforms: usize) -> Result<Self, Error> {
        Self::for_card(Card::H100, word_bits, log_n, largest, transforms)
    }

    /// [`Recipe::for_moduli`] of [`Strategy::Best`] for batches of `transforms` transforms on a device,
    /// counting each polynomial and limb: one transform spreads over the whole device, a few have more blocks
    /// each than many, and many cross memory once where that is faster.
    ///
    /// # Errors
    /// Returns the errors of [`Recipe::new`].
    pub fn for_card(
        card: Card,
        word_bits: u32,
        log_n: u32,
        largest: u128,
        transforms: usize,
    ) -> Result<Self, Error> {
        let in_passes = Self::in_passes(card, word_bits, log_n, largest, transforms)?;
        let chained = |passes, shared_roots| -> Result<Self, Error> {
            let own = in_passes.clone().without(Feature::Alternating).with_passes(passes)?;
            own.with_shared_roots(shared_roots)?.with(Feature::Chained)
        };
        let is_once = Feature::Once.suits(&in_passes) && best::fills_clusters(card, log_n, transforms);
        if !is_once && (word_bits == 32 || transforms < best::many(log_n)) {
            return Ok(in_passes);
        }
        let own = if is_once {
            in_passes.clone().with(Feature::Once)?
        } else if let Some(passes) = best::chained(card, word_bits, in_passes.modulus_bits, log_n) {
            chained(passes, in_passes.shared_roots)?
        } else {
            return Ok(in_passes);
        };
        Ok(match best::chained_products(card, word_bits, in_passes.modulus_bits, log_n) {
            Some((passes, blocks)) => {
                let products = chained(passes, 0)?.with_product(Product { separate: false, blocks })?;
                Self { of_products: Some(Box::new(products)), ..own }
            }
            None => own,
        })
    }

    /// [`Recipe::for_batches`] without kernels that cross memory once: a kernel for each pass.
    ///
    /// # Errors
    /// Returns the errors of [`Recipe::new`].
    pub fn for_batches_in_passes(
        word_bits: u32,
        log_n: u32,
        largest: u128,
        transforms: usize,
    ) -> Result<Self, Error> {
        Self::in_passes(Card::H100, word_bits, log_n, largest, transforms)
    }

    fn in_passes(
        card: Card,
        word_bits: u32,
        log_n: u32,
        largest: u128,
        transforms: usize,
    ) -> Result<Self, Error> {
        let mut own = Self::with_arithmetic(card, Strategy::Best, word_bits, log_n, largest)?;
        if transforms == 1 {
            return Ok(own.spread());
        }
        let bytes = (transforms << log_n) * (word_bits / 8) as usize;
        if bytes <= best::CACHED_BYTES {
            own.features.remove(&Feature::Alternating);
        }
        if let Some(passes) = best::few(word_bits, log_n).filter(|_| transforms < best::FEW) {
            (own.passes, own.shared_roots) = (passes, 0);
        }
        Ok(own)
    }

    /// Fewer points per thread and fewer lanes per block, so that one transform spreads over the whole
    /// device.
    fn spread(mut self) -> Self {
        // Rows of 2^9 points with four a thread, from N = 2^15 on.
        let columns = if self.log_n < 15 { self.log_n / 2 } else { self.log_n - 9 };
        let first = if self.word_bits == 32 { (3, 3, 1) } else { (2, 2, 1) };
        self.passes = pair(self.log_n, columns, first, (2, 0, 1));
        (self.product, self.shared_roots) = (Product::default(), 0);
        self.features.remove(&Feature::Alternating);
        self.features.insert(Feature::EarlyRoots);
        if best::starts_early(self.word_bits, self.modulus_bits, self.log_n) {
            self.features.insert(Feature::EarlyStart);
        }
        self
    }

    /// The same arithmetic and features with other passes, in the order of the forward transform. The
    /// product becomes the default one, and no roots are shared.
    ///
    /// # Errors
    /// Returns [`Error::Unsupported`] unless the passes cover all stages and each fits a block, and for
    /// strategies of resident threads, which have no passes.
    pub fn with_passes(self, passes: Vec<Pass>) -> Result<Self, Error> {
        let stages: u64 = passes.iter().map(|pass| u64::from(pass.stages)).sum();
        let fit = passes.iter().all(|pass| pass.fits(self.log_n, self.word_bits / 8));
        if self.resident() || stages != self.log_n.into() || !fit {
            return Err(Error::Unsupported {
                what: format!("{passes:?} for {} and N = 2^{}", self.strategy, self.log_n),
                instead: "cover every stage once, with 2 to 32 points in a thread, at most a sub-transform, and at \
                          most 1024 threads, 227 KiB of shared memory and a polynomial in a block"
                    .into(),
            });
        }
        Ok(Self { passes, product: Product::default(), shared_roots: 0, ..self }.settled())
    }

    /// The same transforms with another product.
    ///
    /// # Errors
    /// Returns [`Error::Unsupported`] for strategies of resident threads.
    pub fn with_product(self, product: Product) -> Result<Self, Error> {
        if self.resident() {
            return Err(Error::Unsupported {
                what: format!("{product:?} for {}", self.strategy),
                instead: "use a strategy with passes".into(),
            });
        }
        Ok(Self { product, ..self }.settled())
    }

    /// The same recipe with a feature.
    ///
    /// # Errors
    /// Returns [`Error::Unsupported`] if the strategy's kernels do not have it; see [`Feature`].
    pub fn with(mut self, feature: Feature) -> Result<Self, Error> {
        if !feature.suits(&self) {
            return Err(Error::Unsupported {
                what: format!(
                    "{feature:?} for {}, N = 2^{} and moduli of {} bits",
                    self.strategy, self.log_n, self.modulus_bits
                ),
                instead: "leave the feature out, or use the strategy that has it".into(),
            });
        }
        self.features.insert(feature);
        Ok(self.settled())
    }

    /// The same recipe without a feature.
    #[must_use]
    pub fn without(mut self, feature: Feature) -> Self {
        self.features.remove(&feature);
        self.settled()
    }

    /// After a change: without the features that the recipe no longer has kernels for, and with products of
    /// its own.
    fn settled(mut self) -> Self {
        let unsuited: Vec<_> = self.features().filter(|feature| !feature.suits(&self)).collect();
        for feature in unsuited {
            self.features.remove(&feature);
        }
        self.of_products = None;
        if self.has(Feature::Once) {
            self.of_products = Some(Box::new(self.clone().without(Feature::Once)));
        }
        self
    }

    /// [`Strategy::Best`]: 2^`shared_roots` butterflies of the last stage share a table entry, half as
    /// many of the stage before, and so on, and multiply by another root of unity in addition. Fused
    /// products do without.
    ///
    /// # Errors
    /// Returns [`Error::Unsupported`] for other strategies, above 2^3, and unless a thread has as many points
    /// in the first pass, and more in the last.
    pub fn with_shared_roots(self, shared_roots: u32) -> Result<Self, Error> {
        let most = 3.min(self.passes[0].points_log).min(self.last_pass().points_log - 1);
        if shared_roots > 0 && (self.strategy != Strategy::Best || shared_roots > most) {
            return Err(Error::Unsupported {
                what: format!("roots shared by 2^{shared_roots} butterflies of {}", self.strategy),
                instead: "use `best`, at most 2^3, and more points per thread in the first and the last pass"
                    .into(),
            });
        }
        Ok(Self { shared_roots, ..self }.settled())
    }

    /// Origin and arithmetic.
    pub fn strategy(&self) -> Strategy {
        self.strategy
    }

    /// Word size in bits: 32, 64 or 128.
    pub fn word_bits(&self) -> u32 {
        self.word_bits
    }

    /// log2 of the ring dimension.
    pub fn log_n(&self) -> u32 {
        self.log_n
    }

    /// Maximum length of a modulus in bits, at most [`Strategy::modulus_bits`].
    pub fn modulus_bits(&self) -> u32 {
        self.modulus_bits
    }

    /// The largest modulus that the recipe supports.
    pub fn largest_modulus(&self) -> u128 {
        u128::MAX >> (128 - self.modulus_bits)
    }

    /// The passes in the order of the forward transform.
    pub fn passes(&self) -> &[Pass] {
        &self.passes
    }

    /// The first stage of a pass, counted from 0 in the forward transform.
    pub(crate) fn first_stage(&self, pass: usize) -> u32 {
        self.passes[..pass].iter().map(|pass| pass.stages).sum()
    }

    pub(crate) fn last_pass(&self) -> &Pass {
        &self.passes[self.passes.len() - 1]
    }

    /// The recipe of products, if it is another.
    pub fn of_products(&self) -> Option<&Self> {
        self.of_products.as_deref()
    }

    /// Returns true if both passes fit one kernel; see [`Feature::Chained`]. Each exchanges data, so that all
    /// threads of a block learn whether its tile is its own.
    fn can_chain(&self) -> bool {
        let [columns, rows] = &self.passes[..] else { return false };
        let [column_tiles, row_tiles] = [columns, rows].map(|pass| pass.blocks_each(self.log_n));
        columns.threads() == rows.threads()
            && columns.rounds() > 1
            && rows.rounds() > 1
            && row_tiles.is_multiple_of(column_tiles)
            && !self.product.separate
    }

    /// The kernels of a product.
    pub fn product(&self) -> Product {
        self.product
    }

    /// Returns true if the recipe has a feature.
    pub fn has(&self, feature: Feature) -> bool {
        self.features.contains(&feature)
    }

    /// The features of the recipe.
    pub(crate) fn features(&self) -> impl Iterator<Item = Feature> {
        self.features.iter().copied()
    }

    /// See [`Recipe::with_shared_roots`].
    pub fn shared_roots(&self) -> u32 {
        self.shared_roots
    }

    /// Bytes of shared memory per block of a pass, or of all with [`Feature::Chained`].
    pub(crate) fn shared_bytes(&self, pass: &Pass) -> u32 {
        if self.resident() {
            return 0;
        }
        let bytes = |pass: &Pass| pass.shared_bytes(self.word_bits / 8);
        if self.has(Feature::Chained) {
            self.passes.iter().map(bytes).max().unwrap_or(0)
        } else {
            bytes(pass)
        }
    }

    /// See [`Strategy::resident`].
    pub(crate) fn resident(&self) -> bool {
        self.strategy.resident()
    }
}

/// The passes of a strategy for batches. The numbers come from measurements on an H200 at N = 2^16,
/// batch 512; a division fixed by a paper is kept.
fn published(strategy: Strategy, word_bits: u32, log_n: u32) -> Vec<Pass> {
    match (strategy, word_bits) {
        (Strategy::Wide | Strategy::Cheddar | Strategy::Caramel, _) if log_n <= 12 => single(log_n, 3, 1),
        (Strategy::Wide, _) => pair(log_n, log_n / 2, (3, 3, 4), (3, 1, 4)),
        (Strategy::Cheddar, _) => pair(log_n, log_n - 9, (4, 4, 4), (3, 1, 8)),
        (Strategy::Shivdikar(_), _) if log_n <= 11 => single(log_n, 3, 1),
        (Strategy::Shivdikar(_), 32) => pair(log_n, log_n - 11, (5, 6, 1), (5, 0, 1)),
        (Strategy::Shivdikar(_), _) => pair(log_n, log_n - 11, (4, 5, 1), (3, 0, 1)),
        (Strategy::Caramel, _) => pair(log_n, log_n - 6, (5, 18 - log_n, 1), (3, 3, 1)),
        (Strategy::HeBooster(Sync::Launches), _) => {
            vec![Pass { stages: 1, points_log: 1, lanes_log: 8, blocks: 1 }; log_n as usize]
        }
        (Strategy::HeBooster(Sync::Local | Sync::Barrier), _) => single(log_n, 1, 1),
        (Strategy::Best, _) => best::passes(word_bits, log_n),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tables above, held to what a caller must keep.
    #[test]
    fn every_default_recipe_is_sound() {
        let sound = |recipe: Recipe| {
            let passes = recipe.clone().with_passes(recipe.passes.clone());
            let same = passes.and_then(|passes| passes.with_product(recipe.product));
            let same = same.and_then(|same| same.with_shared_roots(recipe.shared_roots)).unwrap();
            assert_eq!(Recipe { of_products: recipe.of_products.clone(), ..same }, recipe);
        };
        for strategy in Strategy::ALL {
            for &bits in strategy.word_bits() {
                for log_n in LOG_N {
                    let own = Recipe::new(strategy, bits, log_n).unwrap();
                    assert_eq!(own.clone().with_passes(own.passes.clone()).is_err(), own.resident());
                    if !own.resident() {
                        sound(own);
                    }
                }
                assert!(Recipe::new(strategy, bits, 9).is_err());
                assert!(Recipe::new(strategy, bits, 64).is_err());
            }
        }
        for (bits, longest) in [(32, 30), (64, 50), (64, 60), (64, 61), (64, 62), (128, 124), (128, 126)] {
            for log_n in LOG_N {
                for transforms in [1, 64, 512] {
                    let recipe =
                        Recipe::for_batches(bits, log_n, u128::MAX >> (128 - longest), transforms).unwrap();
                    recipe.of_products().into_iter().cloned().for_each(sound);
                    sound(recipe);
                }
            }
        }
        assert!(Recipe::new(Strategy::Wide, 32, 10).is_err());
    }

    /// Just above a multiple of the clusters, passes are faster; with fast memory, also for two rounds.
    #[test]
    fn clusters_are_full_where_a_transform_crosses_memory_once() {
        let fast = Card { memory_rate: 4917, ..Card::H100 };
        let small = Card { cluster_blocks: 0, ..fast };
        let once = |card, log_n, transforms| {
            Recipe::for_card(card, 32, log_n, (1 << 30) - 1, transforms).unwrap().has(Feature::Once)
        };
        for (log_n, transforms, slow, quick) in [
            (16, 64, false, false),
            (16, 128, true, false),
            (16, 133, false, false),
            (16, 198, true, true),
            (16, 265, true, false),
            (16, 512, true, true),
            (15, 264, true, false),
            (15, 512, true, true),
        ] {
            let found = [Card::H100, fast, small].map(|card| once(card, log_n, transforms));
            assert_eq!(found, [slow, quick, false], "{transforms} transforms of 2^{log_n} words");
        }
    }

    #[test]
    fn cheddar_divides_as_its_paper_says() {
        let recipe = Recipe::new(Strategy::Cheddar, 32, 16).unwrap();
        let sizes: Vec<_> = recipe.passes.iter().map(|p| (1 << p.stages, 1 << p.points_log)).collect();
        assert_eq!(sizes, [(128, 16), (512, 8)]);
    }

    #[test]
    fn unsound_passes_are_refused() {
        let good = Recipe::new(Strategy::Best, 32, 16).unwrap();
        let broken = |change: fn(&mut Vec<Pass>)| {
            let mut passes = good.passes.clone();
            change(&mut passes);
            good.clone().with_passes(passes).is_err()
        };
        assert!(!broken(|_| ()));
        assert!(broken(|passes| passes[1].stages += 1));
        assert!(broken(|passes| passes[1].stages = u32::MAX));
        assert!(broken(|passes| passes.truncate(1)));
        assert!(broken(|passes| passes.push(Pass { stages: 0, ..passes[0] })));
        assert!(broken(|passes| passes[0].points_log = 9));
        assert!(broken(|passes| passes[1].lanes_log = 9));
        assert!(broken(|passes| passes[1].lanes_log = u32::MAX));
    }
}
