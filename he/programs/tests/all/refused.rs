//! Options and sets that a program refuses: what is said, and what would be right.

use programs::{Error, Options, ParameterSet, find_program, generate};

fn built_in(name: &str, n: u64) -> ParameterSet {
    ParameterSet::built_in(name, Some(n)).unwrap().unwrap()
}

fn refused(program: &str, set: &ParameterSet, options: &[(&str, &str)]) -> Error {
    let options = Options::of(options.iter().copied());
    generate(&find_program(program).unwrap(), set, &options).unwrap_err()
}

/// The message, and the help for the command line.
fn text(error: &Error) -> String {
    format!("{error}; {}", error.help(|option| format!("--{option}")))
}

#[test]
fn an_error_names_the_options_at_fault() {
    let set = built_in("ark", 512);
    let error = refused("keyswitch", &set, &[("level", "3"), ("tile", "2")]);
    assert_eq!(error.options(), ["tile", "dataflow"]);
    assert_eq!(text(&error), "the dataflow `oc` has no tiles; --tile is for the dataflow oct");
    let error = refused("hmult", &set, &[("level", "1")]);
    assert_eq!(error.options(), ["level", "rescale"]);
    assert!(text(&error).ends_with("; choose a higher --level, or --rescale none"), "{}", text(&error));
}

/// The weights of a row are as many as its features. A bootstrap of fewer slots would add up some of them.
#[test]
fn bootstraps_of_a_training_have_a_slot_for_each_feature() {
    let set = built_in("lattigo-n16qp1546", 512);
    let options = [("iterations", "2"), ("slots", "16")];
    let error = refused("logistic-regression", &set, &[&options[..], &[("features", "32")]].concat());
    assert_eq!(
        text(&error),
        "`logistic-regression` with bootstraps of 16 slots would add up weights: a row has 32 features; \
         choose --slots of at least 32, or fewer --features"
    );
    let fits = Options::of(options.into_iter().chain([("features", "16")]));
    assert!(generate(&find_program("logistic-regression").unwrap(), &set, &fits).is_ok());
    // With the program's own slots, 256.
    let set = built_in("lattigo-n16qp1767", 1024);
    let error = refused("helr", &set, &[("features", "512"), ("iterations", "4")]);
    assert!(matches!(error, Error::FewSlots { slots: 256, features: 512, .. }), "{error}");
}
