//! Plans: recipes compiled for a device, with the tables of their moduli.

mod chained;
mod choice;
mod product;

use self::choice::Choice;
use self::product::ProductKernels;
use crate::batch::check_residues;
use crate::device::{Argument, BLOCK_BYTES, Device, Kernel, Launch, Mode, Shape};
use crate::field::{Field, table_places};
use crate::number::pow_mod;
use crate::recipe::{Feature, Pass, Recipe, Strategy};
use crate::{Batch, Error, Layout, Modulus, Word, source};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// Direction of a transform.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Direction {
    /// Natural order to bit-reversed order: `out[j] = sum_i in[i] root^(i (2 bitrev(j) + 1))`.
    Forward,
    /// Bit-reversed order to natural order, scaled by 1/N: the inverse of [`Direction::Forward`].
    Inverse,
}

impl std::fmt::Display for Direction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Forward => "forward",
            Self::Inverse => "inverse",
        })
    }
}

/// Negacyclic transforms modulo `x^N + 1` of one strategy and size, for one or more moduli
/// ("limbs"), on one device.
///
/// A batch holds `polynomials x limbs x N` words, in that order: polynomial `p` modulo `moduli[l]`
/// starts at word `(p limbs + l) N`. All coefficients are below their modulus, on input and output.
pub struct Plan<W> {
    device: Device,
    recipe: Recipe,
    moduli: Vec<Modulus<W>>,
    forward: Vec<Kernel>,
    inverse: Vec<Kernel>,
    /// Compiled at the first product, because these kernels take longest to compile.
    product: OnceLock<ProductKernels>,
    /// The plan of the products, where they have another recipe.
    of_products: OnceLock<Box<Self>>,
    /// The plans of batches for which this one is not the fastest.
    choice: Option<Choice<W>>,
    tables: Arc<Tables<W>>,
    constants: Batch<W>,
    /// For resident kernels: the maximum number of polynomials in one launch.
    resident: Option<usize>,
}

/// The roots of each direction, for each modulus.
struct Tables<W> {
    forward: Batch<W>,
    inverse: Batch<W>,
    /// The order of a table, and whether it has the entries of [`Feature::Once`].
    places: Vec<usize>,
    once: bool,
    /// Whether all roots allow [`Feature::ShortQuotients`].
    short_quotients: bool,
}

/// Threads per block of the kernels of [`Feature::Once`].
const ONCE_THREADS: u32 = 1024;

/// Threads per block of resident kernels. Each thread has two elements.
const RESIDENT_THREADS: u32 = 256;

impl<W: Word> Plan<W> {
    /// Creates a plan for moduli of this length with the strategy's own recipe. All moduli must have roots
    /// for the same N. A plan of [`Strategy::Best`] uses for each batch the recipe that is the fastest on
    /// this device ([`Recipe::for_card`]): it compiles those for one polynomial at once, others before the
    /// first batch that needs them or in [`Self::prepare`].
    ///
    /// # Errors
    /// Returns the errors of [`Recipe::for_moduli`] and [`Plan::with_recipe`].
    pub fn new(device: &Device, strategy: Strategy, moduli: &[Modulus<W>]) -> Result<Self, Error> {
        let n = moduli.first().map_or(0, Modulus::n);
        let log_n = n.checked_ilog2().unwrap_or(0);
        let largest = moduli.iter().map(|modulus| modulus.q().widen()).max().unwrap_or(0);
        if strategy != Strategy::Best {
            return Self::with_recipe(device, Recipe::for_moduli(strategy, W::BITS, log_n, largest)?, moduli);
        }
        let (recipes, choice) = choice::recipes(device.card()?, W::BITS, log_n, largest, moduli.len())?;
        let own = Self::with_recipe(device, recipes, moduli)?;
        Ok(Self { choice: Some(choice), ..own })
    }

