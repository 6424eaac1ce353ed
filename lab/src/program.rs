//! Programs and coefficients from files.

use crate::kernel::parse_u128;
use b512_asm::{Places, Program, assemble_with_places, intrinsics, object};
use diagnostic::input::{self, Content};
use diagnostic::{Diagnostic, Diagnostics};
use std::path::Path;

/// Assembles a text in either notation: the one with a C function is in intrinsics.
///
/// # Errors
/// Returns all errors of the text.
pub fn assemble(text: &str) -> Result<(Program, Places<'_>), Diagnostics> {
    let is_function = |line: &str| line.trim_start().starts_with("void ");
    if text.lines().any(is_function) {
        intrinsics::assemble_with_places(text)
    } else {
        assemble_with_places(text)
    }
}

/// Reads a program from the bytes of a file: an object, or assembly text, recognised by its content.
/// `name` is the file's name in errors.
///
/// # Errors
/// Returns an error if the bytes are neither, or the program is invalid.
pub fn parse(name: &str, bytes: Vec<u8>) -> Result<Program, Diagnostics> {
    let whole = |error: Diagnostic| {
        let mut errors = Diagnostics::default();
        errors.push(error.in_file(name));
        errors
    };
    if bytes.starts_with(b"\x7fELF") {
        let program = object::read(&bytes).map_err(|error| whole(Diagnostic::new(error.to_string())))?;
        golden::check(&program).map_err(|error| whole(Diagnostic::new(error.to_string())))?;
        return Ok(program);
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let message = format!("neither an object file nor UTF-8 text: invalid byte {at}");
        let help = "give B512 assembly text, or an object file that `rpu asm` or `rpu gen` wrote";
        whole(Diagnostic::new(message).with_help(help))
    })?;
    let checked = assemble(&text)
        .and_then(|(program, places)| places.locate(golden::check(&program)).map(|()| program));
    checked.map_err(|errors| errors.in_file(name))
}

/// Reads coefficients of 16 little-endian bytes each; or, if the name ends in `.json`, a JSON list of
/// numbers, as texts in decimal or in hexadecimal after `0x`. `name` is the file's name in errors.
///
/// # Errors
/// Returns an error if the bytes are not a whole number of coefficients, or the text is not such a list.
pub fn coefficients(name: &str, bytes: &[u8]) -> Result<Vec<u128>, Diagnostic> {
    if name.ends_with(".json") {
        return json_coefficients(name, bytes);
    }
    let (words, rest) = bytes.as_chunks::<16>();
    if !rest.is_empty() {
        let message = format!("{} bytes are not a whole number of coefficients", bytes.len());
        let help = "a coefficient has 16 bytes, little-endian";
        return Err(Diagnostic::new(message).in_file(name).with_help(help));
    }
    Ok(words.iter().map(|word| u128::from_le_bytes(*word)).collect())
}

/// The words as the content of a file with this name: what [`coefficients`] reads.
pub fn coefficient_file(name: &str, words: &[u128]) -> Vec<u8> {
    if name.ends_with(".json") {
        let texts: Vec<String> = words.iter().map(|word| format!("\"{word:#x}\"")).collect();
        return format!("[{}]\n", texts.join(",\n ")).into_bytes();
    }
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn json_coefficients(name: &str, bytes: &[u8]) -> Result<Vec<u128>, Diagnostic> {
    let wrong = |message: String| {
        let help = "write a list such as [\"0x1f\", \"31\", 31], of numbers of at most 128 bits";
        Diagnostic::new(message).in_file(name).with_help(help)
    };
    let values: Vec<serde_json::Value> =
        serde_json::from_slice(bytes).map_err(|error| wrong(format!("invalid JSON: {error}")))?;
    let word = |(index, value): (usize, &serde_json::Value)| {
        let number = match value.as_str() {
            Some(text) => parse_u128(text),
            None => value.as_u64().map(u128::from),
        };
        number.ok_or_else(|| wrong(format!("invalid coefficient {index}: {value}")))
    };
    values.iter().enumerate().map(word).collect()
}

/// The content of a file.
///
/// # Errors
/// Returns an error if it cannot be read.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Diagnostic> {
    input::read(path, Content::Program)
        .map_err(|error| Diagnostic::new(format!("cannot read `{}`: {error}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_survives_both_forms() {
        let words = [0, 1, u128::from(u64::MAX) + 1, u128::MAX];
        for name in ["x.bin", "x.json"] {
            assert_eq!(coefficients(name, &coefficient_file(name, &words)), Ok(words.to_vec()), "{name}");
        }
        assert_eq!(coefficients("x.json", b"[7, \"0x10\", \"12\"]"), Ok(vec![7, 16, 12]));
        let error = |text: &str| coefficients("x.json", text.as_bytes()).unwrap_err().to_string();
        assert!(error("[1, -2]").starts_with("x.json: invalid coefficient 1: -2; write a list"));
        assert!(error("{}").starts_with("x.json: invalid JSON: "));
        assert!(coefficients("x.bin", &[0; 15]).is_err());
    }
}
