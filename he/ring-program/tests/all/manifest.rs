//! Manifests of programs.

use ring_program::shape::Unary;
use ring_program::{Builder, Interface, LimbId, Manifest, Operation, read};
use std::collections::BTreeMap;
use std::path::Path;

fn parse(text: &str) -> Manifest {
    Manifest::parse("m.json", text, Path::new("")).unwrap()
}

#[test]
fn a_bare_manifest_has_what_the_meaning_needs() {
    let bare = r#""ring_dimension": 512, "inputs": {"evk": [1, 2]}, "outputs": {"y": [3]}, "seeded": [1]"#;
    let parameters = r#"{"set": "s", "log2_q": 30.0, "log2_p": 15.0, "log2_qp": 45.0, "security": "none",
        "key_switch_noise_bits": 3.0}"#;
    let whole = format!(
        r#"{{"title": "a sum", {bare}, "parameters": {parameters}, "keys": {{"evk": "for sums"}},
            "moduli": {{"inputs": {{"evk": [1, 1]}}}}, "regions": [{{"lines": [0, 1], "stage": "a"}}]}}"#
    );
    let (whole, bare) = (parse(&whole), parse(&format!("{{{bare}}}")));
    assert_eq!(whole.file(), "m.json");
    assert_ne!(whole.to_json(), bare.to_json());
    assert_eq!(whole.bare().to_json(), bare.to_json());
}

/// A program that another program builds, with its manifest, against the program that its text is.
#[test]
fn purposes_and_moduli_go_into_the_manifest_and_come_back() {
    let keys = BTreeMap::from([("key.1".to_owned(), "for sums".to_owned())]);
    let mut builder = Builder::new(512).unwrap();
    let m = builder.add_modulus(0x3001).unwrap();
    let [a, d] = [1, 3].map(|id| builder.limb(LimbId(id)));
    builder.declare_input("key.1.b.0", vec![a]);
    builder.declare_keys(keys.clone());
    builder.push(Operation::Negate(Unary { d, a, m })).unwrap();
    let mut program = builder.finish(None).unwrap();
    program.set_moduli(vec![vec![Some(m)]], vec![vec![Some(m)]]);
    let manifest = parse(&Manifest::of(&program).to_json());
    let text = "modulus_count 2\nm[0] 0xFFFFFFFFFFFFFFFF\nm[1] 0x3001\nsr_negp %3, %1, m=1\nhalt\n";
    let again = read("p.fhetch", text.as_bytes(), Interface::Manifest(&manifest)).unwrap();
    assert_eq!(*again.keys(), keys);
    assert_eq!(again.inputs()[0].moduli, Some(vec![Some(m)]));
    assert_eq!(again, program);
}
