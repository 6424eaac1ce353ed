//! What is timed for a claim.

use crate::measure::Work;
use crate::sequence::Execution;
use gpu_ref::inner_product::Fusion;
use gpu_ref::{Direction, Error, Product, Recipe};

/// A workload to be timed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Subject {
    /// Transforms or products.
    Transforms(Variant),
    /// Inner products of key switching.
    InnerProducts(InnerProducts),
}

impl Subject {
    /// Label in a table.
    pub fn label(&self) -> &str {
        match self {
            Self::Transforms(variant) => &variant.label,
            Self::InnerProducts(products) => &products.label,
        }
    }

    /// Returns true if the two are equal except for their labels.
    pub fn same_work(&self, other: &Self) -> bool {
        let mut other = other.clone();
        match &mut other {
            Self::Transforms(variant) => variant.label = self.label().to_owned(),
            Self::InnerProducts(products) => products.label = self.label().to_owned(),
        }
        *self == other
    }
}

impl From<Variant> for Subject {
    fn from(variant: Variant) -> Self {
        Self::Transforms(variant)
    }
}

impl From<InnerProducts> for Subject {
    fn from(products: InnerProducts) -> Self {
        Self::InnerProducts(products)
    }
}

/// One [`gpu_ref::inner_product::InnerProduct`] in words of 64 bits, with moduli of 56 bits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InnerProducts {
    /// Label in a table.
    pub label: String,
    /// N is 2^`log_n`.
    pub log_n: u32,
    /// Number of moduli.
    pub limbs: usize,
    /// Number of polynomials.
    pub terms: usize,
    /// Number of kernels.
    pub fusion: Fusion,
}

/// Work on a batch of RNS polynomials.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Variant {
    /// Label in a table.
    pub label: String,
    /// The recipe of the transforms. The moduli are as long as it allows.
    pub recipe: Recipe,
    /// Number of moduli.
    pub limbs: usize,
    /// Number of polynomials, each with all limbs.
    pub polynomials: usize,
    /// Operation on each polynomial and limb. A product needs two batches.
    pub work: Work,
    /// If true, a launch covers all limbs. If false, each limb has its own launches.
    pub limbs_together: bool,
    /// Submission of the launches to the device.
    pub execution: Execution,
}

impl Variant {
    /// The forward transform of one polynomial with one limb, replayed from a graph.
    pub(super) fn new(label: impl Into<String>, recipe: Recipe) -> Self {
        Self {
            label: label.into(),
            recipe,
            limbs: 1,
            polynomials: 1,
            work: Work::Transform(Direction::Forward),
            limbs_together: true,
            execution: Execution::SequentialGraph,
        }
    }

    pub(super) fn limbs(self, limbs: usize) -> Self {
        Self { limbs, ..self }
    }

    pub(super) fn polynomials(self, polynomials: usize) -> Self {
        Self { polynomials, ..self }
    }

    /// A product with the given fusion.
    pub(super) fn product(self, separate: bool) -> Result<Self, Error> {
        let recipe = self.recipe.with_product(Product { separate, ..Product::default() })?;
        Ok(Self { work: Work::Product, recipe, ..self })
    }

    pub(super) fn one_limb_a_launch(self, execution: Execution) -> Self {
        Self { limbs_together: false, execution, ..self }
    }
}
