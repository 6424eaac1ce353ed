//! Documents whose readers compute with them at once: technologies, claims, sweeps, tables of results,
//! programs of HEIR; and mappings.

use super::{check_place, check_span, check_words};
use lab_run::parse_mapping;
use lab_sweep::compose::Pool;
use lab_sweep::{Definition, Plan};
use programs::heir::Program;
use reproduction::fit::{self, Claims};
use ring_program::{Interface, read};
use sim::{Area, Events, MachineBase};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

/// A text is a technology, of which a machine has an area, or has errors that point into the text.
pub fn technology(data: &[u8]) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("machine.toml");
    fs::write(folder.path().join("t.toml"), data).expect("a file");
    fs::write(&path, "inherits = \"rpu-128x128\"\nname = \"m\"\ntechnology = \"t.toml\"\n").expect("a file");
    match MachineBase::load(&path).and_then(|base| base.machine(&[])) {
        Ok(machine) => {
            let area = Area::of(&machine).total();
            assert!(area >= 0.0 && area.is_finite(), "{area} mm2");
        }
        Err(errors) => errors.iter().for_each(check_place),
    }
}

/// A text is a file of claims, to which constants are fitted, or has errors that point into the text.
pub fn claims(data: &[u8]) {
    static EVENTS: LazyLock<Events> = LazyLock::new(|| fit::paper_events().expect("the paper's program"));
    let Ok(text) = std::str::from_utf8(data) else { return };
    match Claims::parse("x.claims.toml", text) {
        Ok(claims) => match fit::fit(&claims, &EVENTS) {
            Ok(fitted) => assert!(!fitted.file().is_empty()),
            Err(error) => assert!(!error.to_string().is_empty()),
        },
        Err(errors) => errors.iter().for_each(check_place),
    }
}

/// A text is a sweep whose points can all be made, or has errors that point into the text.
pub fn plan(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match Definition::parse("sweep.toml", text).and_then(|definition| Plan::new(&definition)) {
        Ok(plan) => assert_eq!(plan.points().count(), plan.len()),
        Err(errors) => errors.iter().for_each(check_place),
    }
}

/// Bytes are a table of results, perhaps compressed, or are refused with a reason. The first byte selects the
/// name.
pub fn table(data: &[u8]) {
    let Some((&first, data)) = data.split_first() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(["r.csv", "r.csv.gz", "r.csv.xz"][usize::from(first) % 3]);
    fs::write(&path, data).expect("a file");
    if let Err(error) = Pool::read(&[Path::new(&path)], &[]) {
        assert!(!error.to_string().is_empty());
    }
}

/// A text is a mapping of a ring program that survives its own form, or has errors that point into the text.
pub fn mapping(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match parse_mapping("mapping.json", text) {
        Ok(mapping) => {
            let again = serde_json::to_string(&mapping).expect("plain data becomes JSON");
            assert_eq!(parse_mapping("mapping.json", &again).as_ref(), Ok(&mapping), "{again}");
        }
        Err(errors) => errors.iter().for_each(check_place),
    }
}

/// A text is a program of HEIR, whose ring program is read again, or has an error that points into the text.
pub fn heir(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let program = Program::read("program.mlir", text);
    match program.and_then(|program| program.import(Some(512), &BTreeMap::new())) {
        Ok(import) => {
            let text = import.generated.program.to_text();
            let degree = import.generated.set.degree().get();
            if let Err(errors) = read("p.fhetch", text.as_bytes(), Interface::Degree(degree)) {
                panic!("{errors:?}");
            }
        }
        // It shows one line, and MLIR has types of the same names as Rust.
        Err(error) => {
            check_words(&error, text);
            check_span(&error);
        }
    }
}
