//! Recipes: the division of a transform into kernels, as plain values that can be printed, compared
//! and modified.

mod best;

use crate::Error;
use crate::field::DOUBLE_BITS;
use std::fmt;

/// Minimum and maximum log2 of the ring dimension, for every strategy.
pub const LOG_N: std::ops::RangeInclusive<u32> = 10..=17;

/// Origin of a transform and its arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// 128-bit words and any odd modulus: Montgomery multiplication, fully reduced. Comparable with
    /// the RPU word for word.
    Wide,
    /// Cheddar: 32-bit signed Montgomery, q < 2^30, two kernels of 128 x 512 points at N = 2^16.
    Cheddar,
    /// Shivdikar et al.: Barrett reduction in 32- or 64-bit words, one block up to N = 2^11 and
    /// 2^11-point blocks above.
    Shivdikar(Barrett),
    /// Caramel: 64-bit words in memory, double-precision arithmetic, q < 2^50; ten stages, then six
    /// at N = 2^16.
    Caramel,
    /// HE-Booster: one launch, one butterfly per thread and stage, in 32- or 64-bit words with lazy
    /// Shoup multiplication. The variants differ in synchronisation.
    HeBooster(Sync),
    /// The fastest known here: lazy Shoup multiplication, q < 2^30, 2^62 or 2^126.
    Best,
}

/// The reductions compared by Shivdikar et al.: the built-in remainder, and Barrett variants named
/// by algorithm number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Barrett {
    /// The built-in remainder, q of up to `bits - 2` bits.
    Remainder = 1,
    /// Algorithm 2: two correctional subtractions, q of up to `bits - 2` bits.
    Classical = 2,
    /// Algorithm 3: one correctional subtraction, q of up to `bits - 4` bits.
    DhemQuisquater = 3,
    /// Algorithm 4: one correctional subtraction, q of up to `bits - 2` bits.
    Proposed = 4,
}

/// Synchronisation between the stages of HE-Booster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sync {
    /// A thread waits for its two operands, which carry trigger bits.
    Local,
    /// All threads meet at a barrier across the grid.
    Barrier,
    /// Each stage is a launch of its own.
    Launches,
}

impl Strategy {
    /// All strategies and their variants.
    pub const ALL: [Strategy; 11] = [
        Strategy::Wide,
        Strategy::Cheddar,
        Strategy::Shivdikar(Barrett::Remainder),
        Strategy::Shivdikar(Barrett::Classical),
        Strategy::Shivdikar(Barrett::DhemQuisquater),
        Strategy::Shivdikar(Barrett::Proposed),
        Strategy::Caramel,
        Strategy::HeBooster(Sync::Local),
        Strategy::HeBooster(Sync::Barrier),
        Strategy::HeBooster(Sync::Launches),
        Strategy::Best,
    ];

    /// Supported word sizes, in bits.
    pub fn word_bits(self) -> &'static [u32] {
        match self {
            Self::Wide => &[128],
            Self::Cheddar => &[32],
            Self::Caramel => &[64],
            Self::Shivdikar(_) | Self::HeBooster(_) => &[32, 64],
            Self::Best => &[32, 64, 128],
        }
    }

    /// Maximum length of a modulus, in bits, for a word size of [`Self::word_bits`].
    pub fn modulus_bits(self, word_bits: u32) -> u32 {
        match self {
            Self::Wide => 128,
            Self::Cheddar => 30,
            Self::Caramel => 50,
            Self::Shivdikar(Barrett::DhemQuisquater) => word_bits - 4,
            Self::Shivdikar(_) | Self::HeBooster(_) | Self::Best => word_bits - 2,
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wide => f.write_str("wide"),
            Self::Cheddar => f.write_str("cheddar"),
            Self::Shivdikar(Barrett::Remainder) => f.write_str("shivdikar-remainder"),
            Self::Shivdikar(variant) => write!(f, "shivdikar-{}", *variant as u32),
            Self::Caramel => f.write_str("caramel"),
            Self::HeBooster(Sync::Local) => f.write_str("he-booster-local"),
            Self::HeBooster(Sync::Barrier) => f.write_str("he-booster-barrier"),
            Self::HeBooster(Sync::Launches) => f.write_str("he-booster-launches"),
            Self::Best => f.write_str("best"),
        }
    }
}

