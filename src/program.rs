//! Programs from files.

use crate::failure::Failure;
use crate::files;
use crate::machine::MachineArgs;
use diagnostic::input::Content;
use lab::program::ProgramFile;
use sim::Machine;
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
    /// Loads the machine, then the program.
    pub(crate) fn load(&self) -> Result<(ProgramFile, Machine), Failure> {
        let machine = self.machine.load()?;
        Ok((read(&self.file)?, machine))
    }
}

/// Reads a program: an object file or assembly text, recognised by its content.
pub(crate) fn read(path: &Path) -> Result<ProgramFile, Failure> {
    if path.extension().is_some_and(|extension| extension == "toml") {
        let message = format!("`{}` is a TOML file, not a program", path.display());
        let help = "run a sweep with `rpu sweep FILE`; use a machine with `--machine FILE`, a plan with `--plan FILE`";
        return Err(Failure::wrong(message, help));
    }
    let bytes = files::read(path, Content::Program)?;
    Ok(ProgramFile::parse(&files::name(path), bytes)?)
}
