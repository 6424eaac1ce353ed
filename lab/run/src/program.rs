//! Programs and coefficients from files.

use crate::form::Form;
use crate::inputs;
use crate::npy;
use b512_asm::asm::Checks;
use b512_asm::{Defect, Part, Program, SourceMap, assemble_with_checks, intrinsics, object};
use diagnostic::input::{self, Content};
use diagnostic::{Diagnostic, Diagnostics, Lines};
use serde_json::value::RawValue;
use sim::functional::ExecuteError;
use std::path::Path;

/// Assembles a text in either notation: the one with a C function is in intrinsics.
///
/// # Errors
/// Returns all errors of the text.
pub fn assemble(text: &str) -> Result<(Program, SourceMap<'_>), Diagnostics> {
    assemble_with(text, &|_, _| Vec::new())
}

fn assemble_with<'a>(text: &'a str, checks: Checks<'_>) -> Result<(Program, SourceMap<'a>), Diagnostics> {
    let is_function = |line: &str| line.trim_start().starts_with("void ");
    if text.lines().any(is_function) {
        intrinsics::assemble_with_checks(text, checks)
    } else {
        assemble_with_checks(text, checks)
    }
}

/// A program and its file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProgramFile {
    /// The program.
    pub program: Program,
    /// The file's name in errors.
    name: String,
    /// The assembly text; `None` for an object.
    text: Option<String>,
}

impl ProgramFile {
    /// Reads a program from the bytes of a file: an object, or assembly text, recognised by its content.
    /// `name` is the file's name in errors.
    ///
    /// # Errors
    /// Returns an error if the bytes are neither, or the program is invalid.
    pub fn parse(name: &str, bytes: Vec<u8>) -> Result<Self, Diagnostics> {
        let whole = |message: String| Diagnostic::new(message).in_file(name);
        if bytes.starts_with(b"\x7fELF") {
            let program = object::read(&bytes).map_err(|error| whole(error.to_string()))?;
            golden::check(&program).map_err(|error| whole(error.to_string()))?;
            return Ok(Self { program, name: name.to_owned(), text: None });
        }
        let text = input::text(bytes).map_err(|reason| {
            let help = "give B512 assembly text, or an object file that `rpu asm` or `rpu gen` wrote";
            whole(format!("neither an object file nor a text: {reason}")).with_help(help)
        })?;
        let checked = assemble_with(&text, &golden::defects).map(|(program, _)| program);
        let program = checked.map_err(|errors| errors.in_file(name))?;
        Ok(Self { program, name: name.to_owned(), text: Some(text) })
    }

    /// A program that no file holds, such as a generated one.
    pub fn of(program: Program) -> Self {
        Self { name: program.name.clone(), program, text: None }
    }

    /// The file's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The line of each instruction, from 1; `None` for an object.
    pub fn lines(&self) -> Option<Vec<usize>> {
        let text = self.text.as_deref()?;
        let (program, source_map) = assemble(text).ok()?;
        let lines = Lines::new(text);
        let line_of = |index| lines.number(source_map.span(Part::Instruction(index)).start);
        Some((0..program.instructions.len()).map(line_of).collect())
    }

    /// Defects as errors in the file: at a position of its text, or at a part of the object.
    pub fn diagnostics(&self, defects: Vec<Defect>) -> Vec<Diagnostic> {
        let source = self.text.as_deref().and_then(|text| Some((Lines::new(text), assemble(text).ok()?.1)));
        let diagnostic = |defect: Defect| {
            let error = match &source {
                Some((lines, source_map)) => {
                    let error = Diagnostic::new(defect.message);
                    lines.mark(error, &self.name, source_map.span(defect.part))
                }
                None => Diagnostic::new(self.part(defect.part) + &defect.message).in_file(&self.name),
            };
            let error = error.with_code(defect.code.name());
            match defect.help {
                Some(help) => error.with_help(help),
                None => error,
            }
        };
        defects.into_iter().map(diagnostic).collect()
    }

