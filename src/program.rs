//! Programs from files.

use crate::failure::Failure;
use crate::files;
use crate::machine_options::MachineArgs;
use diagnostic::input::Content;
use lab_run::RingFile;
use lab_run::program::ProgramFile;
use sim::Machine;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// A program on a machine.
#[derive(clap::Args)]
pub(crate) struct ProgramArgs {
    /// Assembly text or object file, or - for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    machine: MachineArgs,
}

impl ProgramArgs {
    /// The file.
    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    /// The files that are read: the program, and the machine if it is a file.
    pub(crate) fn files(&self) -> [PathBuf; 2] {
        [self.file.clone(), self.machine.file().to_owned()]
    }

    /// Loads the machine, then the program.
    pub(crate) fn load(&self) -> Result<(ProgramFile, Machine), Failure> {
        let machine = self.machine.load()?;
        Ok((read(&self.file)?, machine))
    }
}

/// Whether the file has the name of a program, of a kernel or of rings.
pub(crate) fn is_program(path: &Path) -> bool {
    let is_kernel = |extension: &OsStr| {
        ["b512", "o", "elf", "c"].iter().any(|known| extension.eq_ignore_ascii_case(known))
    };
    RingFile::is_meant(path) || path.extension().is_some_and(is_kernel)
}

/// A file's name, and the line of an instruction if the file has lines.
pub(crate) fn place(file: &ProgramFile, instruction: Option<usize>) -> String {
    let line = instruction.and_then(|at| file.lines()?.get(at).copied());
    line.map_or_else(|| file.name().to_owned(), |line| format!("{}:{line}", file.name()))
}

/// Reads a program: an object file or assembly text, recognised by its content.
pub(crate) fn read(path: &Path) -> Result<ProgramFile, Failure> {
    if path.extension().is_some_and(|extension| extension == "toml") {
        let message = format!("`{}` is a TOML file, not a program", diagnostic::path(path));
        let help = "run a sweep with `rpu sweep FILE`; use a machine with `--machine FILE`, a plan with `--plan FILE`";
        return Err(Failure::wrong(message, help));
    }
    if RingFile::is_meant(path) {
        let message = format!("`{}` is a ring program, not a kernel", diagnostic::path(path));
        return Err(Failure::wrong(message, "`rpu run FILE` runs ring programs"));
    }
    let bytes = files::read(path, Content::Program)?;
    Ok(ProgramFile::parse(&files::name(path), bytes)?)
}
