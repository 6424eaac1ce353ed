//! The files of a sweep's folder.

use super::*;

#[test]
fn other_files_are_not_journals() {
    let folder = tempfile::tempdir().unwrap();
    let names = ["journal-2-of-2.jsonl", "journal.jsonl", "journal.jsonl.old", "journal.txt", "notes.jsonl"];
    for name in names {
        fs::write(folder.path().join(name), name).unwrap();
    }
    let expected: Vec<_> = names[..2].iter().map(|name| folder.path().join(name)).collect();
    assert_eq!(journal_paths(folder.path()).unwrap(), expected);
}
