//! The outer form: a mark, a header, and blobs.

use diagnostic::Diagnostic;

/// The mark of all versions.
const MARK: &[u8] = b"ORION\0";

/// The version that follows it.
const VERSION: [u8; 2] = [2, 0];

/// What git has in place of a large file.
const POINTER: &[u8] = b"version https://git-lfs";

pub(super) fn is_orion(bytes: &[u8]) -> bool {
    bytes.starts_with(MARK)
}

/// The parts of a file.
pub(super) struct Container<'t> {
    /// JSON.
    pub(super) header: &'t str,
    pub(super) blobs: Vec<&'t [u8]>,
}

impl<'t> Container<'t> {
    pub(super) fn read(file: &str, bytes: &'t [u8]) -> Result<Self, Diagnostic> {
        let wrong = |message: String| Diagnostic::new(message).in_file(file);
        let Some(version) = bytes.strip_prefix(MARK).and_then(|rest| rest.get(..VERSION.len())) else {
            let error = wrong("this is no network of Orion: it does not begin with `ORION`".to_owned());
            return Err(match bytes.starts_with(POINTER) {
                true => error.with_help("it is the pointer of a large file: run `git lfs pull`"),
                false => error.with_help("compile with orion_compiler, `compiled.to_file(\"net.orion\")`"),
            });
        };
        if version != VERSION {
            let message = format!("version {}.{} of Orion's form", version[0], version[1]);
            return Err(wrong(message)
                .with_help(format!("version 2.0 is read, which release {} writes", super::RELEASE)));
        }
        let mut rest = Rest { bytes, at: MARK.len() + VERSION.len() };
        let cut =
            |what: &str, at: usize| wrong(format!("the file ends in {what}, which begins at byte {at}"));
        let begin = rest.at;
        let header = rest.number().and_then(|length: u32| rest.take(u64::from(length)));
        let header = header.ok_or_else(|| cut("the header", begin))?;
        let header = std::str::from_utf8(header).map_err(|_| wrong("the header is no text".to_owned()))?;
        let begin = rest.at;
        let count: u32 = rest.number().ok_or_else(|| cut("the number of blobs", begin))?;
        let mut blobs = Vec::new();
        for index in 0..count {
            let begin = rest.at;
            let blob = rest.number().and_then(|length: u64| rest.take(length));
            blobs.push(blob.ok_or_else(|| cut(&format!("blob {index} of {count}"), begin))?);
        }
        if rest.at < bytes.len() {
            let (more, at) = (bytes.len() - rest.at, rest.at);
            return Err(wrong(format!("{more} bytes after the last blob, from byte {at} on")));
        }
        Ok(Self { header, blobs })
    }
}

/// What has not been read of some bytes.
pub(super) struct Rest<'t> {
    pub(super) bytes: &'t [u8],
    pub(super) at: usize,
}

/// A number of little-endian bytes.
pub(super) trait Number: Sized {
    type Bytes: for<'b> TryFrom<&'b [u8]>;
    const LENGTH: u64 = size_of::<Self::Bytes>() as u64;
    fn of(bytes: Self::Bytes) -> Self;
}

macro_rules! numbers {
    ($($number:ident)*) => {
        $(impl Number for $number {
            type Bytes = [u8; size_of::<$number>()];
            fn of(bytes: Self::Bytes) -> Self {
                Self::from_le_bytes(bytes)
            }
        })*
    };
}

numbers!(u32 u64 i32 f64);

impl<'t> Rest<'t> {
    pub(super) fn take(&mut self, length: u64) -> Option<&'t [u8]> {
        let end = self.at.checked_add(usize::try_from(length).ok()?)?;
        let taken = self.bytes.get(self.at..end)?;
        self.at = end;
        Some(taken)
    }

    pub(super) fn number<T: Number>(&mut self) -> Option<T> {
        let bytes = self.take(T::LENGTH)?;
        T::Bytes::try_from(bytes).ok().map(T::of)
    }
}
