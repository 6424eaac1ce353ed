//! Compressed files.

use diagnostic::input;
use flate2::bufread::MultiGzDecoder;
use lzma_rust2::XzReader;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// The size of buffers in bytes.
const BUFFER: usize = 1 << 16;

/// Opens a file for reading. Its first bytes decide whether gzip or xz is to be undone.
///
/// # Errors
/// Returns an error if the file cannot be opened or read.
pub fn open(path: &Path) -> io::Result<Box<dyn BufRead>> {
    decompress(BufReader::with_capacity(BUFFER, input::open(path)?))
}

/// The text behind a reader. Its first bytes decide whether gzip or xz is to be undone.
///
/// Errors of the returned reader name the compression and say whether the stream is truncated.
///
/// # Errors
/// Returns an error if the first bytes cannot be read.
pub fn decompress<'r>(mut raw: impl BufRead + 'r) -> io::Result<Box<dyn BufRead + 'r>> {
    let start = raw.fill_buf()?;
    if start.starts_with(&[0x1f, 0x8b]) {
        return Ok(buffered("gzip", MultiGzDecoder::new(raw)));
    }
    if start.starts_with(&[0xfd, b'7', b'z', b'X', b'Z', 0]) {
        return Ok(buffered("xz", XzReader::new(raw, true)));
    }
    Ok(Box::new(raw))
}

fn buffered<'r>(format: &'static str, inner: impl Read + 'r) -> Box<dyn BufRead + 'r> {
    Box::new(BufReader::with_capacity(BUFFER, Explained { format, inner }))
}

/// A decoder whose errors are written for users.
struct Explained<R> {
    format: &'static str,
    inner: R,
}

impl<R: Read> Read for Explained<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.inner.read(buffer).map_err(|error| {
            let (kind, format) = (error.kind(), self.format);
            if kind == io::ErrorKind::Interrupted {
                error
            } else if kind == io::ErrorKind::UnexpectedEof {
                io::Error::new(kind, format!("the {format} stream is truncated"))
            } else {
                io::Error::new(kind, format!("the {format} stream is damaged: {error}"))
            }
        })
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
