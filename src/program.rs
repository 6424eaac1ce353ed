//! Programs from files.

use crate::failure::Failure;
use crate::files;
use diagnostic::input::Content;
use lab::program::ProgramFile;
use std::path::Path;

/// Reads a program: an object file or assembly text, recognised by its content.
pub(crate) fn read(path: &Path) -> Result<ProgramFile, Failure> {
    let bytes = files::read(path, Content::Program)?;
    Ok(ProgramFile::parse(&files::name(path), bytes)?)
}
