//! Fronts.

use plot::pareto::front;
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

fn is_as_good(a: &[f64], b: &[f64]) -> bool {
    a.iter().zip(b).all(|(a, b)| a <= b)
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
