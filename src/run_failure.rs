//! The failure of a run.

use crate::data::NamedFile;
use crate::failure::Failure;
use lab_run::program::ProgramFile;
use lab_run::{InputError, RunError};

/// The failure of a run: with the location in the program, or the file of an input.
pub(crate) fn failure_of(error: RunError, file: &ProgramFile, inputs: &[NamedFile]) -> Failure {
    if let Some(errors) = error.in_file(file) {
        return errors.into();
    }
    let input = |name: &str| {
        inputs.iter().find(|input| input.name == name).map(|input| diagnostic::path(&input.path))
    };
    match error {
        error if error.is_wrong_result() => Failure::Work(error.to_string()),
        RunError::Input(InputError::Length { ref name, .. } | InputError::NotReduced { ref name, .. }) => {
            match input(name) {
                Some(file) => Failure::wrong(format_args!("{file}: {error}"), None),
                None => Failure::wrong(error, None),
            }
        }
        error => Failure::wrong(&error, error.help()),
    }
}
