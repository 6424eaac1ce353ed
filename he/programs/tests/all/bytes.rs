//! The bytes of generated programs, by digest. A change that moves one says why.

use programs::{Options, ParameterSet, SETS, all_programs, comment, find_program, generate};
use ring_program::Manifest;
use std::fmt::Write as _;

/// A small degree: lines do not depend on it, but for rotations.
const N: u64 = 256;

/// Options of a bootstrap, one form after the other.
const BOOTSTRAPS: [&[(&str, &str)]; 11] = [
    &[("hoisting", "single")],
    &[("hoisting", "none")],
    &[("hoisting", "horner")],
    &[("hoisting", "min-ks")],
    &[("hoisting", "compact")],
    &[("rescale", "merged")],
    &[("slots", "64")],
    &[("slot_to_coeff", "first"), ("slots", "64"), ("rescale", "merged"), ("hoisting", "horner")],
    &[("levels_out", "2"), ("intermediates", "outputs")],
    &[("meta_bits", "14")],
    &[("dataflow", "mp"), ("slot_to_coeff", "first")],
];

/// The sets with all options: one modulus in a digit, and several.
const EXAMPLES: [&str; 2] = ["digits", "lattigo-n16qp1546"];

/// Options of the other programs.
const OTHERS: [&[(&str, &str)]; 3] = [&[("level", "4")], &[("dataflow", "dc")], &[("dataflow", "ocs")]];

/// A line for a program: the digests of text and manifest, and the number of lines; or the error.
fn line(table: &mut String, (name, set): (&str, &ParameterSet), values: &[(&str, &str)]) {
    let program = find_program(name).expect("a program");
    let options = Options::of(values.iter().copied());
    let words: Vec<String> = values.iter().map(|(key, value)| format!(" {key}={value}")).collect();
    let label = format!("{name} {}{}", set.name(), words.concat());
    let _ = match generate(&program, set, &options) {
        Err(error) => writeln!(table, "{label}: {error}"),
        Ok(generated) => {
            let mut text = Vec::new();
            let comment = comment(&program, set, &options);
            generated.write(&comment, &mut text).expect("memory takes all");
            let digest = |bytes: &[u8]| blake3::hash(bytes).to_hex()[..16].to_owned();
            let lines = text.iter().filter(|&&byte| byte == b'\n').count();
            let manifest = Manifest::of(&generated).to_json();
            writeln!(table, "{label}: {} {} {lines}", digest(&text), digest(manifest.as_bytes()))
        }
    };
}

#[test]
fn programs_have_the_committed_bytes() {
    let mut table = "# Digests of text and manifest, and lines, of generated programs.\n".to_owned();
    for (name, _) in SETS {
        let set = ParameterSet::built_in(name, Some(N)).expect("a set").expect("a valid set");
        line(&mut table, ("hmult", &set), &[]);
        if set.bootstrap().is_some() {
            line(&mut table, ("bootstrap", &set), &[]);
        }
        if EXAMPLES.contains(name) {
            for program in ["keyswitch", "hmult", "hrot", "hoisted-rotations", "layers"] {
                OTHERS.iter().for_each(|values| line(&mut table, (program, &set), values));
            }
            [&[][..], OTHERS[0]].into_iter().for_each(|values| line(&mut table, ("rescale", &set), values));
        }
        if EXAMPLES.contains(name) && set.bootstrap().is_some() {
            BOOTSTRAPS.iter().for_each(|values| line(&mut table, ("bootstrap", &set), values));
        }
    }
    let large = |name| ParameterSet::built_in(name, Some(2048)).expect("a set").expect("a valid set");
    line(&mut table, ("digits", &large("digits")), &[]);
    for (set, values) in [
        ("lattigo-n16qp1546", &[("iterations", "1")][..]),
        ("lattigo-n16qp1767", &[("iterations", "2"), ("momentum", "nesterov")]),
    ] {
        line(&mut table, ("logistic-regression", &large(set)), values);
    }
    line(&mut table, ("helr", &large("lattigo-n16qp1767")), &[("iterations", "2"), ("blocks", "2")]);
    let resnet = ParameterSet::built_in("resnet20", None).expect("a set").expect("a valid set");
    line(&mut table, ("resnet20", &resnet), &[("layers", "1")]);
    for program in all_programs() {
        assert!(table.contains(&format!("\n{} ", program.name)), "{} has no line", program.name);
    }
    diagnostic::snapshot::fresh(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/bytes.txt"), table);
}
