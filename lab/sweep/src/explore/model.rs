//! A model of what has been evaluated: a Gaussian process over designs (kriging).
//!
//! The logarithm of a cost is a smooth function of the places on the axes. Each axis has a length of its own
//! (automatic relevance determination): the distance over which the cost changes. Those of axes that hardly
//! matter are long, so that a few designs tell of many. Axes act together (banks without lanes gain
//! nothing), so no sum over axes would do.

use super::{Design, Space};
use numeris::dynmatrix::DynCholesky;
use numeris::{DynMatrix, DynVector};

/// The variance of what the model does not explain, over that of the costs. It keeps the matrix regular.
const NOISE: f64 = 1e-4;
/// The factor between two lengths that the fit tries on an axis.
const STEP: f64 = 2.0;
/// The times that the fit goes over all axes, at most.
const PASSES: usize = 3;
/// The median of an axis's length before anything is known, over the root of the number of axes, and the
/// standard deviation of its logarithm. After Hvarfner, Hellsten and Nardi, "Vanilla Bayesian optimization
/// performs great in high dimensions" (2024), for axes from 0 to 1.
const PRIOR: (f64, f64) = (4.1, 1.732);

/// The squared distances of all pairs of alternatives on each axis: an ordered axis has the length 1, two
/// names are 1 apart.
pub(super) struct Places(Vec<DynMatrix<f64>>);

impl Places {
    pub(super) fn new(space: &Space) -> Self {
        let distances = |(axis, count): (usize, usize)| {
            let last = (count.max(2) - 1) as f64;
            let is_ordered = space.is_ordered(axis);
            DynMatrix::from_fn(count, count, |a, b| match is_ordered {
                true => (a.abs_diff(b) as f64 / last).powi(2),
                false => f64::from(u8::from(a != b)),
            })
        };
        Self(space.axes().into_iter().enumerate().map(distances).collect())
    }

    fn distance2(&self, axis: usize, a: &Design, b: &Design) -> f64 {
        self.0[axis][(a[axis], b[axis])]
    }
}

/// The fitted model.
pub(super) struct Model<'p> {
    places: &'p Places,
    known: Vec<Design>,
    /// The logarithms of the known costs.
    values: DynVector<f64>,
    mean: f64,
    /// The inverse of the squared length of each axis.
    relevance: Vec<f64>,
    factor: DynCholesky<f64>,
    weights: DynVector<f64>,
    /// The variance far from all known designs.
    variance: f64,
}

impl<'p> Model<'p> {
    /// Fits the logarithms of a cost. `None` without designs. `relevance` is that of the model before, from
    /// which the fit starts, and becomes this model's.
    pub(super) fn fit(
        places: &'p Places,
        known: &[&Design],
        values: &[f64],
        relevance: &mut Vec<f64>,
    ) -> Option<Self> {
        if known.is_empty() {
            return None;
        }
        let known: Vec<Design> = known.iter().map(|design| (*design).clone()).collect();
        let values = DynVector::from_slice(values);
        *relevance = relevances(places, &known, &values, relevance);
        Self::of(places, known, values, relevance.clone())
    }

    fn of(
        places: &'p Places,
        known: Vec<Design>,
        values: DynVector<f64>,
        relevance: Vec<f64>,
    ) -> Option<Self> {
        let (mean, residue) = centred(&values);
        let factor = DynCholesky::new(&covariance(&distances(places, &known, &relevance))).ok()?;
        let weights = factor.solve(&residue);
        let variance = (residue.dot(&weights) / values.len() as f64).max(f64::MIN_POSITIVE);
        Some(Self { places, known, values, mean, relevance, factor, weights, variance })
    }

    /// The model as if a design had the cost that it predicts.
    pub(super) fn believing(&self, design: &Design) -> Option<Self> {
        let (value, _) = self.predict(design);
        let mut known = self.known.clone();
        known.push(design.clone());
        let values: Vec<f64> = self.values.iter().copied().chain([value]).collect();
        let values = DynVector::from_vec(values);
        Self::of(self.places, known, values, self.relevance.clone())
    }

    /// The mean and the standard deviation of the logarithm of a design's cost.
    pub(super) fn predict(&self, design: &Design) -> (f64, f64) {
        let likeness = DynVector::from_fn(self.known.len(), |index| {
            let axes = self.relevance.iter().enumerate();
            let distance = |(axis, weight)| weight * self.places.distance2(axis, &self.known[index], design);
            likeness(axes.map(distance).sum())
        });
        let mean = self.mean + likeness.dot(&self.weights);
        let known = likeness.dot(&self.factor.solve(&likeness));
        let variance = self.variance * (1.0 - known).max(0.0);
        (mean, variance.sqrt())
    }
}

