//! Circuits of a user's own: what they count, and what they refuse.

use programs::circuit::Setup;
use programs::{
    BootstrapOptions, Circuit, Diagonals, Error, Generator, Hoisting, Options, ParameterSet, Scale,
    check_stated, find_dataflow, find_program, generate_defined,
};
use std::num::NonZeroUsize;

fn set(name: &str) -> ParameterSet {
    ParameterSet::built_in(name, Some(1024)).unwrap().unwrap()
}

#[test]
fn sums_of_products_are_relinearised_once() {
    let set = set("ark");
    let mut c = Circuit::new("sum", &set);
    let [x, y] = ["x", "y"].map(|name| c.input(name).unwrap());
    let (a, b) = (c.multiply(&x, &y), c.multiply(&y, &y));
    let sum = c.add(&a, &b).unwrap();
    assert!(sum.is_product());
    let sum = c.relinearise_and_rescale(&sum).unwrap();
    c.output("z", &sum).unwrap();
    let total = c.finish().ledger.total();
    assert_eq!((total.products, total.relinearisations), (2, 1));
}

#[test]
fn the_summand_of_a_higher_level_takes_the_scale() {
    let set = set("lattigo-n16qp1546");
    let mut c = Circuit::new("cubic", &set);
    let x = c.input("x").unwrap();
    assert_eq!((x.level(), x.scale()), (10, &Scale::power_of_two(40)));
    let square = c.product(&x, &x).unwrap();
    assert!(square.scale() != x.scale());
    let sum = c.add(&x, &square).unwrap();
    assert_eq!((sum.level(), sum.scale()), (square.level(), square.scale()));
    // At one level, somebody has to choose.
    let dropped = c.at(&x, 9).unwrap();
    let error = c.add(&dropped, &square).unwrap_err();
    assert!(matches!(error, Error::Scales { operation: "sum", .. }), "{error}");
    let lower = c.scaled_to(&dropped, 8, square.scale()).unwrap();
    assert!(c.add(&lower, &square).is_ok());
}

#[test]
fn errors_name_the_operation() {
    let set = set("ark");
    let mut c = Circuit::new("mine", &set);
    let x = c.input("x").unwrap();
    let (lowest, low) = (c.at(&x, 1).unwrap(), c.at(&x, 3).unwrap());
    let slots = set.degree().len() / 2;
    let found = [
        c.input("x").unwrap_err(),
        c.input_at("y", 99, Scale::one()).unwrap_err(),
        c.rescale(&lowest).unwrap_err(),
        c.rotate(&x, slots as i64).unwrap_err(),
        c.chebyshev(&low, &[0.0, 0.0, 0.0, 0.0, 1.0]).unwrap_err(),
        c.chebyshev(&x, &[2.0]).unwrap_err(),
        c.bootstrap(&x, BootstrapOptions::default()).unwrap_err(),
        c.linear_transform("m", &x, &Diagonals::new(), Hoisting::Double).unwrap_err(),
        c.linear_transform("m", &x, &Diagonals::from([(0, vec![1.0.into(); 3])]), Hoisting::Double)
            .unwrap_err(),
        c.scaled_to(&lowest, 1, &Scale::one()).unwrap_err(),
    ];
    let expected = [
        "`mine` has a second input `x`",
        "invalid level 99: the set `ark` has levels 1 to 24",
        "the rescale of `mine` at level 1 has no modulus to drop; the lowest level is 2",
        "invalid rotation 512: not from 1 to 511 in either direction",
        "the polynomial of `mine` needs an operand of level 4, found level 3",
        "the polynomial of `mine` is a constant: its degree must be at least 1",
        "the set `ark` has no bootstrap",
        "the linear transform `m` of `mine` has no diagonal",
        "the linear transform `m` of `mine` has diagonals of 3 slots, which do not divide the 512 of the set",
        "the change of scale of `mine` needs an operand of level 2, found level 1",
    ];
    assert_eq!(found.map(|error| error.to_string()), expected);
    c.output("y", &x).unwrap();
    assert_eq!(c.output("y", &x).unwrap_err().to_string(), "`mine` has a second output `y`");
    let setup = Setup { tile: NonZeroUsize::new(2), dataflow: find_dataflow("dc").unwrap(), level: None };
    assert_eq!(
        Circuit::with_setup("mine", &set, setup).unwrap_err().to_string(),
        "the dataflow `dc` has no tiles"
    );
}

#[test]
fn a_bootstrap_of_a_product_is_refused_and_two_bootstraps_have_their_own_plaintexts() {
    let set = set("lattigo-n16qp1546");
    let mut c = Circuit::new("twice", &set);
    let x = c.input("x").unwrap();
    let product = c.multiply(&x, &x);
    let error = c.bootstrap(&product, BootstrapOptions::default()).unwrap_err();
    assert!(error.to_string().contains("rescale it first"), "{error}");
    let mut y = c.at(&x, 1).unwrap();
    for _ in 0..2 {
        y = c.bootstrap(&y, BootstrapOptions::default()).unwrap();
        assert_eq!(y.level(), 10);
        y = c.product(&y, &y).unwrap();
    }
    c.output("y", &y).unwrap();
    let generated = c.finish();
    let one = generate_defined(&find_program("bootstrap").unwrap(), &set, &Options::default()).unwrap();
    let count = |of: &programs::Generated| of.ledger.stage("coeff-to-slot").automorphisms;
    assert_eq!(count(&generated), 2 * count(&one));
    // The diagonals of CoeffToSlot are the same; those of SlotToCoeff bring the scale back.
    let again = generated.inputs.iter().filter(|input| input.label.is_some());
    assert!(again.clone().count() > 0);
    assert!(again.clone().all(|input| input.name.starts_with("slot-to-coeff.")));
}

