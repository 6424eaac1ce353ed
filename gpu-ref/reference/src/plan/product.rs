//! Products modulo `x^N + 1`.

use super::{Direction, Plan, text};
use crate::device::{Argument, Kernel, Launch, Shape};
use crate::field::Field;
#[cfg(doc)]
use crate::recipe::Product;
use crate::recipe::{Feature, Pass};
use crate::{Batch, Error, Layout, Word, source};

/// Threads per block of the product-only kernel.
const POINTWISE_THREADS: u32 = 256;

/// The kernels of products.
pub(super) struct ProductKernels {
    pub(super) heart: Kernel,
    /// The last inverse pass, unless it is part of the heart. With [`Feature::Chained`], the heart is all of
    /// a product.
    pub(super) inverse: Option<Kernel>,
}

impl<W: Word> Plan<W> {
    /// Multiplies two batches modulo `x^N + 1`, both in natural order. `left` receives the
    /// products; `right` is overwritten.
    ///
    /// By default, one fused kernel computes the last forward pass of both factors, the products,
    /// and the first inverse pass; see [`Product`].
    ///
    /// # Errors
    /// Returns [`Error::Length`] if the batches differ in length or are not a whole number of polynomials,
    /// and [`Error::Unsupported`] if they are on another device.
    pub fn multiply(&self, left: &mut Batch<W>, right: &mut Batch<W>) -> Result<(), Error> {
        // SAFETY: the batches hold all words accessed by the launches, and are borrowed exclusively.
        unsafe { self.start(&self.product_launches(left, right)?) }
    }

    /// Multiplies polynomials at equal distances, the same in both batches; see [`Self::multiply`].
    ///
    /// # Errors
    /// Returns [`Error::Unsupported`] if the layout is invalid or exceeds a batch, or if a batch is on
    /// another device.
    pub fn multiply_at(
        &self,
        left: &mut Batch<W>,
        right: &mut Batch<W>,
        layout: Layout,
    ) -> Result<(), Error> {
        self.check_layout(left, layout)?;
        self.check_layout(right, layout)?;
        // SAFETY: the batches hold all words accessed by the launches, and are borrowed exclusively.
        unsafe { self.start(&self.products(left, right, layout)?) }
    }

    /// [`Self::spilled_bytes`] of the kernels of a product.
    ///
    /// # Errors
    /// Returns the errors of [`Self::spilled_bytes`].
    pub fn spilled_bytes_of_product(&self) -> Result<usize, Error> {
        if let Some(plan) = self.of_products()? {
            return plan.spilled_bytes_of_product();
        }
        let product = self.product_kernels()?;
        if self.recipe.has(Feature::Chained) {
            return self.device.local_bytes(&product.heart);
        }
        let passes = self.forward[..self.passes_beside_heart()].iter().chain([&product.heart]);
        self.most_spilled(passes.chain(&product.inverse))
    }

    /// The launches of [`Self::multiply`], in order.
    ///
    /// # Errors
    /// Returns the errors of [`Self::multiply`].
    pub fn product_launches(&self, left: &Batch<W>, right: &Batch<W>) -> Result<Vec<Launch<'_>>, Error> {
        if left.words() != right.words() {
            return Err(Error::Length { unit: left.words(), got: right.words() });
        }
        self.products(left, right, self.whole(left.words())?)
    }

    fn products(&self, left: &Batch<W>, right: &Batch<W>, layout: Layout) -> Result<Vec<Launch<'_>>, Error> {
        self.device.require(left.device())?;
        self.device.require(right.device())?;
        let plan = self.of_batch(layout.count)?;
        plan.of_products()?.unwrap_or(plan).own_products(left, right, layout)
    }

    /// Products with the kernels of this plan.
    fn own_products(
        &self,
        left: &Batch<W>,
        right: &Batch<W>,
        layout: Layout,
    ) -> Result<Vec<Launch<'_>>, Error> {
        let product = self.product_kernels()?;
        if self.recipe.has(Feature::Chained) {
            let tables = [Direction::Forward, Direction::Inverse].map(|direction| self.tables(direction));
            let launch = |part| self.chained_launch(&product.heart, [left, right], &tables, part);
            return Ok(self.chunks(layout).into_iter().map(launch).collect());
        }
        let beside = self.passes_beside_heart();
        let mut launches = Vec::new();
        for part in self.chunks(layout) {
            for number in 0..beside {
                for batch in [left, right] {
                    launches.push(self.pass_launch(
                        &self.forward[number],
                        Direction::Forward,
                        number,
                        batch,
                        part,
                    )?);
                }
            }
            let [products, others] = [left, right].map(|batch| self.region(batch, part));
            let [x, y] = [&products, &others].map(|region| Argument::address(region.start));
            launches.push(Launch {
                kernel: &product.heart,
                shape: self.heart_shape(part.count as u32),
                arguments: vec![
                    x,
                    y,
                    x,
                    self.tables(Direction::Forward).pointer(),
                    self.tables(Direction::Inverse).pointer(),
                    self.constants.pointer(),
                    self.rows(part),
                ],
                reads: vec![others],
                writes: vec![products],
                workspace: None,
            });
            for number in (0..beside).rev() {
                let kernel = match &product.inverse {
                    Some(kernel) if number == 0 => kernel,
                    _ => &self.inverse[number],
                };
                launches.push(self.pass_launch(kernel, Direction::Inverse, number, left, part)?);
            }
        }
        Ok(launches)
    }

    /// The plan of the products, where they have another recipe.
    pub(super) fn of_products(&self) -> Result<Option<&Self>, Error> {
        let Some(recipe) = self.recipe.of_products() else { return Ok(None) };
        if let Some(plan) = self.of_products.get() {
            return Ok(Some(plan));
        }
        let plan = Self::build(&self.device, recipe.clone(), &self.moduli, &[self])?;
        Ok(Some(self.of_products.get_or_init(|| Box::new(plan))))
    }

    /// Returns true if the product's heart contains no pass.
    fn heart_is_products_alone(&self) -> bool {
        self.recipe.resident() || self.recipe.product().separate
    }

    /// Number of passes outside the product's heart.
    pub(super) fn passes_beside_heart(&self) -> usize {
        self.recipe.passes().len() - usize::from(!self.heart_is_products_alone())
    }

    fn heart_shape(&self, count: u32) -> Shape {
        if self.recipe.resident() || !self.recipe.product().separate {
            return Shape { mode: self.mode(), ..self.shape(self.recipe.last_pass(), count) };
        }
        // Two coefficients per thread.
        let blocks = (1 << (self.recipe.log_n() - 1)) / POINTWISE_THREADS;
        Shape {
            grid: [blocks, count, self.moduli.len() as u32],
            threads: POINTWISE_THREADS,
            shared: 0,
            mode: self.mode(),
        }
    }

    pub(super) fn product_kernels(&self) -> Result<&ProductKernels, Error> {
        if let Some(kernels) = self.product.get() {
            return Ok(kernels);
        }
        let name = Field::new(&self.recipe).source().0;
        let module = self.device.compile(name, &text(&self.device, &self.recipe, source::product))?;
        let kernel = |name: &str, pass: &Pass| module.kernel(name, self.recipe.shared_bytes(pass));
        let (passes, last) = (self.recipe.passes(), self.recipe.last_pass());
        let kernels = ProductKernels {
            heart: kernel("product", last)?,
            inverse: (!self.recipe.has(Feature::Chained)
                && (passes.len() > 1 || self.heart_is_products_alone()))
            .then(|| kernel("inverse_product_0", &passes[0]))
            .transpose()?,
        };
        Ok(self.product.get_or_init(|| kernels))
    }
}
