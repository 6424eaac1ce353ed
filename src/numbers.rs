//! Numbers on the command line, in the notation of all formats.

use ring::Degree;

/// Parses a number.
///
/// # Errors
/// Returns the reason if the text is not a number, or the number is out of range.
pub(crate) fn whole<T: TryFrom<u128>>(text: &str) -> Result<T, String> {
    let number = diagnostic::number(text.as_bytes())?;
    T::try_from(number).map_err(|_| "the number is too large".to_owned())
}

/// Parses a number from 1 on.
///
/// # Errors
/// As [`whole`], and for 0.
pub(crate) fn positive(text: &str) -> Result<u32, String> {
    whole(text)
        .and_then(|number| if number == 0 { Err("it must be at least 1".to_owned()) } else { Ok(number) })
}

/// The most threads that `-j` can ask for.
const MAX_THREADS: usize = 1024;

/// Parses a number of threads.
///
/// # Errors
/// As [`whole`], and for 0 or more than 1024.
pub(crate) fn threads(text: &str) -> Result<usize, String> {
    let number = whole(text)?;
    let range = 1..=MAX_THREADS;
    if range.contains(&number) { Ok(number) } else { Err(format!("it must be from 1 to {MAX_THREADS}")) }
}

/// Parses a ring degree: digits, or digits and `K` (times 1024).
///
/// # Errors
/// Returns the valid values in words if the text is not a degree.
pub(crate) fn degree(text: &str) -> Result<Degree, String> {
    let (digits, unit) = text.strip_suffix(['k', 'K']).map_or((text, 1), |digits| (digits, 1024));
    let number = whole::<u64>(digits).ok().and_then(|number| number.checked_mul(unit));
    number.and_then(|number| Degree::new(number).ok()).ok_or_else(|| {
        let (least, most) = (Degree::MIN, Degree::MAX);
        format!("a degree is a power of two from {least} to {most}, such as 1024, 1K or 65536; `K` is 1024")
    })
}
