//! Generated ring programs through the command line.

use crate::common::{names, succeed};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// A small set for CKKS: two digits, the second one short at the highest level.
const SET: &str = "n = 512\nq = [{ bits = 60, count = 1 }, { bits = 45, count = 2 }]\n\
    p = [{ bits = 60, count = 2 }]\ndigits = 2\n";

fn generate(folder: &Path, args: &[&str]) {
    succeed(folder, &[&["gen", "program"], args, &["-o", "p.fhetch"]].concat());
}

fn run(folder: &Path, args: &[&str]) -> Value {
    let args = [&["run", "p.fhetch"], args, &["--format", "json"]].concat();
    serde_json::from_str(&succeed(folder, &args)).expect("one JSON document")
}

#[test]
fn each_program_runs_with_its_manifest_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("s.toml"), SET).unwrap();
    for program in ::programs::PROGRAMS {
        let rotations: &[&str] = if program.rotates { &["--rotations=-3"] } else { &[] };
        generate(folder, &[&[program.name, "--set", "s.toml", "--dataflow", "oct"], rotations].concat());
        let report = run(folder, &["--check"]);
        assert_eq!(report["checked"], true, "{}", program.name);
    }
    assert_eq!(names(folder), ["p.fhetch", "p.json", "s.toml"]);
    let text = fs::read_to_string(folder.join("p.fhetch")).unwrap();
    assert!(text.starts_with("# hoisted-rotations: "), "{text:.60}");
}

#[test]
fn a_key_has_the_limbs_of_all_levels_and_only_those_in_use_are_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    generate(folder, &["keyswitch", "--set", "ark", "--n", "512", "--level", "7"]);
    let manifest: Value = serde_json::from_slice(&fs::read(folder.join("p.json")).unwrap()).unwrap();
    assert_eq!(manifest["ring_dimension"], 512);
    assert_eq!(manifest["inputs"]["d"].as_array().unwrap().len(), 7);
    assert_eq!(manifest["inputs"]["evk.a.1"].as_array().unwrap().len(), 30);
    assert!(manifest["inputs"]["evk.a.2"].is_null(), "the third digit is not in use");
    let report = run(folder, &["--timing-only"]);
    let limbs = 2 * 2 * (7 + 6);
    assert_eq!(report["hbm"]["bytes_by_kind"]["keys"], limbs * 512 * 16);
}