    /// The fault of an instruction as an error in the file.
    pub fn fault(&self, error: &ExecuteError) -> Diagnostic {
        let part = Part::Instruction(error.index);
        match self.text.as_deref().map(|text| (text, assemble(text))) {
            Some((text, Ok((_, source_map)))) => {
                Diagnostic::new(error.fault.to_string()).at(&self.name, text, source_map.span(part))
            }
            _ => Diagnostic::new(error.to_string()).in_file(&self.name),
        }
    }

    /// A part of an object, as the beginning of a message about it.
    fn part(&self, part: Part) -> String {
        let instr = part.instruction().and_then(|index| Some((index, self.program.instructions.get(index)?)));
        instr.map_or(String::new(), |(index, instr)| format!("instruction {index}, `{instr}`: "))
    }
}

/// Reads coefficients: 16 little-endian bytes each; a JSON list of numbers, as texts in decimal or in
/// hexadecimal after `0x`; or an array of integers, or one of unsigned 64-bit integers with a last axis of
/// two for the low and the high half. `name` is the file's name in errors.
///
/// # Errors
/// Returns an error if the bytes are not a whole number of coefficients, or no such list or array.
pub fn coefficients(form: Form, name: &str, bytes: &[u8]) -> Result<Vec<u128>, Diagnostic> {
    match form {
        Form::List => return json_coefficients(name, bytes),
        Form::Array => return npy::read(name, bytes),
        Form::Binary => {}
    }
    let (words, rest) = bytes.as_chunks::<16>();
    if !rest.is_empty() {
        let message = format!("{} bytes are not a whole number of coefficients", bytes.len());
        let help = "a coefficient has 16 bytes, little-endian";
        return Err(Diagnostic::new(message).in_file(name).with_help(help));
    }
    Ok(words.iter().map(|word| u128::from_le_bytes(*word)).collect())
}

/// The axes of coefficients in a `.npy` file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Axes {
    /// The number of limbs in a ring program's data: the axis before the coefficients.
    pub limbs: Option<usize>,
    /// Whether a last axis has the low and the high half of each coefficient. Otherwise all are below 2^64.
    pub wide: bool,
}

impl Axes {
    /// The axes of a program's data.
    pub fn of(program: &Program) -> Self {
        Self { limbs: None, wide: has_wide_words(program) }
    }
}

/// The words as the content of a file: what [`coefficients`] reads.
pub fn coefficient_file(form: Form, words: &[u128], axes: Axes) -> Vec<u8> {
    match form {
        Form::List => {
            let texts: Vec<String> = words.iter().map(|word| format!("\"{word:#x}\"")).collect();
            format!("[{}]\n", texts.join(",\n ")).into_bytes()
        }
        Form::Array => match axes.limbs {
            Some(limbs) => npy::write(words, &[limbs, words.len() / limbs.max(1)], axes.wide),
            None => npy::write(words, &[words.len()], axes.wide),
        },
        Form::Binary => words.iter().flat_map(|word| word.to_le_bytes()).collect(),
    }
}

/// Whether a coefficient of the program may have more than 64 bits: one of its moduli has, or it has no
/// modulus. So the form of its data does not depend on the data.
fn has_wide_words(program: &Program) -> bool {
    let moduli: Vec<u128> = inputs::moduli(program).collect();
    moduli.is_empty() || moduli.iter().any(|&modulus| modulus > u128::from(u64::MAX))
}

fn json_coefficients(name: &str, bytes: &[u8]) -> Result<Vec<u128>, Diagnostic> {
    let wrong = |message: String| {
        let help = "write a list such as [\"0x1f\", \"31\", 31], of numbers of at most 128 bits";
        Diagnostic::new(message).in_file(name).with_help(help)
    };
    // As they are written: a number of JSON may be beyond those of its reader.
    let values: Vec<&RawValue> = serde_json::from_slice(input::without_mark(bytes))
        .map_err(|error| wrong(format!("invalid JSON: {}", diagnostic::reason(&error.to_string()))))?;
    let word = |(index, value): (usize, &&RawValue)| {
        let value = value.get();
        let number = match serde_json::from_str::<String>(value) {
            Ok(text) => diagnostic::number(text.as_bytes()).ok(),
            Err(_) => value.parse().ok(),
        };
        number.ok_or_else(|| wrong(format!("invalid coefficient {index}: {}", diagnostic::one_line(value))))
    };
    values.iter().enumerate().map(word).collect()
}

