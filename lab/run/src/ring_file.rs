//! Ring programs from files, with their manifests.

use diagnostic::{Code, Diagnostic, Diagnostics};
use programs::check_stated;
use ring_program::{Interface, Manifest, RingProgram, read_file};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// A ring program from a file.
#[derive(Debug)]
pub struct RingFile {
    /// The program.
    pub program: RingProgram,
    /// The manifest's title, or else the name of the file.
    pub title: String,
    /// What the manifest lacks, for users.
    pub warnings: Vec<String>,
}

impl RingFile {
    /// Whether a file has the name of a ring program, perhaps compressed.
    pub fn is_meant(path: &Path) -> bool {
        let path = without_compression(path);
        path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("fhetch"))
    }

    /// The file of the manifest beside a program: `P.manifest.json` for `P.fhetch`.
    pub fn manifest_beside(path: &Path) -> PathBuf {
        without_compression(path).with_extension("manifest.json")
    }

    /// Reads a program with this manifest, or else with this degree, or else with the [manifest beside
    /// it](Self::manifest_beside), for which `P.json` also stands.
    ///
    /// # Errors
    /// Returns all errors of the files, or that there is neither a manifest nor a degree.
    pub fn read(path: &Path, manifest: Option<&Path>, n: Option<u64>) -> Result<Self, Diagnostics> {
        let beside = [Self::manifest_beside(path), without_compression(path).with_extension("json")];
        let beside = beside.iter().find(|path| manifest.is_none() && n.is_none() && path.is_file());
        let manifest = manifest.or(beside.map(PathBuf::as_path)).map(Manifest::read_file).transpose()?;
        let interface = match (&manifest, n) {
            (Some(manifest), _) => Interface::Manifest(manifest),
            (None, Some(n)) => Interface::Degree(n),
            (None, None) => {
                // A file that is not there lacks more than its degree.
                if let Err(error) = std::fs::metadata(path) {
                    let error = Diagnostic::new(format!("cannot read the program: {error}"));
                    return Err(error.in_file(diagnostic::path(path)).into());
                }
                let error = Diagnostic::new("the text of a ring program does not say its degree");
                let help = "name its manifest, or give its degree `n`";
                let error = error.with_code(Code::MissingKey.name()).with_help(help);
                return Err(error.in_file(diagnostic::path(path)).into());
            }
        };
        let program = read_file(path, interface)?;
        if let (Some(stated), Some(manifest)) = (program.parameters(), &manifest)
            && let Err(reason) = check_stated(stated, &program)
        {
            let message = format!("the manifest states wrong `parameters`: {reason}");
            let error = Diagnostic::new(message).with_code(Code::Contradiction.name());
            let help = "leave `parameters` out, or write the program again with `rpu gen program`";
            return Err(error.in_file(manifest.file()).with_help(help).into());
        }
        let (title, warnings) = manifest.map_or_else(Default::default, |own| (own.title, own.warnings));
        let name = || path.file_name().unwrap_or_default().to_string_lossy().replace('\n', "\\n");
        Ok(Self { program, title: title.unwrap_or_else(name), warnings })
    }
}

/// The path without the ending of a compressed file.
fn without_compression(path: &Path) -> PathBuf {
    let is_compressed =
        |extension: &OsStr| ["gz", "xz"].iter().any(|known| extension.eq_ignore_ascii_case(known));
    if path.extension().is_some_and(is_compressed) { path.with_extension("") } else { path.to_owned() }
}
