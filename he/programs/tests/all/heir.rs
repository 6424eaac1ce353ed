//! Programs of HEIR: what is read, and what is refused.

use programs::Definition;
use programs::heir::{ArgumentKind, Program};
use proptest::prelude::*;
use std::collections::BTreeMap;

const DOT_PRODUCT: &str = include_str!("../heir/dot_product.mlir");
const BOX_BLUR: &str = include_str!("../heir/box_blur.mlir");
const POWERS: &str = include_str!("../heir/powers.mlir");
const MLP: &str = include_str!("../heir/mlp.mlir");

/// The error of a text.
fn error(text: &str) -> String {
    let program = Program::read("p.mlir", text);
    let import = program.and_then(|program| program.import(None, &BTreeMap::new()));
    import.map(|_| ()).unwrap_err().to_string()
}

/// The error of a sample with one place changed.
fn changed(sample: &str, from: &str, to: &str) -> String {
    assert_eq!(sample.matches(from).count(), 1, "{from}");
    error(&sample.replace(from, to))
}

/// The number of the line of a text.
fn line(sample: &str, text: &str) -> usize {
    1 + sample.lines().position(|line| line.contains(text)).unwrap()
}

#[test]
fn a_file_has_moduli_arguments_and_layouts() {
    let program = Program::read("dot_product.mlir", DOT_PRODUCT).unwrap();
    assert_eq!(program.name(), "dot_product");
    let names: Vec<&str> = program.arguments().iter().map(|argument| &*argument.name).collect();
    assert_eq!(names, ["arg0", "arg1"]);
    let import = program.import(None, &BTreeMap::new()).unwrap();
    let set = &import.generated.set;
    assert_eq!(set.degree().get(), 16_384);
    assert_eq!(set.q(), [36_028_797_017_456_641, 35_184_371_138_561, 35_184_372_121_601]);
    assert_eq!(set.p(), [1_152_921_504_607_338_497, 1_152_921_504_608_747_521]);
    assert_eq!(set.digits(), 2);
    assert_eq!(set.security().to_string(), "192");
    assert!(import.given.is_empty());
    assert_eq!(program.pack(1, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]).unwrap()[0][2], 3.0);
    assert_eq!(program.unpack(0, &[vec![0.5; 8]]).unwrap(), [0.5]);
    let error = program.pack(1, &[1.0]).unwrap_err();
    assert!(error.message.contains("1 numbers for the argument 0"), "{error}");
}

/// Clear arguments without numbers, constants without numbers, and a file without the function that encodes
/// them.
#[test]
fn plaintexts_without_numbers_are_inputs() {
    let none = BTreeMap::new();
    let program = Program::read("powers.mlir", POWERS).unwrap();
    assert_eq!(program.arguments()[1].kind, ArgumentKind::Clear { shape: vec![16] });
    let given = |text: &str| Program::read("p.mlir", text).unwrap().import(Some(512), &none).unwrap();
    let import = given(POWERS);
    assert_eq!(import.given, ["site0"]);
    let input = import.generated.inputs.iter().find(|input| input.name == "site0").unwrap();
    assert!(matches!(input.definition, Definition::Given { .. }));
    assert_eq!(input.moduli.len(), 3);
    // As with `--mlir-elide-elementsattrs-if-larger=8`.
    let elided = DOT_PRODUCT.replace("dense<1.000000e-01>", "dense_resource<__elided__>");
    assert_eq!(given(&elided).given, ["site0"]);
    let w = BTreeMap::from([("arg1".to_owned(), vec![0.5; 16])]);
    assert!(program.import(Some(512), &w).unwrap().given.is_empty());
    let foreign = BTreeMap::from([("arg0".to_owned(), vec![0.5; 16])]);
    let error = program.import(Some(512), &foreign).unwrap_err().to_string();
    assert!(error.ends_with("unknown argument `arg0`; the clear arguments are arg1"), "{error}");
    // As with `--symbol-privatize=exclude=powers__preprocessed --symbol-dce`.
    let alone = without(without(POWERS.to_owned(), "\"powers\""), "\"powers__preprocessing\"");
    assert_eq!(given(&alone).given, ["site0", "site1", "site2"]);
}

/// A text without the function of a name.
fn without(text: String, name: &str) -> String {
    let begin = "\n  \"func.func\"";
    let functions: Vec<&str> = text.split(begin).collect();
    let is_other = |function: &&&str| !function.contains(&format!("sym_name = {name}}}"));
    let end = functions.last().unwrap();
    assert!(!end.contains(&format!("sym_name = {name}}}")));
    functions.iter().filter(is_other).copied().collect::<Vec<_>>().join(begin)
}

