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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_staircase_is_its_own_front() {
        assert_eq!(front(&[[3.0, 1.0], [1.0, 3.0], [2.0, 2.0]]), [1, 2, 0]);
    }

    #[test]
    fn equal_designs_are_on_the_front_together_and_undefined_ones_never() {
        assert_eq!(front(&[[1.0, 1.0], [1.0, 1.0], [f64::NAN, 0.0], [1.0, 2.0], [1.0, 1.0]]), [0, 1, 4]);
        assert!(front::<[f64; 2]>(&[]).is_empty());
    }

    #[test]
    fn zeros_of_either_sign_are_equal() {
        assert_eq!(front(&[[0.0, 1.0], [-0.0, 2.0]]), [0]);
    }

    fn is_the_definition(designs: &[Vec<f64>]) -> Result<(), TestCaseError> {
        let found = front(designs);
        for (i, design) in designs.iter().enumerate() {
            let dominated = designs.iter().any(|other| other != design && is_as_good(other, design));
            prop_assert_eq!(found.contains(&i), !dominated);
        }
        prop_assert!(found.windows(2).all(|w| designs[w[0]] <= designs[w[1]]));
        Ok(())
    }

    proptest! {
        /// The definition, checked design by design.
        #[test]
        fn the_front_is_what_nothing_dominates(designs in prop::collection::vec(prop::collection::vec((0u8..12).prop_map(f64::from), 2), 0..40)) {
            is_the_definition(&designs)?;
        }

        #[test]
        fn so_it_is_in_three_costs(designs in prop::collection::vec(prop::collection::vec((0u8..6).prop_map(f64::from), 3), 0..40)) {
            is_the_definition(&designs)?;
        }
    }
}
