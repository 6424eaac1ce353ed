//! Numbers on the command line.

use ring::Degree;

/// Parses a ring degree: digits, or digits and `K` (times 1024).
///
/// # Errors
/// Returns the valid values in words if the text is not a degree.
pub(crate) fn degree(text: &str) -> Result<Degree, String> {
    let (digits, unit) = text.strip_suffix(['k', 'K']).map_or((text, 1), |digits| (digits, 1024));
    let number = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
    number.and_then(|number| Degree::new(number).ok()).ok_or_else(|| {
        let (least, most) = (Degree::MIN, Degree::MAX);
        format!("a degree is a power of two from {least} to {most}, such as 1024, 1K or 65536; `K` is 1024")
    })
}
