//! Documents whose readers compute with them at once: technologies, claims, sweeps, and tables of results.

use super::check_place;
use lab_sweep::compose::Pool;
use lab_sweep::{Definition, Plan};
use reproduction::fit::{self, Claims};
use sim::{Area, Events, MachineBase};
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

/// Bytes are a table of results, perhaps compressed, or are refused with a reason. The first byte selects the name.
pub fn table(data: &[u8]) {
    let Some((&first, data)) = data.split_first() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(["r.csv", "r.csv.gz", "r.csv.xz"][usize::from(first) % 3]);
    fs::write(&path, data).expect("a file");
    if let Err(error) = Pool::read(&[Path::new(&path)], &[]) {
        assert!(!error.to_string().is_empty());
    }
}
