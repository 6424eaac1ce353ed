//! The checksums of the files that a sweep publishes, as `b3sum` writes and checks them.
//!
//! Charts and pages of the same results differ between versions of rpu. With the checksums, [`altered`] tells
//! a file that another version drew from one that somebody changed.
//!
//! [`altered`]: super::outputs::Outputs::altered

use diagnostic::input::{self, Content};
use lab_run::files::{self, NewFile};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// The name of the file with the checksums.
pub(super) const FILE: &str = "results.b3";

/// The checksum of each file, by its name.
pub(super) type Checksums = BTreeMap<String, blake3::Hash>;

/// The checksum of a regular file; `None` for anything else.
pub(super) fn of_file(path: &Path) -> Option<blake3::Hash> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(input::open_stored(path).ok()?).ok()?;
    Some(hasher.finalize())
}

/// A new file whose checksum is made while it is written.
pub(super) struct Summed(BufWriter<Parts>);

/// The parts of a file, each of which is summed at once: short ones would take twice the time.
struct Parts {
    file: NewFile,
    hasher: blake3::Hasher,
}

const PART: usize = 1 << 16;

impl Summed {
    /// Begins a file.
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        let parts = Parts { file: NewFile::create(path)?, hasher: blake3::Hasher::new() };
        Ok(Self(BufWriter::with_capacity(PART, parts)))
    }

    /// Closes the file and returns its checksum.
    pub(super) fn finish(self) -> io::Result<blake3::Hash> {
        let Parts { file, hasher } = self.0.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.finish()?;
        Ok(hasher.finalize())
    }
}

impl Write for Summed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Write for Parts {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Writes checksums to a folder.
pub(super) fn write(folder: &Path, checksums: &Checksums) -> io::Result<()> {
    let mut text = String::new();
    for (name, checksum) in checksums {
        let _ = writeln!(text, "{checksum}  {name}");
    }
    files::write(&folder.join(FILE), text.as_bytes())
}

/// The checksums in a folder: none if their file is not there or is no such file.
pub(super) fn read(folder: &Path) -> Checksums {
    let path = folder.join(FILE);
    let text = input::open_stored(&path).and_then(|file| input::read_all(file, Content::Document));
    let text = text.ok().and_then(|bytes| input::text(bytes).ok());
    let mut checksums = Checksums::new();
    for line in text.unwrap_or_default().lines() {
        let Some((checksum, name)) = line.split_once("  ") else { continue };
        if let Ok(checksum) = blake3::Hash::from_hex(checksum) {
            checksums.insert(name.to_owned(), checksum);
        }
    }
    checksums
}
