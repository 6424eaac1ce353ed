//! `rpu reproduce` beside the committed reproduction. The study `paper` keeps that fresh.

use crate::common::{repository, rpu};
use std::fs;

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
