//! The files that a command writes.

use crate::failure::Failure;
use crate::files::{self, unwritten};
use lab_run::Form;
use lab_run::files::NewFile;
use lab_run::program::{Axes, coefficient_file};
use ring_program::RingProgram;
use ring_program::data::{Words, concat};
use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Files that appear together: all are complete before the first one has its name. Standard output gets its
/// content first.
#[derive(Default)]
pub(crate) struct Outputs {
    files: Vec<(PathBuf, NewFile)>,
    printed: Vec<u8>,
}

impl Outputs {
    /// Adds a file with its content. A device or a pipe gets it at once: a reader of several pipes may wait
    /// for the end of one.
    pub(crate) fn add(&mut self, path: &Path, content: &[u8]) -> Result<(), Failure> {
        if files::is_dash(path) {
            self.printed.extend_from_slice(content);
            return Ok(());
        }
        let prepared = NewFile::create(path).and_then(|mut file| {
            file.write_all(content)?;
            file.flush()?;
            Ok(file)
        });
        let file = prepared.map_err(|error| unwritten(path, &error))?;
        if file.is_special() {
            return file.finish().map_err(|error| unwritten(path, &error));
        }
        self.files.push((path.to_owned(), file));
        Ok(())
    }

    /// Adds coefficients, in the form that the file's name says.
    pub(crate) fn add_coefficients(
        &mut self,
        path: &Path,
        words: &[u128],
        axes: Axes,
    ) -> Result<(), Failure> {
        self.add(path, &coefficient_file(Form::of(path)?, words, axes))
    }

    /// Adds the limbs of an input or an output of a ring program in the same forms.
    pub(crate) fn add_limbs(
        &mut self,
        path: &Path,
        program: &RingProgram,
        limbs: &[Words],
    ) -> Result<(), Failure> {
        let wide = program.moduli().iter().any(|(_, modulus)| modulus > u128::from(u64::MAX));
        self.add_coefficients(path, &concat(limbs), Axes { limbs: Some(limbs.len()), wide })
    }

    /// Gives all files their names.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        if !self.printed.is_empty() {
            files::print(&self.printed)?;
        }
        self.files
            .into_iter()
            .try_for_each(|(path, file)| file.finish().map_err(|error| unwritten(&path, &error)))
    }
}

/// Refuses to write over a file that the command reads. Outputs have the options that name them.
pub(crate) fn check_overwritten<'p>(
    outputs: impl IntoIterator<Item = (String, &'p Path)>,
    inputs: impl IntoIterator<Item = PathBuf>,
) -> Result<(), Failure> {
    let inputs = inputs.into_iter().filter(|path| !files::is_dash(path) && path.is_file());
    let inputs: BTreeSet<PathBuf> = inputs.filter_map(|path| files::identity(&path)).collect();
    let is_input = |path: &Path| files::identity(path).is_some_and(|file| inputs.contains(&file));
    match outputs.into_iter().find(|(_, path)| !files::is_dash(path) && is_input(path)) {
        Some((option, _)) => {
            let message = format!("`{option}` would overwrite a file that the command reads");
            Err(Failure::wrong(message, "name another file"))
        }
        None => Ok(()),
    }
}