/// The content of a file.
///
/// # Errors
/// Returns an error if it cannot be read.
pub fn read(path: &Path) -> Result<Vec<u8>, Diagnostic> {
    input::read(path, Content::Program)
        .map_err(|error| Diagnostic::new(format!("cannot read `{}`: {error}", diagnostic::path(path))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_survives_all_forms() {
        let words = [0, 1, u128::from(u64::MAX) + 1, u128::MAX];
        let axes = Axes { limbs: None, wide: true };
        for form in [Form::Binary, Form::List, Form::Array] {
            let file = coefficient_file(form, &words, axes);
            assert_eq!(coefficients(form, "x", &file), Ok(words.to_vec()), "{form:?}");
        }
        let list = |text: &str| coefficients(Form::List, "x.json", text.as_bytes());
        assert_eq!(list("[7, \"0x10\", \"12\"]"), Ok(vec![7, 16, 12]));
        let error = |text: &str| list(text).unwrap_err().to_string();
        let wide = "[18446744073709551616, 340282366920938463463374607431768211455]";
        assert_eq!(list(wide), Ok(vec![1 << 64, u128::MAX]));
        for number in ["340282366920938463463374607431768211456", "1e3", "1.0", "null", "[1]"] {
            let message = error(&format!("[{number}]"));
            assert!(
                message.starts_with(&format!("x.json: invalid coefficient 0: {number}; write")),
                "{message}"
            );
        }
        assert!(error("[1, -2]").starts_with("x.json: invalid coefficient 1: -2; write a list"));
        assert!(error("{}").starts_with("x.json: invalid JSON: expected a list, found an object"));
        assert!(coefficients(Form::Binary, "x.bin", &[0; 15]).is_err());
    }

    #[test]
    fn the_form_of_data_follows_from_the_moduli() {
        let program = |text: &str| ProgramFile::parse("a.b512", text.as_bytes().to_vec()).unwrap().program;
        for (text, wide) in [
            (".modulus m1, 97\nhalt\n", false),
            (".modulus m1, 0xffffffffffffffff\nhalt\n", false),
            (".modulus m1, 97\n.modulus m2, 0x10000000000000001\nhalt\n", true),
            (".table q, 1, sdm\n.words q { 0x10000000000000001 }\nmload m1, q\nhalt\n", true),
            ("halt\n", true),
        ] {
            assert_eq!(has_wide_words(&program(text)), wide, "{text}");
        }
    }

    #[test]
    fn defects_of_an_object_name_its_instruction() {
        let text = ".modulus m1, 97\nvadd v1, v0, v0, m1\nhalt\n";
        let program = ProgramFile::parse("a.b512", text.as_bytes().to_vec()).unwrap().program;
        let file = ProgramFile::parse("a.o", object::write(&program).unwrap()).unwrap();
        assert_eq!(file.name(), "a.o");
        assert_eq!(file.lines(), None);
        let defects = sim::lint::errors(&file.program, &sim::Machine::rpu_128x128());
        let messages: Vec<String> = file.diagnostics(defects).iter().map(|error| error.to_string()).collect();
        assert!(messages[0].contains("instruction 0, `vadd v1, v0, v0, m1`: "), "{messages:?}");
    }

    #[test]
    fn instructions_have_lines() {
        let text = ".modulus m1, 97\n\nvadd v1, v0, v0, m1\n// nothing\nhalt\n";
        let file = ProgramFile::parse("a.b512", text.as_bytes().to_vec()).unwrap();
        assert_eq!(file.lines(), Some(vec![3, 5]));
    }
}
