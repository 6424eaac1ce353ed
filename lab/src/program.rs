//! Programs and coefficients from files.

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

/// Reads coefficients of 16 little-endian bytes each. `name` is the file's name in errors.
///
/// # Errors
/// Returns an error if the bytes are not a whole number of coefficients.
pub fn coefficients(name: &str, bytes: &[u8]) -> Result<Vec<u128>, Diagnostic> {
    let (words, rest) = bytes.as_chunks::<16>();
    if !rest.is_empty() {
        let message = format!("{} bytes are not a whole number of coefficients", bytes.len());
        let help = "a coefficient has 16 bytes, little-endian";
        return Err(Diagnostic::new(message).in_file(name).with_help(help));
    }
    Ok(words.iter().map(|word| u128::from_le_bytes(*word)).collect())
}

/// The content of a file.
///
/// # Errors
/// Returns an error if it cannot be read.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Diagnostic> {
    input::read(path, Content::Program)
        .map_err(|error| Diagnostic::new(format!("cannot read `{}`: {error}", path.display())))
}
