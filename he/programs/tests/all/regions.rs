//! Regions, moduli of limbs and purposes of keys of generated programs.

use programs::{Generated, Options, ParameterSet, find_program, generate_defined};
use ring_program::reduction::{InputModulus, input_moduli};
use ring_program::{Interface, Manifest, Operation, read};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

fn generated(name: &str, set: &str, n: u64, options: &[&str]) -> Generated {
    let set = ParameterSet::built_in(set, Some(n)).expect("a built-in set").unwrap();
    let options = Options::of_assignments(options.iter().map(|&text| text.to_owned())).unwrap();
    generate_defined(&find_program(name).unwrap(), &set, &options).unwrap()
}

/// Programs of all kinds: with and without functions.
fn all() -> Vec<(&'static str, Generated)> {
    vec![
        ("hmult", generated("hmult", "ark", 512, &[])),
        ("keyswitch", generated("keyswitch", "ark", 512, &[])),
        ("hrot", generated("hrot", "ark", 512, &["level=3"])),
        ("rescale", generated("rescale", "ark", 512, &[])),
        ("layers", generated("layers", "ark", 512, &["layers=2"])),
        ("bootstrap", generated("bootstrap", "lattigo-n16qp1546", 512, &[])),
        ("bootstrap", generated("bootstrap", "lattigo-n15qp768", 512, &["hoisting=min-ks", "slots=64"])),
        ("digits", generated("digits", "ark", 1024, &[])),
        (
            "helr",
            generated(
                "helr",
                "lattigo-n16qp1767",
                512,
                &["iterations=4", "features=16", "slots=16", "blocks=2"],
            ),
        ),
    ]
}

#[test]
fn every_line_belongs_to_an_operation() {
    for (name, Generated { program, .. }) in all() {
        let texts = program.functions().iter().map(|function| function.body());
        for text in texts.chain([&program].into_iter().filter(|program| program.functions().is_empty())) {
            for (lines, region) in text.regions().segments(text.own_lines()) {
                let owner = region.map(|region| text.regions().owner(region)).unwrap_or_default();
                assert!(!owner.operations.is_empty(), "{name}: lines {lines:?} have no operation, {owner:?}");
            }
        }
    }
}

/// The ledger counts transforms as they are emitted, and stages by name.
#[test]
fn transforms_of_stages_are_those_of_the_ledger() {
    for (name, Generated { program, ledger, .. }) in all() {
        let stages: BTreeSet<&str> = ledger.stages().iter().map(|stage| &*stage.name).collect();
        if stages.len() < 2 {
            continue;
        }
        let flat = program.flat();
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for (lines, region) in flat.regions().segments(flat.own_lines()) {
            let owner = region.map(|region| flat.regions().owner(region)).unwrap_or_default();
            let transform =
                |operation: &&Operation| matches!(operation, Operation::Ntt(_) | Operation::Intt(_));
            let transforms = flat.operations()[lines].iter().filter(transform).count();
            match owner.stages.into_iter().find(|stage| stages.contains(stage)) {
                Some(stage) => *counts.entry(stage).or_default() += transforms,
                // The point of a training, before its first stage.
                None => assert_eq!(transforms, 0, "{name}"),
            }
        }
        let expected = ledger.stages().iter().map(|stage| (&*stage.name, stage.transforms)).collect();
        assert_eq!(counts, expected, "{name}");
    }
}

#[test]
fn iterations_and_matrices_are_stages() {
    let helr = &all().pop().unwrap().1.program;
    let names: Vec<&str> = helr.regions().as_slice().iter().map(|region| &*region.name).collect();
    assert_eq!(names, ["iteration 1", "iteration 2", "bootstrap 1", "iteration 3", "iteration 4"]);
    let bootstrap = generated("bootstrap", "lattigo-n16qp1546", 512, &[]).program;
    let stages: BTreeSet<Vec<&str>> = (0..bootstrap.own_lines())
        .filter_map(|line| Some(bootstrap.regions().owner(bootstrap.regions().innermost(line)?).stages))
        .collect();
    assert!(stages.contains(&vec!["coeff-to-slot", "coeff-to-slot 2"]), "{stages:?}");
    assert!(stages.contains(&vec!["eval-mod"]), "{stages:?}");
    let rotation = generated("hrot", "ark", 512, &["rotations=8"]).program;
    assert_eq!(&*rotation.regions().as_slice()[0].name, "rotation by 8");
}

#[test]
fn limbs_have_the_moduli_that_lines_use() {
    for (name, Generated { program, inputs, .. }) in all() {
        let flat = program.flat();
        let moduli = input_moduli(&flat);
        for (group, input) in program.inputs().iter().zip(&inputs) {
            let declared = group.moduli.as_ref().expect("generators know the moduli");
            let values: Vec<_> =
                declared.iter().map(|index| index.map(|index| program.moduli().value(index))).collect();
            let known = input.moduli.iter().map(|&q| program.moduli().find(q).map(|_| q)).collect::<Vec<_>>();
            assert_eq!(values, known, "{name}: {}", group.name);
            for (limb, &declared) in group.limbs.iter().zip(declared) {
                if let Some(InputModulus::Residues(used)) = moduli[limb.index()] {
                    assert_eq!(Some(used), declared, "{name}: {}", group.name);
                }
            }
        }
        for group in flat.outputs() {
            for (limb, &declared) in group.limbs.iter().zip(group.moduli.as_ref().unwrap()) {
                let last = flat
                    .operations()
                    .iter()
                    .rev()
                    .find(|operation| ring_program::Shape::destination(*operation) == *limb);
                assert_eq!(last.and_then(ring_program::Shape::modulus), declared, "{name}: {}", group.name);
            }
        }
        // All of it survives the manifest, and lint agrees.
        let manifest = Manifest::parse("", &Manifest::of(&program).to_json(), Path::new("")).unwrap();
        let again = read("", program.to_text().as_bytes(), Interface::Manifest(&manifest)).unwrap();
        assert_eq!(Manifest::of(&again).to_json(), Manifest::of(&program).to_json(), "{name}");
        assert_eq!(again.regions(), program.regions(), "{name}");
    }
}

#[test]
fn keys_say_what_they_do() {
    let program = generated("layers", "ark", 512, &["layers=1", "rotations=1,-2"]).program;
    let keys: Vec<(&str, &str)> =
        program.keys().iter().map(|(name, purpose)| (&**name, &**purpose)).collect();
    assert_eq!(
        keys,
        [
            ("evk", "from s^2 to s, for products"),
            ("evk-2", "from s to s(X^(1/41)), for a rotation by 254"),
            ("evk1", "from s to s(X^(1/5)), for a rotation by 1"),
        ]
    );
}
