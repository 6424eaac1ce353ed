//! Pages from templates, and their files.

use lab_sweep::{Definition, Plan, Record, generate, records};
use std::error::Error;
use std::fmt::Display;
use std::path::{Path, PathBuf};

/// A file of a study: its path from the root of the repository, and its content.
pub(crate) type File = (String, Vec<u8>);

/// The reason why a study fails.
pub(crate) type Fault = Box<dyn Error + Send + Sync>;

/// The files of a study.
pub(crate) type Files = Result<Vec<File>, Fault>;

/// A file of the repository.
pub(crate) fn repository(path: impl AsRef<Path>) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// A file of text.
pub(crate) fn text(path: &str, content: impl Into<String>) -> File {
    (path.to_owned(), content.into().into_bytes())
}

/// A template with values in place of its placeholders, `{name}`.
///
/// # Panics
/// Panics if the template lacks a placeholder.
pub(crate) fn fill(template: &str, values: &[(&str, &dyn Display)]) -> String {
    values.iter().fold(template.to_owned(), |page, (name, value)| {
        let placeholder = format!("{{{name}}}");
        assert!(page.contains(&placeholder), "the template has no {placeholder}");
        page.replace(&placeholder, &value.to_string())
    })
}

/// Lines, such as the rows of a table, without a last line break.
pub(crate) fn lines(lines: impl IntoIterator<Item = String>) -> String {
    lines.into_iter().collect::<Vec<_>>().join("\n")
}

/// The records of a sweep, in its order.
pub(crate) fn records_of(path: &str) -> Result<Vec<Record>, Fault> {
    let definition = std::fs::read_to_string(repository(path))?;
    Ok(records(&Plan::new(&Definition::parse(path, &definition)?)?, &generate))
}
