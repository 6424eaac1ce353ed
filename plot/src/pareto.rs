//! Pareto fronts of two costs.

/// The two costs of a design; lower is better.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Costs {
    /// The cost that orders the front, ascending.
    pub first: f64,
    /// The other cost, descending along the front.
    pub second: f64,
}

impl Costs {
    /// Whether this design is at least as good in both costs and better in one.
    pub fn dominates(self, other: Self) -> bool {
        self.first <= other.first
            && self.second <= other.second
            && (self.first < other.first || self.second < other.second)
    }
}

/// The indices of the designs that no other one dominates, in ascending order of the first cost.
///
/// The first of several designs with equal costs represents all of them. Designs whose cost is not
/// a number are omitted.
pub fn front(designs: &[Costs]) -> Vec<usize> {
    let mut order: Vec<usize> =
        (0..designs.len()).filter(|&i| !designs[i].first.is_nan() && !designs[i].second.is_nan()).collect();
    order.sort_by(|&a, &b| {
        let (a, b) = (designs[a], designs[b]);
        a.first.total_cmp(&b.first).then(a.second.total_cmp(&b.second))
    });
    let mut best = f64::INFINITY;
    order.retain(|&i| {
        let better = designs[i].second < best;
        best = best.min(designs[i].second);
        better
    });
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn costs(pairs: &[(f64, f64)]) -> Vec<Costs> {
        pairs.iter().map(|&(first, second)| Costs { first, second }).collect()
    }

    #[test]
    fn a_staircase_is_its_own_front() {
        assert_eq!(front(&costs(&[(3.0, 1.0), (1.0, 3.0), (2.0, 2.0)])), [1, 2, 0]);
    }

    #[test]
    fn equal_and_undefined_designs_do_not_count_twice() {
        assert_eq!(front(&costs(&[(1.0, 1.0), (1.0, 1.0), (f64::NAN, 0.0), (1.0, 2.0)])), [0]);
        assert!(front(&[]).is_empty());
    }

    proptest! {
        /// The definition, checked design by design.
        #[test]
        fn the_front_is_what_nothing_dominates(pairs in prop::collection::vec((0u8..12, 0u8..12), 0..40)) {
            let designs = costs(&pairs.iter().map(|&(a, b)| (a.into(), b.into())).collect::<Vec<_>>());
            let found = front(&designs);
            for (i, &design) in designs.iter().enumerate() {
                let dominated = designs.iter().any(|other| other.dominates(design));
                let first_of_its_kind = designs.iter().position(|&other| other == design) == Some(i);
                prop_assert_eq!(found.contains(&i), !dominated && first_of_its_kind);
            }
            prop_assert!(found.windows(2).all(|w| designs[w[0]].first < designs[w[1]].first));
        }
    }
}
