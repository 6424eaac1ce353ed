//! Bootstraps, stage by stage, beside a float model.

use programs::{Options, Order, ParameterSet};
use sim::Machine;
use test_client::bootstrap::{self, Engine, Outcome};

/// Bootstraps a random message of a set at a degree. Each stage by itself keeps `least` bits of the slots in
/// the mean, and the result nearly what the float model keeps.
fn bootstrapped(set: &str, n: u64, options: &Options, least: f64, engine: Engine<'_>) -> Outcome {
    let set = ParameterSet::built_in(set, Some(n)).unwrap().unwrap();
    let outcome = bootstrap::run(&set, options, engine).unwrap();
    println!("{outcome}");
    let stc = set.bootstrap().unwrap().slot_to_coeff;
    let is_first = options.order() == Some(Order::SlotToCoeffFirst);
    let gained = if is_first { stc - usize::from(options.slots().is_some()) } else { 0 };
    let depth = set.bootstrap().unwrap().depth() + usize::from(options.meta_bits().is_some());
    let levels =
        options.count("levels_out").map_or(set.levels(), |left| left + set.bootstrap().unwrap().depth());
    assert_eq!(outcome.level, levels + gained - depth);
    assert!(outcome.overflow > 2.0, "a mod-raise without multiples of q_0 tests nothing");
    assert!(outcome.overflow < f64::from(set.bootstrap().unwrap().range));
    for stage in &outcome.stages {
        assert!(stage.alone.mean > least, "{stage:?}");
        assert!(stage.left.mean > stage.model.mean.min(least) - 1.0, "{stage:?}");
    }
    outcome
}

fn options(values: &[(&str, &str)]) -> Options {
    Options::of(values.iter().copied())
}

#[test]
fn all_stages_equal_those_of_the_executor_on_big_integers() {
    // The sine allows 23.3.
    let engine = Engine::Checked(&Machine::rpu_128x128());
    let outcome = bootstrapped("lattigo-n16qp1546", 2048, &Options::default(), 28.0, engine);
    assert!(outcome.result().left.mean > 22.8);
}

#[test]
#[ignore = "long: `.ci/long` runs it"]
fn a_bootstrap_of_lattigos_chain_keeps_24_bits() {
    let engine = Engine::Rpu(&Machine::rpu_128x128());
    let outcome = bootstrapped("lattigo-n16qp1546", 8192, &Options::default(), 28.0, engine);
    assert!(outcome.result().left.mean > 24.0);
}

#[test]
#[ignore = "long: `.ci/long` runs it"]
fn an_arcsine_keeps_more() {
    let engine = Engine::Rpu(&Machine::rpu_128x128());
    let outcome = bootstrapped("lattigo-n16qp1547", 2048, &Options::default(), 33.0, engine);
    assert!(outcome.result().left.mean > 32.0);
}

#[test]
#[ignore = "long: `.ci/long` runs it"]
fn fewer_slots_with_nested_giant_steps_and_merged_rescales_run_on_the_machine() {
    let options = options(&[("slots", "256"), ("hoisting", "horner"), ("rescale", "merged")]);
    bootstrapped("lattigo-n16qp1546", 2048, &options, 28.0, Engine::Checked(&Machine::rpu_128x128()));
}

/// Real and imaginary parts of slots are what EvalMod reduces, n^(1/2) times what coefficients are. A larger
/// ratio makes up for it.
#[test]
fn slot_to_coeff_may_come_first() {
    for (set, slots, ratio, least) in [
        ("lattigo-n16qp1546", None, "14", 22.0),
        ("lattigo-n16qp1546", Some("32"), "14", 22.0),
        ("lattigo-n16qp1547", None, "6", 26.0),
    ] {
        let mut values = vec![("slot-to-coeff", "first"), ("message-ratio", ratio)];
        values.extend(slots.map(|slots| ("slots", slots)));
        let outcome = bootstrapped(set, 256, &options(&values), 24.0, Engine::BigIntegers);
        assert!(outcome.result().left.mean > least, "{set} {values:?}");
    }
}

