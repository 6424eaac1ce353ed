//! Counts of bootstraps against those that others print or derive; and what sets refuse.

use programs::{Definition, Error, Generated, Options, ParameterSet, Stage, find_program, generate_defined};
use std::collections::BTreeSet;

fn generated(set: &ParameterSet, options: &Options) -> Result<Generated, Error> {
    generate_defined(&find_program("bootstrap").unwrap(), set, options)
}

fn built_in(name: &str, n: Option<u64>) -> ParameterSet {
    ParameterSet::built_in(name, n).unwrap().unwrap_or_else(|errors| panic!("{errors}"))
}

/// Gigabytes of keys in words of 8 bytes, again for each switch.
fn gigabytes(stage: &Stage, set: &ParameterSet) -> f64 {
    (stage.key_limbs * set.degree().len() * 8) as f64 / 1e9
}

/// OpenFHE 1.5.1, recorded by FHE_Accelerator_Sim: N = 2^14, 8,192 slots, level budget {3, 3}, dnum 3.
#[test]
fn linear_transforms_of_openfhe_have_its_counts() {
    let set = built_in("openfhe-n14-33", None);
    let Generated { ledger, .. } = generated(&set, &Options::default()).unwrap();
    let stage = ledger.stage("coeff-to-slot");
    assert_eq!((stage.level, stage.automorphisms), (30, 46));
    // 42 rotations, and the conjugation.
    assert_eq!(stage.galois_keys(), 42 + 1);
    // OpenFHE makes and transforms the monomial X^(n/2) at 28 limbs. Ours is an input.
    assert_eq!(stage.transforms + 28, 2_419);
    assert!((gigabytes(&stage, &set) - 1.45).abs() < 0.005);
    let stage = ledger.stage("slot-to-coeff");
    assert_eq!((stage.level, stage.automorphisms, stage.galois_keys()), (14, 45, 44));
    // OpenFHE leaves the last rescale, at 12 limbs, to the next operation.
    assert_eq!(stage.transforms, 1_025 + 2 * 12);
    assert!((gigabytes(&stage, &set) - 0.57).abs() < 0.005);
}

/// Two matrices of SlotToCoeff that share one modulus both work at four limbs, and one rescale follows. The
/// counts derived from Lattigo's algorithm have the second matrix at three limbs, after a rescale of its own.
#[test]
fn matrices_that_share_a_modulus_both_work_above_it() {
    let set = built_in("lattigo-n15qp768", None);
    let stage = generated(&set, &Options::default()).unwrap().ledger.stage("slot-to-coeff");
    assert_eq!((stage.level, stage.automorphisms), (4, 52));
    // Of 15 giant rotations: key switches of two digits, all mod-downs, and one more digit raised.
    let (giants, special) = (15, set.p().len());
    let matrix = |limbs: usize| (1 + giants) * 2 * (limbs + special) + (giants + 2) * (limbs + special);
    let rescale = |limbs: usize| 2 * limbs;
    assert_eq!(matrix(4) + rescale(4) + matrix(3) + rescale(3), 553);
    assert_eq!(stage.transforms, 2 * matrix(4) + rescale(4));
    assert_eq!(stage.transforms, 596);
}

/// Cheddar's split of 15 stages is 4, 3, 4, 4 and 5, 5, 5; its rotations are as many as Lattigo's.
#[test]
fn cheddars_steps_have_its_rotations() {
    let set = built_in("cheddar-40", None);
    let log2_qp = set.parameters().log2_qp;
    assert!((log2_qp - 1637.0).abs() < 0.1, "{log2_qp}");
    let Generated { ledger, program, .. } = generated(&set, &Options::default()).unwrap();
    let rotations = ["coeff-to-slot", "slot-to-coeff"].map(|name| ledger.stage(name).automorphisms);
    // The conjugation is in the first; what the pre-rotations leave is one rotation of each.
    assert_eq!(rotations, [32 + 1 + 1, 38 + 1]);
    // From level 25 to 10, which have 26 and 11 limbs.
    assert_eq!(program.outputs()[0].limbs.len(), 11);
}

/// Counts that were derived from Lattigo's algorithms.
///
/// EvalMod has 12 transforms less: T_6 is 2 T_4 T_2 - T_2, one product at a lower level than Lattigo's T_3
/// and T_6, and the leading part of the polynomial is divided once more. The mod-raise has fewer, since the
/// switch to the sparse secret has one special modulus, and the values modulo q_0 stay as they are.
#[test]
fn bootstraps_of_lattigo_have_the_derived_counts() {
    for (name, to_slots, eval_mod, to_coefficients, raise) in [
        ("lattigo-n16qp1546", (33, 4_588), 3_934, (38, 1_755), 135),
        ("lattigo-n16qp1767", (33, 5_395), 4_842, (38, 2_274), 157),
    ] {
        let set = built_in(name, None);
        let Generated { ledger, .. } = generated(&set, &Options::default()).unwrap();
        let stage = ledger.stage("coeff-to-slot");
        assert_eq!((stage.automorphisms, stage.transforms), to_slots, "{name}");
        let stage = ledger.stage("eval-mod");
        assert_eq!((stage.products, stage.relinearisations), (24, 22), "{name}");
        assert_eq!(stage.transforms + 12, eval_mod, "{name}");
        let stage = ledger.stage("slot-to-coeff");
        assert_eq!((stage.automorphisms, stage.transforms), to_coefficients, "{name}");
        let special = set.p().len();
        let stage = ledger.stage("mod-raise");
        assert_eq!(stage.transforms + 3 * (1 + special) - 3 * 2 + 2, raise, "{name}");
        let total = ledger.total();
        // 47 rotations and the conjugation.
        assert_eq!((total.automorphisms, total.galois_keys()), (71, 48), "{name}");
    }
}