/// The inverse squared lengths that are most plausible, by descent over single axes.
fn relevances(places: &Places, known: &[Design], values: &DynVector<f64>, start: &[f64]) -> Vec<f64> {
    let axes = places.0.len();
    let prior = PRIOR.0 * (axes as f64).sqrt();
    let log_prior = |relevance: &[f64]| -> f64 {
        let deviation = |weight: &f64| ((weight.sqrt() * prior).ln() / PRIOR.1).powi(2);
        -0.5 * relevance.iter().map(deviation).sum::<f64>()
    };
    let (_, residue) = centred(values);
    let plausibility = |distances: &DynMatrix<f64>, relevance: &[f64]| {
        let factor = DynCholesky::new(&covariance(distances));
        factor.map_or(f64::NEG_INFINITY, |factor| likelihood(&factor, &residue) + log_prior(relevance))
    };
    let mut best: Vec<f64> = match start.len() == axes {
        true => start.to_vec(),
        false => vec![(axes as f64).recip(); axes],
    };
    let mut sum = distances(places, known, &best);
    let mut most = plausibility(&sum, &best);
    for _ in 0..PASSES {
        let before = most;
        for axis in 0..axes {
            for factor in [STEP * STEP, (STEP * STEP).recip()] {
                loop {
                    let mut other = best.clone();
                    other[axis] *= factor;
                    let change = other[axis] - best[axis];
                    let moved = DynMatrix::from_fn(known.len(), known.len(), |i, j| {
                        sum[(i, j)] + change * places.distance2(axis, &known[i], &known[j])
                    });
                    let found = plausibility(&moved, &other);
                    if found <= most {
                        break;
                    }
                    (best, sum, most) = (other, moved, found);
                }
            }
        }
        if most - before < 0.1 {
            break;
        }
    }
    best
}

/// The mean of values, and what they deviate from it by.
fn centred(values: &DynVector<f64>) -> (f64, DynVector<f64>) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    (mean, DynVector::from_fn(values.len(), |index| values[index] - mean))
}

fn distances(places: &Places, known: &[Design], relevance: &[f64]) -> DynMatrix<f64> {
    DynMatrix::from_fn(known.len(), known.len(), |i, j| {
        let axes = relevance.iter().enumerate();
        axes.map(|(axis, weight)| weight * places.distance2(axis, &known[i], &known[j])).sum()
    })
}

fn covariance(distances: &DynMatrix<f64>) -> DynMatrix<f64> {
    let noise = |i, j| if i == j { NOISE } else { 0.0 };
    DynMatrix::from_fn(distances.nrows(), distances.ncols(), |i, j| likeness(distances[(i, j)]) + noise(i, j))
}

/// The correlation of the costs of two designs at a squared distance: that of Matérn, of order 5/2.
fn likeness(distance2: f64) -> f64 {
    let distance = (5.0 * distance2.max(0.0)).sqrt();
    (1.0 + distance + distance * distance / 3.0) * (-distance).exp()
}

/// The logarithm of the likelihood of the values, up to a constant, with the variance that suits them best.
fn likelihood(factor: &DynCholesky<f64>, values: &DynVector<f64>) -> f64 {
    let count = values.len() as f64;
    let variance = (values.dot(&factor.solve(values)) / count).max(f64::MIN_POSITIVE);
    -0.5 * (count * variance.ln() + factor.ln_det())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Definition;

    #[test]
    fn a_model_knows_its_designs_and_what_lies_between_them() {
        let text = "n = 1024\n[grid]\nhple.count = [4, 8, 16, 32, 64]\nvdm.mapping = ['interleaved', 'xor']";
        let space = Space::new(&Definition::parse("space.toml", text).unwrap()).unwrap();
        let places = Places::new(&space);
        let cost = |design: &Design| 5.0 - 0.7 * design[0] as f64 + 0.3 * design[1] as f64;
        let designs: Vec<Design> = space.all().filter(|design| design[0] != 2).collect();
        let values: Vec<f64> = designs.iter().map(cost).collect();
        let known: Vec<&Design> = designs.iter().collect();
        let model = Model::fit(&places, &known, &values, &mut Vec::new()).unwrap();
        for design in space.all() {
            let (mean, deviation) = model.predict(&design);
            let error = (mean - cost(&design)).abs();
            assert!(error < 0.05, "{design:?}: {error}");
            assert!(error <= 3.0 * deviation + 1e-3, "{design:?}: {error}, {deviation}");
            // What is left of the uncertainty of a design that is believed is the noise.
            let believing = model.believing(&design).unwrap();
            let (believed, left) = believing.predict(&design);
            assert!((believed - mean).abs() < 1e-3, "{design:?}: {mean}, {believed}");
            assert!(left <= (NOISE * believing.variance).sqrt(), "{design:?}: {left}");
        }
        assert!(Model::fit(&places, &[], &[], &mut Vec::new()).is_none());
    }
}
