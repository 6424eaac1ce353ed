//! JSON that no terminal obeys.

use diagnostic::printable;
use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;
use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write};

/// The JSON text with escapes for the characters that [`printable`] escapes and JSON itself does not: names
/// come from files. Such characters are in texts only, where escapes are JSON too.
pub fn escaped(json: &str) -> Cow<'_, str> {
    if matches!(printable(json), Cow::Borrowed(_)) {
        return Cow::Borrowed(json);
    }
    let (mut safe, mut bytes) = (String::with_capacity(json.len() + 8), [0; 4]);
    for character in json.chars() {
        match printable(character.encode_utf8(&mut bytes)) {
            Cow::Borrowed(same) => safe.push_str(same),
            // All of them have one unit of UTF-16.
            Cow::Owned(_) => write!(safe, "\\u{:04x}", u32::from(character)).expect("a text grows"),
        }
    }
    Cow::Owned(safe)
}

/// Writes a value as JSON in one line, [`escaped`].
///
/// # Errors
/// Returns an error if the value is no JSON, or cannot be written.
pub fn to_writer(writer: impl Write, value: &impl Serialize) -> serde_json::Result<()> {
    value.serialize(&mut Serializer::with_formatter(writer, Escaped))
}

/// The value as JSON in one line, [`escaped`].
///
/// # Errors
/// Returns an error if the value is no JSON.
pub fn to_string(value: &impl Serialize) -> serde_json::Result<String> {
    let json = serde_json::to_string(value)?;
    Ok(match escaped(&json) {
        Cow::Borrowed(_) => json,
        Cow::Owned(safe) => safe,
    })
}

struct Escaped;

impl Formatter for Escaped {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        writer.write_all(escaped(fragment).as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_survive_without_characters_that_a_terminal_obeys() {
        let text = "a\u{1b}[31m\u{9b}\u{202e}\u{7f}\u{ffff}\n\"\\ß";
        let json = to_string(&[text]).unwrap();
        assert_eq!(json, r#"["a\u001b[31m\u009b\u202e\u007f\uffff\n\"\\ß"]"#);
        assert_eq!(serde_json::from_str::<Vec<String>>(&json).unwrap(), [text]);
        let mut written = Vec::new();
        to_writer(&mut written, &[text]).unwrap();
        assert_eq!(written, json.as_bytes());
        assert!(matches!(escaped("{\n  \"a\": 1\n}"), Cow::Borrowed(_)));
    }
}
