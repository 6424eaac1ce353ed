//! Ring programs on the command line.

use crate::failure::Failure;
use crate::numbers::degree;
use lab_run::RingFile;
use ring::Degree;
use std::path::{Path, PathBuf};

/// What the text of a ring program does not say.
#[derive(clap::Args)]
pub(crate) struct RingFileArgs {
    /// Manifest of a ring program: its degree, its inputs and its outputs. By default the file beside
    /// it with the same name, ending in .json
    #[arg(long, value_name = "P.json")]
    manifest: Option<PathBuf>,
    /// Degree of a ring program without a manifest. Its inputs are the limbs that are read before
    /// they are written; `%7` has the name `id7`. With a manifest, it must be the manifest's
    #[arg(long, value_name = "N", value_parser = degree)]
    n: Option<Degree>,
}

impl RingFileArgs {
    /// Whether an option is given.
    pub(crate) fn any(&self) -> bool {
        self.manifest.is_some() || self.n.is_some()
    }

    /// The manifest of a ring program, named or beside it.
    pub(crate) fn manifest_of(&self, path: &Path) -> Option<PathBuf> {
        self.manifest.clone().or_else(|| RingFile::found_beside(path))
    }

    /// The error that a file is no ring program, though `options` are given.
    pub(crate) fn misplaced(path: &Path, options: &str) -> Failure {
        let message = format!("`{}` is not a ring program", diagnostic::path(path));
        let help = format!("{options} are for ring programs: `.fhetch`, `.fhetch.gz` or `.fhetch.xz`");
        Failure::Wrong { message, help: Some(help) }
    }

    /// Reads the program in a file.
    pub(crate) fn read(&self, path: &Path) -> Result<RingFile, Failure> {
        RingFile::read(path, self.manifest.as_deref(), self.n.map(Degree::get)).map_err(Failure::Input)
    }
}
