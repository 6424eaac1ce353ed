//! Reading and writing the files of the command line. `-` is standard input or output.

use crate::failure::Failure;
use b512_asm::{Program, object};
use clap::builder::{OsStringValueParser, TypedValueParser};
use diagnostic::input::{self, Content};
use diagnostic::printable;
use lab_run::Form;
use lab_run::files::NewFile;
use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the path is `-`, standard input or output.
pub(crate) fn is_dash(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The parts of `NAME=FILE`. A path has any bytes, a name is text.
pub(crate) fn assigned(text: &OsStr) -> Option<(String, PathBuf)> {
    #[cfg(unix)]
    let (name, path) = {
        use std::os::unix::ffi::OsStrExt;
        let bytes = text.as_bytes();
        let equals = bytes.iter().position(|&byte| byte == b'=')?;
        (std::str::from_utf8(&bytes[..equals]).ok()?, OsStr::from_bytes(&bytes[equals + 1..]))
    };
    #[cfg(not(unix))]
    let (name, path) = text.to_str()?.split_once('=').map(|(name, path)| (name, OsStr::new(path)))?;
    (!name.is_empty() && !path.is_empty()).then(|| (name.to_owned(), path.into()))
}

/// The value of an argument that names a folder.
pub(crate) fn folder() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().try_map(|path| match path.to_str() {
        Some("-") => Err("`-` is standard input or output, not a folder; `./-` is a folder of this name"),
        _ => Ok(PathBuf::from(path)),
    })
}

/// Whether standard input has been read.
static STDIN_IS_READ: AtomicBool = AtomicBool::new(false);

/// Reads a file. Standard input is one file: it is empty for whoever reads it next.
pub(crate) fn read(path: &Path, content: Content) -> Result<Vec<u8>, Failure> {
    let read = if !is_dash(path) {
        input::read(path, content)
    } else if STDIN_IS_READ.swap(true, Ordering::Relaxed) {
        let message = "`-` is given twice, but standard input is one file";
        return Err(Failure::wrong(message, "name another file for one of them"));
    } else {
        input::read_all(io::stdin().lock(), content)
    };
    read.map_err(|error| Failure::wrong(format_args!("cannot read `{}`: {error}", name(path)), None))
}

/// Reads a text. Returns it with the file's display name.
pub(crate) fn read_text(path: &Path, content: Content) -> Result<(String, String), Failure> {
    let name = name(path);
    let text = input::text(read(path, content)?)
        .map_err(|reason| Failure::wrong(format_args!("{name}: {reason}"), None))?;
    Ok((name, text))
}

/// The file's display name.
pub(crate) fn name(path: &Path) -> String {
    if is_dash(path) { "<stdin>".to_owned() } else { diagnostic::path(path) }
}

/// Writes a file, completely or not at all.
pub(crate) fn write(path: &Path, content: &[u8]) -> Result<(), Failure> {
    if is_dash(path) {
        return print(content);
    }
    lab_run::files::write(path, content).map_err(|error| unwritten(path, &error))
}

/// The error that a file cannot be written.
pub(crate) fn unwritten(path: &Path, error: &io::Error) -> Failure {
    Failure::wrong(format_args!("cannot write `{}`: {error}", name(path)), None)
}

/// Checks, before long work, that a file can be written. A device or a pipe is not opened: its reader would
/// take that for the whole content.
pub(crate) fn check_output(path: &Path) -> Result<(), Failure> {
    let is_special = || path.metadata().is_ok_and(|found| !found.is_file() && !found.is_dir());
    if is_dash(path) || is_special() {
        return Ok(());
    }
    NewFile::create(path).map(drop).map_err(|error| unwritten(path, &error))
}

/// What tells the file at a path from others, which need not exist; `None` for a device or a pipe, which
/// takes any number of contents.
pub(crate) fn identity(path: &Path) -> Option<PathBuf> {
    match path.canonicalize() {
        Ok(known) => known.is_file().then_some(known),
        Err(_) => {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            let folder = folder.unwrap_or(Path::new(".")).canonicalize().ok();
            Some(folder.zip(path.file_name()).map_or_else(|| path.into(), |(folder, name)| folder.join(name)))
        }
    }
}

/// Creates a folder, if it does not exist.
pub(crate) fn create_folder(path: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(path).map_err(|error| {
        Failure::wrong(format_args!("cannot create the folder `{}`: {error}", name(path)), None)
    })
}

/// Writes to standard output.
pub(crate) fn print(content: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    printed(out.write_all(content).and_then(|()| out.flush()))
}

/// The result of writing to standard output.
pub(crate) fn printed(result: io::Result<()>) -> Result<(), Failure> {
    result.map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::BrokenPipe,
        _ => Failure::wrong(format_args!("cannot write to standard output: {error}"), None),
    })
}

/// Writes text to standard output, with control characters escaped.
pub(crate) fn print_text(text: &str) -> Result<(), Failure> {
    print(printable(text).as_bytes())
}

/// The content of a program's file: an object if the name ends in `.o` or `.elf`, else text.
pub(crate) fn program_file(path: &Path, program: &Program) -> Result<Vec<u8>, Failure> {
    let is_object = |ending: &OsStr| ["o", "elf"].iter().any(|known| ending.eq_ignore_ascii_case(known));
    if path.extension().is_some_and(is_object) {
        object::write(program).map_err(|error| Failure::wrong(error, None))
    } else {
        Ok(program.to_string().into_bytes())
    }
}

/// Reads coefficients, in the form that the name says.
pub(crate) fn read_coefficients(path: &Path) -> Result<Vec<u128>, Failure> {
    Ok(lab_run::program::coefficients(Form::of(path)?, &name(path), &read(path, Content::Data)?)?)
}
