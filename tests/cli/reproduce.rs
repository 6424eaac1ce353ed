//! `rpu reproduce`, and the committed reproduction.

use crate::common::{repository, rpu, succeed};
use reproduction::setting::Space;
use reproduction::trials::Trials;
use reproduction::{Reproduction, reading};
use std::fs;
use std::path::Path;

#[test]
fn the_committed_reproduction_is_fresh() {
    let folder = tempfile::tempdir().unwrap();
    let committed = repository("reports/paper");
    if bless::blessing() {
        let files = reproduction::files(&Reproduction::new().unwrap(), None).unwrap();
        // Pixels may differ from machine to machine; the SVG files show what has changed.
        if reproduction::difference(&files, Path::new(&committed)).is_some() {
            reproduction::refresh(&files, Path::new(&committed)).unwrap();
        }
        return;
    }
    let told = succeed(folder.path(), &["reproduce", "--check", "--out", &committed]);
    assert!(told.contains("files are fresh"), "{told}");
}

#[test]
fn a_file_that_differs_is_named() {
    let folder = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(repository("reports/paper")).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, folder.path().join(path.file_name().unwrap())).unwrap();
    }
    let page = folder.path().join("claims.md");
    fs::write(&page, fs::read_to_string(&page).unwrap().replace("miss", "agrees")).unwrap();
    let output = rpu(folder.path(), &["reproduce", "--check", "--out", "."]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("claims.md"), "{told}");
}

/// The effect of each reading of the paper on its claims.
#[test]
fn the_page_of_readings_is_fresh() {
    let space = Space::built_in().unwrap();
    let page = reading::page(&space, &Trials::built_in(&space).unwrap()).expect("the detailed reading");
    let values: usize = space.choice.iter().map(|choice| choice.values.len()).sum();
    assert_eq!(page.lines().filter(|line| line.starts_with("| `")).count(), values);
    bless::fresh(repository("reports/paper-setting.md"), page);
}
