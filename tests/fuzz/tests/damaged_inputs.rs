//! The properties hold of damaged inputs.

use fuzz::properties::{RESCHEDULED, Verdict, judge, judge_ring};
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
    data mapping heir orion trace
}

/// A number that an environment variable may set.
fn number(variable: &str, default: usize) -> usize {
    std::env::var(variable).map_or(default, |text| text.parse().expect("a number"))
}

/// What `judge` says of each of so many variants that is a program.
fn verdicts<T: Send>(count: usize, judge: impl Fn(&[u8]) -> Option<T> + Sync) -> Vec<T> {
    let variant = |number: usize| [&[number as u8][..], &number.to_le_bytes()].concat();
    (0..count).into_par_iter().filter_map(|number| judge(&variant(number))).collect()
}

#[test]
fn a_check_refuses_wrong_variants_of_programs() {
    let tried = number("RPU_VARIANTS", 1000);
    let share = number("RPU_RESCHEDULED", RESCHEDULED as usize) as u32;
    let verdicts = verdicts(tried, |variant| judge(variant, share));
    let count = |is: fn(&Verdict) -> bool| verdicts.iter().filter(|verdict| is(verdict)).count();
    let (all, accepted) = (verdicts.len(), count(|verdict| verdict.accepted));
    let (proven, rescheduled) = (count(|verdict| verdict.proven), count(|verdict| verdict.rescheduled));
    let cautious = count(|verdict| verdict.cautious);
    println!(
        "{all} of {tried} variants are programs: {} are refused, {accepted} compute what they say, {proven} are proven; \
         {rescheduled} were scheduled again; {cautious} are refused for values that no data tried has",
        all - accepted
    );
    assert!(all > tried / 3 && accepted > tried / 20 && accepted < tried / 2, "{accepted} of {all}");
    assert!(cautious <= all / 100, "{cautious} of {all}");
    assert!(proven > accepted / 2 && rescheduled > all / share as usize / 20, "{proven}, {rescheduled}");
}

#[test]
fn a_check_accepts_variants_of_ring_programs_that_compute_their_text() {
    let tried = number("RPU_RING_VARIANTS", 100);
    let verdicts = verdicts(tried, judge_ring);
    let (all, accepted) = (verdicts.len(), verdicts.iter().filter(|accepted| **accepted).count());
    println!(
        "{all} of {tried} variants are programs: {} are refused, {accepted} compute what they say",
        all - accepted
    );
    assert!(all > tried / 3 && accepted > tried / 20 && accepted < all, "{accepted} of {all}");
}
