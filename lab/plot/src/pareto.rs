//! Pareto fronts of any number of costs.

use std::cmp::Ordering;

/// Whether no cost of the first design exceeds the second one's.
fn is_as_good(costs: &[f64], others: &[f64]) -> bool {
    costs.iter().zip(others).all(|(cost, other)| cost <= other)
}

/// The indices of the designs that no other one dominates, in ascending order of their first costs, then of
/// the next ones. Lower costs are better. A design dominates another if none of its costs is higher and one
/// is lower. All designs have the same number of costs.
///
/// Designs with equal costs are on the front together. Designs with a cost that is not a number are omitted.
pub fn front<D: AsRef<[f64]>>(designs: &[D]) -> Vec<usize> {
    let costs = |i: usize| designs[i].as_ref();
    let mut order: Vec<usize> =
        (0..designs.len()).filter(|&i| !costs(i).iter().any(|cost| cost.is_nan())).collect();
    order.sort_by(|&a, &b| {
        // They are numbers. Zeros of either sign are equal.
        costs(a).partial_cmp(costs(b)).unwrap_or(Ordering::Equal).then(a.cmp(&b))
    });
    // A design that is as good as another one comes before it. The last ones on the front are the most
    // similar. Of equal designs, the first one is compared.
    let (mut front, mut distinct): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
    for i in order {
        let is_equal = front.last().is_some_and(|&last| costs(last) == costs(i));
        if is_equal || !distinct.iter().rev().any(|&better| is_as_good(costs(better), costs(i))) {
            front.push(i);
            distinct.extend((!is_equal).then_some(i));
        }
    }
    front
}
