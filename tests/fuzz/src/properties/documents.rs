//! Documents whose readers compute with them at once: technologies, claims, sweeps, tables of results,
//! programs of HEIR, networks of Orion; and mappings.

use super::{check_place, check_span, check_words};
use crate::repository;
use crate::seeds::{networks, parts};
use lab_run::parse_mapping;
use lab_sweep::compose::Pool;
use lab_sweep::{Definition, Plan};
use programs::{heir, orion};
use reproduction::fit::{self, Claims};
use ring_program::{Interface, RingProgram, read};
use serde_json::Value;
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
    let program = heir::Program::read("program.mlir", text);
    match program.and_then(|program| program.import(Some(512), &BTreeMap::new())) {
        Ok(import) => is_read_again(&import.generated.program, import.generated.set.degree().get()),
        // It shows one line, and MLIR has types of the same names as Rust.
        Err(error) => {
            check_words(&error, text);
            check_span(&error);
        }
    }
}

/// Bytes are a network of Orion, whose ring program is read again, or are refused with a reason. A text
/// stands for the file with this header and the blobs of a committed network.
pub fn orion(data: &[u8]) {
    let header = std::str::from_utf8(data).ok().filter(|_| !orion::is_orion(data));
    let bytes = header.map_or(data.to_vec(), |header| {
        let value: Value = serde_json::from_str(header).unwrap_or_default();
        let blobs = match value["blob_count"].as_u64() {
            Some(0) => &[0; 4],
            _ => &BLOBS[usize::from(header.contains("conv1"))][..],
        };
        let length = u32::try_from(header.len()).expect("a short text").to_le_bytes();
        [b"ORION\0\x02\0", &length[..], header.as_bytes(), blobs].concat()
    });
    let read = orion::Program::read("network.orion", &bytes);
    match read.and_then(|program| program.import()) {
        Ok(import) => is_read_again(&import.generated.program, import.generated.set.degree().get()),
        Err(error) => {
            check_words(&error, &String::from_utf8_lossy(&bytes));
            check_span(&error);
        }
    }
}

/// The number of blobs and the blobs of the networks that [`seeds::orion`](crate::seeds::orion) reads.
static BLOBS: LazyLock<Vec<Vec<u8>>> =
    LazyLock::new(|| networks(repository()).iter().map(|file| parts(file).1.to_vec()).collect());

fn is_read_again(program: &RingProgram, degree: u64) {
    let text = program.to_text();
    if let Err(errors) = read("p.fhetch", text.as_bytes(), Interface::Degree(degree)) {
        panic!("{errors:?}");
    }
}
