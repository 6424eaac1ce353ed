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
