//! A model of what has been evaluated: a Gaussian process over designs.
//!
//! The logarithm of a cost is a smooth function of the places on the axes, whose values near evaluated
//! designs are near theirs. Axes act together (banks without lanes gain nothing), so no sum over axes would
//! do.

use super::{Design, Space};
use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

/// The scales that the fit tries: the distance, in lengths of an axis, at which designs tell little of each
/// other.
const SCALES: [f64; 6] = [0.4, 0.6, 0.9, 1.3, 2.0, 3.0];
/// The variance of what the model does not explain, over that of the costs. It keeps the matrix regular.
const NOISE: f64 = 1e-4;
/// The distance of two names on an axis, over the length of an axis of numbers.
const UNLIKE: f64 = 1.0;

/// Where designs are: a number for each ordered axis, and several for an axis of names.
pub(super) struct Places(Vec<Axis>);

/// The place of each alternative.
type Axis = Vec<Vec<f64>>;

impl Places {
    pub(super) fn new(space: &Space) -> Self {
        let place = |(axis, count): (usize, usize)| -> Axis {
            let last = count.max(2) - 1;
            if space.is_ordered(axis) {
                return (0..count).map(|number| vec![number as f64 / last as f64]).collect();
            }
            let one = UNLIKE / 2_f64.sqrt();
            let row = |number| (0..count).map(|other| if other == number { one } else { 0.0 }).collect();
            (0..count).map(row).collect()
        };
        Self(space.axes().into_iter().enumerate().map(place).collect())
    }

    fn of(&self, design: &Design) -> Vec<f64> {
        design.iter().zip(&self.0).flat_map(|(&number, axis)| axis[number].iter().copied()).collect()
    }
}

/// The fitted model.
pub(super) struct Model<'p> {
    places: &'p Places,
    known: Vec<Vec<f64>>,
    /// The mean of the logarithms.
    mean: f64,
    scale: f64,
    weights: DVector<f64>,
}

impl<'p> Model<'p> {
    /// Fits the logarithms of a cost. `None` without designs.
    pub(super) fn fit(places: &'p Places, designs: &[(&Design, f64)]) -> Option<Self> {
        if designs.is_empty() {
            return None;
        }
        let known: Vec<Vec<f64>> = designs.iter().map(|(design, _)| places.of(design)).collect();
        let mean = designs.iter().map(|(_, value)| value).sum::<f64>() / designs.len() as f64;
        let values = DVector::from_iterator(designs.len(), designs.iter().map(|(_, value)| value - mean));
        let distances = DMatrix::from_fn(known.len(), known.len(), |i, j| distance2(&known[i], &known[j]));
        let fits = SCALES.into_iter().filter_map(|scale| {
            let noise = DMatrix::from_diagonal_element(known.len(), known.len(), NOISE);
            let covariance = distances.map(|distance| likeness(distance, scale)) + noise;
            let factor = Cholesky::new(covariance)?;
            let weights = factor.solve(&values);
            Some((likelihood(&factor, &values, &weights), scale, weights))
        });
        let (_, scale, weights) = fits.max_by(|(a, ..), (b, ..)| a.total_cmp(b))?;
        Some(Self { places, known, mean, scale, weights })
    }

    /// The mean of the logarithms of known costs.
    pub(super) fn mean(&self) -> f64 {
        self.mean
    }

    /// The logarithm of the cost that a design should have.
    pub(super) fn predict(&self, design: &Design) -> f64 {
        let place = self.places.of(design);
        let known = self.known.iter().zip(&self.weights);
        self.mean
            + known
                .map(|(known, weight)| weight * likeness(distance2(known, &place), self.scale))
                .sum::<f64>()
    }
}

fn distance2(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum()
}

/// The correlation of the costs of two designs at a squared distance.
fn likeness(distance2: f64, scale: f64) -> f64 {
    (-distance2 / (2.0 * scale * scale)).exp()
}

/// The logarithm of the likelihood of the values, up to a constant, with the variance that suits them best.
fn likelihood(factor: &Cholesky<f64, Dyn>, values: &DVector<f64>, weights: &DVector<f64>) -> f64 {
    let count = values.len() as f64;
    let variance = (values.dot(weights) / count).max(f64::MIN_POSITIVE);
    let log_determinant: f64 = factor.l().diagonal().iter().map(|entry| 2.0 * entry.ln()).sum();
    -0.5 * (count * variance.ln() + log_determinant)
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
        let known: Vec<(&Design, f64)> = designs.iter().map(|design| (design, cost(design))).collect();
        let model = Model::fit(&places, &known).unwrap();
        for design in space.all() {
            let error = (model.predict(&design) - cost(&design)).abs();
            assert!(error < 0.05, "{design:?}: {error}");
        }
        assert!(Model::fit(&places, &[]).is_none());
    }
}
