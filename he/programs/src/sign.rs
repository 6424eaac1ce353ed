//! The sign of numbers from -1 to 1, by a composition of odd polynomials that are each the best of their
//! degree.

use numeris::{DynMatrix, DynVector};
use std::f64::consts::PI;
use std::sync::LazyLock;

/// The degrees of the polynomials, in the order in which they apply.
pub(crate) const DEGREES: [usize; 3] = [15, 15, 27];

/// Numbers of at least this size get their sign.
pub(crate) const LEAST: f64 = 1.0 / 512.0;

/// The polynomials in the Chebyshev basis. Each but the last is divided by the most that it reaches, so that
/// all take numbers from -1 to 1.
pub(crate) fn polynomials() -> Vec<Vec<f64>> {
    let mut least = LEAST;
    let last = DEGREES.len() - 1;
    let polynomial = |(index, &degree): (usize, &usize)| {
        let (mut polynomial, error) = best(degree, least);
        least = (1.0 - error) / (1.0 + error);
        if index < last {
            polynomial.iter_mut().for_each(|coefficient| *coefficient /= 1.0 + error);
        }
        polynomial
    };
    DEGREES.iter().enumerate().map(polynomial).collect()
}

/// What the program `resnet20` computes in place of ReLU, for a number from -1 to 1.
pub fn relu(x: f64) -> f64 {
    static POLYNOMIALS: LazyLock<Vec<Vec<f64>>> = LazyLock::new(polynomials);
    let sign = POLYNOMIALS.iter().fold(x, |sign, polynomial| value(polynomial, sign));
    x * (1.0 + sign) / 2.0
}

/// The odd polynomial next to 1 from `least` to 1, and its largest error there, by the exchange algorithm of
/// Remez.
fn best(degree: usize, least: f64) -> (Vec<f64>, f64) {
    let unknowns = degree.div_ceil(2);
    // The error has one more extremum than there are unknowns. Extrema of a Chebyshev polynomial in log(x)
    // come near.
    let spread = |index: usize| {
        let place = (1.0 - (PI * index as f64 / unknowns as f64).cos()) / 2.0;
        least.powf(1.0 - place)
    };
    let mut points: Vec<f64> = (0..=unknowns).map(spread).collect();
    for _ in 0..ROUNDS {
        let (polynomial, _) = levelled(&points, unknowns);
        let found = extrema(&polynomial, &points, least);
        let change = points.iter().zip(&found).map(|(old, new)| (old - new).abs() / new).fold(0.0, f64::max);
        points = found;
        if change < 1e-9 {
            break;
        }
    }
    let (polynomial, _) = levelled(&points, unknowns);
    let error = points.iter().map(|&x| (value(&polynomial, x) - 1.0).abs()).fold(0.0, f64::max);
    (polynomial, error)
}

/// The most rounds of the exchange.
const ROUNDS: usize = 100;

/// The polynomial whose errors at the points are equal, with alternating signs; and the error.
fn levelled(points: &[f64], unknowns: usize) -> (Vec<f64>, f64) {
    let matrix = DynMatrix::from_fn(points.len(), unknowns + 1, |row, column| {
        if column == unknowns {
            if row % 2 == 0 { 1.0 } else { -1.0 }
        } else {
            ((2 * column + 1) as f64 * points[row].acos()).cos()
        }
    });
    let solution = matrix.solve(&DynVector::from_fn(points.len(), |_| 1.0)).expect("distinct points");
    let mut polynomial = vec![0.0; 2 * unknowns];
    (0..unknowns).for_each(|index| polynomial[2 * index + 1] = solution[index]);
    (polynomial, solution[unknowns])
}

/// The extremum of the error next to each point: between its neighbours.
fn extrema(polynomial: &[f64], points: &[f64], least: f64) -> Vec<f64> {
    let last = points.len() - 1;
    let extremum = |index: usize| {
        let (mut low, mut high) = (
            if index == 0 { least } else { (points[index - 1] * points[index]).sqrt() },
            if index == last { 1.0 } else { (points[index] * points[index + 1]).sqrt() },
        );
        let sign = (value(polynomial, points[index]) - 1.0).signum();
        let error = |x: f64| sign * (value(polynomial, x) - 1.0);
        for _ in 0..60 {
            let [a, b] = [low + (high - low) / 3.0, high - (high - low) / 3.0];
            if error(a) < error(b) { low = a } else { high = b }
        }
        f64::midpoint(low, high)
    };
    (0..points.len()).map(extremum).collect()
}

/// The value of a polynomial in the Chebyshev basis, for x from -1 to 1.
pub(crate) fn value(polynomial: &[f64], x: f64) -> f64 {
    let angle = x.clamp(-1.0, 1.0).acos();
    polynomial.iter().enumerate().map(|(index, c)| c * (index as f64 * angle).cos()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_composition_is_next_to_the_sign() {
        let polynomials = polynomials();
        assert_eq!(polynomials.iter().map(|p| p.len() - 1).collect::<Vec<_>>(), DEGREES);
        let sign = |x: f64| polynomials.iter().fold(x, |x, polynomial| value(polynomial, x));
        let mut worst: f64 = 0.0;
        let mut x = LEAST;
        while x < 1.0 {
            worst = worst.max((sign(x) - 1.0).abs()).max((sign(-x) + 1.0).abs());
            x *= 1.001;
        }
        assert!(worst < (-13_f64).exp2(), "{worst}");
    }
}
