//! The properties hold of damaged inputs.

use fuzz::properties::{judge, judge_ring};
use fuzz::{Damage, TARGETS, repository};
use rayon::prelude::*;

/// One test for each target, so that they run in parallel.
macro_rules! hold_of_damaged_inputs {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            let target = TARGETS.into_iter().find(|target| target.name == stringify!($name)).unwrap();
            let seeds = (target.seeds)(repository());
            seeds.iter().for_each(|seed| (target.property)(seed));
            let mut damage = Damage::new(&seeds, 0);
            (0..target.cases).for_each(|_| (target.property)(&damage.next_input()));
        })*

        #[test]
        fn no_target_lacks_a_test() {
            assert_eq!(TARGETS.map(|target| target.name), [$(stringify!($name)),*]);
        }
    };
}

hold_of_damaged_inputs! {
    timing assembler calls writers conditions words object machine sweep recipe parameter_set document ring_program manifest
    functional checkers machine_file journal record sweep_manifest technology claims plan table variants ring_variants
    data mapping heir trace
}

/// The numbers of variants that are tried, of those that are programs, and of those that are accepted. `variable` sets
/// another number than `count`.
fn verdicts(variable: &str, count: usize, judge: fn(&[u8]) -> Option<bool>) -> [usize; 3] {
    let count = std::env::var(variable).map_or(count, |text| text.parse().expect("a number"));
    let variant = |number: usize| [&[number as u8][..], &number.to_le_bytes()].concat();
    let verdicts: Vec<bool> =
        (0..count).into_par_iter().filter_map(|number| judge(&variant(number))).collect();
    let accepted = verdicts.iter().filter(|accepted| **accepted).count();
    let (refused, all) = (verdicts.len() - accepted, verdicts.len());
    println!("{refused} of {all} variants are refused, {accepted} compute what they say; {count} were tried");
    [count, all, accepted]
}

#[test]
fn a_check_refuses_wrong_variants_of_programs() {
    let [count, all, accepted] = verdicts("RPU_VARIANTS", 1000, judge);
    assert!(all > count / 3 && accepted > count / 20 && accepted < count / 2, "{accepted} of {all}");
}

#[test]
fn a_check_accepts_variants_of_ring_programs_that_compute_their_text() {
    let [count, all, accepted] = verdicts("RPU_RING_VARIANTS", 100, judge_ring);
    assert!(all > count / 3 && accepted > count / 20 && accepted < all, "{accepted} of {all}");
}
