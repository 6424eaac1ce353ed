//! Files of coefficients on the command line: `--input`, `--output` and `--expect`.

use crate::failure::Failure;
use crate::files;
use clap::builder::{OsStringValueParser, TypedValueParser};
use diagnostic::counted;
use golden::GoldenError;
use lab_run::Form;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// A symbol and a file.
#[derive(Clone)]
pub(crate) struct NamedFile {
    pub(crate) name: String,
    pub(crate) path: PathBuf,
}

/// Parses `NAME=FILE`; the file has any path.
pub(crate) fn named_file() -> impl TypedValueParser<Value = NamedFile> {
    OsStringValueParser::new().try_map(|text| {
        let (name, path) = files::assigned(&text).ok_or("write NAME=FILE, e.g. x=x.bin")?;
        Ok::<_, &str>(NamedFile { name, path })
    })
}

impl NamedFile {
    /// Compares an output with the words of the file. An error names the inputs that were `drawn`, with their
    /// seed.
    pub(crate) fn compare(
        &self,
        found: &[u128],
        expected: &[u128],
        (drawn, seed): (&[&str], u64),
    ) -> Result<(), Failure> {
        let Self { name, path } = self;
        if found.len() != expected.len() {
            let found = counted(found.len(), "coefficient", "coefficients");
            let message =
                format!("`{name}` has {found}, but {} has {}", diagnostic::path(path), expected.len());
            return Err(Failure::wrong(message, "give as many coefficients as the output has"));
        }
        let wrong = || (0..found.len()).filter(|&index| found[index] != expected[index]);
        let (number, n) = (wrong().count(), found.len());
        if number == 0 {
            return Ok(());
        }
        let mut message =
            format!("`{name}` differs from {} in {number} of {n} coefficients:", diagnostic::path(path));
        for index in wrong().take(GoldenError::SHOWN) {
            let (found, expected) = (found[index], expected[index]);
            message += &format!("\n  coefficient {index} is {found:#x} and should be {expected:#x}");
        }
        if !drawn.is_empty() {
            message += &format!("\n  drawn at random, with the seed {seed}: {}", drawn.join(", "));
        }
        Err(Failure::Work(message))
    }
}

/// Refuses files whose names do not tell the form of their data.
pub(crate) fn check_forms(files: &[NamedFile]) -> Result<(), Failure> {
    Ok(files.iter().try_for_each(|file| Form::of(&file.path).map(drop))?)
}

/// Refuses two files for one name.
pub(crate) fn check_names(files: &[NamedFile]) -> Result<(), Failure> {
    let mut known = BTreeSet::new();
    match files.iter().find(|file| !known.insert(&file.name)) {
        None => Ok(()),
        Some(NamedFile { name, .. }) => {
            Err(Failure::wrong(format_args!("two files for `{name}`"), "leave one of them out"))
        }
    }
}

/// The words of inputs, by name.
pub(crate) fn read(inputs: &[NamedFile]) -> Result<BTreeMap<String, Vec<u128>>, Failure> {
    check_names(inputs)?;
    let words = |NamedFile { name, path }: &NamedFile| Ok((name.clone(), files::read_coefficients(path)?));
    inputs.iter().map(words).collect()
}
