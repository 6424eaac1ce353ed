//! Where a machine file is.

use std::path::{Path, PathBuf};

/// The built-in machine files. `sim/configs` links to the workspace's files, so the package holds them.
pub(super) const MACHINES: &[(&str, &str)] = &[
    ("fast", include_str!("../../configs/machines/fast.toml")),
    ("large", include_str!("../../configs/machines/large.toml")),
    ("narrow", include_str!("../../configs/machines/narrow.toml")),
    ("rpu-128x128", include_str!("../../configs/machines/rpu-128x128.toml")),
    ("rpu-128x128-gs", include_str!("../../configs/machines/rpu-128x128-gs.toml")),
    ("rpu-128x128-paper", include_str!("../../configs/machines/rpu-128x128-paper.toml")),
    ("rpu-128x128-shared-reads", include_str!("../../configs/machines/rpu-128x128-shared-reads.toml")),
    ("rpu-128x128-xor", include_str!("../../configs/machines/rpu-128x128-xor.toml")),
];

/// The technology of the paper.
pub(super) const GF12: &str = include_str!("../../configs/tech/gf12.toml");

/// The built-in technology files.
pub(super) const TECHNOLOGIES: &[(&str, &str)] = &[
    ("gf12", GF12),
    ("gf12-built", include_str!("../../configs/tech/gf12-built.toml")),
    ("scaled-7nm", include_str!("../../configs/tech/scaled-7nm.toml")),
];

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
    pub(super) fn relative(&self, name: &str, built_ins: &'static [(&str, &str)]) -> Location {
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

pub(super) fn built_in(files: &'static [(&str, &str)], name: &str) -> Option<Location> {
    files.iter().find(|(built_in, _)| *built_in == name).map(|(name, text)| Location::BuiltIn(name, text))
}

pub(super) fn names(files: &[(&str, &str)]) -> String {
    files.iter().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
