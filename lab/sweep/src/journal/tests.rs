//! The files of a sweep's folder.

use super::*;
use crate::Definition;
use std::time::SystemTime;

fn manifest(counts: &str) -> Manifest {
    let text = format!("kernel = 'add'\nn = 512\n[grid]\nhple.count = {counts}\n");
    Plan::new(&Definition::parse("test.toml", &text).unwrap()).unwrap().manifest
}

/// Shards of a sweep may start while others read it.
#[test]
fn a_manifest_is_written_only_if_it_differs() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let path = folder.join(MANIFEST);
    let open = |manifest: &Manifest| drop(Journal::open(folder, Shard::WHOLE, manifest).unwrap());
    let [first, other] = ["[16, 32]", "[16, 64]"].map(manifest);
    open(&first);
    let text = fs::read(&path).unwrap();
    let time = SystemTime::UNIX_EPOCH;
    File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    open(&first);
    assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), time);

    // Another one of the same length, and one that only continues.
    open(&other);
    let changed = fs::read(&path).unwrap();
    assert!(changed.len() == text.len() && changed != text);
    open(&first);
    assert_eq!(fs::read(&path).unwrap(), text);
    fs::write(&path, [&text[..], b" \n"].concat()).unwrap();
    open(&first);
    assert_eq!(fs::read(&path).unwrap(), text);
}

#[test]
fn other_files_are_not_journals() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(journal_state(&folder.path().join("none")), 0);
    let names = ["journal-2-of-2.jsonl", "journal.jsonl", "journal.jsonl.old", "journal.txt", "notes.jsonl"];
    for name in names {
        fs::write(folder.path().join(name), name).unwrap();
    }
    let expected: Vec<_> = names[..2].iter().map(|name| folder.path().join(name)).collect();
    assert_eq!(journal_paths(folder.path()).unwrap(), expected);
    // It counts the bytes of both.
    assert_eq!(journal_state(folder.path()), (names[0].len() + names[1].len()) as u64);
}