/// One kernel's share of a transform: `stages` consecutive stages. `cuda/pass.cuh` defines the
/// terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pass {
    /// First stage, counted from 0 in the forward transform.
    pub first: u32,
    /// Number of stages.
    pub stages: u32,
    /// A thread holds 2^`points_log` elements.
    pub points_log: u32,
    /// A block computes 2^`lanes_log` sub-transforms of 2^`stages` elements.
    pub lanes_log: u32,
    /// Minimum number of resident blocks per multiprocessor. The compiler limits registers
    /// accordingly.
    pub blocks: u32,
}

impl Pass {
    /// Threads per block.
    pub fn threads(&self) -> u32 {
        1 << (self.lanes_log + self.stages - self.points_log)
    }

    /// Registers that a multiprocessor with 65,536 registers and 2,048 threads leaves a thread if
    /// `blocks` blocks are resident, or as many as it holds.
    pub(crate) fn registers(&self, blocks: u32) -> u32 {
        (65_536 / (self.threads() * blocks).clamp(1, 2048)).min(255)
    }

    /// Number of blocks for 2^`log_words` coefficients of one limb.
    pub(crate) fn blocks_each(&self, log_words: u32) -> u32 {
        1 << (log_words - self.stages - self.lanes_log)
    }

    /// Number of exchanges inside a block, plus one.
    pub(crate) fn rounds(&self) -> u32 {
        self.stages.div_ceil(self.points_log)
    }

    /// Lowest index bit of a sub-transform that registers represent in a round: `Pass::window` in
    /// `cuda/pass.cuh`.
    pub(crate) fn window(&self, round: u32) -> u32 {
        self.stages.saturating_sub(self.points_log * (round + 1))
    }

    /// Bytes of shared memory per block, for words of `word_bytes` bytes, with one word of padding
    /// for each 128 bytes.
    fn shared_bytes(&self, word_bytes: u32) -> u32 {
        let words = 1 << (self.lanes_log + self.stages);
        if self.rounds() > 1 { words * word_bytes + words * word_bytes / 128 * word_bytes } else { 0 }
    }
}

/// Kernels of a polynomial product. By default, one fused kernel computes the last forward pass of
/// both factors, the products, and the first inverse pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Product {
    /// If true, the pointwise products are a separate kernel.
    pub separate: bool,
    /// If true, the transforms omit their innermost stage, and Karatsuba products of pairs replace
    /// both stages and the products (Shivdikar et al., Algorithm 8). Valid for
    /// [`Strategy::Shivdikar`], if the last pass has at least two stages.
    pub truncated: bool,
    /// Minimum number of resident blocks of the fused kernel per multiprocessor. It holds two
    /// factors, so it needs more registers than a pass.
    pub blocks: u32,
}

impl Default for Product {
    fn default() -> Self {
        Self { separate: false, truncated: false, blocks: 1 }
    }
}

/// Memory for the exchanges between the rounds of a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Exchange {
    /// In shared memory.
    Shared,
    /// The data's own locations in global memory.
    Global,
}

