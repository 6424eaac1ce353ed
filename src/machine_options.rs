//! The options that choose a machine.

use crate::failure::Failure;
use diagnostic::Diagnostics;
use sim::{Machine, MachineBase, Override};
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub(crate) struct MachineArgs {
    /// Machine file, or the name of a built-in machine
    #[arg(long, value_name = "M.toml", default_value = "rpu-128x128")]
    machine: PathBuf,
    /// Set a key of the machine, e.g. vdm.banks=64
    #[arg(short = 'p', long = "set", value_name = "KEY=VALUE")]
    overrides: Vec<String>,
}

impl MachineArgs {
    /// The file, or the name of a built-in machine.
    pub(crate) fn file(&self) -> &Path {
        &self.machine
    }

    /// Loads the machine.
    pub(crate) fn load(&self) -> Result<Machine, Failure> {
        load(&self.machine, &self.overrides)
    }
}

pub(crate) fn load(name: impl AsRef<Path>, overrides: &[String]) -> Result<Machine, Failure> {
    let overrides = parse_overrides(overrides)?;
    Ok(MachineBase::named(name)?.machine(&overrides)?)
}

/// Parses `-p` options.
pub(crate) fn parse_overrides(texts: &[String]) -> Result<Vec<Override>, Failure> {
    let mut errors = Diagnostics::default();
    let overrides = texts.iter().filter_map(|text| errors.keep(Override::parse(text))).collect();
    Ok(errors.or(overrides)?)
}
