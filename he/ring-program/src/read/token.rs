//! Tokens of one line: positions, and numbers.

use std::ops::Range;

/// Bytes of a line.
pub(super) type Span = Range<usize>;

/// Blanks, also the carriage return of a line's end.
pub(super) const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r')
}

/// `span` without the blanks at its ends.
pub(super) fn trim(line: &[u8], span: Span) -> Span {
    let Range { mut start, mut end } = span;
    while start < end && is_blank(line[start]) {
        start += 1;
    }
    while start < end && is_blank(line[end - 1]) {
        end -= 1;
    }
    start..end
}

/// The bytes of a line before the comment, without blanks at the ends.
pub(super) fn significant(line: &[u8]) -> Span {
    let end = line.iter().position(|&byte| byte == b'#').unwrap_or(line.len());
    trim(line, 0..end)
}

/// The first word of `span`, and the rest without blanks at the ends.
pub(super) fn first_word(line: &[u8], span: Span) -> (Span, Span) {
    let length = line[span.clone()].iter().position(|&byte| is_blank(byte)).unwrap_or(span.len());
    let word = span.start..span.start + length;
    let rest = trim(line, word.end..span.end);
    (word, rest)
}

/// The text of some bytes. Bytes that are not UTF-8 are replaced, one by one, so that positions
/// stay.
pub(super) fn text(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().map(|&byte| if byte.is_ascii() { byte as char } else { '?' }).collect(),
    }
}

/// A number, decimal or hexadecimal after `0x`.
///
/// # Errors
/// Returns the reason if the text is no such number of at most 128 bits.
pub(super) fn number(digits: &[u8]) -> Result<u128, &'static str> {
    if let [b'0', b'x' | b'X', digits @ ..] = digits {
        return hexadecimal(digits);
    }
    match digits {
        [] => return Err("no digits"),
        [b'0', _, ..] => return Err("a leading zero, which some readers read as octal"),
        _ => {}
    }
    // The first 19 digits fit 64 bits, whose arithmetic is faster.
    let (head, tail) = digits.split_at(digits.len().min(19));
    let mut short = 0;
    for &digit in head {
        short = short * 10 + u64::from(decimal_digit(digit)?);
    }
    tail.iter().try_fold(u128::from(short), |value, &digit| {
        let digit = decimal_digit(digit)?;
        value.checked_mul(10).and_then(|value| value.checked_add(digit.into())).ok_or(TOO_LARGE)
    })
}

const TOO_LARGE: &str = "more than 128 bits";

fn decimal_digit(digit: u8) -> Result<u8, &'static str> {
    match digit {
        b'0'..=b'9' => Ok(digit - b'0'),
        _ => Err("not a decimal or `0x` number"),
    }
}

fn hexadecimal(digits: &[u8]) -> Result<u128, &'static str> {
    if digits.is_empty() {
        return Err("no digits");
    }
    digits.iter().try_fold(0u128, |value, &digit| {
        let digit = (digit as char).to_digit(16).ok_or("not a hexadecimal number")?;
        if value >> 124 == 0 { Ok(value << 4 | u128::from(digit)) } else { Err(TOO_LARGE) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_up_to_128_bits() {
        for value in [0, 1, 10, u128::from(u64::MAX), u128::from(u64::MAX) + 1, 1 << 127, u128::MAX] {
            assert_eq!(number(value.to_string().as_bytes()), Ok(value));
            assert_eq!(number(format!("{value:#x}").as_bytes()), Ok(value));
            assert_eq!(number(format!("0X{value:X}").as_bytes()), Ok(value));
        }
        let too_large = "340282366920938463463374607431768211456";
        for wrong in
            ["", "0x", "01", "-1", "1.5", "0xg", "1_000", too_large, "0x100000000000000000000000000000000"]
        {
            assert!(number(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn words_are_separated_by_blanks() {
        let line = b" \tsr_negp  %1, %2 # m=1\r";
        let span = significant(line);
        let (word, rest) = first_word(line, span);
        assert_eq!((&line[word], &line[rest]), (&b"sr_negp"[..], &b"%1, %2"[..]));
        assert_eq!(significant(b"  # only"), 2..2);
    }
}