/// The counts of a transform are those of the formula of double hoisting.
#[test]
fn a_linear_transform_has_the_transforms_of_double_hoisting() {
    let set = set("ark");
    let mut c = Circuit::new("matrix", &set);
    let x = c.input("x").unwrap();
    // 16 diagonals: 4 babies, 4 giants.
    let diagonals: Diagonals = (0..16).map(|d| (d, vec![(d as f64).into(); 512])).collect();
    let y = c.linear_transform("m", &x, &diagonals, Hoisting::Double).unwrap();
    assert_eq!((y.level(), y.scale()), (x.level() - 1, x.scale()));
    c.output("y", &y).unwrap();
    let total = c.finish().ledger.total();
    let (level, special, digits, giants) = (24, 6, 4, 3);
    assert_eq!(total.plaintext_products, 16);
    // (1 + g) mod-ups and the (g + 2) mod-downs of Q P, whose last one divides by q too.
    let expected = (1 + giants) * digits * (level + special) + (giants + 2) * (level + special);
    assert_eq!(total.transforms, expected);
}

/// Each giant rotation but the last saves the mod-down of the first component: l + k transforms.
#[test]
fn compact_giant_steps_save_a_mod_down_each() {
    let set = set("ark");
    let count = |hoisting| {
        let mut c = Circuit::new("matrix", &set);
        let x = c.input("x").unwrap();
        let diagonals: Diagonals = (0..16).map(|d| (d, vec![(d as f64).into(); 512])).collect();
        let y = c.linear_transform("m", &x, &diagonals, hoisting).unwrap();
        c.output("y", &y).unwrap();
        let total = c.finish().ledger.total();
        (total.transforms, total.automorphisms, total.galois_keys())
    };
    let (level, special, giants) = (24, 6, 3);
    let [plain, compact] = [Hoisting::MinKs, Hoisting::Compact].map(count);
    assert_eq!(plain.0 - compact.0, (giants - 1) * (level + special));
    assert_eq!((plain.1, plain.2), (compact.1, compact.2));
}

#[test]
fn operands_of_different_scales_are_refused() {
    let set = set("ark");
    let mut c = Circuit::new("test", &set);
    let level = c.level();
    let [a, b] =
        [40, 41].map(|bits| c.input_at(&format!("x{bits}"), level, Scale::power_of_two(bits)).unwrap());
    let plaintext = c.summand("pt", &b, None);
    let product = c.multiply_add(None, &a, &plaintext).unwrap();
    let found = [
        c.add(&a, &b).unwrap_err(),
        c.subtract(&a, &b).unwrap_err(),
        c.add_plaintext(&a, &plaintext).unwrap_err(),
        c.multiply_add(Some(product), &b, &plaintext).unwrap_err(),
    ];
    let expected =
        [("sum", 40, 41), ("difference", 40, 41), ("sum with a plaintext", 40, 41), ("sum of products", 81, 82)].map(
            |(operation, one, other)| {
                format!(
                    "the {operation} of `test` has operands of the scales 2^{one}.000000 and 2^{other}.000000: multiply one of them by \
                     their quotient first"
                )
            },
        );
    assert_eq!(found.map(|error| error.to_string()), expected);
    // With the quotient, they fit.
    let a = c.multiply_real(&a, 1.0, b.scale());
    assert!(c.add(&a, &b).is_ok());
}

const CUBES: Generator = Generator {
    name: "cubes",
    definition: "y.0, y.1 is the cube of x.0, x.1",
    options: &[&programs::option::LAYERS],
    defaults: &["layers=1"],
    emit: |c, options| {
        let mut x = c.input("x")?;
        for _ in 0..options.count("layers").unwrap_or(1) {
            let square = c.product(&x, &x)?;
            x = c.product(&square, &x)?;
        }
        c.output("y", &x)
    },
};

/// The only test that adds programs: a process does so once.
#[test]
fn a_users_own_program_is_found_by_its_name() {
    let known = Generator { name: "hmult", ..CUBES };
    static KNOWN: std::sync::OnceLock<[Generator; 1]> = std::sync::OnceLock::new();
    let error = programs::add_programs(KNOWN.get_or_init(|| [known])).unwrap_err();
    assert_eq!(error.to_string(), "a second program `hmult`: choose another name");
    let set = set("ark");
    let options = Options::of([("layers", "2")]);
    let ledger = generate_defined(&CUBES, &set, &options).unwrap().ledger;
    assert_eq!(ledger.total().products, 4);
    for (options, expected) in [
        (
            Options::of([("layers", "none")]),
            "invalid value for `layers`: `none` is not a number of at least 1",
        ),
        (Options::of([("hoisting", "double")]), "`cubes` has no option `hoisting`"),
        (
            Options::of([("dataflow", "x")]),
            "invalid value for `dataflow`: `x` is no `dataflow`: there are mp, dc, oc, oct, ocs",
        ),
    ] {
        assert_eq!(generate_defined(&CUBES, &set, &options).unwrap_err().to_string(), expected);
    }
}

#[test]
fn what_a_bootstrap_states_of_its_set_holds_with_fewer_levels_too() {
    let set = set("lattigo-n16qp1546");
    for left in ["1", "3", "10"] {
        let options = Options::of([("levels_out", left)]);
        let program = generate_defined(&find_program("bootstrap").unwrap(), &set, &options).unwrap().program;
        let mut stated = program.parameters().unwrap().clone();
        assert_eq!(check_stated(&stated, &program), Ok(()), "{left}");
        stated.log2_q += 1.0;
        stated.log2_qp += 1.0;
        assert!(check_stated(&stated, &program).unwrap_err().contains("has other values"), "{left}");
    }
}
