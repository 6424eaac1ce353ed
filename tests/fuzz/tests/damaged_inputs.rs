//! The properties hold of damaged inputs.

use fuzz::properties::judge;
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
    timing assembler calls words object machine sweep recipe parameter_set document ring_program manifest
    functional checkers machine_file journal record sweep_manifest technology claims plan table variants data trace
}

/// `RPU_VARIANTS` sets another number of variants.
#[test]
fn a_check_refuses_wrong_variants_of_programs() {
    let count: usize = std::env::var("RPU_VARIANTS").map_or(1000, |text| text.parse().expect("a number"));
    let variant = |number: usize| [&[number as u8][..], &number.to_le_bytes()].concat();
    let verdicts: Vec<bool> =
        (0..count).into_par_iter().filter_map(|number| judge(&variant(number))).collect();
    let accepted = verdicts.iter().filter(|accepted| **accepted).count();
    println!(
        "{} of {} variants are refused, {accepted} compute what they claim",
        verdicts.len() - accepted,
        verdicts.len()
    );
    assert!(
        verdicts.len() > count / 3 && accepted > count / 20 && accepted < count / 2,
        "{accepted} of {}",
        verdicts.len()
    );
}
