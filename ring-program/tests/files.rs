//! Files as test cases. Each program in `accept` has the canonical text, inputs and outputs of the
//! `.out` file beside it; each in `refuse` has the errors of its `.err` file; so has each manifest
//! in `manifests`. A program with a manifest beside it is read with that; others have n = 512.

use diagnostic::{Diagnostics, render};
use ring_program::{Interface, Manifest, RingProgram, read};
use std::path::{Path, PathBuf};

fn cases(folder: &str, ending: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == ending));
    paths.sort();
    assert!(!paths.is_empty());
    paths
}

fn name(path: &Path) -> &str {
    path.file_name().unwrap().to_str().unwrap()
}

fn read_case(path: &Path) -> Result<RingProgram, Diagnostics> {
    let text = std::fs::read(path).unwrap();
    let manifest = path.with_extension("json");
    if !manifest.exists() {
        return read(name(path), text.as_slice(), Interface::Degree(512));
    }
    let json = std::fs::read_to_string(&manifest).unwrap();
    let manifest = Manifest::parse(name(&manifest), &json, manifest.parent().unwrap()).unwrap();
    read(name(path), text.as_slice(), Interface::Manifest(&manifest))
}

#[test]
fn accepted_programs_have_the_expected_meaning() {
    for path in cases("accept", "fhetch") {
        let program = read_case(&path).unwrap_or_else(|errors| panic!("{}:\n{errors}", path.display()));
        let manifest = Manifest::of(&program);
        bless::fresh(path.with_extension("out"), program.to_text() + &manifest.to_json());

        let text = program.to_text();
        let again = read("", text.as_bytes(), Interface::Manifest(&manifest)).unwrap();
        assert_eq!(again.to_text(), text);
        assert_eq!(Manifest::of(&again).to_json(), manifest.to_json());
    }
}

#[test]
fn refused_programs_have_the_expected_errors() {
    for path in cases("refuse", "fhetch") {
        let Err(errors) = read_case(&path) else { panic!("{} is accepted", path.display()) };
        bless::fresh(path.with_extension("err"), render(&errors, false));
    }
}

#[test]
fn refused_manifests_have_the_expected_errors() {
    for path in cases("manifests", "json") {
        let text = std::fs::read_to_string(&path).unwrap();
        let Err(error) = Manifest::parse(name(&path), &text, path.parent().unwrap()) else {
            panic!("{} is accepted", path.display())
        };
        bless::fresh(path.with_extension("err"), error.render(false) + "\n");
    }
}