#[test]
fn a_second_bootstrap_takes_off_the_error_of_the_first() {
    let options = options(&[("slots", "64"), ("meta-bits", "14")]);
    let outcome = bootstrapped("lattigo-n16qp1546", 512, &options, 28.0, Engine::BigIntegers);
    let [.., first, second] = &outcome.stages[..] else { panic!("the second is a stage") };
    assert!(first.left.mean < 21.0 && second.left.mean > 28.0, "{outcome}");
}

/// Fewer slots have larger coefficients. A ratio larger by the root of what they are fewer by keeps as many
/// bits as all slots.
#[test]
fn a_larger_message_ratio_keeps_the_bits_of_sparse_slots() {
    let mean = |values: &[(&str, &str)]| {
        let engine = Engine::BigIntegers;
        bootstrapped("lattigo-n16qp1546", 256, &options(values), 24.0, engine).result().left.mean
    };
    let [few, more] = [mean(&[("slots", "16")]), mean(&[("slots", "16"), ("message-ratio", "12")])];
    assert!(more > few + 6.0, "{few} {more}");
}

#[test]
fn cheddars_steps_bootstrap() {
    for values in [&[][..], &[("slots", "64")], &[("hoisting", "min-ks")]] {
        bootstrapped("cheddar-40", 256, &options(values), 26.0, Engine::BigIntegers);
    }
}

/// Words of 36, 31 and 28 bits: levels of several moduli, and with terminal ones. The book has the terms of
/// the prediction, and both numbers.
#[test]
#[ignore = "long: `.ci/long` runs it"]
fn short_words_keep_the_predicted_bits() {
    let machine = Machine::rpu_128x128();
    for (set, values, predicted, found) in [
        ("sharp-36", &[][..], 23.2, 23.2),
        ("cheddar-31", &[], 17.3, 17.3),
        ("cheddar-31", &[("message-ratio", "10")], 24.6, 25.1),
        ("cinnamon-28", &[], 17.7, 17.7),
    ] {
        let outcome = bootstrapped(set, 2048, &options(values), 22.0, Engine::Rpu(&machine));
        let mean = outcome.result().left.mean;
        assert!((mean - found).abs() < 0.06, "{set} {values:?}: {mean}, not {found}\n{outcome}");
        assert!((mean - predicted).abs() < 1.0, "{set} {values:?}: {mean} of {predicted}\n{outcome}");
    }
}

#[test]
#[ignore = "long: `.ci/long` runs it"]
fn short_words_take_every_setting() {
    for (set, values) in [
        ("sharp-36", &[("rescale", "merged")][..]),
        ("sharp-36", &[("levels_out", "3"), ("hoisting", "compact"), ("slots", "64")]),
        ("sharp-36", &[("meta-bits", "10")]),
        ("cheddar-31", &[("rescale", "merged"), ("hoisting", "single")]),
        ("cheddar-31", &[("levels_out", "5"), ("hoisting", "compact"), ("rescale", "merged")]),
        ("cheddar-31", &[("slots", "64"), ("hoisting", "horner")]),
        ("cheddar-31", &[("slot-to-coeff", "first"), ("rescale", "merged"), ("dataflow", "mp")]),
        ("cheddar-31", &[("meta-bits", "8"), ("dataflow", "ocs")]),
        ("cinnamon-28", &[("levels_out", "1"), ("rescale", "merged"), ("hoisting", "min-ks")]),
    ] {
        println!("{set} {values:?}");
        bootstrapped(set, 256, &options(values), 20.0, Engine::BigIntegers);
    }
}

#[test]
fn every_setting_bootstraps() {
    for values in [
        &[("hoisting", "single")][..],
        &[("hoisting", "none")],
        &[("hoisting", "horner")],
        &[("hoisting", "min-ks")],
        &[("hoisting", "compact")],
        &[("levels_out", "2")],
        &[("levels_out", "4"), ("hoisting", "compact"), ("slots", "64")],
        &[("slots", "64")],
        &[("slots", "16"), ("hoisting", "min-ks")],
        &[("slots", "64"), ("rescale", "merged")],
    ] {
        println!("{values:?}");
        bootstrapped("lattigo-n16qp1546", 256, &options(values), 28.0, Engine::BigIntegers);
    }
}