    /// Creates a plan with the given recipe for all batches.
    ///
    /// # Errors
    /// Returns [`Error::Unsupported`] for other words, and [`Error::Modulus`] if there are no moduli or if
    /// one is too long for the strategy or has a root for another N.
    pub fn with_recipe(device: &Device, recipe: Recipe, moduli: &[Modulus<W>]) -> Result<Self, Error> {
        Self::build(device, recipe, moduli, &[])
    }

    /// [`Self::with_recipe`], with the tables of one of `others` that has the same moduli and arithmetic, if
    /// its order is the same.
    fn build(
        device: &Device,
        recipe: Recipe,
        moduli: &[Modulus<W>],
        others: &[&Self],
    ) -> Result<Self, Error> {
        Self::check(&recipe, moduli)?;
        let lacks_clusters = recipe.has(Feature::Once) && device.card()?.cluster_blocks == 0;
        let recipe = if lacks_clusters { recipe.without(Feature::Once) } else { recipe };
        let field = Field::new(&recipe);
        let constants: Vec<W> = moduli.iter().flat_map(|modulus| field.constants(modulus)).collect();
        let tables = Self::tables_for(device, &recipe, moduli, &constants, others)?;
        let recipe = if recipe.has(Feature::ShortQuotients) && !tables.short_quotients {
            recipe.without(Feature::ShortQuotients)
        } else {
            recipe
        };

        let module = device.compile(field.source().0, &text(device, &recipe, source::transforms))?;
        let numbered = |name: &str| -> Result<Vec<Kernel>, Error> {
            if recipe.has(Feature::Once) {
                return Ok(vec![module.kernel(&format!("{name}_0"), BLOCK_BYTES)?]);
            }
            let passes = recipe.passes().iter().enumerate().take(if recipe.has(Feature::Chained) {
                1
            } else {
                usize::MAX
            });
            passes.map(|(i, pass)| module.kernel(&format!("{name}_{i}"), recipe.shared_bytes(pass))).collect()
        };

        let forward = numbered("forward")?;
        let limbs = moduli.len();
        let resident = recipe.resident().then(|| Self::most_resident(device, &recipe, &forward[0], limbs));
        Ok(Self {
            forward,
            resident: resident.transpose()?,
            inverse: numbered("inverse")?,
            product: OnceLock::new(),
            of_products: OnceLock::new(),
            choice: None,
            tables,
            constants: Batch::upload(device, &constants)?,
            device: device.clone(),
            moduli: moduli.to_vec(),
            recipe,
        })
    }

    fn tables_for(
        device: &Device,
        recipe: &Recipe,
        moduli: &[Modulus<W>],
        constants: &[W],
        others: &[&Self],
    ) -> Result<Arc<Tables<W>>, Error> {
        let (n, field) = (1u128 << recipe.log_n(), Field::new(recipe));
        let (places, once) = (table_places(recipe), recipe.has(Feature::Once));
        let same = |other: &&&Self| (&other.tables.places, other.tables.once) == (&places, once);
        if let Some(other) = others.iter().find(same) {
            return Ok(other.tables.clone());
        }
        let table = |exponent: u128| -> Vec<W> {
            let of_one = |modulus: &Modulus<W>| {
                let q = modulus.q().widen();
                field.table::<W>(pow_mod(modulus.root().widen(), exponent, q), q, &places)
            };
            moduli.par_iter().flat_map_iter(of_one).collect()
        };
        let [forward, inverse] = [table(1), table(2 * n - 1)];
        Ok(Arc::new(Tables {
            short_quotients: recipe.has(Feature::ShortQuotients)
                && Field::allows_short_quotients(moduli, constants, [&forward, &inverse]),
            forward: Batch::upload(device, &forward)?,
            inverse: Batch::upload(device, &inverse)?,
            places,
            once,
        }))
    }

