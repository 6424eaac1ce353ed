//! Committed files that tests keep fresh.
//!
//! A test computes a file and calls [`fresh`]. If the committed file differs, the test fails. With `BLESS`
//! set in the environment, the test writes the file instead:
//!
//! ```text
//! BLESS=1 cargo test --workspace
//! ```
//!
//! `docs/generated.md` lists these files.

use std::ffi::OsString;
use std::path::Path;

/// Whether tests write files instead of comparing them.
pub fn blessing() -> bool {
    is_set(std::env::var_os("BLESS"))
}

fn is_set(variable: Option<OsString>) -> bool {
    variable.is_some_and(|value| !value.is_empty() && value != "0")
}

/// Compares `content` with the committed file at `path`, or writes the file if [`blessing`].
///
/// # Panics
/// Panics if the file differs or cannot be written.
#[track_caller]
pub fn fresh(path: impl AsRef<Path>, content: impl AsRef<[u8]>) {
    let (path, content) = (path.as_ref(), content.as_ref());
    let committed = std::fs::read(path).unwrap_or_default();
    if committed == content {
        return;
    }
    if blessing() {
        let write = || {
            path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
            std::fs::write(path, content)
        };
        return write().unwrap_or_else(|error| panic!("cannot write `{}`: {error}", path.display()));
    }
    panic!(
        "`{}` is stale; `BLESS=1 cargo test` with this test writes it\n{}",
        path.display(),
        difference(&committed, content)
    );
}

/// The first line in which two files differ, in both.
pub fn difference(committed: &[u8], found: &[u8]) -> String {
    let (committed, found) = (String::from_utf8_lossy(committed), String::from_utf8_lossy(found));
    let (mut a, mut b) = (committed.split('\n'), found.split('\n'));
    for line in 1.. {
        match (a.next(), b.next()) {
            (None, None) => break,
            (a, b) if a == b => {}
            (a, b) => {
                let text = |line: Option<&str>| line.unwrap_or("<end of file>").to_owned();
                return format!("line {line}:\n  committed: {}\n  now:       {}", text(a), text(b));
            }
        }
    }
    "the files differ in bytes that are not text".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_variable_or_0_blesses_nothing() {
        assert_eq!(
            [None, Some(""), Some("0"), Some("1")].map(|value| is_set(value.map(OsString::from))),
            [false, false, false, true]
        );
    }

    #[test]
    fn a_stale_file_fails_or_is_written() {
        let path = std::env::temp_dir().join(format!("snapshot-{}", std::process::id()));
        std::fs::write(&path, "a\n").unwrap();
        fresh(&path, "a\n");
        let is_refused = std::panic::catch_unwind(|| fresh(&path, "b\n")).is_err();
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!((is_refused, text), if blessing() { (false, "b\n".into()) } else { (true, "a\n".into()) });
    }

    #[test]
    fn the_first_line_that_differs_is_shown() {
        let text = "line 2:\n  committed: b\n  now:       c";
        assert_eq!(difference(b"a\nb\n", b"a\nc\n"), text);
        assert!(difference(b"a", b"a\nb").contains("committed: <end of file>"));
    }
}