#[test]
fn the_probability_of_failure_is_that_of_the_secret() {
    let log2 = |weight, range| programs::Failure { weight, range, degree: 1 << 16 }.log2_probability();
    // Lattigo prints the first one.
    for (weight, range, expected) in [
        (32, 16, -138.7),
        (32, 15, -86.4),
        (32, 12, -34.1),
        (64, 16, -24.0),
        (192, 25, -15.6),
        (192, 28, -23.0),
    ] {
        assert!((log2(weight, range) - expected).abs() < 0.5, "{weight} {range}: {}", log2(weight, range));
    }
    assert!((log2(2 * (1 << 16) / 3, 512) + 39.0).abs() < 1.0, "{}", log2(2 * (1 << 16) / 3, 512));
    assert_eq!(log2(8, 5), f64::NEG_INFINITY);
    let text = |weight, range| programs::Failure { weight, range, degree: 512 }.to_string();
    assert!(text(32, 16).contains(": one of 512 coefficients is beyond it with the probability 2^-14"));
    // A sum over all coefficients, which would be above 1.
    assert!(text(32, 2).ends_with("one of 512 coefficients is beyond it with a probability of at most 1"));
    assert!(text(8, 5).ends_with("none of 512 coefficients can be beyond it"), "{}", text(8, 5));
}

#[test]
fn every_input_has_a_definition_with_the_moduli_of_its_limbs() {
    let set = built_in("lattigo-n16qp1546", Some(2048));
    let Generated { program, inputs, .. } = generated(&set, &Options::default()).unwrap();
    let names: BTreeSet<&str> = inputs.iter().map(|input| input.name.as_str()).collect();
    assert_eq!(names.len(), program.inputs().len());
    for (group, input) in program.inputs().iter().zip(&inputs) {
        assert_eq!((&group.name, group.limbs.len()), (&input.name, input.moduli.len()));
        if let Definition::Plaintext { slots, .. } = &input.definition {
            assert!(slots.values().iter().any(|slot| slot.norm() > 0.0), "{}", input.name);
        }
    }
    for name in ["relin.b.0", "galois.4095.a.4", "switch.dense-sparse.b.0", "switch.sparse-dense.a.4"] {
        assert!(names.contains(name), "{name}");
    }
}

#[test]
fn a_merged_rescale_saves_its_transforms() {
    let set = built_in("lattigo-n16qp1546", Some(2048));
    let separate = generated(&set, &Options::default()).unwrap().ledger.total();
    let options = Options::of([("rescale", "merged")]);
    let merged = generated(&set, &options).unwrap().ledger.total();
    assert!(merged.transforms < separate.transforms);
    assert_eq!(merged.automorphisms, separate.automorphisms);
}

/// A matrix of few diagonals has no baby rotations, and then no digits to raise.
#[test]
fn digits_that_are_raised_once_cost_no_more_than_rotations_by_themselves() {
    let set = built_in("lattigo-n16qp1546", Some(512));
    let [single, none] = ["single", "none"].map(|hoisting| {
        let Generated { ledger, program, .. } =
            generated(&set, &Options::of([("hoisting", hoisting)])).unwrap();
        let regions = program.regions().as_slice();
        assert!(regions.iter().all(|region| region.name.trim_end() == &*region.name), "{hoisting}");
        ledger.total()
    });
    assert!(single.transforms < none.transforms, "{} {}", single.transforms, none.transforms);
    assert_eq!(single.automorphisms, none.automorphisms);
}

#[test]
fn a_bootstrap_needs_a_set_with_room_for_it() {
    let error = generated(&built_in("ark", Some(512)), &Options::default()).unwrap_err();
    assert_eq!(error.to_string(), "the set `ark` has no bootstrap");
    let options = Options::of([("level", "15")]);
    let error = generated(&built_in("lattigo-n16qp1546", Some(512)), &options).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the set `lattigo-n16qp1546` has no room for `bootstrap` at level 15: it uses up 15 levels and must leave 1"
    );
    let lowest = Options::of([("level", "16")]);
    let lowest = generated(&built_in("lattigo-n16qp1546", Some(512)), &lowest).unwrap();
    assert_eq!(lowest.program.outputs()[0].limbs.len(), 1);
}

/// Squares double the digits of an exact scale. With 22 layers that would be no number that a computer holds.
#[test]
fn scales_of_many_layers_have_few_digits() {
    let options = Options::of([("rotations", "1")]);
    for name in ["ark", "bts3"] {
        let set = built_in(name, Some(2_048));
        let generated = generate_defined(&find_program("layers").unwrap(), &set, &options).unwrap();
        let last = &generated.scales["out"];
        assert!((-1.0..=0.0).contains(&(last.log2() / 60.0)), "{name}: {last}");
    }
}