#[test]
fn other_operations_schemes_and_forms_are_refused_by_name() {
    let at = line(DOT_PRODUCT, "\"ckks.relinearize\"");
    let message = changed(DOT_PRODUCT, "\"ckks.relinearize\"", "\"ckks.relinearise\"");
    let help = "did you mean `ckks.relinearize`? read are operations on ciphertexts of HEIR 2026.11.1";
    assert_eq!(message, format!("p.mlir:{at}:12: unknown operation `ckks.relinearise`; {help}"));
    let message = changed(DOT_PRODUCT, "from_basis = array<i32: 0, 1, 2>", "from_basis = {0, 1, 2}");
    assert!(message.ends_with("expected `array<i64: ..>`, found `{0, 1, 2}`"), "{message}");
    let message = changed(DOT_PRODUCT, "ckks.schemeParam = #ckks", "bgv.schemeParam = #bgv");
    assert!(message.contains("the scheme `bgv`, expected `ckks`; compile with"), "{message}");
    let message = error("module {\n}\n");
    assert!(
        message.starts_with("p.mlir:1:1: D001: expected an operation in quotes, found `module`"),
        "{message}"
    );
    assert!(message.ends_with("heir-opt --mlir-print-op-generic"), "{message}");
    let message = changed(
        DOT_PRODUCT,
        "= #lwe.inverse_canonical_encoding<scaling_factor = 90>",
        "= #lwe.coefficient_encoding<scaling_factor = 90>",
    );
    assert!(message.contains("expected `lwe.inverse_canonical_encoding<..>`"), "{message}");
}

#[test]
fn levels_and_scales_that_do_not_fit_name_the_operation() {
    // The last rescale once more.
    let last = DOT_PRODUCT
        .lines()
        .find(|line| line.contains("\"ckks.rescale\"") && line.ends_with("-> !ct_L0"))
        .unwrap();
    let result = last.trim().split(' ').next().unwrap();
    let again = last.replace(&format!("{result} ="), "%again =").replace("(!ct_L1_1)", "(!ct_L0)");
    let operand = again.split(['(', ')']).nth(1).unwrap();
    let again = again.replace(operand, result);
    let message = error(&DOT_PRODUCT.replace(last, &format!("{last}\n{again}")));
    assert!(
        message.contains("`ckks.rescale`: the rescale of `dot_product` at level 1 has no modulus to drop"),
        "{message}"
    );
    // A sum of a rescaled ciphertext and one that is not.
    let rescale = DOT_PRODUCT
        .lines()
        .find(|line| line.contains("\"ckks.rescale\"") && line.ends_with("-> !ct_L1"))
        .unwrap();
    let names: Vec<&str> =
        rescale.split(['%', ' ', '(', ')']).filter(|part| part.parse::<u32>().is_ok()).collect();
    let sum = format!("    %sum = \"ckks.add\"(%{}, %{}) : (!ct_L1, !ct_L2_1) -> !ct_L1", names[0], names[1]);
    let message = error(&DOT_PRODUCT.replace(rescale, &format!("{rescale}\n{sum}")));
    assert!(message.contains("`ckks.add` of ciphertexts of 2 and 3 moduli with the scales"), "{message}");
    let two = DOT_PRODUCT.replace("(!ct_L2, !ct_L2) -> !ct_L2_D3", "(!ct_L2, !ct_L2) -> !ct_L2_1");
    let message = error(&two.replace("(!ct_L2_D3) -> !ct_L2_1", "(!ct_L2_1) -> !ct_L2_1"));
    assert!(
        message.contains("the result of `ckks.mul` has so many components: 3, and its type says 2"),
        "{message}"
    );
    let message = changed(DOT_PRODUCT, "from_basis = array<i32: 0, 1, 2>", "from_basis = array<i32: 0, 1>");
    assert!(
        message.contains("`from_basis` of `ckks.relinearize` is [0, 1], expected [0, 1, 2]"),
        "{message}"
    );
}

/// A loop that does not end, a function that calls itself, and values that nobody defines.
#[test]
fn programs_that_do_not_end_are_refused() {
    let entry = DOT_PRODUCT.replace("callee = @dot_product__preprocessed", "callee = @dot_product");
    assert!(error(&entry).contains("`dot_product` cannot be called here"), "{}", error(&entry));
    let value = DOT_PRODUCT.lines().find(|line| line.contains("value = 4 : index")).unwrap();
    let name = value.trim().split(' ').next().unwrap();
    let zero = value.replace("value = 4", "value = 0").replace(name, "%step");
    let endless = format!(
        "{value}\n{zero}\n    \"scf.for\"(%step, {name}, %step) ({{\n    ^bb0(%i: index):\n      \"scf.yield\"() : () -> ()\n    }}) : (index, index, index) -> ()"
    );
    let message = error(&DOT_PRODUCT.replace(value, &endless));
    assert!(message.contains("a loop with the step 0, expected at least 1"), "{message}");
    let message = error(&DOT_PRODUCT.replace(value, ""));
    assert!(message.contains(&format!("unknown value `{name}`")), "{message}");
}

