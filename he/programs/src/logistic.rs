//! What the program `logistic-regression` computes, in the clear.
//!
//! A sample is a row z: its features and a 1 for the intercept, times its class, 1 or -1. Gradient descent
//! takes a point w to
//!
//! ```text
//! w + rate/rows sum_z sigma(-z w) z    sigma(-x) next to a polynomial of x
//! ```
//!
//! The point is the weights; with Nesterov's momentum, it is ahead of them: weights + 3/4 (weights - weights
//! before).

use crate::option::{Names, OptionKind, OptionSpec, Options, definitions};
use crate::sign::value;
use std::f64::consts::PI;

/// What follows the gradient in a training.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Momentum {
    /// The step alone.
    #[default]
    None,
    /// Nesterov's: gradients at a point ahead of the weights.
    Nesterov,
}

impl Momentum {
    /// The momentum of some options.
    pub fn of(options: &Options) -> Self {
        options.choice(MOMENTUM.name, MOMENTA).unwrap_or_default()
    }
}

/// The polynomial in place of the sigmoid in a training.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Sigmoid {
    /// Of degree 3, the least squares for margins up to 8.
    #[default]
    Cubic,
    /// Of degree 59, for margins up to 16.
    Chebyshev,
}

impl Sigmoid {
    /// The polynomial of some options.
    pub fn of(options: &Options) -> Self {
        options.choice(SIGMOID.name, SIGMOIDS).unwrap_or_default()
    }
}

const MOMENTA: &Names<Momentum> = &[
    ("none", "Gradient descent", Momentum::None),
    ("nesterov", "Gradients at a point ahead of the weights", Momentum::Nesterov),
];

const SIGMOIDS: &Names<Sigmoid> = &[
    ("cubic", "Of degree 3, the least squares for margins up to 8", Sigmoid::Cubic),
    ("chebyshev", "Of degree 59, for margins up to 16", Sigmoid::Chebyshev),
];

/// Iterations of the program, with a bootstrap between two of them.
pub const ITERATIONS: OptionSpec = OptionSpec {
    name: "iterations",
    kind: OptionKind::Count,
    doc: "Iterations of the program, with a bootstrap between two of them",
    default: "1",
    identifies: true,
};

/// Iterations between two bootstraps.
pub const BETWEEN: OptionSpec = OptionSpec {
    name: "between",
    kind: OptionKind::Count,
    doc: "Iterations between two bootstraps",
    default: "1",
    identifies: true,
};

/// Places of a row of data, a power of two.
pub const PLACES: OptionSpec = OptionSpec {
    name: "features",
    kind: OptionKind::Count,
    doc: "Places of a row of data, a power of two",
    default: "16",
    identifies: true,
};

/// The most ciphertexts of data: each takes lines of its own.
const MOST_BLOCKS: usize = 1 << 12;

/// Ciphertexts of data, each of as many rows as it has room for.
pub const BLOCKS: OptionSpec = OptionSpec {
    name: "blocks",
    kind: OptionKind::CountTo(MOST_BLOCKS),
    doc: "Ciphertexts of data, each of as many rows as it has room for",
    default: "1",
    identifies: true,
};

/// Momentum of a training.
pub const MOMENTUM: OptionSpec = OptionSpec {
    name: "momentum",
    kind: OptionKind::Choice(|| definitions(MOMENTA)),
    doc: "Momentum of a training",
    default: "none",
    identifies: true,
};

/// Polynomial in place of the sigmoid in a training.
pub const SIGMOID: OptionSpec = OptionSpec {
    name: "sigmoid",
    kind: OptionKind::Choice(|| definitions(SIGMOIDS)),
    doc: "Polynomial in place of the sigmoid in a training",
    default: "cubic",
    identifies: true,
};

/// The places of a row, by default; those beyond the features and the intercept are 0.
pub const FEATURES: usize = 16;

/// The inverse of the rate.
pub(crate) const INVERSE_RATE: u32 = 2;

/// The point ahead is the first times the weights, less the second times those before, over the third.
pub(crate) const AHEAD: [u32; 3] = [7, 3, 4];

/// The coefficients of 1, x and x^3: least squares over -8 to 8, of Han, Song, Cheon and Park, "Logistic
/// Regression on Homomorphic Encrypted Data at Scale".
pub(crate) const CUBIC: [f64; 3] = [0.5, -1.20096 / 8.0, 0.81562 / 512.0];

/// The largest margin of the Chebyshev series.
pub(crate) const LARGEST: f64 = 16.0;

/// The degree of the Chebyshev series.
const DEGREE: usize = 59;

/// sigma(-x) for x from -16 to 16 in the Chebyshev basis of x/16: it equals the sigmoid at the roots of T_60.
/// It is odd but for the constant.
pub(crate) fn chebyshev() -> Vec<f64> {
    let points = (DEGREE + 1) as f64;
    let coefficient = |j: usize| {
        let term = |k: usize| {
            let angle = PI * (k as f64 + 0.5) / points;
            (j as f64 * angle).cos() / (1.0 + (LARGEST * angle.cos()).exp())
        };
        2.0 / points * (0..=DEGREE).map(term).sum::<f64>()
    };
    (0..=DEGREE).map(|j| if j == 0 { 0.5 } else { (j % 2) as f64 * coefficient(j) }).collect()
}

/// The weights after the iterations of options on rows of one length, from 0 on.
pub fn train(rows: &[impl AsRef<[f64]>], options: &Options) -> Vec<f64> {
    let (iterations, momentum) = (options.count(ITERATIONS.name).unwrap_or(1), Momentum::of(options));
    let series = chebyshev();
    let slope = |x: f64| match Sigmoid::of(options) {
        Sigmoid::Cubic => CUBIC[0] + CUBIC[1] * x + CUBIC[2] * x.powi(3),
        Sigmoid::Chebyshev => value(&series, x / LARGEST),
    };
    let places = rows.first().map_or(0, |row| row.as_ref().len());
    let [mut before, mut weights] = [vec![0.0; places], vec![0.0; places]];
    for _ in 0..iterations {
        let point = match momentum {
            Momentum::None => weights.clone(),
            Momentum::Nesterov => {
                let [first, second, divisor] = AHEAD.map(f64::from);
                weights
                    .iter()
                    .zip(&before)
                    .map(|(now, then)| (first * now - second * then) / divisor)
                    .collect()
            }
        };
        before = std::mem::replace(&mut weights, stepped(&point, rows, slope));
    }
    weights
}

/// A point after one step of gradient descent.
fn stepped(point: &[f64], rows: &[impl AsRef<[f64]>], slope: impl Fn(f64) -> f64) -> Vec<f64> {
    let mut sum = vec![0.0; point.len()];
    for row in rows {
        let slope = slope(margin(point, row.as_ref()));
        sum.iter_mut().zip(row.as_ref()).for_each(|(sum, z)| *sum += slope * z);
    }
    let rate = 1.0 / (rows.len() as f64 * f64::from(INVERSE_RATE));
    point.iter().zip(sum).map(|(weight, sum)| weight + rate * sum).collect()
}

/// z w, which is positive if the weights give the sample its class.
pub fn margin(weights: &[f64], row: &[f64]) -> f64 {
    weights.iter().zip(row).map(|(weight, z)| weight * z).sum()
}
