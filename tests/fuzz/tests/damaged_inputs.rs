//! The properties hold of damaged inputs.

use fuzz::{Damage, TARGETS, repository};

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
    functional checkers machine_file journal record sweep_manifest data trace
}
