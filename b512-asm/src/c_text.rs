//! What stands between the tokens of C: blanks, comments, and lines of the preprocessor.
//!
//! No preprocessor runs. `#include` and `#pragma` change nothing here, since the calls are known without a
//! header; every other line of the preprocessor may remove or replace code, and is an error.

use crate::code::Code;
use crate::lex::{Fault, first_token};

/// The position at which a text begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// At the start of a line, where a line of the preprocessor may be.
    LineStart,
    /// Behind a token.
    WithinLine,
}

/// Skips blanks, lines and comments.
///
/// # Errors
/// Returns a comment that does not end, or that ends where C and a reader of lines disagree; a directive of
/// the assembler that is not on a line of its own; and a line of the preprocessor that is not evaluated.
pub(crate) fn skip(mut input: &str, mut place: Place) -> Result<&str, Fault<'_>> {
    loop {
        let rest = input.trim_start();
        if input[..input.len() - rest.len()].contains('\n') {
            place = Place::LineStart;
        }
        if let Some(comment) = rest.strip_prefix("/*") {
            let Some(length) = comment.find("*/") else {
                let fault = Fault::new(Code::Syntax, &rest[..2], "this comment is not closed");
                return Err(fault.help("end it with `*/`"));
            };
            input = &comment[length + 2..];
            // A comment is a blank, also one of several lines.
            continue;
        }
        let is_comment = rest.starts_with("//");
        if !is_comment && !rest.starts_with('#') {
            return Ok(rest);
        }
        let line = &rest[..rest.find('\n').unwrap_or(rest.len())];
        if line.trim_end().ends_with('\\') {
            let fault = Fault::new(Code::Syntax, line.trim_end(), "the line continues on the next one");
            return Err(fault.help("remove the `\\` at its end"));
        }
        if place == Place::WithinLine && line.starts_with("//.") {
            let fault = Fault::new(Code::Syntax, line.trim_end(), "a directive behind code");
            return Err(fault.help("a directive `//.` has a line of its own"));
        }
        if !is_comment {
            preprocess(line, place)?;
        }
        input = &rest[line.len()..];
    }
}

/// Refuses a line of the preprocessor that may change the code.
fn preprocess(line: &str, place: Place) -> Result<(), Fault<'_>> {
    if place == Place::WithinLine {
        return Err(Fault::new(Code::Syntax, &line[..1], "`#` has no meaning behind code"));
    }
    let word = first_token(&line[1..]);
    if matches!(word, "include" | "pragma") && !line.contains("/*") {
        return Ok(());
    }
    let fault = Fault::new(Code::Syntax, line.trim_end(), format!("`#{word}` is not evaluated"));
    Err(fault.help("no preprocessor runs: give the text that it makes, as `cpp -P -CC` does"))
}

/// The lines with a directive of the assembler, without the `//` before it: comments `//.` on lines of their
/// own, outside of other comments.
pub(crate) fn directives(source: &str) -> Vec<&str> {
    let (bytes, mut found) = (source.as_bytes(), Vec::new());
    // One pass: a text is as long as it likes, and so are its lines.
    let (mut at, mut is_line_start, mut is_inside) = (0, true, false);
    while at < bytes.len() {
        let two = bytes.get(at..at + 2).unwrap_or_default();
        match (is_inside, two) {
            (true, b"*/") => (is_inside, is_line_start, at) = (false, false, at + 2),
            (false, b"/*") => (is_inside, at) = (true, at + 2),
            (false, b"//") => {
                let rest = &source[at + 2..];
                let comment = &rest[..rest.find('\n').unwrap_or(rest.len())];
                if is_line_start && comment.starts_with('.') {
                    found.push(comment);
                }
                at += 2 + comment.len();
            }
            _ => {
                let byte = bytes[at];
                is_line_start = byte == b'\n' || is_line_start && byte.is_ascii_whitespace();
                at += 1;
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_harmless_lines_are_blanks() {
        for text in [
            "x",
            "  x",
            "// a\n\tx",
            "/* a */x",
            "/* a\n * #if 0\n */ /**/ // b\nx",
            "#include <a.h>\n  # pragma once\nx",
            "//.input a, 512\n/*//.input b */x",
        ] {
            assert_eq!(skip(text, Place::LineStart).unwrap(), "x", "{text}");
        }
    }

    #[test]
    fn what_c_would_change_is_refused() {
        for (text, at, message) in [
            ("/* a", "/*", "this comment is not closed"),
            ("/*/ x", "/*", "this comment is not closed"),
            ("#if 0\nx", "#if 0", "`#if` is not evaluated"),
            ("# ifdef A\nx", "# ifdef A", "`#ifdef` is not evaluated"),
            ("#define A B\r\nx", "#define A B", "`#define` is not evaluated"),
            ("#\nx", "#", "`#` is not evaluated"),
            ("#include /* a\n*/ x", "#include /* a", "`#include` is not evaluated"),
            ("// a \\ \nx", "// a \\", "the line continues on the next one"),
            ("#pragma a\\\nx", "#pragma a\\", "the line continues on the next one"),
        ] {
            let fault = skip(text, Place::LineStart).unwrap_err();
            assert_eq!((fault.at, &*fault.message), (at, message), "{text}");
        }
        for text in [" # include <a>\nx", " //.input a, 512\nx"] {
            assert!(skip(text, Place::WithinLine).is_err(), "{text}");
            assert!(skip(&format!("\n{text}"), Place::WithinLine).is_ok(), "{text}");
        }
    }

    #[test]
    fn directives_are_comments_of_their_own() {
        let text =
            "//.a\n  //.b\n// .c\n/*\n//.d\n*/\n/* */ //.e\nx; //.f\n// /*\n//.g\n/* */ /*\n//.h */\n//.i";
        assert_eq!(directives(text), [".a", ".b", ".g", ".i"]);
        // The `/` of `/*/` closes nothing.
        assert_eq!(directives("x /*/\n//.a\n*/ /**/\n//.b"), [".b"]);
    }
}
