//! Standard input and output in place of files.

use crate::common::{command, succeed};
use std::fs::{self, File};

#[test]
fn a_dash_is_standard_input_and_output() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    succeed(folder, &["gen", "add", "--n", "1024", "-o", "k.b512"]);
    succeed(folder, &["asm", "k.b512"]);
    let piped = |args: &[&str], input: &str| {
        let input = File::open(folder.join(input)).unwrap();
        command(folder).args(args).stdin(input).output().expect("rpu starts").stdout
    };
    assert_eq!(piped(&["asm", "-"], "k.b512"), fs::read(folder.join("k.o")).unwrap());
    assert_eq!(piped(&["disasm", "-"], "k.o"), fs::read(folder.join("k.b512")).unwrap());
    for name in ["faster.o", "faster.elf"] {
        succeed(folder, &["schedule", "k.b512", "-o", name]);
        assert!(fs::read(folder.join(name)).unwrap().starts_with(b"\x7fELF"), "{name}");
    }
}

/// As of `rpu isa | head -1`.
#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let folder = tempfile::tempdir().unwrap();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = command(folder.path()).arg("isa").stdout(writer).output().expect("rpu starts");
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}
