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

    /// The manifest beside a program if there is one: [`P.manifest.json`](Self::manifest_beside), or else
    /// `P.json`.
    pub fn found_beside(path: &Path) -> Option<PathBuf> {
        let names = [Self::manifest_beside(path), without_compression(path).with_extension("json")];
        names.into_iter().find(|path| path.is_file())
    }

    /// Reads a program with this manifest, or else with that [beside it](Self::found_beside), or else with
    /// this degree.
    ///
    /// # Errors
    /// Returns all errors of the files, that there is neither a manifest nor a degree, or that the two
    /// differ.
    pub fn read(path: &Path, manifest: Option<&Path>, n: Option<u64>) -> Result<Self, Diagnostics> {
        let beside = Self::found_beside(path).filter(|_| manifest.is_none());
        let manifest = manifest.or(beside.as_deref()).map(Manifest::read_file).transpose()?;
        let interface = match (&manifest, n) {
            (Some(manifest), Some(n)) if n != manifest.degree => {
                let message = format!("the degree `n` is {n}, but the manifest says {}", manifest.degree);
                let error = Diagnostic::new(message).with_code(Code::Contradiction.name());
                let help = "leave `n` out, or use the manifest of a program of this degree";
                return Err(error.in_file(manifest.file()).with_help(help).into());
            }
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
