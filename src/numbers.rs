//! Numbers on the command line.

use ring::Degree;

/// Parses a ring degree: digits, or digits and `K` (times 1024) or `M` (times 1024 * 1024).
///
/// # Errors
/// Returns the valid values in words if the text is not a degree.
pub(crate) fn degree(text: &str) -> Result<u32, String> {
    let (digits, unit) = match text.strip_suffix(['k', 'K']) {
        Some(digits) => (digits, 1 << 10),
        None => text.strip_suffix(['m', 'M']).map_or((text, 1), |digits| (digits, 1 << 20)),
    };
    let number = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
    match number.map(Degree::new) {
        Some(Ok(degree)) => Ok(u32::try_from(degree.get()).expect("2^21 fits")),
        Some(Err(_)) | None => {
            Err("a degree is a power of two from 2 to 2^21, such as 1024, 1K or 65536; `K` is 1024".into())
        }
    }
}

/// The same as a 64-bit number.
pub(crate) fn wide_degree(text: &str) -> Result<u64, String> {
    degree(text).map(u64::from)
}
