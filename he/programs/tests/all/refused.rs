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
