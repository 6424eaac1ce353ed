//! Where a machine file is.

use configs::File;
use std::path::{Path, PathBuf};

/// The location of a file.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Location {
    File(PathBuf),
    BuiltIn(&'static str, &'static str),
}

impl Location {
    pub(super) fn name(&self) -> String {
        match self {
            Self::File(path) => diagnostic::path(path),
            Self::BuiltIn(name, _) => format!("built-in {name}"),
        }
    }

    /// The location of the file that this one calls `name`.
    pub(super) fn relative(&self, name: &str, built_ins: &'static [File]) -> Location {
        let bare = Path::new(name).file_stem().and_then(|stem| stem.to_str()).unwrap_or(name);
        match self {
            // Built-in files refer to each other by their paths in the repository.
            Self::BuiltIn(..) => built_in(built_ins, bare),
            Self::File(_) => built_in(built_ins, name),
        }
        .unwrap_or_else(|| match self {
            Self::File(path) => Location::File(path.parent().unwrap_or(Path::new("")).join(name)),
            Self::BuiltIn(..) => Location::File(name.into()),
        })
    }

    /// The identity of a location, to detect cycles.
    pub(super) fn identity(&self) -> PathBuf {
        match self {
            Self::File(path) => path.canonicalize().unwrap_or_else(|_| path.clone()),
            Self::BuiltIn(name, _) => PathBuf::from(format!("built-in {name}")),
        }
    }
}

pub(super) fn built_in(files: &'static [File], name: &str) -> Option<Location> {
    files.iter().find(|(built_in, _)| *built_in == name).map(|(name, text)| Location::BuiltIn(name, text))
}

pub(super) fn names(files: &[File]) -> String {
    files.iter().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
