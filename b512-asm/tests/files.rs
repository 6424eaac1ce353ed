//! Sources as test cases: each `.b512` file in `accept` assembles to a program whose printed text stands
//! beside it in a `.out` file, each in `refuse` has the error text of its `.err` file.
//!
//! `BLESS=1 cargo test -p b512-asm --test files` writes these files; read the difference before
//! committing it.

use b512_asm::{Code, assemble};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The renderer of the command line, so that the files show what users see.
#[path = "../../src/diagnostics.rs"]
mod diagnostics;

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

fn compare(path: &Path, text: &str) {
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, text).unwrap();
        return;
    }
    let expected = std::fs::read_to_string(path).unwrap_or_default();
    assert_eq!(text, expected, "{} differs (BLESS=1 writes it)", path.display());
}

#[test]
fn accepted_sources_have_the_expected_program() {
    for (path, source) in sources("accept") {
        let program = assemble(&source).unwrap_or_else(|errors| panic!("{}:\n{errors}", path.display()));
        compare(&path.with_extension("out"), &program.to_string());
    }
}

#[test]
fn refused_sources_have_the_expected_errors() {
    let mut codes = BTreeSet::new();
    for (path, source) in sources("refuse") {
        let name = path.file_name().unwrap().to_str().unwrap();
        let Err(errors) = assemble(&source) else { panic!("{name} assembles") };
        codes.extend(errors.iter().map(|error| error.code));
        compare(&path.with_extension("err"), &diagnostics::render(name, &source, &errors, false));
    }
    let of_intrinsics = [Code::UnknownIntrinsic, Code::ByteOffset];
    let untested: Vec<_> =
        Code::ALL.iter().filter(|code| !codes.contains(code) && !of_intrinsics.contains(code)).collect();
    assert!(untested.is_empty(), "no source has the errors {untested:?}");
}
