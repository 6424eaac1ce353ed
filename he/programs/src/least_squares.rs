//! Linear least squares.

/// The x for which A x is next to b in the sum of squares, by Householder's reflections. `columns` are those
/// of A: independent, each as long as b, and at most as many. Of columns that depend on each other, the
/// result is no number or large.
///
/// ```
/// // The line 1 + 2 t through (0, 1), (1, 3) and (2, 5).
/// let line = programs::least_squares(vec![vec![1.0, 1.0, 1.0], vec![0.0, 1.0, 2.0]], vec![1.0, 3.0, 5.0]);
/// assert!((line[0] - 1.0).abs() < 1e-12 && (line[1] - 2.0).abs() < 1e-12);
/// ```
pub fn least_squares(mut columns: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    // The columns become those of the triangle R of A = Q R, and b becomes the transpose of Q, times b.
    for at in 0..columns.len() {
        let (own, later) = columns[at..].split_first_mut().expect("it is in range");
        let mut normal = own[at..].to_vec();
        let length = dot(&normal, &normal).sqrt().copysign(-normal[0]);
        normal[0] -= length;
        let square = dot(&normal, &normal);
        own[at] = length;
        for column in later.iter_mut().chain([&mut b]) {
            let twice = 2.0 * dot(&normal, &column[at..]) / square;
            column[at..].iter_mut().zip(&normal).for_each(|(value, normal)| *value -= twice * normal);
        }
    }
    b.truncate(columns.len());
    for at in (0..columns.len()).rev() {
        b[at] /= columns[at][at];
        let x = b[at];
        b[..at].iter_mut().zip(&columns[at]).for_each(|(value, factor)| *value -= x * factor);
    }
    b
}