    /// The checks of [`Plan::with_recipe`].
    fn check(recipe: &Recipe, moduli: &[Modulus<W>]) -> Result<(), Error> {
        if recipe.word_bits() != W::BITS {
            return Err(Error::Unsupported {
                what: format!("a recipe for {}-bit words", recipe.word_bits()),
                instead: format!("the plan's words have {} bits", W::BITS),
            });
        }
        let field = Field::new(recipe);
        moduli.iter().try_for_each(|modulus| field.check(modulus, 1 << recipe.log_n()))?;
        if moduli.is_empty() || moduli.len() > GRID_LIMIT {
            let reason = format!("expected 1 to {GRID_LIMIT} moduli, found {}", moduli.len());
            return Err(Error::Modulus { q: 0, reason });
        }
        Ok(())
    }

    /// The maximum number of polynomials in one launch of resident threads.
    fn most_resident(
        device: &Device,
        recipe: &Recipe,
        kernel: &Kernel,
        limbs: usize,
    ) -> Result<usize, Error> {
        let shape = resident_shape(recipe, limbs, 1);
        match (device.resident_blocks(kernel, shape)? / (shape.grid[0] * shape.grid[1])) as usize {
            0 => Err(Error::Unsupported {
                what: format!("{} with {limbs} moduli at N = 2^{}", recipe.strategy(), recipe.log_n()),
                instead: "all threads must be resident on the device; use fewer moduli or a smaller N".into(),
            }),
            most => Ok(most),
        }
    }

    /// The recipe, as the moduli and the device allow it: see [`Feature::ShortQuotients`] and
    /// [`Feature::Once`]. Of a plan that chooses, that for one polynomial.
    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// Compiles the kernels for batches of that many polynomials, if they are missing. Afterwards such
    /// transforms and products only launch kernels.
    ///
    /// # Errors
    /// Returns the errors of [`Plan::with_recipe`].
    pub fn prepare(&self, polynomials: usize) -> Result<(), Error> {
        let plan = self.of_batch(polynomials)?;
        plan.of_products()?.unwrap_or(plan).product_kernels().map(|_| ())
    }

    /// The moduli, in the order of a batch's limbs.
    pub fn moduli(&self) -> &[Modulus<W>] {
        &self.moduli
    }

    /// The device of the plan.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Words of one polynomial with all its limbs: limbs x N.
    pub fn polynomial_words(&self) -> usize {
        self.moduli.len() << self.recipe.log_n()
    }

    /// Copies polynomials to the device.
    ///
    /// # Errors
    /// Returns [`Error::Length`] unless the number of words is a positive multiple of
    /// [`Self::polynomial_words`], and [`Error::Range`] naming the first word not below its modulus.
    pub fn upload(&self, words: &[W]) -> Result<Batch<W>, Error> {
        self.whole(words.len())?;
        check_residues(&self.moduli, words)?;
        Batch::upload(&self.device, words)
    }

    /// Copies polynomials back, after all work on them.
    pub fn download(&self, batch: &Batch<W>) -> Result<Vec<W>, Error> {
        batch.download()
    }

    /// Transforms a batch in place. On a GPU the call returns before the work is done.
    ///
    /// # Errors
    /// Returns [`Error::Length`] if the batch is not a whole number of polynomials, and
    /// [`Error::Unsupported`] if it is on another device.
    pub fn transform(&self, direction: Direction, batch: &mut Batch<W>) -> Result<(), Error> {
        // SAFETY: the batch holds all words accessed by the launches, and is borrowed exclusively.
        unsafe { self.start(&self.transform_launches(direction, batch)?) }
    }

    /// Transforms polynomials at equal distances in a batch, in place. On a GPU the call returns
    /// before the work is done.
    ///
    /// # Errors
    /// Returns [`Error::Unsupported`] if the layout is invalid or exceeds the batch, or if the batch is on
    /// another device.
    pub fn transform_at(
        &self,
        direction: Direction,
        batch: &mut Batch<W>,
        layout: Layout,
    ) -> Result<(), Error> {
        self.check_layout(batch, layout)?;
        // SAFETY: the batch holds all words accessed by the launches, and is borrowed exclusively.
        unsafe { self.start(&self.transforms(direction, batch, layout)?) }
    }