/// Nothing of a text is dropped, and nothing is said twice.
#[test]
fn texts_that_contradict_themselves_are_refused() {
    let first = DOT_PRODUCT.lines().find(|line| line.contains("\"tensor.extract\"(%arg12")).unwrap();
    let result = first.trim().split(' ').next().unwrap();
    let end = DOT_PRODUCT.lines().find(|line| line.contains("\"func.return\"")).unwrap();
    let site = "<{element_type = !pt, site_id = 0 : i32}> : (!preprocessing.storage<!pt, !pt1>) -> !pt";
    for (from, to, message) in [
        (first, format!("{first}\n{first}"), format!("a second value `{result}`")),
        (
            end,
            format!("{end}\n    \"ckks.x\"() : () -> ()"),
            "`ckks.x` behind `func.return`, the end of its block".into(),
        ),
        (
            site,
            site.replace("site_id", "site_id = 1 : i32, site_id"),
            "invalid attributes, or one of them twice".into(),
        ),
        (site, site.replace("}>", "}> {site_id = 1 : i32}"), "a second attribute `site_id`".into()),
        (site, site.replace("-> !pt", "-> !pt1"), "is a `!pt1`, and `ckks.add_plain` takes a `!pt`".into()),
        (
            "level = 2 : i64, ring",
            "level = 2 : i64, level = 1 : i64, ring".into(),
            "one of them twice".into(),
        ),
        (
            "dense<1.000000e-01> : tensor<8xf32>",
            "dense<1.000000e-01> : tensor<9xf32>".into(),
            "a constant of the type `tensor<9xf32>`, and its result has `tensor<8xf32>`".into(),
        ),
        (
            "dense<1.000000e-01> : tensor<8xf32>",
            "dense<1.000000e-01> : tensor<-8xf32>".into(),
            "unknown type `-8xf32`".into(),
        ),
        (
            "value = 4 : index",
            "value = 4 : f32".into(),
            "a constant of the type `f32`, and its result has `index`".into(),
        ),
        (
            "scale = 90 : i64",
            "scale = 45 : i64".into(),
            ":40:128: `scale` is 45, and the scaling factor of the encoding 90".into(),
        ),
        (
            "level = 2 : i64",
            "level = 3 : i64".into(),
            "`level` is 3, and Q of `ckks.schemeParam` has 3 moduli, from 0".into(),
        ),
        (
            "level = 2 : i64",
            "level = 1 : i64".into(),
            "`ckks.add_plain` needs a plaintext of the level 2, found 1".into(),
        ),
        (
            "to_ring = #ring_rns_L1_1_x16384",
            "to_ring = #ring_rns_L2_1_x16384".into(),
            "`to_ring` of `ckks.rescale` has 3 moduli, and its result 2".into(),
        ),
        (
            "logN = 14",
            "logN = 13".into(),
            "a ring modulo `<1 + x**16384>`, and `logN` of `ckks.schemeParam` says 1 + x**8192".into(),
        ),
        (
            "#ciphertext_space_L1 = #lwe.ciphertext_space<ring = #ring_rns_L1_1_x16384",
            "#ciphertext_space_L1 = #lwe.ciphertext_space<ring = #ring_rns_L0_1_x16384".into(),
            "a ring of 1 moduli, and the modulus 1 of the chain is the last".into(),
        ),
        (
            "!rns_L1 = !rns.rns<!Z36028797017456641_i64, !Z35184371138561_i64>",
            "!rns_L1 = !rns.rns<!Z36028797017456641_i64, !Z35184372121601_i64>".into(),
            "a modulus that differs from Q of `ckks.schemeParam`".into(),
        ),
        (
            "dense<1.000000e-01>",
            "dense<1.0e30>".into(),
            "`ckks.add_plain` of 1e30 with the scale 2^90.000000 is beyond its moduli, 2^145".into(),
        ),
    ] {
        let found = error(&DOT_PRODUCT.replacen(from, &to, 1));
        assert!(found.contains(&message), "{to}: {found}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Damaged files are errors, or other programs.
    #[test]
    fn damaged_files_do_not_panic(
        sample in prop::sample::select(vec![DOT_PRODUCT, BOX_BLUR, POWERS, MLP]),
        damages in prop::collection::vec((any::<prop::sample::Index>(), 0_usize..40, "[ -~]{0,6}"), 1..4),
    ) {
        let mut text = sample.to_owned();
        for (place, length, inserted) in damages {
            let begin = place.index(text.len());
            let end = (begin + length).min(text.len());
            text.replace_range(begin..end, &inserted);
        }
        let program = Program::read("p.mlir", &text);
        let _ = program.and_then(|program| program.import(Some(512), &BTreeMap::new()));
    }
}
