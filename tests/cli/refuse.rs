//! Invalid input: one clear error with its position and a fix, status 2, and no file written.
//!
//! Each case is a file in `tests/cli/refuse`; the folder's README describes the format. To add a
//! case, add its file and run `BLESS=1 cargo test -p rpu-toolchain --test cli refuse`.

use crate::common::{Case, names, repository, rpu};
use rayon::prelude::*;
use std::path::Path;

#[test]
fn invalid_input_is_refused() {
    let cases = repository("tests/cli/refuse");
    let cases = Path::new(&cases);
    let files = names(cases);
    let sources: Vec<&str> = files.iter().filter_map(|name| name.strip_suffix(".case")).collect();
    let messages: Vec<&str> = files.iter().filter_map(|name| name.strip_suffix(".err")).collect();
    sources.par_iter().for_each(|name| refuse(cases, name));
    if !diagnostic::snapshot::blessing() {
        assert_eq!(sources, messages, "each case has one file of messages");
    }
}

/// Runs one case and compares its messages.
fn refuse(cases: &Path, name: &str) {
    let path = cases.join(name);
    let case = Case::read(&path.with_extension("case"));
    let [args] = &case.commands[..] else { panic!("{name}: one line must start with `rpu `") };
    let folder = case.folder();
    let before = names(folder.path());

    let output = rpu(folder.path(), &args.iter().map(String::as_str).collect::<Vec<_>>());
    let errors = String::from_utf8(output.stderr).expect("messages are UTF-8");
    assert_eq!(output.status.code(), Some(2), "{name}: {errors}");
    assert!(output.stdout.is_empty(), "{name} printed something");
    assert_eq!(names(folder.path()), before, "{name} wrote a file");
    diagnostic::snapshot::fresh(path.with_extension("err"), errors);
}

/// The assembler's own tests hold the messages for these sources.
#[test]
fn invalid_sources_make_no_object() {
    let sources = repository("b512-asm/tests/refuse");
    let names_of_sources = names(Path::new(&sources)).into_iter().filter(|name| name.ends_with(".b512"));
    let names_of_sources: Vec<String> = names_of_sources.collect();
    assert!(names_of_sources.len() >= 20, "{names_of_sources:?}");
    names_of_sources.par_iter().for_each(|name| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let output = rpu(folder.path(), &["asm", &format!("{sources}/{name}"), "-o", "out.o"]);
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert!(output.stderr.starts_with(b"error[B"), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(names(folder.path()).is_empty(), "{name} left a file");
    });
}
