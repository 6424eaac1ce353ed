//! Products of OpenFHE's ciphertexts, residue by residue.
//!
//! The environment variable `RING_PROGRAM_PRODUCTS` names a folder with programs
//! `product-NAME.fhetch`, their manifests `product-NAME.json`, and the sets `NAME.json.xz`.

use ring_program::data::Words;
use ring_program::{Inputs, Interface, Manifest, compression, execute, read_file};
use serde_json::Value;
use std::path::Path;
use std::time::Instant;

/// The limbs of a polynomial of a set: one string of hexadecimal numbers of equal length each.
fn limbs(set: &Value, name: &str, n: usize) -> Vec<Words> {
    let word = |digits: &[u8]| u128::from_str_radix(std::str::from_utf8(digits).unwrap(), 16).unwrap();
    let limb = |text: &Value| -> Words {
        let text = text.as_str().unwrap().as_bytes();
        text.chunks_exact(text.len() / n).map(word).collect()
    };
    set[name]["data"].as_array().unwrap().iter().map(limb).collect()
}

#[test]
fn products_equal_those_of_openfhe() {
    let Some(folder) = std::env::var_os("RING_PROGRAM_PRODUCTS") else { return };
    let mut tested = 0;
    for path in std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
        let name = path.file_name().unwrap().to_str().unwrap();
        let Some(set) = name.strip_prefix("product-").and_then(|name| name.strip_suffix(".fhetch")) else {
            continue;
        };
        let manifest = Manifest::read_file(&path.with_extension("json")).unwrap();
        let program = read_file(&path, Interface::Manifest(&manifest)).unwrap();
        let n = program.degree().len();
        let set_file = compression::open(&Path::new(&folder).join(format!("{set}.json.xz"))).unwrap();
        let set: Value = serde_json::from_reader(set_file).unwrap();

        let mut inputs = Inputs::new(&program);
        for group in program.inputs() {
            inputs.set(&group.name, limbs(&set, &group.name, n)).unwrap();
        }
        let start = Instant::now();
        let outputs = execute(&inputs).unwrap();
        println!("{name}: {} operations in {:.2?}", program.operations().len(), start.elapsed());
        for (group, output) in program.outputs().iter().zip(&outputs) {
            assert!(*output == limbs(&set, &group.name, n), "{} of {name}", group.name);
        }
        tested += 1;
    }
    assert!(tested > 0);
}
