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

/// A set of BGV, with further lines.
fn of_bgv(t: u128, q: &str, more: &str) -> ParameterSet {
    let text = format!(
        "n = 2048\nq = {q}\np = [{{ bits = 61, count = 5 }}]\ndigits = 6\nplaintext_modulus = {t}\n\
         security = \"none\"\n{more}"
    );
    ParameterSet::parse("bgv", "bgv.toml", &text, None).unwrap()
}

/// The table of a bootstrap.
const BOOTSTRAP: &str = "[bootstrap]\nscale_bits = 40\nmessage_ratio_bits = 8\ncoeff_to_slot = 2\n\
    eval_mod = 8\nslot_to_coeff = 2\nrange = 16\ndegree = 30\ndouble_angles = 3\nephemeral_weight = 32\n\
    steps = \"lattigo\"\n";

/// Slots of integers have no encodings of other numbers, and no approximate modulo.
#[test]
fn programs_of_real_numbers_refuse_a_set_of_bgv() {
    let set = of_bgv(65_537, "[{ bits = 60, count = 24 }]", BOOTSTRAP);
    let of_integers = ["keyswitch", "hmult", "hrot", "rescale", "hoisted-rotations", "layers"];
    for program in programs::all_programs() {
        let generated = generate(program, &set, &Options::of([("level", "24")]));
        match generated {
            Ok(_) => assert!(of_integers.contains(&program.name), "{}", program.name),
            Err(error) => {
                assert!(!of_integers.contains(&program.name), "{}: {error}", program.name);
                assert_eq!(
                    text(&error),
                    format!(
                        "`{}` is of CKKS, and the set `bgv` of BGV: it has `plaintext_modulus = 65537`; \
                         choose another set, or leave `plaintext_modulus` out of its file",
                        program.name
                    )
                );
            }
        }
    }
    let mut circuit = programs::Circuit::new("c", &set);
    let x = circuit.input("x").unwrap();
    assert!(matches!(circuit.chebyshev(&x, &[0.0, 1.0]), Err(Error::Bgv { .. })));
    let diagonal = [(0, vec![num_complex::Complex64::ONE])].into();
    let product = circuit.linear_transform("m", &x, &diagonal, programs::Hoisting::Double);
    assert!(matches!(product, Err(Error::Bgv { .. })));
}

/// Moduli whose product is below t lose the plaintext.
#[test]
fn every_level_of_bgv_holds_a_plaintext() {
    let t = i64::MAX as u128;
    let set = of_bgv(t, "[{ bits = 30, count = 2 }, { bits = 59, count = 22 }]", "");
    assert!(generate(&find_program("hmult").unwrap(), &set, &Options::of([("level", "4")])).is_ok());
    for (program, level) in [("keyswitch", "2"), ("rescale", "3"), ("hmult", "3")] {
        let error = refused(program, &set, &[("level", level)]);
        assert_eq!(error.options(), ["level"]);
        assert_eq!(
            text(&error),
            "the moduli of level 2 have a product of 2^59, and the plaintext modulus of the set `bgv` is \
             9223372036854775807; choose a higher --level, or a set with a smaller `plaintext_modulus`"
        );
    }
    let text = "n = 1024\nq = [{ bits = 30, count = 2 }]\np = [{ bits = 31, count = 1 }]\ndigits = 2\n\
         plaintext_modulus = 9223372036854775807\nsecurity = \"none\"\n";
    let errors = ParameterSet::parse("bgv", "bgv.toml", text, None).unwrap_err().to_string();
    let expected =
        "bgv.toml:5:21: D006: the plaintext modulus 9223372036854775807 is not below Q, which is 2^60.00";
    assert!(errors.contains(expected), "{errors}");
}

/// The set of the book, with other values in its table.
fn boot(changes: &[(&str, u32)]) -> Result<ParameterSet, String> {
    let mut values = vec![
        ("scale_bits", 40),
        ("message_ratio_bits", 8),
        ("coeff_to_slot", 4),
        ("eval_mod", 8),
        ("slot_to_coeff", 3),
        ("range", 16),
        ("degree", 30),
        ("double_angles", 3),
        ("ephemeral_weight", 32),
    ];
    for (key, value) in changes {
        values.iter_mut().find(|(known, _)| known == key).unwrap().1 = *value;
    }
    let table: Vec<String> = values.iter().map(|(key, value)| format!("{key} = {value}\n")).collect();
    let text = format!(
        "n = 512\nq = [{{ bits = 60, count = 1, around = true }}, {{ bits = 40, count = 5, around = true }}, \
         {{ bits = 60, count = 12, around = true }}]\np = [{{ bits = 61, count = 5, around = true }}]\n\
         digits = 4\nhamming_weight = 192\nsecurity = \"none\"\n[bootstrap]\n{}steps = \"lattigo\"\n",
        table.concat()
    );
    ParameterSet::parse("boot", "boot.toml", &text, None).map_err(|errors| errors.to_string())
}

