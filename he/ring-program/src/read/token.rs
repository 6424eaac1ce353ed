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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_separated_by_blanks() {
        let line = b" \tsr_negp  %1, %2 # m=1\r";
        let span = significant(line);
        let (word, rest) = first_word(line, span);
        assert_eq!((&line[word], &line[rest]), (&b"sr_negp"[..], &b"%1, %2"[..]));
        assert_eq!(significant(b"  # only"), 2..2);
    }
}
