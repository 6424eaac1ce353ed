//! Input files, read within limits.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::Path;

/// The content of a file, which decides how large the file may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Content {
    /// A machine, a technology, a sweep, a plan, a parameter set, a document: 64 MiB.
    Document,
    /// A program, as text or as an object: 1 GiB.
    Program,
    /// Words of inputs and outputs: 16 GiB.
    Data,
}

impl Content {
    /// The limit in bytes.
    pub const fn limit(self) -> u64 {
        match self {
            Self::Document => 64 << 20,
            Self::Program => 1 << 30,
            Self::Data => 16 << 30,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Document => "a document",
            Self::Program => "a program",
            Self::Data => "data",
        }
    }

    fn too_large(self) -> io::Error {
        let (limit, unit) = match self.limit() >> 30 {
            0 => (self.limit() >> 20, "MiB"),
            gib => (gib, "GiB"),
        };
        let message = format!("it has more than {limit} {unit}, the limit for {}", self.name());
        io::Error::new(io::ErrorKind::FileTooLarge, message)
    }
}

/// Opens a file. It may be a pipe.
///
/// # Errors
/// Returns an error if the path is a folder or a device, or the file cannot be opened.
pub fn open(path: &Path) -> io::Result<File> {
    check(&path.metadata()?)?;
    File::open(path)
}

/// Opens a file of a folder that the program writes itself. A pipe there would wait for a writer without end.
///
/// # Errors
/// Returns an error if the path is a folder, a device or a pipe, or the file cannot be opened.
pub fn open_stored(path: &Path) -> io::Result<File> {
    let metadata = path.metadata()?;
    check(&metadata)?;
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is a pipe, not a file"));
    }
    File::open(path)
}

/// Refuses folders and devices.
fn check(metadata: &Metadata) -> io::Result<()> {
    if metadata.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"));
    }
    if is_device(metadata) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is a device, not a file"));
    }
    Ok(())
}

#[cfg(unix)]
fn is_device(metadata: &Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    metadata.file_type().is_char_device() || metadata.file_type().is_block_device()
}

#[cfg(not(unix))]
fn is_device(_: &Metadata) -> bool {
    false
}

/// Reads a whole file.
///
/// # Errors
/// Returns an error if the path is a folder or a device, or the file is too large or cannot be read.
pub fn read(path: &Path, content: Content) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    // Known before anything is read.
    if file.metadata()?.len() > content.limit() {
        return Err(content.too_large());
    }
    read_all(file, content)
}

/// Reads to the end.
///
/// # Errors
/// Returns an error if the input is too large or cannot be read.
pub fn read_all(input: impl Read, content: Content) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    input.take(content.limit() + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > content.limit() { Err(content.too_large()) } else { Ok(bytes) }
}

/// Reads a whole text.
///
/// # Errors
/// Returns an error if [`read`] does, or if the text is not UTF-8.
pub fn read_text(path: &Path, content: Content) -> io::Result<String> {
    text(read(path, content)?).map_err(|reason| io::Error::new(io::ErrorKind::InvalidData, reason))
}

/// The text in the bytes of a file, without a byte order mark.
///
/// # Errors
/// Returns the reason if the bytes are not UTF-8.
pub fn text(bytes: Vec<u8>) -> Result<String, String> {
    let mut text = String::from_utf8(bytes)
        .map_err(|error| format!("invalid UTF-8 at byte {}", error.utf8_error().valid_up_to()))?;
    if text.starts_with(MARK) {
        text.drain(..MARK.len_utf8());
    }
    Ok(text)
}

/// The byte order mark that some editors write before a text.
const MARK: char = '\u{feff}';

/// The bytes of a text without a byte order mark.
pub fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endless_input_is_refused_at_its_limit() {
        let error = read_all(io::repeat(b'a'), Content::Document).unwrap_err();
        assert_eq!(error.to_string(), "it has more than 64 MiB, the limit for a document");
        assert_eq!(read_all(&b"abc"[..], Content::Document).unwrap(), b"abc");
    }

    #[test]
    fn files_are_read_up_to_their_limit() {
        let own = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"));
        assert!(read_text(own, Content::Document).unwrap().starts_with("[package]"));
        assert!(open_stored(own).is_ok());
        let limit = Content::Document.limit();
        let longest = read_all(io::repeat(b'a').take(limit), Content::Document).unwrap();
        assert_eq!(longest.len() as u64, limit);
        let limits = [Content::Document, Content::Program, Content::Data].map(Content::limit);
        assert_eq!(limits, [1 << 26, 1 << 30, 1 << 34]);
    }

    #[test]
    fn byte_order_marks_are_no_part_of_a_text() {
        assert_eq!(text("\u{feff}a\u{feff}".into()), Ok("a\u{feff}".to_owned()));
        assert_eq!(without_mark("\u{feff}a".as_bytes()), b"a");
        assert_eq!((text(b"a".to_vec()), without_mark(b"a")), (Ok("a".to_owned()), &b"a"[..]));
        assert_eq!(text(b"ab\xff".to_vec()), Err("invalid UTF-8 at byte 2".to_owned()));
    }

    #[cfg(unix)]
    #[test]
    fn folders_and_devices_are_refused() {
        let error = |path: &str| read(Path::new(path), Content::Program).unwrap_err().to_string();
        assert_eq!(error("/dev/zero"), "it is a device, not a file");
        assert_eq!(error("/"), "it is a folder");
        let stored = |path: &str| open_stored(Path::new(path)).unwrap_err().to_string();
        assert_eq!((stored("/dev/zero"), stored("/")), (error("/dev/zero"), error("/")));
        assert_eq!(stored("/absent file"), "No such file or directory (os error 2)");
    }
}
