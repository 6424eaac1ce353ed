//! Text from files, safe to show.

use std::borrow::Cow;
use std::path::Path;

/// The text with escapes such as `\u{1b}` for characters that a terminal obeys, XML forbids or nobody sees:
/// control characters except line ends and tabs, characters that reverse the direction of text, and those
/// without a shape, but for the joiners that some scripts need.
///
/// Names and titles come from untrusted files and must not control the terminal that shows them.
pub fn printable(text: &str) -> Cow<'_, str> {
    if is_plain(text) || !text.contains(is_harmful) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        if is_harmful(character) {
            safe.extend(character.escape_unicode());
        } else {
            safe.push(character);
        }
    }
    Cow::Owned(safe)
}

/// Whether a text is visible ASCII, blanks, tabs and line ends. Without an early exit, it takes a small part
/// of the time of a search by characters, which tables of a million rows notice.
fn is_plain(text: &str) -> bool {
    let is_plain = |byte: u8| (b' '..=b'~').contains(&byte) | (byte == b'\n') | (byte == b'\t');
    text.bytes().fold(true, |plain, byte| plain & is_plain(byte))
}

/// What ends a line or moves within it, of the characters that [`printable`] lets through.
const ENDS: [char; 4] = ['\n', '\t', '\u{2028}', '\u{2029}'];

/// As [`printable`], but line ends and tabs are escaped too: names of files are part of a line.
pub fn one_line(text: &str) -> Cow<'_, str> {
    let safe = printable(text);
    if !safe.contains(ENDS) {
        return safe;
    }
    let escaped = ENDS
        .iter()
        .fold(safe.into_owned(), |text, end| text.replace(*end, &end.escape_default().to_string()));
    Cow::Owned(escaped)
}

/// Whether a text is a name: one line of printable text, not of blanks alone. Names come from files, and
/// reports have a line for each.
pub fn is_line(text: &str) -> bool {
    !text.trim().is_empty() && !text.contains(|c: char| is_harmful(c) || ENDS.contains(&c))
}

/// A path as messages show it, in one line. What is not UTF-8 in it shows as U+FFFD.
pub fn path(path: impl AsRef<Path>) -> String {
    one_line(&path.as_ref().to_string_lossy()).into_owned()
}

fn is_harmful(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        // Marks, embeddings, overrides and isolates of direction; characters that XML forbids.
        '\u{61c}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}'
        | '\u{fffe}'
        | '\u{ffff}' => true,
        // Characters without a shape: two names that differ in them look alike.
        '\u{ad}'
        | '\u{180e}'
        | '\u{200b}'
        | '\u{2060}'..='\u{2064}'
        | '\u{206a}'..='\u{206f}'
        | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}' => true,
        character => character.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped_and_all_else_stays() {
        assert_eq!(
            printable("\u{1b}[31mred\u{7}\r\u{7f}\u{9b}\u{202e}"),
            "\\u{1b}[31mred\\u{7}\\u{d}\\u{7f}\\u{9b}\\u{202e}"
        );
        // Visible characters beside one make it no better.
        assert_eq!(["ab\u{1b}", "\u{1b}a"].map(printable), ["ab\\u{1b}", "\\u{1b}a"]);
        assert_eq!(one_line("a\n\u{1b}b\tc\u{2028}"), "a\\n\\u{1b}b\\tc\\u{2028}");
        assert_eq!(printable("a\u{ad}\u{200b}\u{feff}\u{61c}b"), "a\\u{ad}\\u{200b}\\u{feff}\\u{61c}b");
        assert_eq!(path("a\n\u{1b}/b\t"), "a\\n\\u{1b}/b\\t");
        for text in ["", "a b\n\tc", "Größe ≤ 25 mm², 多項式", "می\u{200c}خواهم"] {
            assert!(matches!(printable(text), Cow::Borrowed(same) if same == text));
        }
    }

    #[test]
    fn a_name_is_a_line_that_shows_something() {
        for name in ["x", " a b", "Größe ≤ 25 mm²", "می\u{200c}خواهم"] {
            assert!(is_line(name), "{name}");
        }
        for text in ["", " ", "\u{3000}", "a\nb", "a\t", "a\u{2028}b", "\u{1b}[31m", "a\u{200b}"] {
            assert!(!is_line(text), "{text:?}");
        }
    }
}