/// A strategy for one word size and ring dimension, divided into passes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recipe {
    /// Origin and arithmetic.
    pub strategy: Strategy,
    /// Word size in bits: 32, 64 or 128.
    pub word_bits: u32,
    /// The ring dimension is 2^`log_n`.
    pub log_n: u32,
    /// Maximum length of a modulus in bits, at most [`Strategy::modulus_bits`]. [`Strategy::Best`]
    /// multiplies faster if moduli leave more than two bits of a word free.
    pub modulus_bits: u32,
    /// In the order of the forward transform. Together they cover all `log_n` stages.
    pub passes: Vec<Pass>,
    /// Bytes of a batch that go through all passes together, to stay in the L2 cache between
    /// passes. `None` means the whole batch.
    pub chunk_bytes: Option<usize>,
    /// If true, the blocks of a pass may start, and wait, before the preceding pass has finished.
    pub overlap: bool,
    /// If true, a thread loads its first roots before it waits. This shortens a single transform
    /// and takes registers from a batch.
    pub early_roots: bool,
    /// Kernels of a product.
    pub product: Product,
    /// Memory for the exchanges between rounds.
    pub exchange: Exchange,
    /// 2^`interleave_log` polynomials are interleaved in device memory, coefficient by coefficient,
    /// so that neighbouring threads process neighbouring polynomials. The batch must be a multiple
    /// of that number.
    pub interleave_log: u32,
    /// If true, loads and stores carry a cache hint that the data are not reused soon.
    pub streaming: bool,
    /// For [`Strategy::Caramel`]: if true, every kernel converts from integers to doubles and back,
    /// not only the first and the last.
    pub casts: bool,
    /// For [`Strategy::Cheddar`]: if true, the last round of the last pass, three stages by default,
    /// computes its roots from two tables of about sqrt(N) entries each, instead of loading them
    /// from one of N.
    pub on_the_fly: bool,
    /// For [`Strategy::Best`]: 2^`shared_roots` butterflies of the last stage share a table entry,
    /// half as many of the stage before, and so on, and multiply by another root of unity in
    /// addition. At most 3, and less than `points_log` of the last pass. Fused products do without.
    pub shared_roots: u32,
    /// For [`Strategy::Best`] with moduli of 126 bits in 128-bit words: if true, quotients come from
    /// 13 of 16 partial products. All roots modulo q allow that for q up to 2^126 - 2^95, and above
    /// all but one in 2^31. A plan with one of these sets this to false.
    pub short_quotients: bool,
    /// If true, every pass but the first goes through the polynomials and limbs of a batch backwards,
    /// so that it finds in the L2 cache what the pass before has written last.
    pub alternating: bool,
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
        // Stages of the first pass, then (points_log, lanes_log, blocks) of both; one pass for the
        // smaller sizes. The numbers come from `examples/tune.rs` on an H200 at N = 2^16, batch 512.
        // A division fixed by a paper is kept.
        let half = log_n / 2;
        let passes = match (strategy, word_bits) {
            (Strategy::Wide, _) if log_n <= 12 => single(log_n, 3),
            (Strategy::Wide, _) => pair(log_n, half, (3, 3, 4), (3, 1, 4)),
            (Strategy::Cheddar, _) if log_n <= 12 => single(log_n, 3),
            (Strategy::Cheddar, _) => pair(log_n, log_n - 9, (4, 4, 4), (3, 1, 8)),
            (Strategy::Shivdikar(_), _) if log_n <= 11 => single(log_n, 3),
            (Strategy::Shivdikar(_), 32) => pair(log_n, log_n - 11, (5, 6, 1), (5, 0, 1)),
            (Strategy::Shivdikar(_), _) => pair(log_n, log_n - 11, (4, 5, 1), (3, 0, 1)),
            (Strategy::Caramel, _) if log_n <= 12 => single(log_n, 3),
            (Strategy::Caramel, _) => pair(log_n, log_n - 6, (5, 18 - log_n, 1), (3, 3, 1)),
            (Strategy::HeBooster(Sync::Launches), _) => (0..log_n)
                .map(|first| Pass { first, stages: 1, points_log: 1, lanes_log: 8, blocks: 1 })
                .collect(),
            (Strategy::HeBooster(_), _) => single(log_n, 1),
            (Strategy::Best, _) => best::passes(word_bits, log_n),
        };
        Ok(Self {
            strategy,
            word_bits,
            log_n,
            modulus_bits: strategy.modulus_bits(word_bits),
            product: if strategy == Strategy::Best {
                best::product(word_bits, log_n)
            } else {
                Product::default()
            },
            passes,
            chunk_bytes: None,
            overlap: strategy == Strategy::Best,
            early_roots: false,
            exchange: Exchange::Shared,
            interleave_log: 0,
            streaming: false,
            casts: false,
            on_the_fly: false,
            shared_roots: if strategy == Strategy::Best { best::shared_roots(word_bits, log_n) } else { 0 },
            short_quotients: (strategy, word_bits) == (Strategy::Best, 128),
            alternating: strategy == Strategy::Best,
        })
    }

    /// The largest modulus that the recipe supports.
    pub fn largest_modulus(&self) -> u128 {
        u128::MAX >> (128 - self.modulus_bits)
    }

    /// [`Recipe::new`] for moduli of at most `largest`. [`Strategy::Best`] chooses its arithmetic
    /// accordingly: doubles up to 50 bits in 64-bit words, and shorter products if more than two bits
    /// of a word are free.
    ///
    /// # Errors
    /// Returns the errors of [`Recipe::new`].
    pub fn for_moduli(strategy: Strategy, word_bits: u32, log_n: u32, largest: u128) -> Result<Self, Error> {
        let own = Self::new(strategy, word_bits, log_n)?;
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
        let modulus_bits = lengths.iter().copied().find(|&bits| bits >= longest).unwrap_or(own.modulus_bits);
        let passes = match (word_bits, modulus_bits, log_n) {
            (64, DOUBLE_BITS, 16) => pair(log_n, 8, (4, 4, 2), (4, 1, 10)),
            (64, 60 | 61, 16) => pair(log_n, 8, (4, 3, 3), (4, 1, 8)),
            _ => own.passes,
        };
        let short_quotients = modulus_bits == 126;
        Ok(Self { modulus_bits, passes, short_quotients, ..own })
    }

    /// [`Recipe::for_moduli`] of [`Strategy::Best`] for batches of `transforms` transforms, counting
    /// each polynomial and limb: [`Recipe::low_latency`] for one, and more blocks for a transform if
    /// there are too few to fill a device otherwise.
    ///
    /// # Errors
    /// Returns the errors of [`Recipe::new`].
    pub fn for_batches(word_bits: u32, log_n: u32, largest: u128, transforms: usize) -> Result<Self, Error> {
        let many = Self::for_moduli(Strategy::Best, word_bits, log_n, largest)?;
        if transforms == 1 {
            let Self { modulus_bits, short_quotients, .. } = many;
            return Ok(Self { modulus_bits, short_quotients, ..Self::low_latency(word_bits, log_n)? });
        }
        let bytes = (transforms << log_n) * (word_bits / 8) as usize;
        let many = Self { alternating: bytes > best::CACHED_BYTES, ..many };
        match best::few(word_bits, log_n) {
            Some(passes) if transforms < best::FEW => Ok(Self { passes, shared_roots: 0, ..many }),
            _ => Ok(many),
        }
    }

    /// [`Strategy::Best`] for single transforms: fewer points per thread and fewer lanes per block,
    /// so that one transform spreads over the whole device.
    ///
    /// # Errors
    /// Returns the errors of [`Recipe::new`].
    pub fn low_latency(word_bits: u32, log_n: u32) -> Result<Self, Error> {
        // Rows of 2^9 points with four a thread, from N = 2^15 on.
        let columns = if log_n < 15 { log_n / 2 } else { log_n - 9 };
        let first = if word_bits == 32 { (3, 3, 1) } else { (2, 2, 1) };
        let passes = pair(log_n, columns, first, (2, 0, 1));
        Ok(Self {
            passes,
            early_roots: true,
            alternating: false,
            shared_roots: 0,
            product: Product::default(),
            ..Self::new(Strategy::Best, word_bits, log_n)?
        })
    }

    /// Bytes of shared memory per block of a pass.
    pub(crate) fn shared_bytes(&self, pass: &Pass) -> u32 {
        match self.exchange {
            Exchange::Shared if !self.resident() => pass.shared_bytes(self.word_bits / 8),
            _ => 0,
        }
    }

    /// log2 of the words of one polynomial and limb, times the number of interleaved polynomials.
    pub(crate) fn log_words(&self) -> u32 {
        self.log_n + self.interleave_log
    }

    /// Returns true if a transform is one launch of resident threads that synchronise between
    /// stages.
    pub(crate) fn resident(&self) -> bool {
        matches!(self.strategy, Strategy::HeBooster(Sync::Local | Sync::Barrier))
    }

    /// Checks that the passes are in order, cover every stage and fit a block.
    ///
    /// # Errors
    /// Returns the errors of [`Recipe::new`], and [`Error::Unsupported`] naming the invalid pass.
    pub fn check(&self) -> Result<(), Error> {
        let fail = |what: String, instead: &str| Err(Error::Unsupported { what, instead: instead.into() });
        // All fields are public, so even the guarantees of `new` must be checked.
        Self::new(self.strategy, self.word_bits, self.log_n)?;
        if self.resident() {
            let own = Self::new(self.strategy, self.word_bits, self.log_n)?;
            if *self != own {
                return fail(
                    format!("{self:?}"),
                    "use `Recipe::new`, the strategy's only recipe for each size",
                );
            }
        }
        let longest = self.strategy.modulus_bits(self.word_bits);
        if self.modulus_bits == 0 || self.modulus_bits > longest {
            return fail(
                format!("moduli of {} bits for {}", self.modulus_bits, self.strategy),
                &format!("use 1 to {longest} bits"),
            );
        }
        if self.casts && self.strategy != Strategy::Caramel {
            return fail(format!("casts for {}", self.strategy), "only `caramel` computes in doubles");
        }
        if self.on_the_fly && self.strategy != Strategy::Cheddar {
            return fail(
                format!("roots on the fly for {}", self.strategy),
                "only the root format of `cheddar` allows it at no cost in tables",
            );
        }
        if self.short_quotients
            && (self.strategy, self.word_bits, self.modulus_bits) != (Strategy::Best, 128, 126)
        {
            return fail(
                format!("short quotients for {} and {} bits", self.strategy, self.modulus_bits),
                "use them with `best` and moduli of 126 bits",
            );
        }
        if self.shared_roots > 0 {
            let points = |pass: Option<&Pass>| pass.map_or(0, |pass| pass.points_log);
            let (first, last) = (points(self.passes.first()), points(self.passes.last()));
            if self.strategy != Strategy::Best || self.shared_roots > 3.min(first).min(last.saturating_sub(1))
            {
                return fail(
                    format!("roots shared by 2^{} butterflies of {}", self.shared_roots, self.strategy),
                    "use `best`, at most 2^3, and more points per thread in the first and the last pass",
                );
            }
        }
        if self.product.truncated && !matches!(self.strategy, Strategy::Shivdikar(_)) {
            return fail(
                format!("truncated products for {}", self.strategy),
                "only `shivdikar` supports them",
            );
        }
        if self.interleave_log > 10
            || self.interleave_log > 0 && self.product.separate && self.product.truncated
        {
            return fail(
                format!("2^{} interleaved polynomials with {:?}", self.interleave_log, self.product),
                "use at most 2^10, and none with separate truncated products",
            );
        }
        let mut next = 0;
        for pass in &self.passes {
            if [pass.first, pass.stages, pass.lanes_log].iter().any(|&x| x > self.log_words()) {
                return fail(format!("{pass:?}"), "no parameter except `blocks` may exceed log_n");
            }
            if pass.first != next || pass.stages == 0 || pass.first + pass.stages > self.log_n {
                return fail(
                    format!("{pass:?} after {next} of {} stages", self.log_n),
                    "passes must cover every stage once",
                );
            }
            if pass.points_log == 0 || pass.points_log > pass.stages || pass.points_log > 5 {
                return fail(
                    format!("{pass:?}"),
                    "a thread must hold 2 to 32 points, and at most a sub-transform",
                );
            }
            if pass.stages + pass.lanes_log > self.log_words() {
                return fail(format!("{pass:?}"), "a block must not extend beyond one polynomial");
            }
            let shared = self.shared_bytes(pass);
            if !self.resident() && pass.threads() > 1024 || shared > 227 * 1024 {
                return fail(
                    format!("{pass:?}"),
                    "a block has at most 1024 threads and 227 KiB of shared memory",
                );
            }
            next += pass.stages;
        }
        if self.product.truncated && self.passes.last().is_none_or(|last| last.stages < 2) {
            return fail(
                format!("truncated products after {:?}", self.passes),
                "the last pass must have at least two stages",
            );
        }
        if next != self.log_n {
            return fail(format!("{next} of {} stages", self.log_n), "passes must cover every stage once");
        }
        Ok(())
    }
}

