//! Programs with the files that they come from.

use crate::failure::Failure;
use crate::files;
use b512_asm::{Defect, InvalidProgram, Place, Program, object};
use diagnostic::input::Content;
use diagnostic::{Diagnostic, Diagnostics};
use lab::program::assemble;
use sim::functional::ExecuteError;
use std::fmt::Display;
use std::path::Path;

/// A program and its file.
pub(crate) struct ProgramFile {
    pub(crate) program: Program,
    /// The file's display name.
    name: String,
    /// The assembly text; `None` for an object.
    text: Option<String>,
}

/// Reads a program: an object file or assembly text, recognised by its content.
pub(crate) fn read(path: &Path) -> Result<Program, Failure> {
    ProgramFile::read(path).map(|file| file.program)
}

impl ProgramFile {
    /// Reads a program: an object file or assembly text, recognised by its content.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let name = files::name(path);
        let bytes = files::read(path, Content::Program)?;
        if bytes.starts_with(b"\x7fELF") {
            let wrong = |error: &dyn Display| Failure::wrong(format_args!("{name}: {error}"), None);
            let program = object::read(&bytes).map_err(|error| wrong(&error))?;
            golden::check(&program).map_err(|error| wrong(&error))?;
            return Ok(Self { program, name, text: None });
        }
        let text = String::from_utf8(bytes).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            let help = "give B512 assembly text, or an object file that `rpu asm` or `rpu gen` wrote";
            Failure::wrong(
                format_args!("{name}: neither an object file nor UTF-8 text: invalid byte {at}"),
                help,
            )
        })?;
        let checked = assemble(&text)
            .and_then(|(program, places)| places.locate(golden::check(&program)).map(|()| program));
        match checked {
            Ok(program) => Ok(Self { program, name, text: Some(text) }),
            Err(errors) => Err(Failure::Input(errors.in_file(&name))),
        }
    }

    /// Defects as errors in the file: at a position of its text, or at a part of the object.
    pub(crate) fn diagnostics(&self, defects: Vec<Defect>) -> Vec<Diagnostic> {
        let assembled = self.text.as_deref().and_then(|text| assemble(text).ok());
        let diagnostic = |defect: Defect| {
            let error = match (&self.text, &assembled) {
                (Some(text), Some((_, places))) => {
                    Diagnostic::new(defect.message).at(&self.name, text.as_str(), places.span(defect.place))
                }
                _ => Diagnostic::new(self.part(defect.place) + &defect.message).in_file(&self.name),
            };
            let error = error.with_code(defect.code.name());
            match defect.help {
                Some(help) => error.with_help(help),
                None => error,
            }
        };
        defects.into_iter().map(diagnostic).collect()
    }

    /// The failure of a program with defects.
    pub(crate) fn invalid(&self, invalid: InvalidProgram) -> Failure {
        let mut errors = Diagnostics::default();
        self.diagnostics(invalid.defects).into_iter().for_each(|error| errors.push(error));
        Failure::Input(errors)
    }

    /// The failure of an instruction.
    pub(crate) fn fault(&self, error: &ExecuteError) -> Failure {
        let place = Place::Instruction(error.index);
        let error = match self.text.as_deref().map(|text| (text, assemble(text))) {
            Some((text, Ok((_, places)))) => {
                Diagnostic::new(error.fault.to_string()).at(&self.name, text, places.span(place))
            }
            _ => Diagnostic::new(error.to_string()).in_file(&self.name),
        };
        error.into()
    }

    /// A part of an object, as the beginning of a message about it.
    fn part(&self, place: Place) -> String {
        let instr =
            place.instruction().and_then(|index| Some((index, self.program.instructions.get(index)?)));
        instr.map_or(String::new(), |(index, instr)| format!("instruction {index}, `{instr}`: "))
    }
}
