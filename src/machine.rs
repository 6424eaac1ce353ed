//! The options that choose a machine.

use crate::failure::Failure;
use sim::{Machine, MachineFile, Override};

#[derive(clap::Args)]
pub(crate) struct MachineArgs {
    /// Machine file, or the name of a built-in machine
    #[arg(long, value_name = "M.toml", default_value = "rpu-128x128")]
    machine: String,
    /// Set a key of the machine, e.g. vdm.banks=64
    #[arg(short = 'p', long = "set", value_name = "KEY=VALUE")]
    overrides: Vec<String>,
}

impl MachineArgs {
    /// Loads the machine: a file if the name ends in `.toml`, else a built-in machine.
    pub(crate) fn load(&self) -> Result<Machine, Failure> {
        let overrides = parse_overrides(&self.overrides)?;
        let machine = if self.machine.ends_with(".toml") {
            MachineFile::load(&self.machine, &overrides)
        } else {
            MachineFile::built_in(&self.machine, &overrides)
        };
        Ok(machine?)
    }
}

/// Parses `-p` options.
pub(crate) fn parse_overrides(texts: &[String]) -> Result<Vec<Override>, Failure> {
    Ok(texts.iter().map(|text| Override::parse(text)).collect::<Result<_, _>>()?)
}