/// A message must be below q_0 by the ratio, and above what rounding leaves of it.
#[test]
fn messages_of_a_bootstrap_have_room() {
    for (changes, place, expected, help) in [
        (
            &[("scale_bits", 90)][..],
            8,
            "no message of the scale 2^90 is below q_0, which is 2^60.0",
            "choose at most 59",
        ),
        (
            &[("message_ratio_bits", 21)],
            9,
            "q_0 is 2^60.0, so a message of the scale 2^40 is not below it by the ratio 2^21",
            "choose at most 20",
        ),
        (
            &[("scale_bits", 1)],
            8,
            "messages of the scale 2^1 are drowned by the rounding of a rescale, 2^6.5 in a slot",
            "choose more than 6.5, by the bits that a slot should keep",
        ),
    ] {
        let found = boot(changes).unwrap_err();
        let key = changes[0].0;
        assert!(found.starts_with(&format!("boot.toml:{place}:")), "{found}");
        assert!(found.ends_with(&format!(": D006: {expected}; {help}")), "{key}: {found}");
    }
    let set = boot(&[]).unwrap();
    let error = refused("bootstrap", &set, &[("message_ratio", "60")]);
    assert_eq!(error.options(), ["message_ratio", "set"]);
    assert_eq!(
        text(&error),
        "the bootstrap of the set `boot`: q_0 is 2^60.0, so a message of the scale 2^40 is not below it by \
         the ratio 2^60; choose at most 20"
    );
    let error = refused("bootstrap", &set, &[("meta_bits", "60")]);
    assert_eq!(error.options(), ["meta_bits", "set"]);
    assert!(
        text(&error).ends_with("times 2^60 it exceeds a message; choose fewer bits than 33.5"),
        "{}",
        text(&error)
    );
    for options in [[("message_ratio", "20")], [("meta_bits", "14")]] {
        let bootstrap = find_program("bootstrap").unwrap();
        assert!(generate(&bootstrap, &set, &Options::of(options)).is_ok(), "{options:?}");
    }
}

/// The error of the sine is computed, and what would be enough is.
#[test]
fn a_sine_that_leaves_nothing_of_a_message_is_refused() {
    for (changes, expected) in [
        (
            &[("double_angles", 0)][..],
            "the bootstrap of the set `boot`: the sine for K = 16 by a polynomial of degree 30 and 0 double \
             angles has an error of 2^-8.0, and messages are up to 2^-8; ",
        ),
        (&[("range", 4096)], "K = 4096 by a polynomial of degree 30 and 3 double angles has an error of 2^3"),
        (&[("degree", 10)], "by a polynomial of degree 10 and 3 double angles has an error of 2^4"),
    ] {
        let error = text(&refused("bootstrap", &boot(changes).unwrap(), &[]));
        assert!(error.contains(expected), "{error}");
        // The values that the help names.
        let value = |key: &str| -> u32 {
            let rest = error.split(&format!("`{key} = ")).nth(1).unwrap();
            rest.split('`').next().unwrap().parse().unwrap()
        };
        let mut changes = changes.to_vec();
        changes.retain(|(key, _)| *key == "range");
        let better = [("degree", value("degree")), ("double_angles", value("double_angles"))];
        let text = boot(&[&changes[..], &better].concat());
        // More levels may be needed, which the set says.
        let Ok(set) = text else {
            assert!(text.unwrap_err().contains("EvalMod has 8 levels, but"));
            continue;
        };
        assert!(generate(&find_program("bootstrap").unwrap(), &set, &Options::default()).is_ok());
    }
}

#[test]
fn options_without_effect_are_refused() {
    let small = built_in("ark", 512);
    for options in [[("dataflow", "oct")], [("dataflow", "oc")]] {
        let error = refused("rescale", &small, &options);
        assert_eq!(
            text(&error),
            "`dataflow` has no effect: `rescale` has no key switch; leave --dataflow out"
        );
    }
    let set = built_in("lattigo-n16qp1546", 512);
    for (program, option, value, reason) in [
        ("logistic-regression", "slots", "16", "has no bootstrap in so few iterations"),
        ("logistic-regression", "hoisting", "min-ks", "has no bootstrap in so few iterations"),
        ("logistic-regression", "message_ratio", "5", "has no bootstrap in so few iterations"),
        ("logistic-regression", "between", "3", "has fewer iterations"),
        ("helr", "slots", "128", "has no bootstrap in so few iterations"),
    ] {
        let options = [("iterations", "1"), ("features", "16"), (option, value)];
        let error = refused(program, &set, &options);
        assert_eq!(error.options(), [option]);
        assert_eq!(error.to_string(), format!("`{option}` has no effect: `{program}` {reason}"));
    }
    // The program's own values may be given.
    let options = Options::of([("iterations", "1"), ("features", "16"), ("between", "2"), ("slots", "256")]);
    assert!(generate(&find_program("helr").unwrap(), &set, &options).is_ok());
}