    /// Starts kernels one after the other.
    ///
    /// # Safety
    /// See [`Device::launch`].
    unsafe fn start(&self, launches: &[Launch<'_>]) -> Result<(), Error> {
        // SAFETY: guaranteed by the caller.
        launches.iter().try_for_each(|launch| unsafe { self.device.launch(launch) })
    }

    /// The launches of [`Self::transform`], in order.
    ///
    /// # Errors
    /// Returns the errors of [`Self::transform`].
    pub fn transform_launches(
        &self,
        direction: Direction,
        batch: &Batch<W>,
    ) -> Result<Vec<Launch<'_>>, Error> {
        self.transforms(direction, batch, self.whole(batch.words())?)
    }

    fn transforms(
        &self,
        direction: Direction,
        batch: &Batch<W>,
        layout: Layout,
    ) -> Result<Vec<Launch<'_>>, Error> {
        self.device.require(batch.device())?;
        let plan = self.of_batch(layout.count)?;
        let mut launches = Vec::new();
        for part in plan.chunks(layout) {
            for (kernel, number) in plan.steps(direction) {
                launches.push(plan.pass_launch(kernel, direction, number, batch, part)?);
            }
        }
        Ok(launches)
    }

    /// Pass `number` on some polynomials, in place.
    fn pass_launch<'a>(
        &'a self,
        kernel: &'a Kernel,
        direction: Direction,
        number: usize,
        batch: &Batch<W>,
        part: Layout,
    ) -> Result<Launch<'a>, Error> {
        if self.recipe.has(Feature::Chained) {
            return Ok(self.chained_launch(kernel, [batch, batch], &[self.tables(direction)], part));
        }
        let region = self.region(batch, part);
        let data = Argument::address(region.start);
        let mut arguments =
            vec![data, data, self.tables(direction).pointer(), self.constants.pointer(), self.rows(part)];
        let mut workspace = None;
        if self.resident.is_some() {
            let sync =
                self.device.allocate(sync_words(self.polynomial_words() * part.count) * size_of::<W>())?;
            arguments.push(Argument::address(sync.address()));
            workspace = Some(Arc::new(sync));
        }
        let mut shape = self.shape(&self.recipe.passes()[number], part.count as u32);
        if self.recipe.has(Feature::Once) {
            let count = (part.count * self.moduli.len()) as u32;
            arguments.extend([part.count as u32, count].map(Argument::from));
            arguments.push(batch.marks_at(part.first));
            // Blocks of a cluster, of 2^15 words each.
            let each = 1 << (self.recipe.log_n() - 15);
            shape =
                Shape { grid: [each, 1, 1], threads: ONCE_THREADS, shared: BLOCK_BYTES, mode: self.mode() };
            shape.grid[0] = self.device.resident_cluster_blocks(kernel, shape)?.clamp(each, each * count);
        }
        Ok(Launch { kernel, shape, arguments, reads: Vec::new(), writes: vec![region], workspace })
    }

    /// The most bytes of local memory that a thread of a direction's kernels needs. The kernels have no
    /// arrays there, so these are spilled registers.
    ///
    /// # Errors
    /// Returns [`Error::Unsupported`] on an emulated device.
    pub fn spilled_bytes(&self, direction: Direction) -> Result<usize, Error> {
        self.most_spilled(self.steps(direction).into_iter().map(|(kernel, _)| kernel))
    }

    fn most_spilled<'k>(&self, mut kernels: impl Iterator<Item = &'k Kernel>) -> Result<usize, Error> {
        kernels.try_fold(0, |most, kernel| Ok(most.max(self.device.local_bytes(kernel)?)))
    }

    /// [`Self::upload`], [`Self::transform`], [`Self::download`].
    ///
    /// # Errors
    /// Returns the errors of those methods.
    pub fn run(&self, direction: Direction, words: &[W]) -> Result<Vec<W>, Error> {
        let mut batch = self.upload(words)?;
        self.transform(direction, &mut batch)?;
        self.download(&batch)
    }

    /// The kernels of a direction in order, with their pass numbers.
    fn steps(&self, direction: Direction) -> Vec<(&Kernel, usize)> {
        match direction {
            Direction::Forward => self.forward.iter().zip(0..).collect(),
            Direction::Inverse => {
                self.inverse.iter().enumerate().map(|(number, kernel)| (kernel, number)).rev().collect()
            }
        }
    }

    /// The table of roots.
    fn tables(&self, direction: Direction) -> &Batch<W> {
        match direction {
            Direction::Forward => &self.tables.forward,
            Direction::Inverse => &self.tables.inverse,
        }
    }

    /// The parts of a layout that fit a grid, or are resident together.
    fn chunks(&self, layout: Layout) -> Vec<Layout> {
        let chunk = match self.resident {
            // Resident kernels find a polynomial behind the one before.
            Some(_) if layout.stride != self.polynomial_words() => 1,
            Some(most) => most,
            None if self.recipe.has(Feature::Chained) => chained::UNITS / self.moduli.len(),
            None => GRID_LIMIT,
        };
        let part = |start| Layout {
            first: layout.first + start * layout.stride,
            count: chunk.min(layout.count - start),
            ..layout
        };
        (0..layout.count).step_by(chunk).map(part).collect()
    }

    /// All polynomials of a batch of that many words.
    fn whole(&self, words: usize) -> Result<Layout, Error> {
        let unit = self.polynomial_words();
        if words == 0 || !words.is_multiple_of(unit) {
            return Err(Error::Length { unit, got: words });
        }
        Ok(Layout { first: 0, stride: unit, count: words / unit })
    }

    /// The addresses from the first to the last word of a layout.
    fn region(&self, batch: &Batch<W>, Layout { first, stride, count }: Layout) -> Range<u64> {
        batch.region(first, (count - 1) * stride + self.polynomial_words())
    }

    /// The distance of two polynomials in rows of N words, for the kernels' parameter `limbs`.
    fn rows(&self, layout: Layout) -> Argument {
        ((layout.stride >> self.recipe.log_n()) as u32).into()
    }

    fn check_layout(&self, batch: &Batch<W>, layout: Layout) -> Result<(), Error> {
        layout.check(self.polynomial_words(), 1 << self.recipe.log_n(), batch.words())
    }

    fn shape(&self, pass: &Pass, polynomials: u32) -> Shape {
        if self.recipe.resident() {
            return resident_shape(&self.recipe, self.moduli.len(), polynomials);
        }
        Shape {
            grid: [pass.blocks_each(self.recipe.log_n()), polynomials, self.moduli.len() as u32],
            threads: pass.threads(),
            shared: self.recipe.shared_bytes(pass),
            mode: self.mode(),
        }
    }

    fn mode(&self) -> Mode {
        if self.recipe.has(Feature::Overlap) { Mode::Overlapping } else { Mode::Ordered }
    }
}

/// Maximum number of blocks of a grid along y or z.
const GRID_LIMIT: usize = 65_535;

/// The cooperative launch of a resident transform.
fn resident_shape(recipe: &Recipe, limbs: usize, polynomials: u32) -> Shape {
    Shape {
        grid: [(1 << (recipe.log_n() - 1)) / RESIDENT_THREADS, limbs as u32, polynomials],
        threads: RESIDENT_THREADS,
        shared: 0,
        mode: Mode::Cooperative,
    }
}

/// Words of the synchronisation buffer for a resident launch on `words` words: PLACES of
/// `cuda/he_booster.cu` for each word.
fn sync_words(words: usize) -> usize {
    6 * words
}

/// The source text for some of a recipe's kernels. An emulated device compiles all of them at once,
/// because most of the compilation time does not depend on their number.
fn text(device: &Device, recipe: &Recipe, some: impl FnOnce(&Recipe) -> String) -> String {
    if device.is_emulated() { source::everything(recipe) } else { some(recipe) }
}
