//! Compressed files.

use diagnostic::input::{self, Content};
use flate2::bufread::MultiGzDecoder;
use lzma_rust2::XzReader;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// The size of buffers in bytes.
const BUFFER: usize = 1 << 16;

/// The largest text that any compressed file holds, in bytes.
const LARGEST: u64 = Content::Program.limit();

/// A compressed file holds at most this many bytes for each of its own, beyond the limit of a document: ring
/// programs have 5 to 30.
const LARGEST_RATIO: u64 = 100;

/// Opens a file for reading. Its first bytes decide whether gzip or xz is to be undone.
///
/// # Errors
/// Returns an error if the file cannot be opened or read.
pub fn open(path: &Path) -> io::Result<Box<dyn BufRead>> {
    let file = input::open(path)?;
    let limit =
        Content::Document.limit().saturating_add(file.metadata()?.len().saturating_mul(LARGEST_RATIO));
    within(BufReader::with_capacity(BUFFER, file), limit.min(LARGEST))
}

/// The text behind a reader. Its first bytes decide whether gzip or xz is to be undone.
///
/// A byte order mark at its start is left out. Errors of the returned reader name the compression and say
/// whether the stream is truncated, or holds more than a program may.
///
/// # Errors
/// Returns an error if the first bytes, of the raw stream or of its text, cannot be read.
pub fn decompress<'r>(raw: impl BufRead + 'r) -> io::Result<Box<dyn BufRead + 'r>> {
    within(raw, LARGEST)
}

/// As [`decompress`], with another limit on what a compressed stream holds.
fn within<'r>(mut raw: impl BufRead + 'r, limit: u64) -> io::Result<Box<dyn BufRead + 'r>> {
    let start = raw.fill_buf()?;
    let mut text: Box<dyn BufRead + 'r> = if start.starts_with(&[0x1f, 0x8b]) {
        buffered("gzip", MultiGzDecoder::new(raw), limit)
    } else if start.starts_with(&[0xfd, b'7', b'z', b'X', b'Z', 0]) {
        buffered("xz", XzReader::new(raw, true), limit)
    } else {
        Box::new(raw)
    };
    let start = text.fill_buf()?;
    let mark = start.len() - input::without_mark(start).len();
    text.consume(mark);
    Ok(text)
}

fn buffered<'r>(format: &'static str, inner: impl Read + 'r, limit: u64) -> Box<dyn BufRead + 'r> {
    Box::new(BufReader::with_capacity(BUFFER, Explained { format, inner, left: limit }))
}

/// A decoder whose errors are written for users.
struct Explained<R> {
    format: &'static str,
    inner: R,
    /// The bytes that may still follow.
    left: u64,
}

impl<R: Read> Read for Explained<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer).map_err(|error| {
            let (kind, format) = (error.kind(), self.format);
            if kind == io::ErrorKind::Interrupted {
                error
            } else if kind == io::ErrorKind::UnexpectedEof {
                io::Error::new(kind, format!("the {format} stream is truncated"))
            } else {
                io::Error::new(kind, format!("the {format} stream is damaged: {error}"))
            }
        })?;
        self.left = self.left.checked_sub(read as u64).ok_or_else(|| {
            let message = format!("the {} stream holds too much for its size", self.format);
            io::Error::new(io::ErrorKind::FileTooLarge, message)
        })?;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

    /// "ring program" forty times, by the reference implementation of xz.
    const XZ: &[u8] = include_bytes!("../tests/ring-program-40.xz");

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn read(raw: &[u8]) -> io::Result<String> {
        let mut text = String::new();
        decompress(raw)?.read_to_string(&mut text)?;
        Ok(text)
    }

    #[test]
    fn magic_bytes_select_the_decoder() {
        let text = "ring program".repeat(40);
        assert_eq!(read(text.as_bytes()).unwrap(), text);
        assert_eq!(read(&gzip(text.as_bytes())).unwrap(), text);
        assert_eq!(read(XZ).unwrap(), text);
        let parts = [gzip(b"one"), gzip(b"two")].concat();
        assert_eq!(read(&parts).unwrap(), "onetwo");
    }

    #[test]
    fn a_small_file_does_not_hold_a_large_text() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("zeros.gz");
        std::fs::write(&path, gzip(&vec![b'0'; 80 << 20])).unwrap();
        let error = open(&path).unwrap().read_to_end(&mut Vec::new()).unwrap_err();
        assert_eq!(error.to_string(), "the gzip stream holds too much for its size");
    }

    #[test]
    fn a_byte_order_mark_is_left_out() {
        for raw in ["\u{feff}ring".as_bytes().to_vec(), gzip("\u{feff}ring".as_bytes())] {
            assert_eq!(read(&raw).unwrap(), "ring");
        }
    }

    #[test]
    fn each_truncation_is_an_error() {
        for (format, whole) in [("gzip", gzip(b"ring program".repeat(40).as_slice())), ("xz", XZ.to_vec())] {
            for length in 6..whole.len() {
                let error = read(&whole[..length]).expect_err(format).to_string();
                assert!(error.starts_with(&format!("the {format} stream is ")), "{length}: {error}");
            }
        }
    }

    #[test]
    fn damage_is_an_error() {
        let mut whole = gzip(b"ring program");
        let end = whole.len() - 6;
        whole[end] ^= 1;
        assert!(read(&whole).unwrap_err().to_string().starts_with("the gzip stream is damaged"));
    }
}
