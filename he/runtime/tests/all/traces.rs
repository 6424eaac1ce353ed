//! Recorded programs give the recorded results on the RPU.
//!
//! With the environment variable `RING_PROGRAM_TRACES`, the same test runs on all traces of a folder.

use ring_program::data::Words;
use ring_program::{Inputs, Interface, LimbId, Manifest, compression, read_file};
use runtime::{Keys, Runtime};
use serde_json::Value;
use sha2::{Digest, Sha256};
use sim::Machine;
use std::collections::HashMap;
use std::io::Read;
use std::path::Path;
use std::time::Instant;

/// The rule of the records for inputs that are not recorded.
fn seeded(id: LimbId, index: usize) -> u64 {
    let mut x = (id.0 << 32).wrapping_add(index as u64).wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

fn digest(words: &Words) -> String {
    let mut hash = Sha256::new();
    words.iter().for_each(|word| hash.update(u64::try_from(word).unwrap().to_le_bytes()));
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Executes the trace `NAME.fhetch.xz` in a folder and compares all results with `NAME.json.xz`.
fn check(folder: &Path, name: &str) {
    let path = |ending: &str| folder.join(format!("{name}{ending}"));
    let manifest = Manifest::read_file(&path(".json.xz")).unwrap();
    let mut text = String::new();
    compression::open(&path(".json.xz")).unwrap().read_to_string(&mut text).unwrap();
    let record: Value = serde_json::from_str(&text).unwrap();
    let mut moduli = HashMap::new();
    for (modulus, ids) in record["input_moduli"].as_object().unwrap() {
        let modulus = u128::from_str_radix(&modulus[2..], 16).unwrap();
        moduli.extend(ids.as_array().unwrap().iter().map(|id| (LimbId(id.as_u64().unwrap()), modulus)));
    }
    let program = read_file(&path(".fhetch.xz"), Interface::Manifest(&manifest)).unwrap();
    let n = program.degree().len();
    let moduli = &moduli;
    let mut inputs = Inputs::new(&program);
    for group in program.inputs() {
        // Many keys are never read, and their moduli are unknown.
        let id = |index: usize| program.limbs().id(group.limbs[index]);
        let limb = move |index: usize| {
            let id = id(index);
            (0..n).map(|index| u128::from(seeded(id, index)) % moduli[&id]).collect()
        };
        inputs.make(&group.name, limb).unwrap();
    }
    let machine = Machine::rpu_128x128();
    let start = Instant::now();
    let runtime =
        Runtime::new(&program, &machine, Keys::Streamed).unwrap_or_else(|error| panic!("{name}: {error}"));
    let generated = start.elapsed();
    let start = Instant::now();
    let outputs = runtime.execute(&inputs).unwrap_or_else(|error| panic!("{name}: {error}"));
    let launches = runtime.launches();
    println!(
        "{name}: {} operations, {} lifted, {} launches of {} shapes, generated in {generated:.2?}, executed in {:.2?}",
        program.operations().len(),
        launches.lifted(),
        launches.launches.len(),
        launches.shapes.len(),
        start.elapsed()
    );
    let replayed = runtime.replay(&runtime.recorded().unwrap(), &inputs);
    assert!(replayed.as_ref() == Ok(&outputs), "{name}: {:?}", replayed.err());
    for (group, limbs) in program.outputs().iter().zip(&outputs) {
        let found: Vec<String> = limbs.iter().map(digest).collect();
        assert_eq!(
            record["seeded_output_sha256"][&group.name],
            serde_json::json!(found),
            "{} of {name}",
            group.name
        );
    }
}

/// Executes all traces of a folder that have a record.
fn check_all(folder: &Path) {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let names = files.filter_map(|name| Some(name.to_str()?.strip_suffix(".fhetch.xz")?.to_owned()));
    let mut names: Vec<String> =
        names.filter(|name| folder.join(format!("{name}.json.xz")).exists()).collect();
    names.sort();
    assert!(!names.is_empty());
    names.iter().for_each(|name| check(folder, name));
}

#[test]
fn recorded_programs_give_the_recorded_results() {
    check_all(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../ring-program/tests/traces"));
}

#[test]
fn traces_of_a_folder_give_the_recorded_results() {
    if let Some(folder) = std::env::var_os("RING_PROGRAM_TRACES") {
        check_all(Path::new(&folder));
    }
}
