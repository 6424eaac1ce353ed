//! Text from files, safe to show.

use std::borrow::Cow;
use std::path::Path;

/// The text with escapes such as `\u{1b}` for characters that a terminal obeys or XML forbids: control
/// characters except line ends and tabs, and characters that reverse the direction of text.
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

/// Whether a text is visible ASCII, blanks, tabs and line ends. Without an early exit, it takes a small part of the time of a search by
/// characters, which tables of a million rows notice.
fn is_plain(text: &str) -> bool {
    let is_plain = |byte: u8| (b' '..=b'~').contains(&byte) | (byte == b'\n') | (byte == b'\t');
    text.bytes().fold(true, |plain, byte| plain & is_plain(byte))
}

/// As [`printable`], but line ends and tabs are escaped too: names of files are part of a line.
pub fn one_line(text: &str) -> Cow<'_, str> {
    match printable(text) {
        safe if safe.contains(['\n', '\t']) => Cow::Owned(safe.replace('\n', "\\n").replace('\t', "\\t")),
        safe => safe,
    }
}

/// Whether a text is a name: one line of printable text. Names come from files, and reports have a line for
/// each.
pub fn is_line(text: &str) -> bool {
    !text.contains(|c: char| is_harmful(c) || matches!(c, '\n' | '\t' | '\u{2028}' | '\u{2029}'))
}

/// A path as messages show it, in one line. What is not UTF-8 in it shows as U+FFFD.
pub fn path(path: impl AsRef<Path>) -> String {
    one_line(&path.as_ref().to_string_lossy()).into_owned()
}

fn is_harmful(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        // Marks, embeddings, overrides and isolates of direction; characters that XML forbids.
        '\u{200e}'
        | '\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}'
        | '\u{fffe}'
        | '\u{ffff}' => true,
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
        assert_eq!(one_line("a\n\u{1b}b\tc"), "a\\n\\u{1b}b\\tc");
        assert_eq!(path("a\n\u{1b}/b\t"), "a\\n\\u{1b}/b\\t");
        for text in ["", "a b\n\tc", "Größe ≤ 25 mm², 多項式"] {
            assert!(matches!(printable(text), Cow::Borrowed(same) if same == text));
        }
    }
}
