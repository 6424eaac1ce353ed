//! Sources as test cases. Each `.b512` file in `accept` assembles to the program in its `.out` file; each in
//! `refuse` has the errors of its `.err` file.

use b512_asm::{Code, assemble};
use diagnostic::render;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn sources(folder: &str) -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "b512"));
    paths.sort();
    assert!(!paths.is_empty());
    let read = |path: PathBuf| {
        let source = std::fs::read_to_string(&path).unwrap();
        (path, source)
    };
    paths.into_iter().map(read).collect()
}

#[test]
fn accepted_sources_have_the_expected_program() {
    for (path, source) in sources("accept") {
        let program = assemble(&source).unwrap_or_else(|errors| panic!("{}:\n{errors}", path.display()));
        diagnostic::snapshot::fresh(path.with_extension("out"), program.to_string());
    }
}

#[test]
fn refused_sources_have_the_expected_errors() {
    let mut codes = BTreeSet::new();
    for (path, source) in sources("refuse") {
        let name = path.file_name().unwrap().to_str().unwrap();
        let Err(errors) = assemble(&source) else { panic!("{name} assembles") };
        codes.extend(errors.iter().filter_map(|error| error.code));
        diagnostic::snapshot::fresh(path.with_extension("err"), render(&errors.in_file(name), false));
    }
    let of_intrinsics = [Code::UnknownIntrinsic, Code::ByteOffset];
    // `sim::lint` reports these: they depend on the machine, or on all instructions.
    let of_lint = [
        Code::Undefined,
        Code::OutsideMemory,
        Code::UnsetModulus,
        Code::Unwritten,
        Code::Independent,
        Code::Unused,
        Code::BankConflict,
        Code::Overtaking,
    ];
    let elsewhere = |code: &&Code| of_intrinsics.contains(code) || of_lint.contains(code);
    let untested: Vec<_> =
        Code::ALL.iter().filter(|code| !codes.contains(code.name()) && !elsewhere(code)).collect();
    assert!(untested.is_empty(), "no source has the errors {untested:?}");
}