/// A single pass with a register limit.
fn whole(log_n: u32, points_log: u32, blocks: u32) -> Pass {
    Pass { first: 0, stages: log_n, points_log, lanes_log: 0, blocks }
}

/// A single pass.
fn single(log_n: u32, points_log: u32) -> Vec<Pass> {
    vec![Pass { first: 0, stages: log_n, points_log, lanes_log: 0, blocks: 1 }]
}

/// A pass over columns, then one over rows, each with (points_log, lanes_log, blocks).
fn pair(log_n: u32, columns: u32, first: (u32, u32, u32), second: (u32, u32, u32)) -> Vec<Pass> {
    let pass = |first, stages: u32, (points_log, lanes_log, blocks): (u32, u32, u32)| Pass {
        first,
        stages,
        points_log: points_log.min(stages),
        lanes_log,
        blocks,
    };
    vec![pass(0, columns, first), pass(columns, log_n - columns, second)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_recipe_is_sound() {
        for strategy in Strategy::ALL {
            for &bits in strategy.word_bits() {
                for log_n in LOG_N {
                    assert_eq!(Recipe::new(strategy, bits, log_n).unwrap().check(), Ok(()));
                    if strategy == Strategy::Best {
                        assert_eq!(Recipe::low_latency(bits, log_n).unwrap().check(), Ok(()));
                    }
                }
                assert!(Recipe::new(strategy, bits, 9).is_err());
                assert!(Recipe::new(strategy, bits, 64).is_err());
            }
        }
        assert!(Recipe::new(Strategy::Wide, 32, 10).is_err());
    }

    #[test]
    fn cheddar_divides_as_its_paper_says() {
        let recipe = Recipe::new(Strategy::Cheddar, 32, 16).unwrap();
        let sizes: Vec<_> = recipe.passes.iter().map(|p| (1 << p.stages, 1 << p.points_log)).collect();
        assert_eq!(sizes, [(128, 16), (512, 8)]);
    }

    #[test]
    fn unsound_recipes_are_refused() {
        let good = Recipe::new(Strategy::Best, 32, 16).unwrap();
        let broken = |change: fn(&mut Recipe)| {
            let mut recipe = good.clone();
            change(&mut recipe);
            recipe.check().is_err()
        };
        assert!(broken(|r| r.passes[1].first += 1));
        assert!(broken(|r| r.passes.truncate(1)));
        assert!(broken(|r| r.passes[0].points_log = 9));
        assert!(broken(|r| r.passes[1].lanes_log = 9));
        assert!(broken(|r| r.passes[1].lanes_log = u32::MAX));
        assert!(broken(|r| r.strategy = Strategy::Wide));
        assert!(broken(|r| (r.log_n, r.passes) = (0, vec![])));
    }
}
