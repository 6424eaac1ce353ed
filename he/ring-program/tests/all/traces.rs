//! Recorded programs give the recorded results.
//!
//! `tests/traces` has a few small ones. With the environment variable `RING_PROGRAM_TRACES`, the
//! same test runs on all traces of a folder.

use ring_program::data::Words;
use ring_program::{
    Code, Inputs, Interface, Limb, LimbId, Manifest, RingProgram, compression, execute, lint, read_file,
};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// What a `.json.xz` file says about its trace.
struct Record {
    manifest: Manifest,
    value: Value,
}

impl Record {
    fn read(path: &Path) -> Self {
        let mut text = String::new();
        compression::open(path).unwrap().read_to_string(&mut text).unwrap();
        Self { manifest: Manifest::read_file(path).unwrap(), value: serde_json::from_str(&text).unwrap() }
    }

    /// The moduli of the inputs.
    fn moduli(&self) -> HashMap<LimbId, u128> {
        let mut moduli = HashMap::new();
        for (modulus, ids) in self.value["input_moduli"].as_object().unwrap() {
            let modulus = u128::from_str_radix(&modulus[2..], 16).unwrap();
            moduli.extend(ids.as_array().unwrap().iter().map(|id| (LimbId(id.as_u64().unwrap()), modulus)));
        }
        moduli
    }

    /// The digests of an output's limbs.
    fn digests(&self, results: &str, output: &str) -> Vec<String> {
        let digests = self.value[results][output].as_array().unwrap();
        digests.iter().map(|digest| digest.as_str().unwrap().to_owned()).collect()
    }
}

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

fn set_all(inputs: &mut Inputs<'_>, words: impl Fn(LimbId) -> Words) {
    let program = inputs.program();
    for group in program.inputs() {
        let words = |&limb: &Limb| {
            // Many keys are never read, and their moduli are unknown.
            let id = program.limbs().id(limb);
            if inputs.is_needed(limb) { words(id) } else { Words::zeros(program.degree().len()) }
        };
        let limbs: Vec<Words> = group.limbs.iter().map(words).collect();
        inputs.set(&group.name, limbs).unwrap();
    }
}

fn compare(program: &RingProgram, record: &Record, results: &str, outputs: &[Vec<Words>]) {
    for (group, limbs) in program.outputs().iter().zip(outputs) {
        let found: Vec<String> = limbs.iter().map(digest).collect();
        assert_eq!(found, record.digests(results, &group.name), "{results} of {}", group.name);
    }
}

/// Executes the trace `NAME.fhetch.xz` in a folder and compares all results with `NAME.json.xz`.
fn check(folder: &Path, name: &str) {
    let start = Instant::now();
    let path = |ending: &str| folder.join(format!("{name}{ending}"));
    let record = Record::read(&path(".json.xz"));
    let program = read_file(&path(".fhetch.xz"), Interface::Manifest(&record.manifest)).unwrap();
    let read = start.elapsed();

    // Recordings have unread keys and results, but neither mixed forms nor mixed moduli. The format's example
    // computes nothing that has a meaning.
    let findings = lint(&program);
    let doubtful = findings.iter().filter(|finding| finding.fault.code != Code::Unread).count();
    assert_eq!(doubtful, if name.starts_with("niobium_example") { 5 } else { 0 }, "{name}: {findings:?}");

    let moduli = record.moduli();
    let mut inputs = Inputs::new(&program);
    for limb in program.limbs().iter().filter(|&limb| inputs.is_needed(limb)) {
        // Inputs that are only copied have no modulus.
        let Some(modulus) = inputs.modulus(limb) else { continue };
        assert_eq!(program.moduli().value(modulus.modulus()), moduli[&program.limbs().id(limb)]);
    }
    let n = program.degree().len();
    set_all(&mut inputs, |id| (0..n).map(|index| u128::from(seeded(id, index)) % moduli[&id]).collect());
    let start = Instant::now();
    compare(&program, &record, "seeded_output_sha256", &execute(&inputs).unwrap());
    println!(
        "{name}: {} operations, read in {read:.2?}, executed in {:.2?}",
        program.operations().len(),
        start.elapsed()
    );
    if path(".data.json.xz").exists() {
        check_recorded(&program, &record, &path(".data.json.xz"));
    }
    check_niobium(&program, &path(".fhetch.xz"), &path(".replay.json"));
}

/// Executes a trace on the data of its recording.
fn check_recorded(program: &RingProgram, record: &Record, path: &Path) {
    let data: Value = serde_json::from_reader(compression::open(path).unwrap()).unwrap();
    let mut inputs = Inputs::new(program);
    set_all(&mut inputs, |id| {
        let words = data["inputs"][id.0.to_string()].as_str().unwrap().split(' ');
        words.map(|word| u128::from_str_radix(word, 16).unwrap()).collect()
    });
    compare(program, record, "recorded_data_output_sha256", &execute(&inputs).unwrap());
    println!("  and on recorded data");
}

/// Niobium's manifest gives the same program. Its lists of ids are not with it, so limbs have other
/// names.
fn check_niobium(program: &RingProgram, trace: &Path, manifest: &Path) {
    let manifest = Manifest::read_file(manifest).unwrap();
    assert_eq!(manifest.degree, program.degree().get());
    assert_eq!(manifest.moduli.as_ref().unwrap().len(), program.moduli().len());
    assert!(manifest.inputs.is_empty() && !manifest.inputs_are_complete && manifest.outputs.is_none());
    assert!(manifest.warnings.iter().any(|warning| warning.contains("inputs.json` is missing")));
    let alone = read_file(trace, Interface::Manifest(&manifest)).unwrap();
    assert_eq!(alone.to_text(), program.to_text());
}

/// The names of the traces in a folder that have a record.
fn names(folder: &Path) -> Vec<String> {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let names = files.filter_map(|name| Some(name.to_str()?.strip_suffix(".fhetch.xz")?.to_owned()));
    let mut names: Vec<String> =
        names.filter(|name| folder.join(format!("{name}.json.xz")).exists()).collect();
    names.sort();
    assert!(!names.is_empty());
    names
}

fn committed() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/traces")
}

#[test]
fn recorded_programs_give_the_recorded_results() {
    names(&committed()).iter().for_each(|name| check(&committed(), name));
}

#[test]
fn traces_of_a_folder_give_the_recorded_results() {
    let Some(folder) = std::env::var_os("RING_PROGRAM_TRACES") else { return };
    let folder = Path::new(&folder);
    names(folder).iter().for_each(|name| check(folder, name));
}

#[test]
fn operations_that_cannot_be_executed_are_refused() {
    let trace = committed().join("negative_unsupported_ops_n512.fhetch.xz");
    let errors = read_file(&trace, Interface::Degree(512)).unwrap_err();
    let lines: Vec<_> = errors.iter().map(|error| error.position().unwrap().0).collect();
    assert_eq!(lines, (18..=25).collect::<Vec<_>>());
    assert!(errors.iter().all(|error| error.message.contains("cannot be executed from a file")));
}
